//! Parquet: rows of named fields as row groups, and items as the parts of a table.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;
use serde_json::{Map, Value, json};

use super::{Item, OutputError, Sink, Written, blocking, sync_dir};

/// What a column holds. Each may be null.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// Text; lists and objects as JSON.
    Text,
    /// Whole numbers.
    Number,
    /// True or false.
    Flag,
}

/// A column: its name, of letters, digits and "_", and what it holds.
pub type Column = (&'static str, Kind);

/// A Parquet file that is being written.
pub struct Table<W: Write + Send> {
    columns: &'static [Column],
    writer: SerializedFileWriter<W>,
}

impl<W: Write + Send> Table<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// What the writer says.
    pub fn begin(out: W, columns: &'static [Column]) -> io::Result<Self> {
        let column = |(name, kind): &Column| match kind {
            Kind::Text => format!("optional binary {name} (UTF8); "),
            Kind::Number => format!("optional int64 {name}; "),
            Kind::Flag => format!("optional boolean {name}; "),
        };
        let fields: String = columns.iter().map(column).collect();
        let schema = parse_message_type(&format!("message comity {{ {fields}}}"));
        let schema = schema.map_err(failed)?;
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let writer = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties));
        Ok(Self { columns, writer: writer.map_err(failed)? })
    }

    /// Writes rows as one group.
    ///
    /// # Errors
    /// What the writer says.
    pub fn write(&mut self, rows: &[Map<String, Value>]) -> io::Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        let mut group = self.writer.next_row_group().map_err(failed)?;
        for (name, kind) in self.columns {
            let Some(mut column) = group.next_column().map_err(failed)? else { break };
            let values: Vec<_> = rows.iter().map(|row| row.get(*name)).collect();
            write_column(&mut column, *kind, &values).map_err(failed)?;
            column.close().map_err(failed)?;
        }
        group.close().map(drop).map_err(failed)
    }

    /// Ends the file.
    ///
    /// # Errors
    /// What the writer says.
    pub fn end(self) -> io::Result<()> {
        self.writer.close().map(drop).map_err(failed)
    }
}

fn failed(error: ParquetError) -> io::Error {
    io::Error::other(error)
}

fn write_column(
    column: &mut SerializedColumnWriter<'_>,
    kind: Kind,
    values: &[Option<&Value>],
) -> Result<(), ParquetError> {
    fn present<T>(
        values: &[Option<&Value>],
        of: impl Fn(&Value) -> Option<T>,
    ) -> (Vec<T>, Vec<i16>) {
        let found: Vec<_> = values.iter().map(|value| value.and_then(&of)).collect();
        let levels = found.iter().map(|value| i16::from(value.is_some())).collect();
        (found.into_iter().flatten().collect(), levels)
    }
    match kind {
        Kind::Text => {
            let (values, levels) = present(values, text);
            column.typed::<ByteArrayType>().write_batch(&values, Some(&levels), None)?;
        }
        Kind::Number => {
            let (values, levels) = present(values, Value::as_i64);
            column.typed::<Int64Type>().write_batch(&values, Some(&levels), None)?;
        }
        Kind::Flag => {
            let (values, levels) = present(values, Value::as_bool);
            column.typed::<BoolType>().write_batch(&values, Some(&levels), None)?;
        }
    }
    Ok(())
}

fn text(value: &Value) -> Option<ByteArray> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.as_str().into()),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            Some(value.to_string().as_str().into())
        }
    }
}

/// The columns of items: what differs from extractor to extractor is JSON.
const ITEM: &[Column] =
    &[("extractor", Kind::Text), ("url", Kind::Text), ("at", Kind::Text), ("value", Kind::Text)];

/// Bytes of items that wait for a sync at most.
const MOST_WAITING: usize = 16 << 20;

/// A folder of Parquet files, which readers take for one table. A file cannot be appended to: each
/// sync completes one, as a whole or not at all.
#[derive(Debug)]
pub struct ParquetParts {
    dir: PathBuf,
    next: u32,
    waiting: Vec<Map<String, Value>>,
    bytes: usize,
    _lock: File,
}

impl ParquetParts {
    /// Opens the folder, or makes it.
    ///
    /// # Errors
    /// [`OutputError`] if it cannot be written, or another process writes there.
    pub fn open(dir: &Path) -> Result<Self, OutputError> {
        std::fs::create_dir_all(dir).map_err(OutputError::file("create", dir))?;
        let path = dir.join("_lock");
        let lock = File::create(&path).map_err(OutputError::file("create", &path))?;
        lock.try_lock().map_err(|_| OutputError::InUse(dir.to_owned()))?;
        let mut next = 0;
        for entry in std::fs::read_dir(dir).map_err(OutputError::file("read", dir))? {
            let name = entry.map_err(OutputError::file("read", dir))?.file_name();
            let number = name.to_str().and_then(|name| name.strip_prefix("part-"));
            let number = number.and_then(|name| name.strip_suffix(".parquet"));
            next = number
                .and_then(|number| number.parse().ok())
                .map_or(next, |n: u32| next.max(n + 1));
        }
        Ok(Self { dir: dir.to_owned(), next, waiting: vec![], bytes: 0, _lock: lock })
    }

