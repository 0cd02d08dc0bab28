//! Which character set a body is in, and the body decoded from it: byte order mark, then the
//! Content-Type header, then the page's own declaration, then a guess (HTML standard 13.2.3.2).

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};
use url::{Host, Url};

/// How far a page's own declaration is looked for.
const PRESCAN_BYTES: usize = 1_024;

/// How much of a body without any declaration the guess is made from.
const DETECT_BYTES: usize = 64 << 10;

/// The body of an HTML page as text, and what it was decoded from.
pub(crate) fn decode_html<'a>(
    body: &'a [u8],
    content_type: Option<&str>,
    url: &Url,
) -> (Cow<'a, str>, &'static Encoding) {
    decode(body, url, || declared_in_header(content_type).or_else(|| declared_in_page(body)))
}

/// The body of a plain text as text, and what it was decoded from.
pub(super) fn decode_text<'a>(
    body: &'a [u8],
    content_type: Option<&str>,
    url: &Url,
) -> (Cow<'a, str>, &'static Encoding) {
    decode(body, url, || declared_in_header(content_type))
}

fn decode<'a>(
    body: &'a [u8],
    url: &Url,
    declared: impl FnOnce() -> Option<&'static Encoding>,
) -> (Cow<'a, str>, &'static Encoding) {
    let (encoding, body) = match Encoding::for_bom(body) {
        Some((encoding, bom_len)) => (encoding, body.get(bom_len..).unwrap_or_default()),
        None => (declared().unwrap_or_else(|| guess(body, url)), body),
    };
    let (text, _) = encoding.decode_without_bom_handling(body);
    (text, encoding)
}

/// The `charset` parameter of a Content-Type, if it is a label that is known.
fn declared_in_header(content_type: Option<&str>) -> Option<&'static Encoding> {
    content_type?
        .split(';')
        .skip(1)
        .filter_map(|parameter| parameter.split_once('='))
        .find(|(name, _)| name.trim().eq_ignore_ascii_case("charset"))
        .and_then(|(_, label)| Encoding::for_label(label.trim().trim_matches('"').as_bytes()))
}

fn guess(body: &[u8], url: &Url) -> &'static Encoding {
    if std::str::from_utf8(body).is_ok() {
        return UTF_8;
    }
    let sample = body.get(..DETECT_BYTES).unwrap_or(body);
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(sample, sample.len() == body.len());
    let tld = match url.host() {
        Some(Host::Domain(domain)) => domain.trim_end_matches('.').rsplit('.').next(),
        Some(Host::Ipv4(_) | Host::Ipv6(_)) | None => None,
    };
    // The guess knows top-level domains in lower-case ASCII letters, as `url` writes them.
    let tld = tld.filter(|tld| tld.bytes().all(|b| b.is_ascii_lowercase()));
    detector.guess(tld.map(str::as_bytes), Utf8Detection::Allow)
}

/// The declaration in a page's first bytes: an XML declaration, or a `meta` element.
fn declared_in_page(body: &[u8]) -> Option<&'static Encoding> {
    let mut rest = Bytes(body.get(..PRESCAN_BYTES).unwrap_or(body));
    if let Some(encoding) = xml_declaration(rest.0) {
        return Some(encoding);
    }
    while let Some(start) = rest.0.iter().position(|byte| *byte == b'<') {
        rest.skip(start + 1);
        if rest.0.starts_with(b"!--") {
            // `<!-->` is a whole comment, so the search begins at its own dashes.
            rest.skip(1);
            rest.skip_past(b"-->");
        } else if rest.0.first().is_some_and(|b| matches!(b, b'!' | b'?')) {
            rest.skip_past(b">");
        } else {
            let closes = rest.take_if(b'/');
            let name = rest.tag_name();
            let is_meta = !closes && name.eq_ignore_ascii_case(b"meta");
            let found = Declaration::read(&mut rest);
            if let Some(encoding) = found.encoding().filter(|_| is_meta) {
                return Some(encoding);
            }
        }
    }
    None
}

/// `<?xml … encoding="…"?>` at the very start.
fn xml_declaration(start: &[u8]) -> Option<&'static Encoding> {
    let declaration = start.strip_prefix(b"<?xml")?;
    let end = declaration.iter().position(|byte| *byte == b'>')?;
    let declaration = std::str::from_utf8(declaration.get(..end)?).ok()?;
    let value = declaration.split_once("encoding")?.1.trim_start();
    let value = value.strip_prefix('=')?.trim_start();
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let label = value.get(1..)?.split(quote).next()?;
    Encoding::for_label(label.as_bytes()).map(in_page)
}

