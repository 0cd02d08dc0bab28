//! Parquet: rows of named fields as row groups.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;
use serde_json::{Map, Value};

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

#[cfg(test)]
mod tests {
    use std::fs::File;

    use parquet::file::reader::{FileReader as _, SerializedFileReader};
    use serde_json::json;

    use super::*;

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
