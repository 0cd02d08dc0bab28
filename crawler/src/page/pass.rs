//! The pass itself: tokens in document order, and what each adds to the page.

use std::borrow::Cow;

use encoding_rs::Encoding;
use url::Url;

use super::links::{self, Links, kind_of_link_element, resources};
use super::markup::{has_standards_mode, holds_html, may_be_for_robots};
use super::names::{
    A, BASE, DD, DT, FONT, FRAME, FRAMESET, H1, H2, H3, H4, H5, H6, HTML, LINK, META, NOTHING,
    Name, SCRIPT, SVG_A, TIME, TITLE,
};
use super::resolve::{Resolver, only};
use super::text::{Text, char_boundary_at_or_before, one_line};
use super::tokens::{self, Tag, TextKind, Token, Tokens};
use super::tree::{OpenElements, StartTag};
use super::{
    Dropped, LinkKind, MetaTag, Page, PageDates, PageKind, Refresh, ScanLimits, parse_refresh,
};

/// The media type of structured data in a script element.
const JSON_LD: &str = "application/ld+json";

/// Longest language tag that is kept, in characters (RFC 5646 4.4.1).
const LANGUAGE_CHARS: usize = 35;

/// The longest name of a character reference, `&CounterClockwiseContourIntegral;`, in bytes.
const REFERENCE_BYTES_MAX: usize = 33;

/// More canonical addresses than this cannot agree any better.
const CANONICALS_MAX: usize = 8;

/// Reads decoded markup; `encoding` is what it was decoded from.
pub(super) fn scan_html(
    html: &str,
    encoding: &'static Encoding,
    url: &Url,
    limits: &ScanLimits,
) -> Page {
    let mut pass = Pass::new(limits);
    let mut tokens = Tokens::new(html);
    while let Some(token) = tokens.next(pass.tree.in_foreign()) {
        match token {
            Token::Text(text) => pass.text(text),
            Token::Start(tag) => {
                let element = pass.element(&tag);
                tokens.read_content_of(&tag, element);
            }
            Token::End(name) => pass.end_tag(Name::of(name)),
            Token::Doctype(doctype) if has_standards_mode(doctype) => pass.tree.leave_quirks_mode(),
            Token::Doctype(_) => {}
        }
    }
    pass.finish(encoding, url)
}

/// Whether frames take the place of a body (HTML standard 13.2.6.4.6, 13.2.6.4.20).
#[derive(Clone, Copy, Eq, PartialEq)]
enum Frames {
    None,
    /// They come late: they take it if nothing was to be seen before, which is not known here.
    Perhaps,
    /// They do: nobody sees what else the page holds.
    Only,
}

impl Frames {
    fn with_frameset(self, in_head: bool) -> Self {
        if in_head || self == Self::Only { Self::Only } else { Self::Perhaps }
    }
}

struct Pass<'p> {
    limits: &'p ScanLimits,
    tree: OpenElements,
    in_head: bool,
    frames: Frames,
    /// Whether the script being read is structured data.
    is_structured: bool,
    base: Option<String>,
    title: Option<String>,
    language: Option<String>,
    canonicals: Vec<String>,
    metas_seen: u32,
    robots_meta: Vec<MetaTag>,
    refresh: Option<(u32, String)>,
    structured_data: Vec<String>,
    structured_bytes: usize,
    links: Links,
    /// Which link the text belongs to, and that text so far.
    anchor: Option<(usize, Text)>,
    /// Whether any of that is hidden from snippets.
    anchor_hidden: bool,
    text: Text,
    /// Text for snippets, since it is another than `text`.
    snippet_text: Option<Text>,
    headings: Text,
    in_heading: bool,
    dates: PageDates,
    dropped: Dropped,
}

impl<'p> Pass<'p> {
    fn new(limits: &'p ScanLimits) -> Self {
        Self {
            limits,
            tree: OpenElements::default(),
            in_head: true,
            frames: Frames::None,
            is_structured: false,
            base: None,
            title: None,
            language: None,
            canonicals: Vec::new(),
            metas_seen: 0,
            robots_meta: Vec::new(),
            refresh: None,
            structured_data: Vec::new(),
            structured_bytes: 0,
            links: Links::default(),
            anchor: None,
            anchor_hidden: false,
            text: Text::with_limit(limits.text_bytes),
            snippet_text: None,
            headings: Text::with_limit(limits.heading_bytes),
            in_heading: false,
            dates: PageDates::default(),
            dropped: Dropped::default(),
        }
    }

    fn end_tag(&mut self, name: Name) {
        self.break_around(name);
        if name == A {
            self.end_anchor();
        }
        if name.is_heading() || name == DT {
            self.in_heading = false;
        }
        self.tree.end(name);
    }

