//! The pass over XML: events of the tokenizer to entries. Tags that do not close as they should
//! are mended as far as that is plain; what cannot be tokenized ends the pass.

use std::borrow::Cow;
use std::ops::ControlFlow;

use comity_compliance::SitemapFault;
use quick_xml::escape::{resolve_predefined_entity, unescape};
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::{Error, Reader};
use xxhash_rust::xxh3::xxh3_64;

use super::draft::{Draft, Text, cut, seconds, start_of};
use super::report::Sink;
use super::source::Source;
use super::vocabulary::{Carrier, Field, Node, Parent, Prefixes, child, is_entry, kind_of_root};
use super::{Alternate, Position, SitemapKind};

/// Elements that the tokenizer may hold open for each that may be nested: it does not know of the
/// mending.
const UNCLOSED: usize = 16;

/// Reads the whole, as far as it can be read. Gives the source back.
pub(super) fn read<'r>(mut source: Source<'r>, sink: &mut Sink<'_>) -> Source<'r> {
    source.start_token();
    let mut xml = Reader::from_reader(source);
    let config = xml.config_mut();
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    config.allow_dangling_amp = true;
    let mut pass = Pass {
        sink,
        kind: None,
        prefixes: Prefixes::default(),
        open: Vec::new(),
        unclosed: 0,
        draft: None,
        text: Text::default(),
    };
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        let at = xml.get_ref().position();
        xml.get_mut().start_token();
        let event = xml.read_event_into(&mut buffer);
        let next = match event {
            Ok(Event::Eof) => ControlFlow::Break(()),
            Ok(event) => pass.event(&event, at),
            // The end of a text that was cut is no fault of its XML.
            Err(_) if xml.get_ref().is_cut() => ControlFlow::Break(()),
            Err(error) => pass.broken(&error, at),
        };
        if next.is_break() {
            break;
        }
    }
    pass.end(xml.get_ref());
    xml.into_inner()
}

struct Pass<'p, 's> {
    sink: &'p mut Sink<'s>,
    kind: Option<SitemapKind>,
    prefixes: Prefixes,
    open: Vec<Open>,
    unclosed: usize,
    draft: Option<Draft>,
    /// Of the innermost element, if it is one whose text counts.
    text: Text,
}

/// An element that is open.
struct Open {
    node: Node,
    /// Its whole name, as a hash.
    name: u64,
    at: Position,
}

impl Pass<'_, '_> {
    fn event(&mut self, event: &Event<'_>, at: Position) -> ControlFlow<()> {
        match event {
            Event::Start(tag) => {
                self.unclosed += 1;
                self.start(tag, at)
            }
            Event::Empty(tag) => {
                self.start(tag, at)?;
                self.close()
            }
            Event::End(tag) => {
                self.unclosed = self.unclosed.saturating_sub(1);
                self.ends(tag.name().into_inner(), at)
            }
            Event::Text(text) => {
                self.characters(text, at);
                ControlFlow::Continue(())
            }
            Event::CData(text) => {
                self.append(text);
                ControlFlow::Continue(())
            }
            Event::GeneralRef(reference) => {
                self.reference(reference, at);
                ControlFlow::Continue(())
            }
            // A DTD's entities are never resolved.
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {
                ControlFlow::Continue(())
            }
            Event::Eof => ControlFlow::Break(()),
        }
    }

    fn start(&mut self, tag: &BytesStart<'_>, at: Position) -> ControlFlow<()> {
        let name = tag.name();
        let (local, prefix) = name.decompose();
        let (local, prefix) = (local.into_inner(), prefix.map(|prefix| prefix.into_inner()));
        if self.open.len() >= self.sink.limits.nesting
            || self.unclosed > self.sink.limits.nesting.saturating_mul(UNCLOSED)
        {
            return self.sink.end(at, SitemapFault::NestedTooDeep, local);
        }
        self.declare(tag);
        let Some(kind) = self.kind else { return self.root(tag, local, prefix, at) };
        let family = self.prefixes.family(prefix);
        if is_entry(kind, family, local) && self.draft.is_some() {
            self.sink.fault(at, SitemapFault::Misnested, local);
            self.close_entry()?;
        }
        let node = match self.open.last() {
            Some(open) => child(kind, open.node, family, local),
            // A second document behind the first.
            None if kind_of_root(local) == Some(kind) => Node::Root,
            None => Node::Other,
        };
        if node == Node::Entry {
            self.sink.begin_entry(at)?;
            self.draft = Some(Draft::new(at));
        }
        let node = self.attributes(node, tag, local, at);
        self.push(node, tag, at);
        ControlFlow::Continue(())
    }

