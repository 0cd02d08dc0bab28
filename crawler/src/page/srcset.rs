//! The addresses of a `srcset` attribute.

/// The addresses of the candidates, in order, as the HTML standard parses them: an address runs
/// to the next white space, and only commas at its end separate it from the next. Widths and
/// densities are not judged.
pub(super) fn srcset(value: &str) -> impl Iterator<Item = &str> {
    let mut rest = value;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == ',');
        if rest.is_empty() {
            return None;
        }
        let end = rest.find(|c: char| c.is_ascii_whitespace()).unwrap_or(rest.len());
        let (written, after) = rest.split_at_checked(end)?;
        let address = written.trim_end_matches(',');
        // Commas at its end end the candidate too.
        rest = if address.len() < written.len() { after } else { after_descriptors(after) };
        Some(address)
    })
}

/// What follows a candidate's descriptors: they end at a comma outside parentheses.
fn after_descriptors(text: &str) -> &str {
    let mut in_parentheses = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => in_parentheses = true,
            b')' => in_parentheses = false,
            b',' if !in_parentheses => return text.get(at + 1..).unwrap_or_default(),
            _ => {}
        }
    }
    ""
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::srcset;

    #[test]
    fn candidates() {
        let cases: [(&str, &[&str]); 10] = [
            ("", &[]),
            (" , ,", &[]),
            ("a.png", &["a.png"]),
            ("a.png 1x, b.png 2x", &["a.png", "b.png"]),
            ("a.png, b.png 2x", &["a.png", "b.png"]),
            ("a.png 320w,b.png 640w", &["a.png", "b.png"]),
            ("a,b.png 1x, c?t=x,y 2x", &["a,b.png", "c?t=x,y"]),
            ("a.png,b.png 2x", &["a.png,b.png"]),
            ("a.png x(1,2) 1x, b.png", &["a.png", "b.png"]),
            ("a.png 1x\n,\tb.png,,", &["a.png", "b.png"]),
        ];
        for (value, expect) in cases {
            assert_eq!(srcset(value).collect::<Vec<_>>(), expect, "{value:?}");
        }
    }

    proptest! {
        #[test]
        fn any_value_ends(value in "[a(), \t\né]{0,40}") {
            prop_assert!(srcset(&value).all(|address| !address.is_empty()));
        }
    }
}
