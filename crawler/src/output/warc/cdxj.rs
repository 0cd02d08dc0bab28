//! The index of an archive: one line a capture, sorted by address and time (CDXJ).

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::record::digits;
use super::surt::surt;
use crate::output::OutputError;

/// What an index line says of a record, but where it lies.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Capture {
    pub(super) url: String,
    /// As the record has it.
    pub(super) date: String,
    pub(super) mime: Option<String>,
    pub(super) status: Option<String>,
    pub(super) digest: Option<String>,
}

/// Where a record lies.
pub(super) struct Lies<'a> {
    pub(super) offset: u64,
    pub(super) length: u64,
    pub(super) filename: &'a str,
}

#[derive(Serialize)]
struct Fields<'a> {
    url: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<&'a str>,
    length: String,
    offset: String,
    filename: &'a str,
}

impl Capture {
    /// The index line, with its end.
    pub(super) fn line(&self, lies: &Lies<'_>) -> String {
        let fields = Fields {
            url: &self.url,
            mime: self.mime.as_deref(),
            status: self.status.as_deref(),
            digest: self.digest.as_deref(),
            length: lies.length.to_string(),
            offset: lies.offset.to_string(),
            filename: lies.filename,
        };
        let json = serde_json::to_string(&fields).unwrap_or_default();
        format!("{} {} {json}\n", surt(&self.url), digits(&self.date))
    }
}

/// Where the index of a file of the archive lies.
pub(super) fn path_of(warc: &Path) -> PathBuf {
    let name = warc.file_name().unwrap_or_default().to_string_lossy();
    let name = name.strip_suffix(".warc.gz").unwrap_or(&name);
    warc.with_file_name(format!("{name}.cdxj"))
}

/// Writes lines, sorted, in the place of what is at `path`.
pub(super) fn write_sorted(path: &Path, mut lines: Vec<String>) -> Result<(), OutputError> {
    lines.sort_unstable();
    lines.dedup();
    replace(path, |file| lines.iter().try_for_each(|line| file.write_all(line.as_bytes())))
}

/// Writes a file anew, as a whole or not at all.
pub(super) fn replace(
    path: &Path,
    write: impl FnOnce(&mut io::BufWriter<std::fs::File>) -> io::Result<()>,
) -> Result<(), OutputError> {
    // A crawl and an export may write the same index at a time.
    let mut new = path.as_os_str().to_owned();
    new.push(format!(".{}.new", std::process::id()));
    let new = PathBuf::from(new);
    let written = std::fs::File::create(&new).and_then(|file| {
        let mut file = io::BufWriter::new(file);
        write(&mut file)?;
        file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
    });
    let named = match written {
        Ok(()) => std::fs::rename(&new, path).map_err(OutputError::file("write", path)),
        Err(error) => Err(OutputError::file("write", &new)(error)),
    };
    if named.is_err() {
        let _ = std::fs::remove_file(&new);
    }
    named
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line() {
        let capture = Capture {
            url: "https://www.example.org/b?q=\"x\"".into(),
            date: "2026-11-30T14:50:53.007Z".into(),
            mime: Some("text/html".into()),
            status: None,
            digest: Some("sha1:A".into()),
        };
        let line = capture.line(&Lies { offset: 7, length: 12, filename: "a.warc.gz" });
        let expect = concat!(
            r#"org,example)/b?q="x" 20261130145053 {"url":"https://www.example.org/b?q=\"x\"","#,
            r#""mime":"text/html","digest":"sha1:A","length":"12","offset":"7","filename":"a.warc.gz"}"#,
            "\n"
        );
        assert_eq!(line, expect);
    }

    #[test]
    fn beside_its_file() {
        assert_eq!(path_of(Path::new("a/b-1.warc.gz")), Path::new("a/b-1.cdxj"));
    }
}