    /// Writes what waits as a file.
    async fn complete(&mut self) -> Result<(), OutputError> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let rows = std::mem::take(&mut self.waiting);
        let (dir, number) = (self.dir.clone(), self.next);
        let (written, rows) = blocking(move || Ok((write_part(&dir, number, &rows), rows))).await?;
        if let Err(error) = written {
            self.waiting = rows;
            return Err(error);
        }
        self.next += 1;
        self.bytes = 0;
        Ok(())
    }
}

fn write_part(dir: &Path, number: u32, rows: &[Map<String, Value>]) -> Result<(), OutputError> {
    let path = dir.join(format!("part-{number:05}.parquet"));
    // Readers of tables pass over names that begin so; the next try writes it anew.
    let new = dir.join(format!("_part-{number:05}.new"));
    let written = File::create(&new).and_then(|file| {
        let synced = file.try_clone()?;
        let mut table = Table::begin(io::BufWriter::new(file), ITEM)?;
        table.write(rows)?;
        table.end()?;
        synced.sync_all()
    });
    written.map_err(OutputError::file("write", &new))?;
    std::fs::rename(&new, &path).map_err(OutputError::file("name", &path))?;
    sync_dir(dir)
}

impl Sink for ParquetParts {
    fn write<'a>(&'a mut self, batch: &'a [Item]) -> Written<'a> {
        Box::pin(async move {
            for item in batch {
                let value = item.value.to_string();
                self.bytes += value.len() + item.url.as_str().len() + 64;
                let row = json!({
                    "extractor": item.extractor,
                    "url": item.url.as_str(),
                    "at": item.at.to_string(),
                    "value": value,
                });
                self.waiting.extend(row.as_object().cloned());
            }
            if self.bytes > MOST_WAITING { self.complete().await } else { Ok(()) }
        })
    }

    fn sync(&mut self) -> Written<'_> {
        Box::pin(self.complete())
    }

    fn close(&mut self) -> Written<'_> {
        self.sync()
    }
}

#[cfg(test)]
mod tests {
    use comity_compliance::Timestamp;
    use parquet::file::reader::{FileReader as _, SerializedFileReader};
    use parquet::record::RowAccessor as _;

    use super::*;

    /// What was synced is there, in as many files as there were syncs, and nothing else.
    #[tokio::test]
    async fn parts_of_a_table() {
        let dir = tempfile::tempdir().unwrap();
        for (part, value) in [json!({"a": 1}), json!("b")].into_iter().enumerate() {
            let mut sink = ParquetParts::open(dir.path()).unwrap();
            assert!(matches!(ParquetParts::open(dir.path()), Err(OutputError::InUse(_))));
            let url = url::Url::parse("https://example.org/").unwrap();
            let at = Timestamp::from_secs(1_796_050_253);
            let item = Item { extractor: "x".into(), url, at, value: value.clone() };
            sink.write(&[item.clone(), item]).await.unwrap();
            sink.close().await.unwrap();
            let file = File::open(dir.path().join(format!("part-{part:05}.parquet"))).unwrap();
            let rows: Vec<_> =
                SerializedFileReader::new(file).unwrap().into_iter().map(Result::unwrap).collect();
            assert_eq!(rows.len(), 2);
            assert_eq!(rows[0].get_string(1).unwrap(), "https://example.org/");
            assert_eq!(rows[1].get_string(3).unwrap(), &value.to_string());
        }
    }

    #[test]
    fn nulls_numbers_and_flags() {
        const COLUMNS: &[Column] = &[("n", Kind::Number), ("f", Kind::Flag), ("t", Kind::Text)];
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.parquet");
        let mut table = Table::begin(File::create(&path).unwrap(), COLUMNS).unwrap();
        let rows = [json!({"n": 7, "t": ["a"]}), json!({"f": true, "t": null})];
        table.write(&rows.map(|row| row.as_object().unwrap().clone())).unwrap();
        table.end().unwrap();
        let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
        assert_eq!(reader.metadata().file_metadata().num_rows(), 2);
        let rows: Vec<_> = reader.into_iter().map(|row| row.unwrap().to_string()).collect();
        assert_eq!(rows, ["{n: 7, f: null, t: \"[\"a\"]\"}", "{n: null, f: true, t: null}"]);
    }
}
