//! In which order results come.
//!
//! First by words: BM25 in each field, weighed by where the word stands, with a premium for words
//! that stand together as they were typed. The best of these are then weighed again by what is
//! known of the page itself:
//!
//! `score × (1 + 0.4 × linked + 0.15 × fresh)`, an address without content a third of it
//!
//! - `linked` grows with the logarithm of the number of pages that link here, from 0 for none to 1
//!   for a thousand;
//! - `fresh` is 1 for a page that changed today and halves every year; 0 if it does not say when.
//!
//! How many pages link to an address is how many documents hold it as a term, so it is up to date
//! with the index, and withdrawn pages lose their vote (with the next merge).

use tantivy::schema::Field;
use tantivy::{DocAddress, Term};

use super::schema::Fields;
use super::searcher::{Found, Search};

/// A field, and what a word in it counts.
type Boost = (fn(&Fields) -> Field, f32);

/// What a word counts where it stands.
pub(super) const WORD_BOOSTS: [Boost; 4] = [
    (|fields| fields.title, 3.0),
    (|fields| fields.headings, 1.6),
    (|fields| fields.url_words, 1.2),
    (|fields| fields.text, 1.0),
];

/// What all words of a search count beside where they stand side by side.
pub(super) const IN_ORDER_BOOSTS: [Boost; 3] =
    [(|fields| fields.title, 2.0), (|fields| fields.headings, 1.0), (|fields| fields.text, 0.5)];

const LINKED_WEIGHT: f32 = 0.4;
const FRESH_WEIGHT: f32 = 0.15;
const BARE_WEIGHT: f32 = 1.0 / 3.0;

/// Links beyond this many count no more.
const LINKS_MAX: f32 = 1_000.0;

const MS_PER_YEAR: f32 = 365.25 * 86_400_000.0;

/// How many of the best by words are weighed again.
pub(super) const WEIGHED: usize = 200;

/// What is known of a document, as it counts for its place.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Merits {
    links: u64,
    age_ms: Option<i64>,
    is_bare: bool,
}

impl Merits {
    fn factor(self) -> f32 {
        let links = (self.links as f32).min(LINKS_MAX);
        let linked = links.ln_1p() / LINKS_MAX.ln_1p();
        let fresh = self.age_ms.map_or(0.0, |age| (-(age.max(0) as f32) / MS_PER_YEAR).exp2());
        let bare = if self.is_bare { BARE_WEIGHT } else { 1.0 };
        bare * (1.0 + LINKED_WEIGHT * linked + FRESH_WEIGHT * fresh)
    }
}

/// Weighs what was found again; best first.
pub(super) fn weigh(search: &Search<'_>, found: &mut [Found]) -> tantivy::Result<()> {
    for one in &mut *found {
        one.score *= merits(search, one.at)?.factor();
    }
    // Stable, so that equals stay as they were.
    found.sort_by(|one, other| other.score.total_cmp(&one.score));
    Ok(())
}

fn merits(search: &Search<'_>, at: DocAddress) -> tantivy::Result<Merits> {
    let columns = search.searcher.segment_reader(at.segment_ord).fast_fields();
    let links = match columns.u64("address")?.first(at.doc_id) {
        Some(address) => {
            search.searcher.doc_freq(&Term::from_field_u64(search.fields.links, address))?
        }
        None => 0,
    };
    let dated = columns.i64("dated_ms")?.first(at.doc_id);
    let age_ms = dated.map(|dated| search.now.as_millis().saturating_sub(dated));
    let is_bare = columns.bool("is_bare")?.first(at.doc_id).unwrap_or(false);
    Ok(Merits { links, age_ms, is_bare })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the module's documentation says, in numbers.
    #[test]
    fn factors() {
        let year = MS_PER_YEAR as i64;
        for (links, age_ms, is_bare, expect) in [
            (0, None, false, 1.0),
            (1_000, None, false, 1.4),
            (u64::MAX, None, false, 1.4),
            (0, Some(0), false, 1.15),
            (0, Some(-year), false, 1.15),
            (0, Some(year), false, 1.075),
            (0, Some(i64::MAX), false, 1.0),
            (0, None, true, 1.0 / 3.0),
            (31, None, false, 1.0 + 0.4 * 0.5015),
        ] {
            let factor = Merits { links, age_ms, is_bare }.factor();
            assert!((factor - expect).abs() < 1e-3, "{links} {age_ms:?} {is_bare}: {factor}");
        }
    }
}