    fn root(
        &mut self,
        tag: &BytesStart<'_>,
        local: &str,
        prefix: Option<&str>,
        at: Position,
    ) -> ControlFlow<()> {
        let Some(kind) = kind_of_root(local) else {
            return self.sink.end(at, SitemapFault::NotASitemap, local);
        };
        self.kind = Some(kind);
        self.sink.report.kind = Some(kind);
        self.prefixes.set_root(prefix);
        self.push(Node::Root, tag, at);
        ControlFlow::Continue(())
    }

    fn push(&mut self, node: Node, tag: &BytesStart<'_>, at: Position) {
        if matches!(node, Node::Text(_)) {
            self.text = Text::default();
        }
        let name = xxh3_64(tag.name().into_inner().as_bytes());
        self.open.push(Open { node, name, at });
    }

    /// What an element's attributes tell; the node, or another if they say that it is none.
    fn attributes(&mut self, node: Node, tag: &BytesStart<'_>, local: &str, at: Position) -> Node {
        let Some(draft) = &mut self.draft else { return node };
        match node {
            Node::Text(Field::Guid) if is(tag, "isPermaLink", "false") => return Node::Other,
            Node::Within(Parent::Media) if local == "content" => media(draft, tag, at, self.sink),
            Node::Attributes(Carrier::MediaThumbnail) => {
                draft.video.thumbnail = address(tag, "url", at, self.sink);
            }
            Node::Attributes(Carrier::MediaPlayer) => {
                draft.video.player = address(tag, "url", at, self.sink);
            }
            Node::Attributes(Carrier::Alternate) => {
                let language = attribute(tag, "hreflang").unwrap_or_default();
                if !language.is_empty()
                    && let Some(url) = address(tag, "href", at, self.sink)
                {
                    let language = cut(&language, self.sink);
                    draft.add_alternate(Alternate { language, url }, at, self.sink);
                }
            }
            Node::Attributes(Carrier::AtomLink) => {
                let is_page = attribute(tag, "rel").is_none_or(|rel| rel == "alternate");
                if is_page && let Some(href) = attribute(tag, "href") {
                    let text = Text { written: href.into_owned(), has_gap: false };
                    draft.take_loc(&text, at, self.sink);
                }
            }
            Node::Root
            | Node::Channel
            | Node::Entry
            | Node::Video
            | Node::News
            | Node::Within(_)
            | Node::Text(_)
            | Node::Other => {}
        }
        node
    }

    /// An end tag closes the innermost element of its name and all in it.
    fn ends(&mut self, name: &str, at: Position) -> ControlFlow<()> {
        let hash = xxh3_64(name.as_bytes());
        let Some(depth) = self.open.iter().rposition(|open| open.name == hash) else {
            self.sink.fault(at, SitemapFault::Misnested, name);
            return ControlFlow::Continue(());
        };
        if depth + 1 < self.open.len() {
            self.sink.fault(at, SitemapFault::Misnested, name);
        }
        while self.open.len() > depth {
            self.close()?;
        }
        ControlFlow::Continue(())
    }

    /// Closes elements up to the entry that is open, and it.
    fn close_entry(&mut self) -> ControlFlow<()> {
        while self.draft.is_some() && !self.open.is_empty() {
            self.close()?;
        }
        ControlFlow::Continue(())
    }

