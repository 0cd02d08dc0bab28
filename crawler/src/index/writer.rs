//! The one writer of an index.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use tantivy::directory::MmapDirectory;
use tantivy::merge_policy::LogMergePolicy;
use tantivy::{Index, IndexReader, ReloadPolicy};

use super::queue::{Queue, Queued};
use super::schema::{self, Fields};
use super::{IndexChange, IndexError};

/// What a writer may collect in memory before it writes, in bytes; the engine cannot do with less or
/// more.
pub const INDEX_MEMORY_BYTES: RangeInclusive<usize> = 15 << 20..=2 << 30;

/// What it collects where nobody says.
const MEMORY_BYTES: usize = 48 << 20;

/// More threads would take the processor from the crawl.
const THREADS: usize = 1;

/// Files are written anew when this share of their documents was withdrawn or replaced: until then
/// these are hidden, but on the disk.
const WITHDRAWN_MAX: f32 = 0.25;

/// The file that names what belongs to an index; without it there is none.
pub(super) const META_FILE: &str = "meta.json";

/// Keeps an index up to date. Holds the directory's lock until it is dropped.
pub struct IndexWriter {
    dir: PathBuf,
    is_new: bool,
    fields: Fields,
    queue: Queue,
    writer: tantivy::IndexWriter<Queued>,
}

impl IndexWriter {
    /// Opens the index in `dir`, or begins one if the directory is new or empty.
    ///
    /// # Errors
    /// [`IndexError`]: the directory holds files but no index, a damaged one, one of another
    /// version, or one that is being written already.
    pub fn open_or_create(dir: &Path) -> Result<Self, IndexError> {
        Self::open_with(dir, MEMORY_BYTES)
    }

    /// The same with so many bytes of memory, within [`INDEX_MEMORY_BYTES`].
    ///
    /// # Errors
    /// As [`Self::open_or_create`].
    pub fn open_with(dir: &Path, memory_bytes: usize) -> Result<Self, IndexError> {
        let io = |error| IndexError::io(dir, error);
        let engine = |error| IndexError::engine(dir, error);
        std::fs::create_dir_all(dir).map_err(io)?;
        let directory = MmapDirectory::open(dir).map_err(|error| engine(error.into()))?;
        let is_new = !dir.join(META_FILE).try_exists().map_err(io)?;
        let index = if !is_new {
            Index::open(directory).map_err(engine)?
        } else {
            if holds_segments(dir).map_err(io)? {
                let (dir, source) = (dir.to_owned(), None);
                return Err(IndexError::Damaged { dir, source });
            }
            let (schema, _) = schema::build();
            Index::create(directory, schema, tantivy::IndexSettings::default()).map_err(engine)?
        };
        let fields = schema::adopt(&index, dir)?;
        // Opens every segment, so that damage shows now and not at the first merge.
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual);
        let _: IndexReader = reader.try_into().map_err(engine)?;
        let writer: tantivy::IndexWriter<Queued> =
            index.writer_with_num_threads(THREADS, memory_bytes).map_err(engine)?;
        let mut merging = LogMergePolicy::default();
        merging.set_del_docs_ratio_before_merge(WITHDRAWN_MAX);
        writer.set_merge_policy(Box::new(merging));
        Ok(Self { dir: dir.to_owned(), is_new, fields, queue: Queue::default(), writer })
    }

    /// Whether opening it began a new index.
    pub fn is_new(&self) -> bool {
        self.is_new
    }

    /// Takes changes in, in their order. They are seen, and safe, after [`Self::commit`].
    ///
    /// # Errors
    /// [`IndexError`] if the engine failed; what was not committed is lost then.
    pub fn apply(&mut self, changes: &[IndexChange]) -> Result<(), IndexError> {
        for change in changes {
            match change {
                IndexChange::Put(document) => {
                    self.writer.delete_term(self.fields.key_term(&document.key));
                    let bytes = document.text.len() + document.url.len();
                    let queued = self.queue.admit(self.fields.write(document), 2 * bytes);
                    self.writer
                        .add_document(queued)
                        .map_err(|error| IndexError::engine(&self.dir, error))?;
                }
                IndexChange::Withdraw { key } => {
                    self.writer.delete_term(self.fields.key_term(key));
                }
            }
        }
        Ok(())
    }

    /// Makes all that was applied durable and visible to searchers.
    ///
    /// # Errors
    /// [`IndexError`] if it could not be written; what was applied since the last commit is lost.
    pub fn commit(&mut self) -> Result<(), IndexError> {
        match self.writer.commit() {
            Ok(_) => Ok(()),
            Err(error) => Err(IndexError::engine(&self.dir, error)),
        }
    }

    /// Waits for background merges and lets go of the directory. What is not committed is lost.
    ///
    /// # Errors
    /// [`IndexError`] if a merge failed; the index is as it was before that merge.
    pub fn close(self) -> Result<(), IndexError> {
        let dir = self.dir;
        let closed = self.writer.wait_merging_threads();
        closed.map_err(|error| IndexError::engine(&dir, error))
    }
}

/// Whether there is anything in the directory but locks and notes of the engine.
fn holds_segments(dir: &Path) -> std::io::Result<bool> {
    for entry in std::fs::read_dir(dir)? {
        if !entry?.file_name().as_encoded_bytes().starts_with(b".") {
            return Ok(true);
        }
    }
    Ok(false)
}
