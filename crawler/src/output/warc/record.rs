//! One WARC record as one gzip member, and what records are named and dated by.

use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Write as _};
use std::sync::atomic::{AtomicU64, Ordering};

use comity_compliance::Timestamp;
use data_encoding::BASE32;
use flate2::Compression;
use flate2::write::GzEncoder;
use ring::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY};

/// SHA-1, the digest that readers of archives look pages up by. It is no protection.
pub(super) type Sha1 = [u8; 20];

pub(super) fn sha1(parts: &[&[u8]]) -> Sha1 {
    let mut context = Context::new(&SHA1_FOR_LEGACY_USE_ONLY);
    parts.iter().for_each(|part| context.update(part));
    let mut sum = [0; 20];
    sum.copy_from_slice(context.finish().as_ref());
    sum
}

/// A digest as a header has it.
pub(super) fn labelled(sum: &Sha1) -> String {
    format!("sha1:{}", BASE32.encode(sum))
}

/// An instant with its milliseconds, as WARC 1.1 permits.
pub(super) fn date(at: Timestamp) -> String {
    match jiff::Timestamp::from_millisecond(at.as_millis()) {
        Ok(instant) => format!("{instant:.3}"),
        Err(_) => Timestamp::EPOCH.to_string(),
    }
}

/// The fourteen digits of an instant's second.
pub(super) fn digits(date: &str) -> String {
    date.chars().filter(char::is_ascii_digit).take(14).collect()
}

/// Names for records: random UUIDs.
#[derive(Debug, Default)]
pub(super) struct Names {
    halves: (RandomState, RandomState),
    given: AtomicU64,
}

impl Names {
    pub(super) fn next(&self) -> String {
        let number = self.given.fetch_add(1, Ordering::Relaxed);
        let (high, low) = (self.halves.0.hash_one(number), self.halves.1.hash_one(number));
        // RFC 9562: version 4, variant 10.
        let all = u128::from(high) << 64 | u128::from(low);
        let all = all & !(0xf << 76) & !(0b11 << 62) | 0x4 << 76 | 0b10 << 62;
        let hex = format!("{all:032x}");
        let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|at| hex.get(at).unwrap_or_default());
        format!("<urn:uuid:{}>", parts.join("-"))
    }
}

/// The header of a record, without what follows from its block.
#[derive(Debug)]
pub(super) struct Header {
    text: String,
}

impl Header {
    pub(super) fn new(kind: &str, name: &str, date: &str) -> Self {
        let text = format!(
            "WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Record-ID: {name}\r\nWARC-Date: {date}\r\n"
        );
        Self { text }
    }

    /// Adds a field. The value has no line's end: it is a URL, a name or a number.
    #[must_use]
    pub(super) fn with(mut self, field: &str, value: &str) -> Self {
        self.text.push_str(field);
        self.text.push_str(": ");
        self.text.extend(value.chars().map(|c| if c.is_control() { ' ' } else { c }));
        self.text.push_str("\r\n");
        self
    }

    /// The record with this block, as a gzip member of its own.
    pub(super) fn pack(self, content_type: &str, block: &[&[u8]]) -> io::Result<Vec<u8>> {
        let bytes: usize = block.iter().map(|part| part.len()).sum();
        let whole = self
            .with("WARC-Block-Digest", &labelled(&sha1(block)))
            .with("Content-Type", content_type)
            .with("Content-Length", &bytes.to_string());
        let mut packed =
            GzEncoder::new(Vec::with_capacity(bytes / 3 + 512), Compression::default());
        packed.write_all(whole.text.as_bytes())?;
        packed.write_all(b"\r\n")?;
        block.iter().try_for_each(|part| packed.write_all(part))?;
        packed.write_all(b"\r\n\r\n")?;
        packed.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 3174 and RFC 4648 know these.
    #[test]
    fn digests() {
        assert_eq!(labelled(&sha1(&[])), "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ");
        assert_eq!(labelled(&sha1(&[b"ab", b"c"])), "sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5");
    }

    #[test]
    fn dates() {
        let at = Timestamp::from_millis(1_796_050_253_007);
        assert_eq!(date(at), "2026-11-30T14:50:53.007Z");
        assert_eq!(digits(&date(at)), "20261130145053");
        assert_eq!(date(Timestamp::EPOCH), "1970-01-01T00:00:00.000Z");
    }

    #[test]
    fn names_are_uuids_of_version_4() {
        let names = Names::default();
        let (one, other) = (names.next(), names.next());
        assert_ne!(one, other);
        let uuid = one.strip_prefix("<urn:uuid:").unwrap().strip_suffix('>').unwrap();
        assert_eq!((uuid.len(), &uuid[14..15]), (36, "4"), "{uuid}");
        assert!("89ab".contains(&uuid[19..20]), "{uuid}");
    }
}
