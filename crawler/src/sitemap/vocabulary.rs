//! Which element of which format means what, by its local name and the element that it stands in.
//!
//! Namespaces decide only where a feed uses one name twice: names are matched leniently, because
//! files with an old namespace, a wrong one or none are common, and lose nothing by being read.

use super::SitemapKind;

/// An element that is open.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Node {
    /// The outermost.
    Root,
    /// RSS: `channel`.
    Channel,
    /// `url`, `sitemap`, `item` or `entry`.
    Entry,
    /// `video`.
    Video,
    /// `news`.
    News,
    /// One that only holds others of its parent's.
    Within(Parent),
    /// One whose text counts.
    Text(Field),
    /// One that tells all in its attributes.
    Attributes(Carrier),
    /// Anything else.
    Other,
}

/// The parents of elements that only hold others.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Parent {
    /// `image` in an entry.
    Image,
    /// `publication` in `news`.
    Publication,
    /// Media RSS: `group` in an entry, or `content` in it.
    Media,
}

/// A text of an entry.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Field {
    Loc,
    /// RSS: an address, unless it says that it is none.
    Guid,
    Lastmod,
    /// Atom: stands in for a missing `updated`.
    Published,
    ImageLoc,
    VideoThumbnail,
    VideoContent,
    VideoPlayer,
    VideoTitle,
    VideoDescription,
    VideoDuration,
    VideoPublished,
    VideoExpires,
    NewsTitle,
    NewsPublished,
    NewsPublication,
    NewsLanguage,
}

/// An element that tells all in its attributes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Carrier {
    /// `xhtml:link`
    Alternate,
    /// Atom: `link`
    AtomLink,
    /// `media:thumbnail`
    MediaThumbnail,
    /// `media:player`
    MediaPlayer,
}

/// Which vocabulary an element's prefix stands for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Family {
    /// The format's own, also without any prefix.
    Core,
    /// Media RSS.
    Media,
    /// Any other.
    Foreign,
}

/// Namespaces that matter, by what their address contains.
const NAMESPACES: &[(&str, Family)] = &[
    ("sitemaps.org/schemas/sitemap/", Family::Core),
    ("google.com/schemas/sitemap/", Family::Core),
    ("search.yahoo.com/mrss", Family::Media),
];

/// Prefixes that are remembered; more in one file are of no vocabulary that matters.
const MOST_PREFIXES: usize = 64;

/// What the prefixes of a file stand for. A prefix that is declared twice is what it was last: no
/// file uses one prefix for two vocabularies that matter.
#[derive(Default)]
pub(super) struct Prefixes {
    root: Option<String>,
    known: Vec<(String, Family)>,
}

impl Prefixes {
    pub(super) fn set_root(&mut self, prefix: Option<&str>) {
        self.root = prefix.map(str::to_owned);
    }

    pub(super) fn declare(&mut self, prefix: &str, namespace: &str) {
        let found = NAMESPACES.iter().find(|(part, _)| namespace.contains(part));
        let family = found.map_or(Family::Foreign, |(_, family)| *family);
        let has_room = self.known.len() < MOST_PREFIXES && prefix.len() < MOST_PREFIXES;
        match self.known.iter_mut().find(|(known, _)| known == prefix) {
            Some((_, known)) => *known = family,
            None if has_room => self.known.push((prefix.to_owned(), family)),
            None => {}
        }
    }

    pub(super) fn family(&self, prefix: Option<&str>) -> Family {
        let Some(prefix) = prefix else { return Family::Core };
        if self.root.as_deref() == Some(prefix) {
            return Family::Core;
        }
        let known = self.known.iter().find(|(known, _)| known == prefix);
        match known {
            Some((_, family)) => *family,
            None if prefix == "media" => Family::Media,
            None => Family::Foreign,
        }
    }
}

/// The format that a root element begins.
pub(super) fn kind_of_root(local: &str) -> Option<SitemapKind> {
    let roots = [
        ("urlset", SitemapKind::UrlSet),
        ("sitemapindex", SitemapKind::Index),
        ("rss", SitemapKind::Rss),
        ("rdf", SitemapKind::Rss),
        ("feed", SitemapKind::Atom),
    ];
    let is = |(name, _): &&(&str, SitemapKind)| name.eq_ignore_ascii_case(local);
    roots.iter().find(is).map(|(_, kind)| *kind)
}

/// Whether an element begins an entry of such a file.
pub(super) fn is_entry(kind: SitemapKind, family: Family, local: &str) -> bool {
    let name = match kind {
        SitemapKind::UrlSet => "url",
        SitemapKind::Index => "sitemap",
        SitemapKind::Rss => "item",
        SitemapKind::Atom => "entry",
        SitemapKind::Text => return false,
    };
    family == Family::Core && local == name
}