    /// Takes a start tag; says which element it makes.
    fn element(&mut self, tag: &Tag<'_>) -> Name {
        let name = Name::of(tag.name);
        if self.frames == Frames::Only && !name.belongs_to_frames() {
            return NOTHING;
        }
        self.break_around(name);
        let is_live = !self.tree.in_template();
        if is_live && !self.tree.in_noscript() && !name.belongs_in_head() {
            if name == FRAMESET {
                self.frames = self.frames.with_frameset(self.in_head);
            }
            self.in_head = false;
        }
        let hid = self.tree.hides_snippet();
        let placed = self.tree.start(StartTag {
            name,
            is_self_closing: tag.is_self_closing,
            is_styled_font: name == FONT
                && ["color", "face", "size"].iter().any(|key| tag.has_attribute(key)),
            is_html_annotation: name.in_foreign().is_annotation() && holds_html(tag),
            hides_snippet: name.may_hide_snippet() && tag.has_attribute("data-nosnippet"),
        });
        if self.tree.hides_snippet() != hid && !self.tree.is_silent() {
            // Words on both sides of a hidden part were never one word.
            self.part_snippet_text().break_word();
        }
        self.metas_seen += u32::from(name == META);
        self.is_structured = false;
        if is_live && (placed != FRAME || self.frames != Frames::None) {
            self.attributes(tag, placed);
        }
        placed
    }

    /// What a tag says by its attributes, outside templates (AM-40).
    fn attributes(&mut self, tag: &Tag<'_>, name: Name) {
        match name {
            META => self.meta(tag),
            TIME => self.dates.note(tag, TIME),
            H1 | H2 | H3 | H4 | H5 | H6 | DT => {
                self.headings.break_line();
                self.in_heading = true;
            }
            // The end of a term need not be written.
            DD => self.in_heading = false,
            SCRIPT => {
                self.is_structured = tag
                    .attribute("type")
                    .is_some_and(|kind| kind.trim_ascii().eq_ignore_ascii_case(JSON_LD));
            }
            A | SVG_A => {
                self.end_anchor();
                let in_svg = || tag.attribute("xlink:href").filter(|_| name == SVG_A);
                let href = tag.attribute("href").or_else(in_svg);
                if let Some(link) = self.link(href, tag, LinkKind::Hyperlink) {
                    let text = Text::with_limit(self.limits.anchor_chars.saturating_mul(4));
                    self.anchor = Some((link, text));
                    self.anchor_hidden = false;
                }
            }
            LINK => self.link_element(tag),
            BASE if self.base.is_none() => self.base = tag.attribute("href").map(Cow::into_owned),
            HTML if self.language.is_none() => {
                self.language = tag
                    .attribute("lang")
                    .or_else(|| tag.attribute("xml:lang"))
                    .map(|language| one_line(&language, LANGUAGE_CHARS))
                    .filter(|language| !language.is_empty());
            }
            _ => {
                for (kind, address) in resources(tag, name) {
                    self.link(Some(address), tag, kind);
                }
            }
        }
    }

    fn meta(&mut self, tag: &Tag<'_>) {
        self.dates.note(tag, META);
        let Some(content) = tag.attribute("content") else {
            return;
        };
        if tag.attribute("http-equiv").is_some_and(|key| key.eq_ignore_ascii_case("refresh"))
            && let Some((delay_s, address)) = parse_refresh(&content)
        {
            let moves = !self.tree.in_noscript() && self.refresh.is_none();
            if moves && address.len() <= self.limits.url_bytes {
                self.refresh = Some((delay_s, address.to_owned()));
            }
            self.link(Some(address.into()), tag, LinkKind::Refresh);
        }
        let Some(name) = tag.attribute("name") else {
            return;
        };
        let name = name.trim_ascii();
        if may_be_for_robots(name) {
            self.robots_rules(name, &content);
        }
    }

    fn robots_rules(&mut self, name: &str, content: &str) {
        // Tags for crawlers that nobody knows leave room for those for all.
        let is_for_all = name.eq_ignore_ascii_case("robots");
        let kept = self.robots_meta.iter();
        let kept = kept.filter(|tag| tag.name.eq_ignore_ascii_case("robots") == is_for_all);
        if kept.count() >= self.limits.meta_tags {
            self.dropped.meta_tags += 1;
            return;
        }
        let kept = char_boundary_at_or_before(content, self.limits.meta_content_bytes);
        self.dropped.meta_tags += u32::from(kept < content.len());
        let content = content.get(..kept).unwrap_or_default().to_owned();
        self.robots_meta.push(MetaTag {
            ordinal: self.metas_seen - 1,
            name: name.to_owned(),
            content,
        });
    }

