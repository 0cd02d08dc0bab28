//! Names that somebody may have meant.

/// How alike a name must be to be offered: 1 is equal.
const ALIKE: f64 = 0.8;

/// Names that are offered at most.
const MOST: usize = 3;

/// ` (did you mean a or b?)`, or nothing if no name is like the word.
pub fn did_you_mean<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let near = nearest(word, names);
    if near.is_empty() { String::new() } else { format!(" (did you mean {}?)", near.join(" or ")) }
}

/// Those of the names that are most like a word, the nearest first.
fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let word = word.to_ascii_lowercase();
    let likeness = |name: &str| strsim::jaro_winkler(&word, &name.to_ascii_lowercase());
    let mut near: Vec<(f64, &str)> =
        names.into_iter().map(|name| (likeness(name), name)).filter(|(l, _)| *l >= ALIKE).collect();
    near.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(other.1)));
    near.into_iter().take(MOST).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn names_that_are_alike_are_offered() {
        let names = ["robots-syntax", "robots-groups", "meta", "RT-083", "RT-084"];
        for (word, near) in [
            ("robots-sintax", &["robots-syntax", "robots-groups"][..]),
            ("metta", &["meta"]),
            ("rt-83", &["RT-083", "RT-084"]),
            ("weather", &[]),
        ] {
            assert_eq!(nearest(word, names), near, "{word}");
        }
    }
}
