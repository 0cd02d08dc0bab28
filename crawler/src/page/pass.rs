//! The pass itself: tokens in document order, and what each adds to the page.

use std::borrow::Cow;
use std::cell::RefCell;

use encoding_rs::Encoding;
use lol_html::html_content::{Element, TextChunk, TextType};
use lol_html::{DocumentContentHandlers, HtmlRewriter, MemorySettings, Settings, element};
use url::Url;

use super::links::{self, Links, kind_of_link_element, resources};
use super::markup::{
    attribute, has_standards_mode, holds_html, mask_names, may_be_for_robots, skip_attributes,
};
use super::names::{A, BASE, FONT, HTML, LINK, META, Name, SCRIPT, SVG_A, TITLE};
use super::resolve::{Resolver, only};
use super::text::{Text, one_line};
use super::tree::{OpenElements, StartTag};
use super::{Dropped, LinkKind, MetaTag, Page, PageKind, Refresh, ScanLimits, parse_refresh};

/// What the tokeniser takes at once: it panics where it may not.
const PREALLOCATED: usize = 1024;

/// The media type of structured data in a script element.
const JSON_LD: &str = "application/ld+json";

/// Longest language tag that is kept, in characters (RFC 5646 4.4.1).
const LANGUAGE_CHARS: usize = 35;

/// More canonical addresses than this cannot agree any better.
const CANONICALS_MAX: usize = 8;

/// Reads decoded markup; `encoding` is what it was decoded from.
pub(super) fn scan_html(
    html: &str,
    encoding: &'static Encoding,
    url: &Url,
    limits: &ScanLimits,
) -> Page {
    let html = mask_names(html);
    let pass = RefCell::new(Pass::new(&html, limits));
    let on_element = element!("*", |tag: &mut Element<'_, '_>| {
        pass.borrow_mut().element(tag);
        Ok(())
    });
    let on_other = DocumentContentHandlers::default()
        .text(|chunk: &mut TextChunk<'_>| {
            pass.borrow_mut().text(chunk);
            Ok(())
        })
        .comments(|comment: &mut lol_html::html_content::Comment<'_>| {
            let place = comment.source_location().bytes();
            pass.borrow_mut().move_to(place.start, place.end);
            Ok(())
        })
        .doctype(|doctype: &mut lol_html::html_content::Doctype<'_>| {
            let place = doctype.source_location().bytes();
            let mut pass = pass.borrow_mut();
            pass.move_to(place.start, place.end);
            if has_standards_mode(doctype) {
                pass.tree.leave_quirks_mode();
            }
            Ok(())
        });
    // An unfinished tag is held in the parser's buffer, so the page's own size comes on top.
    let parser_bytes = limits.parser_bytes.saturating_add(html.len());
    let memory = MemorySettings::new()
        .with_max_allowed_memory_usage(parser_bytes)
        .with_preallocated_parsing_buffer_size(parser_bytes.min(PREALLOCATED));
    let settings = Settings::new()
        .append_element_content_handler(on_element)
        .append_document_content_handler(on_other)
        .with_memory_settings(memory)
        .with_strict(false);
    let mut rewriter = HtmlRewriter::new(settings, |_: &[u8]| {});
    let read = rewriter.write(html.as_bytes());
    let read = match read {
        Ok(()) => rewriter.end(),
        Err(error) => {
            drop(rewriter);
            Err(error)
        }
    };
    let mut pass = pass.into_inner();
    pass.dropped.rest = read.is_err();
    pass.finish(encoding, url)
}

struct Pass<'p> {
    html: &'p str,
    limits: &'p ScanLimits,
    tree: OpenElements,
    /// Where the token before ended; what follows up to the next token are end tags.
    read_to: usize,
    text_node: String,
    text_type: TextType,
    in_head: bool,
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
    text: Text,
    snippet_text: Text,
    dropped: Dropped,
}

impl<'p> Pass<'p> {
    fn new(html: &'p str, limits: &'p ScanLimits) -> Self {
        Self {
            html,
            limits,
            tree: OpenElements::default(),
            read_to: 0,
            text_node: String::new(),
            text_type: TextType::Data,
            in_head: true,
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
            text: Text::with_limit(limits.text_bytes),
            snippet_text: Text::with_limit(limits.snippet_bytes),
            dropped: Dropped::default(),
        }
    }

