//! Markup cut into tokens, as the HTML standard's tokeniser does (13.2.5) for whoever wants no
//! comments. Tokens are slices of the page: nothing is copied, and the time is linear.
//!
//! Which element's content is no markup depends on the tree, so the caller says it after a start
//! tag, see [`Tokens::read_content_of`].

use std::borrow::Cow;

use memchr::{memchr, memchr2};

use super::names::{
    IFRAME, NOEMBED, NOFRAMES, Name, PLAINTEXT, SCRIPT, STYLE, TEXTAREA, TITLE, XMP,
};

/// A piece of a page.
#[derive(Clone, Copy, Debug)]
pub(super) enum Token<'h> {
    Text(Text<'h>),
    Start(Tag<'h>),
    /// The name of an end tag, as written.
    End(&'h str),
    /// What stands between `<!doctype` and `>`.
    Doctype(&'h str),
}

/// Text as it is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Text<'h> {
    pub(super) written: &'h str,
    pub(super) kind: TextKind,
}

/// What a text is written in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum TextKind {
    /// Between tags, or in an element that has no other content than text: character references
    /// stand for characters.
    Escaped,
    /// It means what it says.
    Raw,
    /// The content of a script.
    Script,
}

/// A start tag.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tag<'h> {
    /// The name, as written.
    pub(super) name: &'h str,
    pub(super) is_self_closing: bool,
    /// What follows the name, `>` included.
    rest: &'h str,
}

impl<'h> Tag<'h> {
    /// An attribute's value with its character references resolved. `name` is in small letters.
    pub(super) fn attribute(&self, name: &str) -> Option<Cow<'h, str>> {
        let (_, value) = self.attributes().find(|(key, _)| key.eq_ignore_ascii_case(name))?;
        Some(htmlize::unescape_attribute(value))
    }

    pub(super) fn has_attribute(&self, name: &str) -> bool {
        self.attributes().any(|(key, _)| key.eq_ignore_ascii_case(name))
    }

    /// Names and values, as written; of several with one name the first counts.
    pub(super) fn attributes(&self) -> impl Iterator<Item = (&'h str, &'h str)> + use<'h> {
        let mut inside = Inside { html: self.rest, at: 0 };
        std::iter::from_fn(move || match inside.piece() {
            Piece::Attribute(name, value) => Some((name, value)),
            Piece::End { .. } | Piece::Unfinished => None,
        })
    }
}

/// What is being read.
#[derive(Clone, Copy)]
enum Content<'h> {
    Markup,
    /// Text up to the end tag of this name.
    Text(TextKind, &'h str),
    /// Text up to the end of the page.
    Plain,
}

/// The tokens of a page.
pub(super) struct Tokens<'h> {
    html: &'h str,
    at: usize,
    content: Content<'h>,
}

impl<'h> Tokens<'h> {
    pub(super) fn new(html: &'h str) -> Self {
        Self { html, at: 0, content: Content::Markup }
    }

    /// Says which element the start tag made that was read last: the content of some is text
    /// (HTML standard 13.2.6.2). That of `noscript` is markup, for no scripts run here.
    pub(super) fn read_content_of(&mut self, tag: &Tag<'h>, element: Name) {
        self.content = match element {
            TITLE | TEXTAREA => Content::Text(TextKind::Escaped, tag.name),
            STYLE | XMP | IFRAME | NOEMBED | NOFRAMES => Content::Text(TextKind::Raw, tag.name),
            SCRIPT => Content::Text(TextKind::Script, tag.name),
            PLAINTEXT => Content::Plain,
            _ => Content::Markup,
        };
    }

