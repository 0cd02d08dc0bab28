//! Text from an engine as a terminal may get it: to be read, not to be obeyed.

/// The text with everything written out that a terminal would act on, and that would turn the text
/// around it: control characters, line separators and marks of direction.
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\t' => out.push(' '),
            c if c.is_control() || is_hidden(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}

const fn is_hidden(c: char) -> bool {
    matches!(
        c,
        '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
            | '\u{feff}'
    )
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn nothing_is_left_for_a_terminal_to_obey() {
        for (text, shown) in [
            ("plain\ttext, München", "plain text, München"),
            ("\u{1b}[2Jgone", "\\u{1b}[2Jgone"),
            ("\r\n\u{7}\u{9b}1m", "\\u{d}\\u{a}\\u{7}\\u{9b}1m"),
            ("a\u{202e}b\u{2028}", "a\\u{202e}b\\u{2028}"),
        ] {
            assert_eq!(plain(text), shown);
        }
    }
}
