//! Which elements link to what, and the links of a page until its base address is known.

use std::borrow::Cow;

use url::Url;

use super::names::{
    AREA, AUDIO, EMBED, FORM, FRAME, IFRAME, IMAGE, IMG, INPUT, Name, OBJECT, SOURCE, SVG_IMAGE,
    TRACK, VIDEO,
};
use super::resolve::Resolver;
use super::srcset::srcset;
use super::text::one_line;
use super::tokens::Tag;
use super::{Dropped, Link, LinkKind, ScanLimits};

/// What a `link` element is by its `rel` (LK-004, LK-006); none if it is no link between pages.
pub(super) fn kind_of_link_element(rel: &str) -> Option<LinkKind> {
    let has =
        |wanted: &str| rel.split_ascii_whitespace().any(|token| token.eq_ignore_ascii_case(wanted));
    if has("canonical") {
        Some(LinkKind::Canonical)
    } else if has("stylesheet") {
        // `alternate stylesheet` is another look of the same page.
        None
    } else if has("alternate") {
        Some(LinkKind::Alternate)
    } else {
        (has("next") || has("prev")).then_some(LinkKind::Sequence)
    }
}

/// What an element other than `a`, `link` and `meta` links to, in the order of its attributes'
/// meaning: `src` before `srcset`.
pub(super) fn resources<'h>(tag: &Tag<'h>, name: Name) -> Vec<(LinkKind, Cow<'h, str>)> {
    let mut found = Vec::new();
    let mut add = |kind, key: &str| {
        found.extend(tag.attribute(key).map(|address| (kind, address)));
    };
    match name {
        AREA => add(LinkKind::Hyperlink, "href"),
        FRAME | IFRAME => add(LinkKind::Frame, "src"),
        // The HTML standard reads `image` as a misspelt `img`.
        IMG | IMAGE => add(LinkKind::Image, "src"),
        SVG_IMAGE => {
            add(LinkKind::Image, "href");
            add(LinkKind::Image, "xlink:href");
        }
        INPUT if has_value(tag, "type", "image") => add(LinkKind::Image, "src"),
        VIDEO => {
            add(LinkKind::Media, "src");
            add(LinkKind::Image, "poster");
        }
        AUDIO | TRACK | SOURCE => add(LinkKind::Media, "src"),
        EMBED => add(LinkKind::Embed, "src"),
        OBJECT => add(LinkKind::Embed, "data"),
        FORM if sends_by_get(tag) => add(LinkKind::Form, "action"),
        _ => {}
    }
    // In a `source`, this is a picture's.
    if matches!(name, IMG | IMAGE | SOURCE)
        && let Some(candidates) = tag.attribute("srcset")
    {
        found.extend(
            srcset(&candidates).map(|address| (LinkKind::Image, Cow::Owned(address.to_owned()))),
        );
    }
    found
}

fn sends_by_get(tag: &Tag<'_>) -> bool {
    !has_value(tag, "method", "post") && !has_value(tag, "method", "dialog")
}

fn has_value(tag: &Tag<'_>, key: &str, value: &str) -> bool {
    tag.attribute(key).is_some_and(|found| found.trim_ascii().eq_ignore_ascii_case(value))
}

/// The links of a page as it has them; a later `base` can still change where they lead.
#[derive(Debug, Default)]
pub(super) struct Links {
    links: Vec<RawLink>,
    images: usize,
}

#[derive(Debug)]
struct RawLink {
    href: String,
    rel: String,
    hreflang: String,
    kind: LinkKind,
    anchor: String,
    is_hidden: bool,
}

/// Longest language tag that is kept, in characters (RFC 5646 4.4.1).
const LANGUAGE_CHARS: usize = 35;

impl Links {
    /// Keeps a link; says which it is, if it does.
    pub(super) fn keep(
        &mut self,
        href: Cow<'_, str>,
        tag: &Tag<'_>,
        (kind, is_hidden): (LinkKind, bool),
        limits: &ScanLimits,
        dropped: &mut Dropped,
    ) -> Option<usize> {
        let address = href.trim_ascii_start();
        // A fragment alone leads nowhere else (LK-003), nor do data in place of an address.
        let is_data = address.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"));
        if address.starts_with('#') || is_data {
            return None;
        }
        if href.len() > limits.url_bytes {
            dropped.long_links += 1;
            return None;
        }
        let is_image = kind == LinkKind::Image;
        if is_image && self.images >= limits.images {
            dropped.images += 1;
            return None;
        }
        if !is_image && self.links.len() - self.images >= limits.links {
            dropped.links += 1;
            return None;
        }
        self.images += usize::from(is_image);
        let short = |key, chars| tag.attribute(key).map(|text| one_line(&text, chars));
        let alt = is_image.then(|| short("alt", limits.anchor_chars)).flatten();
        self.links.push(RawLink {
            href: href.into_owned(),
            rel: tag.attribute("rel").unwrap_or_default().into_owned(),
            hreflang: short("hreflang", LANGUAGE_CHARS).unwrap_or_default(),
            kind,
            anchor: alt.unwrap_or_default(),
            is_hidden,
        });
        Some(self.links.len() - 1)
    }

    /// The text that a kept link stands on, and whether any of it is hidden from snippets.
    pub(super) fn anchor(&mut self, link: usize, text: String, is_hidden: bool) {
        if let Some(link) = self.links.get_mut(link) {
            link.anchor = text;
            link.is_hidden |= is_hidden;
        }
    }

    /// The links with an http or https address.
    pub(super) fn resolved(
        self,
        resolver: &Resolver,
        url_bytes: usize,
        dropped: &mut Dropped,
    ) -> Vec<Link> {
        let resolved = self.links.into_iter().filter_map(|link| {
            let url = resolver.resolve(&link.href)?;
            if url.as_str().len() > url_bytes {
                dropped.long_links += 1;
                return None;
            }
            let RawLink { rel, hreflang, kind, anchor, is_hidden, .. } = link;
            Some(Link { url, rel, hreflang, kind, anchor, is_hidden })
        });
        resolved.collect()
    }
}

/// The page's canonical address as a link.
pub(super) fn canonical(url: Url) -> Link {
    Link {
        url,
        rel: String::from("canonical"),
        hreflang: String::new(),
        kind: LinkKind::Canonical,
        anchor: String::new(),
        is_hidden: false,
    }
}
