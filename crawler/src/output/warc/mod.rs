//! WARC 1.1: every exchange of a crawl with a site, kept as it was, with what was decided.
//!
//! One gzip member a record. A file that is being written ends in `.open`; when it is complete, its
//! index (CDXJ) is written beside it and it gets its name. docs/outputs.md says what the records
//! hold.

mod cdxj;
mod exchange;
mod export;
mod file;
mod head;
mod reading;
mod record;
mod responses;
mod surt;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use comity_compliance::Timestamp;
use comity_storage::{Archived, Durability};

pub(crate) use self::exchange::Exchange;
use self::exchange::Packed;
pub use self::export::{Exported, export_cdxj};
use self::file::OpenFile;
use self::record::{Header, Names, date, digits};
pub(crate) use self::responses::{Response, Responses};
use super::{OutputError, blocking, in_words, sync_dir};

/// How an archive is written.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct WarcSettings {
    /// Where its files are.
    pub dir: PathBuf,
    /// What their names begin with; unlike for crawls that write into one directory.
    pub prefix: String,
    /// Bytes after which another file is begun.
    pub file_bytes: u64,
    /// What acknowledged records outlive.
    pub durability: Durability,
    /// Who crawls, for the first record of each file.
    pub user_agent: String,
    /// Whom to ask about it, for the same.
    pub operator: Option<String>,
}

/// An archive that is being written. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Archive(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    settings: WarcSettings,
    names: Names,
    state: Mutex<State>,
    /// Held as long as anybody writes.
    _lock: File,
}

#[derive(Debug, Default)]
struct State {
    file: Option<OpenFile>,
    serial: u32,
    /// Why nothing is written any more.
    failed: Option<String>,
}

impl Archive {
    /// Opens an archive, making its directory if it is not there. What a crash left incomplete is
    /// cut off.
    ///
    /// # Errors
    /// [`OutputError`] if the directory cannot be written, or another process writes there.
    pub fn open(settings: WarcSettings) -> Result<Self, OutputError> {
        let dir = &settings.dir;
        std::fs::create_dir_all(dir).map_err(OutputError::file("create", dir))?;
        let lock = lock(&dir.join(format!("{}.lock", settings.prefix)))?;
        file::repair(dir, &settings.prefix)?;
        let (names, state) = (Names::default(), Mutex::default());
        Ok(Self(Arc::new(Shared { settings, names, state, _lock: lock })))
    }

    /// Writes an exchange, and says which capture of its page stands. It outlives the process when
    /// this returns, and the power after [`Archive::sync`].
    ///
    /// # Errors
    /// [`OutputError`]; nothing of the exchange is written, and nothing will be.
    pub(crate) async fn write(&self, exchange: Exchange) -> Result<Archived, OutputError> {
        let shared = Arc::clone(&self.0);
        blocking(move || shared.write(&exchange)).await
    }

    /// Makes what was written as durable as the settings say.
    ///
    /// # Errors
    /// [`OutputError`]
    pub(crate) async fn sync(&self) -> Result<(), OutputError> {
        match self.0.settings.durability {
            Durability::Process => Ok(()),
            Durability::Power => {
                let shared = Arc::clone(&self.0);
                blocking(move || shared.sync()).await
            }
        }
    }

    /// Completes the file that is being written, unless something failed: then the next opening
    /// does.
    ///
    /// # Errors
    /// [`OutputError`]; the next opening completes it.
    pub(crate) async fn close(&self) -> Result<(), OutputError> {
        let shared = Arc::clone(&self.0);
        blocking(move || {
            let mut state = shared.locked();
            match state.file.take().filter(|_| state.failed.is_none()) {
                Some(file) => file.finish(),
                None => Ok(()),
            }
        })
        .await
    }
}

impl Shared {
    fn locked(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, exchange: &Exchange) -> Result<Archived, OutputError> {
        // Compressed before the file is locked: others append meanwhile.
        let packed = exchange.pack(&self.names);
        let packed = packed.map_err(OutputError::file("compress for", &self.settings.dir))?;
        let mut state = self.locked();
        if let Some(why) = &state.failed {
            return Err(OutputError::Stopped(why.clone()));
        }
        let written = self.append(&mut state, &packed, exchange.reply.head_at);
        if let Err(error) = &written {
            state.failed = Some(in_words(error));
        }
        written.map(|()| packed.archived)
    }

    fn append(
        &self,
        state: &mut State,
        packed: &Packed,
        now: Timestamp,
    ) -> Result<(), OutputError> {
        let more = packed.members.len() as u64;
        if let Some(full) = state.file.take_if(|file| file.is_full(more, self.settings.file_bytes))
        {
            full.finish()?;
        }
        if state.file.is_none() {
            state.file = Some(self.begin(&mut state.serial, now)?);
        }
        match &mut state.file {
            Some(file) => file.append_exchange(packed),
            None => Ok(()),
        }
    }

    /// Begins a file with the record that says what is in it.
    fn begin(&self, serial: &mut u32, now: Timestamp) -> Result<OpenFile, OutputError> {
        let settings = &self.settings;
        let date = date(now);
        let stem = format!("{}-{}", settings.prefix, digits(&date));
        let mut file = OpenFile::create(&settings.dir, &stem, serial)?;
        let mut fields = format!(
            "software: comity/{}\r\nformat: WARC File Format 1.1\r\n\
             conformsTo: http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/\r\n\
             robots: obey\r\nhttp-header-user-agent: {}\r\n",
            env!("CARGO_PKG_VERSION"),
            settings.user_agent
        );
        if let Some(operator) = &settings.operator {
            fields.push_str(&format!("operator: {operator}\r\n"));
        }
        let header = Header::new("warcinfo", &self.names.next(), &date);
        let member = header
            .with("WARC-Filename", file.name())
            .pack("application/warc-fields", &[fields.as_bytes()])
            .map_err(OutputError::file("compress for", &settings.dir))?;
        file.append(&member)?;
        if settings.durability == Durability::Power {
            sync_dir(&settings.dir)?;
        }
        Ok(file)
    }

    /// Syncs without keeping others from appending.
    fn sync(&self) -> Result<(), OutputError> {
        let Some((file, through, path)) = self.unsynced() else { return Ok(()) };
        let synced = file.and_then(|file| file.sync_data());
        let mut state = self.locked();
        match synced.map_err(OutputError::file("sync", &path)) {
            Ok(()) => {
                // Another file may have been begun meanwhile; this one was synced when it ended.
                let same = state.file.as_mut().filter(|file| file.path() == path);
                same.into_iter().for_each(|file| file.note_synced(through));
                Ok(())
            }
            Err(error) => {
                // What a failed sync leaves behind is not known: nothing may follow it.
                state.failed = Some(in_words(&error));
                Err(error)
            }
        }
    }

    fn unsynced(&self) -> Option<(std::io::Result<File>, u64, PathBuf)> {
        let state = self.locked();
        let file = state.file.as_ref()?;
        let (handle, through) = file.unsynced()?;
        Some((handle, through, file.path().to_owned()))
    }
}

fn lock(path: &Path) -> Result<File, OutputError> {
    let opened = File::options().create(true).truncate(false).write(true).open(path);
    let file = opened.map_err(OutputError::file("create", path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(std::fs::TryLockError::WouldBlock) => {
            Err(OutputError::InUse(path.parent().unwrap_or(path).to_owned()))
        }
        Err(std::fs::TryLockError::Error(error)) => Err(OutputError::file("lock", path)(error)),
    }
}
