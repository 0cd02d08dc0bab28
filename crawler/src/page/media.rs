//! Which bodies are read as a page, and which as text.

/// How a body is read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PageKind {
    /// HTML or XHTML.
    Html,
    /// Plain text.
    PlainText,
    /// Anything else: not looked into.
    Other,
}

/// How far a body without a Content-Type is looked at.
const SNIFF_BYTES: usize = 1_024;

impl PageKind {
    /// Judges by the Content-Type header; without one, or with one that is not a media type, by
    /// the first bytes of the body.
    pub fn of(body: &[u8], content_type: Option<&str>) -> Self {
        let essence = content_type
            .and_then(|value| value.split([';', ',']).next())
            .map(str::trim)
            .filter(|essence| essence.contains('/'));
        match essence {
            Some(essence) if essence.eq_ignore_ascii_case("text/html") => Self::Html,
            Some(essence) if essence.eq_ignore_ascii_case("application/xhtml+xml") => Self::Html,
            Some(essence) if essence.eq_ignore_ascii_case("text/plain") => Self::PlainText,
            Some(_) => Self::Other,
            None => Self::sniff(body.get(..SNIFF_BYTES).unwrap_or(body)),
        }
    }

    /// Markup begins with `<`; what has control bytes that no text has, is binary.
    fn sniff(start: &[u8]) -> Self {
        let has_bom = encoding_rs::Encoding::for_bom(start).is_some();
        let is_binary = |byte: &u8| matches!(byte, 0..=8 | 0x0B | 0x0E..=0x1A | 0x1C..=0x1F);
        if !has_bom && start.iter().any(is_binary) {
            return Self::Other;
        }
        let first = start
            .iter()
            .find(|byte| !byte.is_ascii_whitespace() && !matches!(byte, 0 | 0x80..));
        if first == Some(&b'<') {
            Self::Html
        } else {
            Self::PlainText
        }
    }
}