    /// Takes the end tags between the last token and one that begins at `start`.
    ///
    /// `lol_html` reports an end tag only where its own simpler stack has that element open;
    /// since all other tokens are reported with their place, the gaps hold the end tags, all of
    /// them.
    fn move_to(&mut self, start: usize, end: usize) {
        self.end_text_node();
        let html = self.html;
        let mut gap = html.get(self.read_to..start).unwrap_or_default();
        while let Some((_, tag)) = gap.split_once("</") {
            let name_len = tag
                .find(|c: char| c.is_ascii_whitespace() || matches!(c, '/' | '>'))
                .unwrap_or(tag.len());
            let (name, rest) = tag.split_at_checked(name_len).unwrap_or((tag, ""));
            if name.starts_with(|c: char| c.is_ascii_alphabetic()) {
                self.end_tag(Name::of(name));
            }
            gap = skip_attributes(rest);
        }
        self.read_to = self.read_to.max(end);
    }

    fn end_tag(&mut self, name: Name) {
        self.break_around(name);
        if name == A {
            self.end_anchor();
        }
        self.tree.end(name);
    }

    fn element(&mut self, tag: &Element<'_, '_>) {
        let place = tag.source_location().bytes();
        self.move_to(place.start, place.end);
        let name = Name::of(&tag.tag_name());
        self.break_around(name);
        let is_live = !self.tree.in_template();
        if is_live && !self.tree.in_noscript() && !name.belongs_in_head() {
            self.in_head = false;
        }
        let hid = self.tree.hides_snippet();
        let placed = self.tree.start(StartTag {
            name,
            is_self_closing: tag.is_self_closing(),
            is_styled_font: name == FONT
                && ["color", "face", "size"].iter().any(|key| tag.has_attribute(key)),
            is_html_annotation: name.in_foreign().is_annotation() && holds_html(tag),
            hides_snippet: name.may_hide_snippet() && tag.has_attribute("data-nosnippet"),
        });
        if self.tree.hides_snippet() != hid && !self.tree.is_silent() {
            // Words on both sides of a hidden part were never one word.
            self.snippet_text.break_word();
        }
        self.metas_seen += u32::from(name == META);
        self.is_structured = false;
        if is_live {
            self.attributes(tag, placed);
        }
    }

