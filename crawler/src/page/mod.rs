//! One streaming pass over a page: title, robots meta tags, links, text, and the text that a
//! snippet may show. No DOM is built, no script runs, and every result is bounded.
//!
//! The markup is cut into tokens as the HTML standard says; the stack of open elements keeps as
//! much of its tree construction as is needed to know what lies inside what. Where the two could differ from a
//! browser's tree, the reading that shows less is taken.
//!
//! What counts as text: what a reader without scripts and style sheets would see, except the
//! content of `noscript` (it repeats the page, or asks for scripts), `textarea`, SVG titles, and
//! fallback text of frames. Attributes such as `hidden` are not evaluated.

mod charset;
mod dates;
mod header_links;
mod links;
mod markup;
mod media;
mod names;
mod pass;
mod refresh;
mod resolve;
mod srcset;
mod text;
mod tokens;
mod tree;

#[cfg(test)]
mod tests;

use url::Url;

pub(crate) use charset::decode_html;
pub use dates::PageDates;
pub use header_links::{HeaderLinks, header_links};
pub use media::PageKind;
pub use refresh::{Refresh, parse_refresh};
pub(crate) use resolve::Resolver;

/// What one scan may keep and use. Each limit that was reached shows in the [`Page`].
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ScanLimits {
    /// Links kept of one page, images apart.
    pub links: usize,
    /// Images kept of one page.
    pub images: usize,
    /// Longest link address, in bytes, before and after it is resolved.
    pub url_bytes: usize,
    /// Characters of link text kept with a link.
    pub anchor_chars: usize,
    /// Characters of the title.
    pub title_chars: usize,
    /// Bytes of [`Page::text`].
    pub text_bytes: usize,
    /// Bytes of [`Page::snippet_text`].
    pub snippet_bytes: usize,
    /// Bytes of [`Page::headings`].
    pub heading_bytes: usize,
    /// Bytes of [`Page::structured_data`], all together.
    pub structured_bytes: usize,
    /// Meta tags kept that might be rules for robots: so many named `robots`, and so many others.
    pub meta_tags: usize,
    /// Bytes kept of one meta tag's content.
    pub meta_content_bytes: usize,
}

impl Default for ScanLimits {
    fn default() -> Self {
        Self {
            links: 10_000,
            images: 2_000,
            url_bytes: 4_096,
            anchor_chars: 200,
            title_chars: 500,
            text_bytes: 1 << 20,
            snippet_bytes: 256 << 10,
            heading_bytes: 32 << 10,
            structured_bytes: 256 << 10,
            meta_tags: 1_000,
            meta_content_bytes: 16 << 10,
        }
    }
}

/// What one pass taught about a page.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Page {
    /// How the body was read.
    pub kind: PageKind,
    /// The character set it was decoded from, by its Encoding Standard name.
    pub charset: &'static str,
    /// The first `title` that is not empty.
    pub title: Option<String>,
    /// The address that the page's head names as canonical (LK-004, LK-007); none if it names
    /// several that differ. A hint only.
    pub canonical: Option<Url>,
    /// The language of the `html` element, as written.
    pub language: Option<String>,
    /// Meta tags that might be rules for robots, in document order (AM-40).
    pub robots_meta: Vec<MetaTag>,
    /// Where the page says it has moved, if it does so outside `noscript`.
    pub meta_refresh: Option<Refresh>,
    /// Links with an http or https address, resolved, without fragment, in document order.
    pub links: Vec<Link>,
    /// What a reader would see: lines for blocks, single blanks inside them.
    pub text: String,
    /// The same without what `data-nosnippet` covers (SN-001).
    pub snippet_text: String,
    /// Headings (`h1` to `h6`) and terms that are defined (`dt`), a line each.
    pub headings: String,
    /// When it says it was published and changed.
    pub dates: PageDates,
    /// JSON-LD scripts, as written. `data-nosnippet` does not touch them (SN-005).
    pub structured_data: Vec<String>,
    /// What was left out for its size.
    pub dropped: Dropped,
}

