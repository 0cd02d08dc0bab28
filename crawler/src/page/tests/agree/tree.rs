//! The same reading of a page, made from the tree that html5ever builds. It shares nothing with the
//! pass but the joining of addresses, so that a slip has to be made twice to go unseen.

use html5ever::driver::ParseOpts;
use html5ever::ns;
use html5ever::tendril::{StrTendril, TendrilSink as _};
use html5ever::tree_builder::TreeBuilderOpts;
use scraper::{ElementRef, Html, HtmlTreeSink, Node};
use url::Url;

use super::{Found, Reading};
use crate::page::Resolver;

/// Elements that begin and end a line.
const LINES: &[&str] = &[
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "br",
    "caption",
    "center",
    "colgroup",
    "dd",
    "details",
    "dialog",
    "dir",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hgroup",
    "hr",
    "li",
    "listing",
    "main",
    "menu",
    "nav",
    "ol",
    "optgroup",
    "option",
    "p",
    "pre",
    "search",
    "section",
    "summary",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "tr",
    "ul",
    "xmp",
];

/// Elements whose text is not taken for the page's, in HTML, SVG and MathML.
const SILENT: &[&str] = &[
    "iframe", "noembed", "noframes", "noscript", "script", "style", "template", "textarea", "title",
];
const SILENT_SVG: &[&str] = &["desc", "script", "style", "title"];
const SILENT_MATH: &[&str] = &["script", "style"];

/// Names of meta tags that are for nobody's robot.
const NOT_ROBOTS: &[&str] = &[
    "application-name",
    "author",
    "color-scheme",
    "copyright",
    "description",
    "format-detection",
    "generator",
    "keywords",
    "referrer",
    "theme-color",
    "title",
    "viewport",
];

/// Reads decoded markup by its tree, as for a reader without scripts.
pub(super) fn read(html: &str, encoding: &'static encoding_rs::Encoding, url: &Url) -> Reading {
    let tree_builder = TreeBuilderOpts { scripting_enabled: false, ..TreeBuilderOpts::default() };
    let options = ParseOpts { tree_builder, ..ParseOpts::default() };
    let sink = HtmlTreeSink::new(Html::new_document());
    let mut parser = html5ever::driver::parse_document(sink, options);
    parser.process(StrTendril::from_slice(html));
    let dom = parser.finish();
    let live: Vec<_> = dom.tree.nodes().filter_map(ElementRef::wrap).collect();
    // Nodes are numbered as they were made; order is the tree's.
    let mut live: Vec<_> =
        live.into_iter().filter(|element| !is_in(*element, "template")).collect();
    let order: std::collections::HashMap<_, _> =
        dom.tree.root().descendants().enumerate().map(|(at, node)| (node.id(), at)).collect();
    live.sort_by_key(|element| order.get(&element.id()).copied().unwrap_or(usize::MAX));
    live.retain(|element| order.contains_key(&element.id()));
    let base = live.iter().find(|e| is_html(**e, "base") && e.attr("href").is_some());
    let resolver = Resolver::new(base.and_then(|base| base.attr("href")), encoding, url);
    let mut reading = Reading::default();
    for element in &live {
        reading.links.extend(links(*element).into_iter().filter_map(|found| {
            let address = found.1.trim_ascii();
            let is_data = address.to_ascii_lowercase().starts_with("data:");
            if address.starts_with('#') || is_data {
                return None;
            }
            Some(Found(found.0, resolver.resolve(&found.1)?.into(), rel(*element)))
        }));
        about_itself(*element, &resolver, &mut reading);
    }
    canonical(&live, &resolver, &mut reading);
    let mut text = Lines::default();
    let mut shown = Lines::default();
    write(&dom, &mut text, &mut shown);
    reading.text = text.finish();
    reading.snippet_text = shown.finish();
    reading
}

fn rel(element: ElementRef<'_>) -> String {
    element.attr("rel").unwrap_or_default().to_owned()
}

fn is_html(element: ElementRef<'_>, name: &str) -> bool {
    element.value().name.ns == ns!(html) && element.value().name() == name
}

fn is_svg(element: ElementRef<'_>, name: &str) -> bool {
    element.value().name.ns == ns!(svg) && element.value().name() == name
}

/// Whether it lies in an HTML element of this name.
fn is_in(element: ElementRef<'_>, name: &str) -> bool {
    element.ancestors().filter_map(ElementRef::wrap).any(|around| is_html(around, name))
}

/// Whether what is in an element may not be shown in results.
fn hides(element: ElementRef<'_>) -> bool {
    let may_hide = ["div", "span", "section"].iter().any(|name| is_html(element, name));
    may_hide && element.attr("data-nosnippet").is_some()
}

fn xlink(element: ElementRef<'_>) -> Option<String> {
    let attributes = element.value().attrs.iter();
    let mut found = attributes.filter(|(name, _)| name.ns == ns!(xlink) && &*name.local == "href");
    found.next().map(|(_, value)| value.to_string())
}