    /// Closes the innermost element.
    fn close(&mut self) -> ControlFlow<()> {
        let Some(Open { node, at, .. }) = self.open.pop() else { return ControlFlow::Continue(()) };
        match (node, &mut self.draft) {
            (Node::Text(field), Some(draft)) => {
                draft.take(field, &std::mem::take(&mut self.text), at, self.sink);
            }
            (Node::Video, Some(draft)) => draft.end_video(at, self.sink),
            (Node::Entry, draft) => {
                if let (Some(draft), Some(kind)) = (draft.take(), self.kind) {
                    return draft.finish(kind, self.sink);
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }

    /// Text in which an ampersand can only stand alone.
    fn characters(&mut self, text: &str, at: Position) {
        if text.contains('&') && self.is_in_text() {
            self.sink.fault(at, SitemapFault::BareAmpersand, text);
        }
        self.append(text);
    }

    fn reference(&mut self, reference: &BytesRef<'_>, at: Position) {
        if !self.is_in_text() {
            return;
        }
        let name: &str = reference;
        let character = reference.resolve_char_ref().unwrap_or_default();
        match (character, resolve_predefined_entity(name)) {
            (Some(character), _) => self.append(character.encode_utf8(&mut [0; 4])),
            (None, Some(text)) => self.append(text),
            (None, None) => {
                self.text.has_gap = true;
                self.sink.fault(at, SitemapFault::UnknownEntity, name);
            }
        }
    }

    fn is_in_text(&self) -> bool {
        matches!(self.open.last(), Some(Open { node: Node::Text(_), .. }))
    }

    /// Appends to the text of the innermost element, as far as any use of it goes. Blanks in front
    /// of it do not count.
    fn append(&mut self, text: &str) {
        if !self.is_in_text() {
            return;
        }
        let text = if self.text.written.is_empty() { text.trim_start() } else { text };
        let limits = self.sink.limits;
        // Four more: one character beyond shows that it is too long, however many bytes it takes.
        let most = limits.url_bytes.max(limits.text_bytes).saturating_add(4);
        let room = most.saturating_sub(self.text.written.len());
        self.text.written.push_str(start_of(text, room));
    }

    fn declare(&mut self, tag: &BytesStart<'_>) {
        if !tag.contains("xmlns:") {
            return;
        }
        for attribute in tag.attributes().with_checks(false).flatten() {
            if let Some(prefix) = attribute.key.into_inner().strip_prefix("xmlns:") {
                self.prefixes.declare(prefix, &attribute.value);
            }
        }
    }

    fn broken(&mut self, error: &Error, at: Position) -> ControlFlow<()> {
        if matches!(error, Error::IllFormed(_)) {
            self.sink.fault(at, SitemapFault::Misnested, &error.to_string());
            return ControlFlow::Continue(());
        }
        self.sink.end(at, SitemapFault::BrokenXml, &error.to_string())
    }

    /// At the end of the text: what is open was not closed.
    fn end(&mut self, source: &Source<'_>) {
        if self.sink.report.ended_by.is_some() || source.is_cut() {
            return;
        }
        let at = source.position();
        if self.kind.is_none() {
            let _ = self.sink.end(at, SitemapFault::NotASitemap, "");
        } else if !self.open.is_empty() && !self.sink.is_stopped {
            let _ = self.sink.end(at, SitemapFault::BrokenXml, "the file ends within an element");
        }
    }
}

/// `media:content`: an image, or what a video consists of.
fn media(draft: &mut Draft, tag: &BytesStart<'_>, at: Position, sink: &mut Sink<'_>) {
    let medium = attribute(tag, "medium").or_else(|| attribute(tag, "type")).unwrap_or_default();
    let Some(url) = address(tag, "url", at, sink) else { return };
    if medium.starts_with("image") {
        draft.add_image(url, at, sink);
    } else if medium.starts_with("video") || medium.is_empty() {
        draft.video.content.get_or_insert(url);
        let duration = attribute(tag, "duration").and_then(|text| seconds(&text));
        draft.video.duration = draft.video.duration.or(duration);
    }
}

/// An attribute's value; one with a bare ampersand or an unknown entity as it is written.
fn attribute<'t>(tag: &'t BytesStart<'_>, name: &str) -> Option<Cow<'t, str>> {
    // The check for doubles would be quadratic.
    let mut attributes = tag.attributes();
    let mut attributes = attributes.with_checks(false).flatten();
    let found = attributes.find(|attribute| attribute.key.into_inner() == name)?;
    let value = match found.value {
        Cow::Borrowed(value) => unescape(value).unwrap_or(Cow::Borrowed(value)),
        Cow::Owned(value) => Cow::Owned(unescape(&value).map_or(value.clone(), Cow::into_owned)),
    };
    Some(value)
}

fn is(tag: &BytesStart<'_>, name: &str, value: &str) -> bool {
    attribute(tag, name).is_some_and(|written| written.trim().eq_ignore_ascii_case(value))
}

fn address(
    tag: &BytesStart<'_>,
    name: &str,
    at: Position,
    sink: &mut Sink<'_>,
) -> Option<url::Url> {
    let written = attribute(tag, name)?;
    let written = written.trim();
    if written.is_empty() { None } else { sink.address(at, written) }
}