/// What a `meta` element says about the character set.
#[derive(Default)]
struct Declaration {
    charset: Option<&'static Encoding>,
    content: Option<&'static Encoding>,
    is_content_type: bool,
}

impl Declaration {
    /// Reads a tag's attributes up to its `>`; of two with one name, the first counts.
    fn read(rest: &mut Bytes<'_>) -> Self {
        let mut found = Self::default();
        let (mut saw_charset, mut saw_content, mut saw_equiv) = (false, false, false);
        while let Some((name, value)) = rest.attribute() {
            if name.eq_ignore_ascii_case(b"charset") && !saw_charset {
                saw_charset = true;
                found.charset = Encoding::for_label(value);
            } else if name.eq_ignore_ascii_case(b"content") && !saw_content {
                saw_content = true;
                found.content = charset_in_content(value);
            } else if name.eq_ignore_ascii_case(b"http-equiv") && !saw_equiv {
                saw_equiv = true;
                found.is_content_type = value.eq_ignore_ascii_case(b"content-type");
            }
        }
        found
    }

    fn encoding(&self) -> Option<&'static Encoding> {
        self.charset.or(self.content.filter(|_| self.is_content_type)).map(in_page)
    }
}

/// A page that could be searched for ASCII is not in UTF-16, whatever it says.
fn in_page(label: &'static Encoding) -> &'static Encoding {
    if label == UTF_16BE || label == UTF_16LE {
        UTF_8
    } else if label == X_USER_DEFINED {
        WINDOWS_1252
    } else {
        label
    }
}

/// The `charset=` inside a `content` attribute.
fn charset_in_content(content: &[u8]) -> Option<&'static Encoding> {
    let content = std::str::from_utf8(content).ok()?.to_ascii_lowercase();
    let mut rest = content.as_str();
    while let Some((_, after)) = rest.split_once("charset") {
        rest = after.trim_start();
        let Some(value) = rest.strip_prefix('=').map(str::trim_start) else {
            continue;
        };
        let label = match value.chars().next() {
            Some(quote @ ('"' | '\'')) => value.get(1..)?.split_once(quote)?.0,
            _ => value.split([';', ' ', '\t', '\n', '\r', '\u{c}']).next()?,
        };
        return Encoding::for_label(label.as_bytes());
    }
    None
}

/// The bytes not read yet.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn skip(&mut self, count: usize) {
        self.0 = self.0.get(count..).unwrap_or_default();
    }

    fn skip_past(&mut self, end: &[u8]) {
        let found = self.0.windows(end.len()).position(|window| window == end);
        self.skip(found.map_or(self.0.len(), |at| at + end.len()));
    }

    fn take_if(&mut self, byte: u8) -> bool {
        let is_next = self.0.first() == Some(&byte);
        if is_next {
            self.skip(1);
        }
        is_next
    }

    fn take_while(&mut self, keep: impl Fn(u8) -> bool) -> &'a [u8] {
        let end = self.0.iter().position(|byte| !keep(*byte));
        let (taken, rest) = self.0.split_at(end.unwrap_or(self.0.len()));
        self.0 = rest;
        taken
    }

    fn tag_name(&mut self) -> &'a [u8] {
        if !self.0.first().is_some_and(u8::is_ascii_alphabetic) {
            return &[];
        }
        self.take_while(|b| !is_space(b) && b != b'/' && b != b'>')
    }

    /// The next attribute of a tag; none at its end.
    fn attribute(&mut self) -> Option<(&'a [u8], &'a [u8])> {
        self.take_while(|b| is_space(b) || b == b'/');
        if self.0.is_empty() || self.take_if(b'>') {
            return None;
        }
        let mut name = self.take_while(|b| !is_space(b) && !matches!(b, b'/' | b'>' | b'='));
        if name.is_empty() {
            // A name may begin with `=`.
            name = self.0.get(..1).unwrap_or_default();
            self.skip(1);
        }
        self.take_while(is_space);
        if !self.take_if(b'=') {
            return Some((name, &[]));
        }
        self.take_while(is_space);
        for quote in [b'"', b'\''] {
            if self.take_if(quote) {
                let value = self.take_while(|b| b != quote);
                self.skip(1);
                return Some((name, value));
            }
        }
        Some((name, self.take_while(|b| !is_space(b) && b != b'>')))
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | 0x0C | b'\r' | b' ')
}