/// What an element is, standing in `parent`.
pub(super) fn child(kind: SitemapKind, parent: Node, family: Family, local: &str) -> Node {
    match parent {
        Node::Root | Node::Channel if is_entry(kind, family, local) => Node::Entry,
        Node::Root if kind == SitemapKind::Rss && local == "channel" => Node::Channel,
        Node::Entry => match kind {
            SitemapKind::UrlSet => of_url(family, local),
            SitemapKind::Index => of_core(family, local),
            SitemapKind::Rss => of_item(family, local),
            SitemapKind::Atom => of_atom_entry(family, local),
            SitemapKind::Text => Node::Other,
        },
        Node::Video => of_video(local),
        Node::News => match local {
            "publication" => Node::Within(Parent::Publication),
            "title" => Node::Text(Field::NewsTitle),
            "publication_date" => Node::Text(Field::NewsPublished),
            _ => Node::Other,
        },
        Node::Within(Parent::Image) if local == "loc" => Node::Text(Field::ImageLoc),
        Node::Within(Parent::Publication) => match local {
            "name" => Node::Text(Field::NewsPublication),
            "language" => Node::Text(Field::NewsLanguage),
            _ => Node::Other,
        },
        Node::Within(Parent::Media) => of_media(family, local),
        Node::Root
        | Node::Channel
        | Node::Within(Parent::Image)
        | Node::Text(_)
        | Node::Attributes(_)
        | Node::Other => Node::Other,
    }
}

fn of_core(family: Family, local: &str) -> Node {
    match (family, local) {
        (Family::Core, "loc") => Node::Text(Field::Loc),
        (Family::Core, "lastmod") => Node::Text(Field::Lastmod),
        _ => Node::Other,
    }
}

fn of_url(family: Family, local: &str) -> Node {
    match local {
        "image" => Node::Within(Parent::Image),
        "video" => Node::Video,
        "news" => Node::News,
        "link" => Node::Attributes(Carrier::Alternate),
        _ => of_core(family, local),
    }
}

fn of_item(family: Family, local: &str) -> Node {
    match (family, local) {
        (Family::Core, "link") => Node::Text(Field::Loc),
        (Family::Core, "guid") => Node::Text(Field::Guid),
        (Family::Core, "pubDate") => Node::Text(Field::Lastmod),
        _ => of_media(family, local),
    }
}

fn of_media(family: Family, local: &str) -> Node {
    match (family, local) {
        (Family::Media, "group" | "content") => Node::Within(Parent::Media),
        (Family::Media, "thumbnail") => Node::Attributes(Carrier::MediaThumbnail),
        (Family::Media, "player") => Node::Attributes(Carrier::MediaPlayer),
        (Family::Media, "title") => Node::Text(Field::VideoTitle),
        (Family::Media, "description") => Node::Text(Field::VideoDescription),
        _ => Node::Other,
    }
}

fn of_atom_entry(family: Family, local: &str) -> Node {
    match (family, local) {
        (Family::Core, "link") => Node::Attributes(Carrier::AtomLink),
        (Family::Core, "updated") => Node::Text(Field::Lastmod),
        (Family::Core, "published") => Node::Text(Field::Published),
        _ => of_media(family, local),
    }
}

fn of_video(local: &str) -> Node {
    let field = match local {
        "thumbnail_loc" => Field::VideoThumbnail,
        "content_loc" => Field::VideoContent,
        "player_loc" => Field::VideoPlayer,
        "title" => Field::VideoTitle,
        "description" => Field::VideoDescription,
        "duration" => Field::VideoDuration,
        "publication_date" => Field::VideoPublished,
        "expiration_date" => Field::VideoExpires,
        _ => return Node::Other,
    };
    Node::Text(field)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_no_vocabulary_by_itself() {
        let mut prefixes = Prefixes::default();
        prefixes.set_root(Some("s"));
        prefixes.declare("m", "http://search.yahoo.com/mrss/");
        prefixes.declare("x", "https://www.sitemaps.org/schemas/sitemap/0.9/");
        let cases = [
            (None, Family::Core),
            (Some("s"), Family::Core),
            (Some("x"), Family::Core),
            (Some("m"), Family::Media),
            (Some("media"), Family::Media),
            (Some("atom"), Family::Foreign),
        ];
        for (prefix, expect) in cases {
            assert_eq!(prefixes.family(prefix), expect, "{prefix:?}");
        }
    }
}