/// What a scan left out because a limit was reached.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Dropped {
    /// Links beyond [`ScanLimits::links`].
    pub links: u32,
    /// Images beyond [`ScanLimits::images`].
    pub images: u32,
    /// Links longer than [`ScanLimits::url_bytes`].
    pub long_links: u32,
    /// Meta tags beyond [`ScanLimits::meta_tags`], or cut at [`ScanLimits::meta_content_bytes`].
    pub meta_tags: u32,
    /// JSON-LD scripts that did not fit into [`ScanLimits::structured_bytes`].
    pub structured_data: u32,
    /// Whether the text was cut.
    pub text: bool,
}

/// A `meta` element with a name that could be `robots` or a crawler's product token.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct MetaTag {
    /// Which of the document's `meta` elements it is, from 0.
    pub ordinal: u32,
    /// Its name, as written.
    pub name: String,
    /// Its content.
    pub content: String,
}

/// A link found on a page.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Link {
    /// Where it leads, without fragment.
    pub url: Url,
    /// Its `rel` attribute, as written; empty if there is none.
    pub rel: String,
    /// The language that it says its target has, as written; empty if it says none (LK-006).
    pub hreflang: String,
    /// What kind of element it is.
    pub kind: LinkKind,
    /// The text that it stands on; of an image the text in its place.
    pub anchor: String,
    /// Whether `data-nosnippet` covers it, or any of that text.
    pub is_hidden: bool,
}

/// What kind of link it is; page-wide nofollow speaks of hyperlinks only (AM-62).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LinkKind {
    /// `a` or `area`.
    Hyperlink,
    /// `iframe` or `frame`.
    Frame,
    /// A meta refresh.
    Refresh,
    /// The page's canonical address.
    Canonical,
    /// `link` with `alternate`: the page in another language or form.
    Alternate,
    /// `link` with `next` or `prev`: the page's neighbours.
    Sequence,
    /// `img`, `picture`, an input that is an image, a video's poster: what an image search is for.
    Image,
    /// `video`, `audio`, their sources and tracks.
    Media,
    /// `embed` or `object`.
    Embed,
    /// A form that is sent by GET. Nothing says what to fill in, so nobody follows it.
    Form,
}

impl LinkKind {
    /// The name used in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hyperlink => "hyperlink",
            Self::Frame => "frame",
            Self::Refresh => "refresh",
            Self::Canonical => "canonical",
            Self::Alternate => "alternate",
            Self::Sequence => "sequence",
            Self::Image => "image",
            Self::Media => "media",
            Self::Embed => "embed",
            Self::Form => "form",
        }
    }
}

/// Reads a page: HTML and XHTML for all that a [`Page`] holds, plain text for its text, anything
/// else for nothing.
///
/// `url` is where the body came from; `content_type` is that header's value. Time and memory are
/// linear in the body, whatever it holds. XHTML is read as HTML, so a `<script/>` there swallows
/// what follows it.
pub fn scan(body: &[u8], content_type: Option<&str>, url: &Url, limits: &ScanLimits) -> Page {
    let kind = PageKind::of(body, content_type);
    match kind {
        PageKind::Html => {
            let (html, encoding) = charset::decode_html(body, content_type, url);
            pass::scan_html(&html, encoding, url, limits)
        }
        PageKind::PlainText => {
            let (text, encoding) = charset::decode_text(body, content_type, url);
            plain_text(&text, encoding.name(), limits)
        }
        PageKind::Other => Page::empty(kind, ""),
    }
}

impl Page {
    /// A page of which nothing is known.
    fn empty(kind: PageKind, charset: &'static str) -> Self {
        Self {
            kind,
            charset,
            title: None,
            canonical: None,
            language: None,
            robots_meta: Vec::new(),
            meta_refresh: None,
            links: Vec::new(),
            text: String::new(),
            snippet_text: String::new(),
            headings: String::new(),
            dates: PageDates::default(),
            structured_data: Vec::new(),
            dropped: Dropped::default(),
        }
    }
}

fn plain_text(text: &str, charset: &'static str, limits: &ScanLimits) -> Page {
    let mut whole = text::Text::with_limit(limits.text_bytes);
    let mut for_snippets = text::Text::with_limit(limits.snippet_bytes);
    for line in text.lines() {
        whole.push(line);
        whole.break_line();
        for_snippets.push(line);
        for_snippets.break_line();
    }
    let mut page = Page::empty(PageKind::PlainText, charset);
    page.dropped.text = whole.is_cut();
    page.text = whole.into_string();
    page.snippet_text = for_snippets.into_string();
    page
}