    /// The next token; `in_foreign` is whether the innermost open element is SVG or MathML, where
    /// CDATA sections mean something.
    pub(super) fn next(&mut self, in_foreign: bool) -> Option<Token<'h>> {
        match std::mem::replace(&mut self.content, Content::Markup) {
            Content::Markup => self.markup(in_foreign),
            Content::Plain => {
                let written = self.take_to(self.html.len());
                (!written.is_empty()).then_some(text(written, TextKind::Raw))
            }
            Content::Text(kind, name) => {
                let rest = self.rest();
                let end = match kind {
                    TextKind::Script => end_of_script(rest, name),
                    TextKind::Escaped | TextKind::Raw => end_of_text(rest, name),
                };
                let written = self.take_to(self.at + end);
                if written.is_empty() { self.markup(in_foreign) } else { Some(text(written, kind)) }
            }
        }
    }

    fn markup(&mut self, in_foreign: bool) -> Option<Token<'h>> {
        let mut from = self.at;
        loop {
            let Some(open) = find(self.html, from, b'<') else {
                let written = self.take_to(self.html.len());
                return (!written.is_empty()).then_some(text(written, TextKind::Escaped));
            };
            let behind = self.html.get(open + 1..).unwrap_or_default();
            let Some(markup) = Markup::of(behind, in_foreign) else {
                from = open + 1;
                continue;
            };
            let written = self.take_to(open);
            if !written.is_empty() {
                return Some(text(written, TextKind::Escaped));
            }
            let token = self.token(markup);
            if token.is_some() || self.at >= self.html.len() {
                return token;
            }
            from = self.at;
        }
    }

    /// Reads the markup that begins here; none if it makes no token.
    fn token(&mut self, markup: Markup) -> Option<Token<'h>> {
        let start = self.at + markup.opening();
        match markup {
            Markup::StartTag => self.tag(start).map(Token::Start),
            Markup::EndTag => self.tag(start).map(|tag| Token::End(tag.name)),
            Markup::Comment => {
                let body = self.html.get(start..).unwrap_or_default();
                self.take_to(start + comment_len(body));
                None
            }
            Markup::Bogus => {
                self.take_to(find(self.html, start, b'>').map_or(self.html.len(), |end| end + 1));
                None
            }
            Markup::Doctype => {
                let end = find(self.html, start, b'>').unwrap_or(self.html.len());
                let inside = self.html.get(start..end).unwrap_or_default();
                self.take_to((end + 1).min(self.html.len()));
                Some(Token::Doctype(inside))
            }
            Markup::Cdata => {
                let body = self.html.get(start..).unwrap_or_default();
                let end = memchr::memmem::find(body.as_bytes(), b"]]>");
                let written = body.get(..end.unwrap_or(body.len())).unwrap_or_default();
                self.take_to(end.map_or(self.html.len(), |end| start + end + 3));
                (!written.is_empty()).then_some(text(written, TextKind::Raw))
            }
        }
    }

    /// The tag whose name begins at `start`. What the page does not finish is none, and its end.
    fn tag(&mut self, start: usize) -> Option<Tag<'h>> {
        let behind = self.html.get(start..).unwrap_or_default();
        let name = behind.get(..name_len(behind)).unwrap_or_default();
        let after_name = start + name.len();
        let mut inside = Inside { html: self.html, at: after_name };
        loop {
            match inside.piece() {
                Piece::Attribute(..) => {}
                Piece::End { is_self_closing } => {
                    self.at = inside.at;
                    let rest = self.html.get(after_name..inside.at).unwrap_or_default();
                    return Some(Tag { name, is_self_closing, rest });
                }
                Piece::Unfinished => {
                    self.at = self.html.len();
                    return None;
                }
            }
        }
    }

    fn rest(&self) -> &'h str {
        self.html.get(self.at..).unwrap_or_default()
    }

    fn take_to(&mut self, end: usize) -> &'h str {
        let taken = self.html.get(self.at..end).unwrap_or_default();
        self.at = end;
        taken
    }
}

fn text(written: &str, kind: TextKind) -> Token<'_> {
    Token::Text(Text { written, kind })
}

/// What a `<` begins.
#[derive(Clone, Copy)]
enum Markup {
    StartTag,
    EndTag,
    Comment,
    /// What the standard takes for a comment that ends at the next `>`.
    Bogus,
    Doctype,
    Cdata,
}

impl Markup {
    /// What the text behind a `<` begins; nothing if that `<` is text.
    fn of(behind: &str, in_foreign: bool) -> Option<Self> {
        let bytes = behind.as_bytes();
        Some(match bytes.first()? {
            first if first.is_ascii_alphabetic() => Self::StartTag,
            b'/' => match bytes.get(1)? {
                next if next.is_ascii_alphabetic() => Self::EndTag,
                _ => Self::Bogus,
            },
            b'!' if behind.starts_with("!--") => Self::Comment,
            b'!' if starts_with(behind, "!doctype") => Self::Doctype,
            b'!' if in_foreign && behind.starts_with("![CDATA[") => Self::Cdata,
            b'!' | b'?' => Self::Bogus,
            _ => return None,
        })
    }

    /// How many bytes begin it.
    const fn opening(self) -> usize {
        match self {
            Self::StartTag | Self::Bogus => "<".len(),
            Self::EndTag => "</".len(),
            Self::Comment => "<!--".len(),
            Self::Doctype => "<!doctype".len(),
            Self::Cdata => "<![CDATA[".len(),
        }
    }
}

/// Inside a tag, behind its name.
struct Inside<'h> {
    html: &'h str,
    at: usize,
}

enum Piece<'h> {
    Attribute(&'h str, &'h str),
    End {
        is_self_closing: bool,
    },
    /// The page ends inside the tag.
    Unfinished,
}

impl<'h> Inside<'h> {
    fn peek(&self) -> Option<u8> {
        self.html.as_bytes().get(self.at).copied()
    }