    fn link_element(&mut self, tag: &Tag<'_>) {
        let kind = tag.attribute("rel").and_then(|rel| kind_of_link_element(&rel));
        let Some(kind) = kind else {
            return;
        };
        if kind == LinkKind::Canonical {
            let is_qualified =
                ["hreflang", "lang", "media", "type"].iter().any(|name| tag.has_attribute(name));
            let counts = self.in_head && !self.tree.in_noscript() && !is_qualified;
            if let Some(href) = tag.attribute("href").filter(|_| counts)
                && self.canonicals.len() < CANONICALS_MAX
                && href.len() <= self.limits.url_bytes
            {
                self.canonicals.push(href.into_owned());
            }
        } else {
            self.link(tag.attribute("href"), tag, kind);
        }
    }

    /// Keeps a link; says which it is.
    fn link(&mut self, href: Option<Cow<'_, str>>, tag: &Tag<'_>, kind: LinkKind) -> Option<usize> {
        let what = (kind, self.tree.hides_snippet());
        self.links.keep(href?, tag, what, self.limits, &mut self.dropped)
    }

    fn text(&mut self, text: tokens::Text<'_>) {
        let written = text.written;
        if text.kind == TextKind::Script {
            if self.is_structured {
                self.take_structured(written);
            }
            return;
        }
        // No more of it could be kept, however much of it is references.
        let room = self.limits.text_bytes.saturating_mul(REFERENCE_BYTES_MAX);
        let written = written.get(..char_boundary_at_or_before(written, room)).unwrap_or_default();
        match text.kind {
            TextKind::Escaped => self.take_text(&htmlize::unescape(written)),
            TextKind::Raw | TextKind::Script => self.take_text(written),
        }
    }

    /// Half a JSON text is none, so one that does not fit is left out.
    fn take_structured(&mut self, json: &str) {
        if self.structured_bytes + json.len() > self.limits.structured_bytes {
            self.dropped.structured_data += 1;
        } else if !json.trim().is_empty() {
            self.structured_bytes += json.len();
            self.structured_data.push(json.to_owned());
        }
    }

    fn take_text(&mut self, text: &str) {
        if self.frames == Frames::Only {
            return;
        }
        let is_title = self.tree.current() == Some(TITLE);
        let may_be_shown = !self.tree.in_template() && !self.tree.hides_snippet();
        if is_title && self.title.is_none() && may_be_shown {
            let title = one_line(text, self.limits.title_chars);
            self.title = Some(title).filter(|title| !title.is_empty());
        }
        if self.tree.is_silent() {
            return;
        }
        if !text.trim().is_empty() {
            self.in_head = false;
        }
        if self.tree.hides_snippet() {
            self.part_snippet_text();
        } else if let Some(snippet_text) = &mut self.snippet_text {
            snippet_text.push(text);
        }
        self.text.push(text);
        if self.in_heading {
            self.headings.push(text);
        }
        if let Some((_, anchor)) = &mut self.anchor {
            anchor.push(text);
            self.anchor_hidden |= self.tree.hides_snippet();
        }
    }

    /// The text for snippets, which goes its own way from here on.
    fn part_snippet_text(&mut self) -> &mut Text {
        let limit = self.limits.snippet_bytes;
        self.snippet_text.get_or_insert_with(|| self.text.with_other_limit(limit))
    }

    fn break_around(&mut self, name: Name) {
        if name.breaks_line() && !self.tree.is_silent() {
            self.text.break_line();
            if let Some(snippet_text) = &mut self.snippet_text {
                snippet_text.break_line();
            }
            if let Some((_, anchor)) = &mut self.anchor {
                anchor.break_word();
            }
        }
    }

    fn end_anchor(&mut self) {
        if let Some((link, text)) = self.anchor.take() {
            let text = one_line(&text.into_string(), self.limits.anchor_chars);
            self.links.anchor(link, text, self.anchor_hidden);
        }
    }

    fn finish(mut self, encoding: &'static Encoding, url: &Url) -> Page {
        self.end_anchor();
        let resolver = Resolver::new(self.base.as_deref(), encoding, url);
        let limit = self.limits.url_bytes;
        let mut page = Page::empty(PageKind::Html, encoding.name());
        let canonicals = self.canonicals.iter().filter_map(|c| resolver.resolve(c));
        page.canonical = only(canonicals.filter(|url| url.as_str().len() <= limit));
        page.meta_refresh = self.refresh.take().and_then(|(delay_s, address)| {
            let url = resolver.resolve(&address)?;
            Some(Refresh { delay_s, url })
        });
        page.links = self.links.resolved(&resolver, limit, &mut self.dropped);
        page.links.extend(page.canonical.clone().map(links::canonical));
        self.dropped.text = self.text.is_cut();
        page.title = self.title;
        page.language = self.language;
        page.robots_meta = self.robots_meta;
        page.structured_data = self.structured_data;
        page.headings = self.headings.into_string();
        page.dates = self.dates;
        page.snippet_text = match self.snippet_text {
            Some(other) => other.into_string(),
            None => self.text.with_other_limit(self.limits.snippet_bytes).into_string(),
        };
        page.text = self.text.into_string();
        page.dropped = self.dropped;
        page
    }
}
