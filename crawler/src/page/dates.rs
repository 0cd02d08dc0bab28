//! When a page says it was published and changed, as written in its markup.

use super::names::{META, Name, TIME};
use super::text::{char_boundary_at_or_before, one_line};
use super::tokens::Tag;

/// The dates that a page states, not yet read: whoever reads them decides what a date is.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct PageDates {
    /// When it was published.
    pub published: Option<String>,
    /// When it changed last.
    pub modified: Option<String>,
}

/// Names that meta elements give to the date of the last change, and of publication: Open Graph,
/// Dublin Core, schema.org, and what search engines and newspapers have asked for.
const MODIFIED: [&str; 8] = [
    "article:modified_time",
    "datemodified",
    "dc.date.modified",
    "dcterms.modified",
    "last-modified",
    "lastmod",
    "og:updated_time",
    "revised",
];
const PUBLISHED: [&str; 12] = [
    "article:published_time",
    "citation_publication_date",
    "date",
    "datepublished",
    "dc.date",
    "dc.date.created",
    "dc.date.issued",
    "dcterms.created",
    "dcterms.date",
    "dcterms.issued",
    "pubdate",
    "publish-date",
];

/// The longest date that is kept, in characters.
const DATE_CHARS: usize = 64;

impl PageDates {
    /// Notes what a `meta` or `time` element says; the first of each kind counts.
    pub(super) fn note(&mut self, tag: &Tag<'_>, element: Name) {
        let (value, also) = match element {
            META => ("content", "property"),
            TIME => ("datetime", "itemprop"),
            _ => return,
        };
        let names = ["name", "itemprop", "http-equiv", also];
        let is_pubdate = element == TIME && tag.has_attribute("pubdate");
        let place = names.into_iter().find_map(|key| self.place_of(&tag.attribute(key)?));
        let place = match place {
            Some(place) => place,
            None if is_pubdate => Place::Published,
            None => return,
        };
        let Some(date) = tag.attribute(value) else { return };
        let date = one_line(&date, DATE_CHARS);
        let kept = match place {
            Place::Published => &mut self.published,
            Place::Modified => &mut self.modified,
        };
        if kept.is_none() && !date.is_empty() {
            *kept = Some(date);
        }
    }

    fn place_of(&self, name: &str) -> Option<Place> {
        let name = name.get(..char_boundary_at_or_before(name, DATE_CHARS))?.trim();
        let is = |known: &str| known.eq_ignore_ascii_case(name);
        if self.modified.is_none() && MODIFIED.iter().any(|known| is(known)) {
            return Some(Place::Modified);
        }
        let is_published = self.published.is_none() && PUBLISHED.iter().any(|known| is(known));
        is_published.then_some(Place::Published)
    }
}

/// Which of the two a name means.
#[derive(Clone, Copy)]
enum Place {
    Published,
    Modified,
}