/// The links that an element makes: kind and address.
fn links(element: ElementRef<'_>) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    let mut add = |kind, key: &str| {
        found.extend(element.attr(key).map(|address| (kind, address.to_owned())));
    };
    let one_of = |names: &[&str]| names.iter().any(|name| is_html(element, name));
    let says = |key: &str, value: &str| {
        element.attr(key).is_some_and(|v| v.trim_ascii().to_ascii_lowercase() == value)
    };
    if one_of(&["a", "area"]) || is_svg(element, "a") {
        add("hyperlink", "href");
    } else if one_of(&["frame", "iframe"]) {
        add("frame", "src");
    } else if one_of(&["img"]) || (one_of(&["input"]) && says("type", "image")) {
        add("image", "src");
    } else if is_svg(element, "image") {
        add("image", "href");
    } else if one_of(&["video"]) {
        add("media", "src");
        add("image", "poster");
    } else if one_of(&["audio", "track", "source"]) {
        add("media", "src");
    } else if one_of(&["embed"]) {
        add("embed", "src");
    } else if one_of(&["object"]) {
        add("embed", "data");
    } else if one_of(&["form"]) && !says("method", "post") && !says("method", "dialog") {
        add("form", "action");
    } else if one_of(&["link"]) {
        let rel = rel(element).to_ascii_lowercase();
        let has = |token: &str| rel.split_ascii_whitespace().any(|found| found == token);
        if !has("canonical") && !has("stylesheet") {
            if has("alternate") {
                add("alternate", "href");
            } else if has("next") || has("prev") {
                add("sequence", "href");
            }
        }
    }
    if is_svg(element, "image") {
        found.extend(xlink(element).map(|address| ("image", address)));
    } else if is_svg(element, "a") && element.attr("href").is_none() {
        found.extend(xlink(element).map(|address| ("hyperlink", address)));
    }
    if one_of(&["img", "source"]) {
        let candidates = element.attr("srcset").map(candidates).unwrap_or_default();
        found.extend(candidates.into_iter().map(|address| ("image", address)));
    }
    if let Some((_, to)) = refresh(element) {
        found.push(("refresh", to));
    }
    found
}

/// The addresses of a `srcset`: character by character.
fn candidates(value: &str) -> Vec<String> {
    let (mut found, mut chars) = (Vec::new(), value.chars().peekable());
    loop {
        while chars.next_if(|c| c.is_ascii_whitespace() || *c == ',').is_some() {}
        let mut address = String::new();
        while let Some(c) = chars.next_if(|c| !c.is_ascii_whitespace()) {
            address.push(c);
        }
        if address.is_empty() {
            return found;
        }
        let whole = address.trim_end_matches(',').to_owned();
        let ends = whole.len() < address.len();
        found.push(whole);
        let mut in_parentheses = false;
        while !ends && let Some(c) = chars.next() {
            match c {
                '(' => in_parentheses = true,
                ')' => in_parentheses = false,
                ',' if !in_parentheses => break,
                _ => {}
            }
        }
    }
}