    fn piece(&mut self) -> Piece<'h> {
        let mut is_self_closing = false;
        loop {
            match self.peek() {
                None => return Piece::Unfinished,
                Some(b'>') => {
                    self.at += 1;
                    return Piece::End { is_self_closing };
                }
                Some(b'/') => is_self_closing = true,
                Some(byte) if byte.is_ascii_whitespace() => is_self_closing = false,
                Some(_) => break,
            }
            self.at += 1;
        }
        // An equals sign at the start belongs to the name.
        let name = self.take_while(1, |byte| !is_blank_or(byte, b"/>="));
        self.take_while(0, |byte| byte.is_ascii_whitespace());
        if self.peek() != Some(b'=') {
            return Piece::Attribute(name, "");
        }
        self.at += 1;
        self.take_while(0, |byte| byte.is_ascii_whitespace());
        let value = match self.peek() {
            Some(quote @ (b'"' | b'\'')) => {
                let Some(end) = find(self.html, self.at + 1, quote) else {
                    self.at = self.html.len();
                    return Piece::Unfinished;
                };
                let value = self.html.get(self.at + 1..end).unwrap_or_default();
                self.at = end + 1;
                value
            }
            Some(_) | None => self.take_while(0, |byte| !is_blank_or(byte, b">")),
        };
        Piece::Attribute(name, value)
    }

    /// Takes at least `least` bytes, and on to the first that is not wanted, or to the end.
    fn take_while(&mut self, least: usize, is_wanted: impl Fn(u8) -> bool) -> &'h str {
        let rest = self.html.as_bytes().get(self.at..).unwrap_or_default();
        let more = rest.iter().skip(least).take_while(|byte| is_wanted(**byte)).count();
        let start = self.at;
        self.at = (start + least + more).min(self.html.len());
        self.html.get(start..self.at).unwrap_or_default()
    }
}

fn is_blank_or(byte: u8, others: &[u8]) -> bool {
    byte.is_ascii_whitespace() || others.contains(&byte)
}

/// How long the name of a tag is that begins here.
fn name_len(behind: &str) -> usize {
    behind.bytes().take_while(|byte| !is_blank_or(*byte, b"/>")).count()
}

/// Whether a text begins with a word that is given in small letters.
pub(super) fn starts_with(text: &str, word: &str) -> bool {
    text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
}

/// Where the byte is first found, not before `from`.
fn find(html: &str, from: usize, byte: u8) -> Option<usize> {
    memchr(byte, html.as_bytes().get(from..)?).map(|at| from + at)
}

/// How long a comment is behind its `<!--`, its end included.
fn comment_len(body: &str) -> usize {
    if let Some(short) = [">", "->"].iter().find(|short| body.starts_with(**short)) {
        return short.len();
    }
    let bytes = body.as_bytes();
    let ends = memchr::memchr_iter(b'>', bytes);
    let end = ends.into_iter().find(|end| {
        let before = bytes.get(..*end).unwrap_or_default();
        before.ends_with(b"--") || before.ends_with(b"--!")
    });
    end.map_or(body.len(), |end| end + 1)
}

/// Whether `behind`, which follows a `<`, is an end tag of this name.
fn is_end_tag(behind: &str, name: &str) -> bool {
    let Some(found) = behind.strip_prefix('/') else { return false };
    found.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
        && found.as_bytes().get(name.len()).is_some_and(|byte| is_blank_or(*byte, b"/>"))
}

/// Where the text ends that an end tag of this name ends.
fn end_of_text(rest: &str, name: &str) -> usize {
    let opens = memchr::memchr_iter(b'<', rest.as_bytes());
    let end =
        opens.into_iter().find(|open| is_end_tag(rest.get(open + 1..).unwrap_or_default(), name));
    end.unwrap_or(rest.len())
}

/// How far a script has got towards an end that is hidden in what looks like a comment
/// (HTML standard 13.2.5.15 to 13.2.5.31).
#[derive(Clone, Copy, PartialEq)]
enum Hidden {
    No,
    /// Behind `<!--`.
    Escaped,
    /// Behind `<!--` and `<script`: the next end tag is no end.
    Twice,
}

/// Where a script ends.
fn end_of_script(rest: &str, name: &str) -> usize {
    let (mut at, mut hidden) = (0, Hidden::No);
    let bytes = rest.as_bytes();
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr2(b'<', b'-', rest)) {
        at += found;
        let behind = rest.get(at + 1..).unwrap_or_default();
        if bytes.get(at) == Some(&b'-') {
            if hidden != Hidden::No && behind.starts_with("->") {
                hidden = Hidden::No;
            }
            at += 1;
            continue;
        }
        let names_script = |behind: &str| {
            let end = behind.as_bytes().get("script".len());
            starts_with(behind, "script") && end.is_some_and(|byte| is_blank_or(*byte, b"/>"))
        };
        match hidden {
            Hidden::No if behind.starts_with("!--") => {
                hidden = Hidden::Escaped;
                // Its dashes may be those of `-->` already.
                at += 1;
            }
            Hidden::No | Hidden::Escaped if is_end_tag(behind, name) => return at,
            Hidden::Escaped if names_script(behind) => hidden = Hidden::Twice,
            Hidden::Twice if behind.strip_prefix('/').is_some_and(names_script) => {
                hidden = Hidden::Escaped;
            }
            Hidden::No | Hidden::Escaped | Hidden::Twice => {}
        }
        at += 1;
    }
    rest.len()
}