    /// What a tag says by its attributes, outside templates (AM-40).
    fn attributes(&mut self, tag: &Element<'_, '_>, name: Name) {
        match name {
            META => self.meta(tag),
            SCRIPT => {
                self.is_structured = attribute(tag, "type")
                    .is_some_and(|kind| kind.trim_ascii().eq_ignore_ascii_case(JSON_LD));
            }
            A | SVG_A => {
                self.end_anchor();
                if let Some(link) = self.link(attribute(tag, "href"), tag, LinkKind::Hyperlink) {
                    let text = Text::with_limit(self.limits.anchor_chars.saturating_mul(4));
                    self.anchor = Some((link, text));
                }
            }
            LINK => self.link_element(tag),
            BASE if self.base.is_none() => self.base = attribute(tag, "href"),
            HTML if self.language.is_none() => {
                self.language = attribute(tag, "lang")
                    .or_else(|| attribute(tag, "xml:lang"))
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

    fn meta(&mut self, tag: &Element<'_, '_>) {
        let Some(content) = attribute(tag, "content") else {
            return;
        };
        if attribute(tag, "http-equiv").is_some_and(|key| key.eq_ignore_ascii_case("refresh"))
            && let Some((delay_s, address)) = parse_refresh(&content)
        {
            let moves = !self.tree.in_noscript() && self.refresh.is_none();
            if moves && address.len() <= self.limits.url_bytes {
                self.refresh = Some((delay_s, address.to_owned()));
            }
            self.link(Some(address.to_owned()), tag, LinkKind::Refresh);
        }
        let Some(name) = attribute(tag, "name") else {
            return;
        };
        let name = name.trim_ascii();
        if may_be_for_robots(name) {
            self.robots_rules(name, content);
        }
    }

    fn robots_rules(&mut self, name: &str, mut content: String) {
        if self.robots_meta.len() >= self.limits.meta_tags {
            self.dropped.meta_tags += 1;
            return;
        }
        if content.len() > self.limits.meta_content_bytes {
            self.dropped.meta_tags += 1;
            let cut = content.char_indices().map(|(at, _)| at);
            let cut = cut.take_while(|at| *at <= self.limits.meta_content_bytes);
            content.truncate(cut.last().unwrap_or(0));
        }
        self.robots_meta.push(MetaTag {
            ordinal: self.metas_seen - 1,
            name: name.to_owned(),
            content,
        });
    }

    fn link_element(&mut self, tag: &Element<'_, '_>) {
        let kind = attribute(tag, "rel").and_then(|rel| kind_of_link_element(&rel));
        let Some(kind) = kind else {
            return;
        };
        if kind == LinkKind::Canonical {
            let is_qualified =
                ["hreflang", "lang", "media", "type"].iter().any(|name| tag.has_attribute(name));
            let counts = self.in_head && !self.tree.in_noscript() && !is_qualified;
            if let Some(href) = attribute(tag, "href").filter(|_| counts)
                && self.canonicals.len() < CANONICALS_MAX
                && href.len() <= self.limits.url_bytes
            {
                self.canonicals.push(href);
            }
        } else {
            self.link(attribute(tag, "href"), tag, kind);
        }
    }

    /// Keeps a link; says which it is.
    fn link(
        &mut self,
        href: Option<String>,
        tag: &Element<'_, '_>,
        kind: LinkKind,
    ) -> Option<usize> {
        self.links.keep(href?, tag, kind, self.limits, &mut self.dropped)
    }

    fn text(&mut self, chunk: &TextChunk<'_>) {
        let place = chunk.source_location().bytes();
        if self.text_node.is_empty() {
            self.move_to(place.start, place.start);
            self.text_type = chunk.text_type();
        }
        self.read_to = self.read_to.max(place.end);
        // A text node comes in pieces, and a character reference can lie across two of them.
        let room = self.limits.text_bytes.saturating_mul(2);
        let is_wanted = self.text_type != TextType::ScriptData || self.is_structured;
        if is_wanted && self.text_node.len() < room {
            self.text_node.push_str(chunk.as_str());
        }
        if chunk.last_in_text_node() {
            self.end_text_node();
        }
    }

    fn end_text_node(&mut self) {
        if self.text_node.is_empty() {
            return;
        }
        let node = std::mem::take(&mut self.text_node);
        if self.text_type == TextType::ScriptData {
            self.take_structured(node);
            return;
        }
        let text = match self.text_type {
            TextType::Data | TextType::RCData => htmlize::unescape(node.as_str()),
            TextType::PlainText
            | TextType::RawText
            | TextType::ScriptData
            | TextType::CDataSection => Cow::Borrowed(node.as_str()),
        };
        self.take_text(&text);
        drop(text);
        self.text_node = node;
        self.text_node.clear();
    }

    /// Half a JSON text is none, so one that does not fit is left out.
    fn take_structured(&mut self, json: String) {
        if self.structured_bytes + json.len() > self.limits.structured_bytes {
            self.dropped.structured_data += 1;
        } else if !json.trim().is_empty() {
            self.structured_bytes += json.len();
            self.structured_data.push(json);
        }
    }

    fn take_text(&mut self, text: &str) {
        let is_title = self.text_type == TextType::RCData && self.tree.current() == Some(TITLE);
        if is_title && self.title.is_none() && !self.tree.in_template() {
            let title = one_line(text, self.limits.title_chars);
            self.title = Some(title).filter(|title| !title.is_empty());
        }
        if self.tree.is_silent() {
            return;
        }
        if !text.trim().is_empty() {
            self.in_head = false;
        }
        self.text.push(text);
        if !self.tree.hides_snippet() {
            self.snippet_text.push(text);
        }
        if let Some((_, anchor)) = &mut self.anchor {
            anchor.push(text);
        }
    }

    fn break_around(&mut self, name: Name) {
        if name.breaks_line() && !self.tree.is_silent() {
            self.text.break_line();
            self.snippet_text.break_line();
            if let Some((_, anchor)) = &mut self.anchor {
                anchor.break_word();
            }
        }
    }

    fn end_anchor(&mut self) {
        if let Some((link, text)) = self.anchor.take() {
            self.links.anchor(link, one_line(&text.into_string(), self.limits.anchor_chars));
        }
    }

    fn finish(mut self, encoding: &'static Encoding, url: &Url) -> Page {
        self.move_to(self.html.len(), self.html.len());
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
        page.text = self.text.into_string();
        page.snippet_text = self.snippet_text.into_string();
        page.dropped = self.dropped;
        page
    }
}
