//! Which language versions of a page count: those that name each other (LK-006).

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use url::Url;

/// A language version that a page names, by element, header or sitemap alike (LK-006).
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Alternate {
    /// The language, as written; `x-default` for everybody else.
    pub language: String,
    /// Its absolute address, on any domain.
    pub url: Url,
}

/// Of the language versions that pages name, those that name the page back. A pair that only one
/// side knows of is left out; that a page names itself needs nobody's word (LK-006).
pub fn confirmed_alternates(
    named: &BTreeMap<Url, Vec<Alternate>>,
) -> BTreeMap<Url, Vec<Alternate>> {
    let targets = |alternates: &Vec<Alternate>| -> BTreeSet<Url> {
        alternates.iter().map(|alternate| alternate.url.clone()).collect()
    };
    let names: BTreeMap<&Url, BTreeSet<Url>> =
        named.iter().map(|(page, alternates)| (page, targets(alternates))).collect();
    let confirmed = |page: &Url, alternate: &Alternate| {
        alternate.url == *page || names.get(&alternate.url).is_some_and(|back| back.contains(page))
    };
    let kept = named.iter().map(|(page, alternates)| {
        let kept = alternates.iter().filter(|alternate| confirmed(page, alternate));
        (page.clone(), kept.cloned().collect())
    });
    kept.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::borrow::ToOwned as _;

    /// LK-006: unreciprocated pairs are ignored, x-default is one more version.
    #[test]
    fn only_pairs_that_know_each_other_count() {
        let url = |text: &str| Url::parse(text).unwrap();
        let alternate =
            |language: &str, text| Alternate { language: language.to_owned(), url: url(text) };
        let (en, de, fr) = ("https://a.example/en", "https://b.example/de", "https://a.example/fr");
        let own = [alternate("en", en), alternate("de", de), alternate("x-default", en)];
        let named = BTreeMap::from([
            (url(en), [&own[..], &[alternate("fr", fr)]].concat()),
            (url(de), own.to_vec()),
            (url(fr), [alternate("fr", fr)].to_vec()),
        ]);
        let confirmed = confirmed_alternates(&named);
        assert_eq!(confirmed[&url(en)], own);
        assert_eq!(confirmed[&url(de)], own);
        assert_eq!(confirmed[&url(fr)], [alternate("fr", fr)]);
    }
}