/// Delay and address of a meta refresh.
fn refresh(element: ElementRef<'_>) -> Option<(u32, String)> {
    let says = element.attr("http-equiv")?;
    if !is_html(element, "meta") || !says.eq_ignore_ascii_case("refresh") {
        return None;
    }
    let content = element.attr("content")?;
    let split = |pattern: &str, text: &'_ str| -> Option<(String, String)> {
        let parts = regex::Regex::new(pattern).unwrap().captures(text)?;
        let of = |at| parts.get(at).map_or("", |part: regex::Match<'_>| part.as_str()).to_owned();
        Some((of(1), of(2)))
    };
    let blank = r"[\t\n\x0c\r ]";
    let (delay, rest) = split(
        &format!(
            r"(?s)^{blank}*(?:([0-9]+)[0-9.]*|\.[0-9.]*)(?:{blank}*[;,]{blank}*|{blank}+)(.*)$"
        ),
        content,
    )?;
    let rest = match split(&format!(r"(?is)^url({blank}*)={blank}*(.*)$"), &rest) {
        Some((_, behind)) => behind,
        None => rest,
    };
    let quoted = split(r#"(?s)^(["'])(.*)$"#, &rest);
    let address = match &quoted {
        Some((quote, behind)) => behind.split(quote.as_str()).next().unwrap(),
        None => rest.trim_ascii_end(),
    };
    let delay = if delay.is_empty() { 0 } else { delay.parse().unwrap_or(u32::MAX) };
    (!address.is_empty()).then(|| (delay, address.to_owned()))
}

/// What an element says of the page itself.
fn about_itself(element: ElementRef<'_>, resolver: &Resolver, reading: &mut Reading) {
    let text = || element.text().collect::<String>();
    let is_hidden = || element.ancestors().filter_map(ElementRef::wrap).any(hides);
    if is_html(element, "title") && reading.title.is_none() && !is_hidden() {
        reading.title = Some(words(&text())).filter(|title| !title.is_empty());
    } else if is_html(element, "html") {
        let language = element.attr("lang").or(element.attr("xml:lang"));
        // Longer tags are cut (RFC 5646 4.4.1).
        let cut = |language| words(&words(language).chars().take(35).collect::<String>());
        let language = language.map(cut);
        reading.language = language.filter(|language| !language.is_empty());
    } else if is_html(element, "script")
        && element
            .attr("type")
            .is_some_and(|t| t.trim_ascii().eq_ignore_ascii_case("application/ld+json"))
        && !text().trim().is_empty()
    {
        reading.structured.push(text());
    } else if is_html(element, "meta") {
        if let (Some(name), Some(content)) = (element.attr("name"), element.attr("content")) {
            let name = name.trim_ascii();
            let is_token = |name: &str| {
                let is_letter = |c: char| c.is_ascii_alphabetic() || c == '-' || c == '_';
                !name.is_empty() && name.chars().all(is_letter)
            };
            if is_token(name) && !NOT_ROBOTS.contains(&name.to_ascii_lowercase().as_str()) {
                reading.robots.push((name.to_owned(), content.to_owned()));
            }
        }
        if reading.refresh.is_none() && !is_in(element, "noscript") {
            reading.refresh = refresh(element)
                .and_then(|(delay, to)| Some((delay, resolver.resolve(&to)?.into())));
        }
    }
}

/// The address that all canonical links in the head agree on.
fn canonical(live: &[ElementRef<'_>], resolver: &Resolver, reading: &mut Reading) {
    let counts = |element: &&ElementRef<'_>| {
        let rel = rel(**element).to_ascii_lowercase();
        is_html(**element, "link")
            && rel.split_ascii_whitespace().any(|token| token == "canonical")
            && is_in(**element, "head")
            && !is_in(**element, "noscript")
            && ["hreflang", "lang", "media", "type"].iter().all(|key| element.attr(key).is_none())
    };
    let named = live.iter().filter(counts).filter_map(|element| element.attr("href"));
    let named: Vec<_> = named.filter_map(|href| resolver.resolve(href)).collect();
    let first = named.first().filter(|first| named.iter().all(|url| url == *first));
    reading.canonical = first.map(ToString::to_string);
}

/// Writes what a reader sees: all of it, and what a snippet may show. Trees may be deeper than the
/// stack is high, so it walks.
fn write(dom: &Html, text: &mut Lines, shown: &mut Lines) {
    let mut seen = Seen::default();
    let mut at = dom.tree.root();
    let mut is_leaving = false;
    loop {
        if !is_leaving && let Node::Text(piece) = at.value() {
            seen.write(piece, text, shown);
        }
        if let Some(element) = ElementRef::wrap(at) {
            seen.pass(element, is_leaving, text, shown);
        }
        let child = at.first_child().filter(|_| !is_leaving);
        let next = child.or(at.next_sibling().filter(|_| is_leaving || !at.has_children()));
        // A node without children is left as it is entered.
        if !is_leaving
            && child.is_none()
            && let Some(element) = ElementRef::wrap(at)
        {
            seen.pass(element, true, text, shown);
        }
        is_leaving = next.is_none();
        match next.or(at.parent()) {
            Some(to) => at = to,
            None => return,
        }
    }
}

/// What the walk is inside of.
#[derive(Default)]
struct Seen {
    silent: u32,
    hidden: u32,
}

impl Seen {
    fn write(&self, piece: &str, text: &mut Lines, shown: &mut Lines) {
        if self.silent == 0 {
            text.push(piece);
            if self.hidden == 0 {
                shown.push(piece);
            }
        }
    }

    /// Enters or leaves an element.
    fn pass(
        &mut self,
        element: ElementRef<'_>,
        is_leaving: bool,
        text: &mut Lines,
        shown: &mut Lines,
    ) {
        let name = element.value().name();
        let is_html = element.value().name.ns == ns!(html);
        if is_html && LINES.contains(&name) && self.silent == 0 {
            text.line();
            shown.line();
        }
        let silent = match &element.value().name.ns {
            _ if is_html => SILENT,
            ns if *ns == ns!(svg) => SILENT_SVG,
            _ => SILENT_MATH,
        };
        let is_silent = silent.contains(&name);
        let hides = hides(element);
        if hides && self.silent == 0 {
            shown.blank();
        }
        let step = |count: u32, is: bool| {
            if is_leaving { count - u32::from(is) } else { count + u32::from(is) }
        };
        self.silent = step(self.silent, is_silent);
        self.hidden = step(self.hidden, hides);
    }
}

fn words(text: &str) -> String {
    let mut lines = Lines::default();
    lines.push(text);
    lines.finish()
}

/// Text in lines of words with single blanks.
#[derive(Default)]
struct Lines {
    out: String,
    gap: &'static str,
}

impl Lines {
    fn push(&mut self, text: &str) {
        for c in text.chars() {
            if c.is_whitespace() || c.is_control() {
                self.blank();
            } else {
                if !self.out.is_empty() {
                    self.out.push_str(self.gap);
                }
                self.gap = "";
                self.out.push(c);
            }
        }
    }

    fn blank(&mut self) {
        if self.gap.is_empty() {
            self.gap = " ";
        }
    }

    fn line(&mut self) {
        self.gap = "\n";
    }

    fn finish(self) -> String {
        self.out
    }
}
