//! What of a text from outside a terminal is shown. Pages choose titles, addresses, headers and
//! files; none of them may move the cursor, hide a line or turn one around.

use std::borrow::Cow;

/// How a character is shown.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Shown {
    AsItIs,
    /// It steers the order of others and has no look of its own.
    Not,
    /// It steers the terminal.
    AsMark,
}

impl Shown {
    fn of(char: char) -> Self {
        match char {
            '\n' | '\t' => Self::AsItIs,
            '\u{61c}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{206f}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{feff}'
            | '\u{e0000}'..='\u{e007f}' => Self::Not,
            '\u{2028}' | '\u{2029}' => Self::AsMark,
            char if char.is_control() => Self::AsMark,
            _ => Self::AsItIs,
        }
    }
}

/// A text as terminals may have it: without marks that turn its order around, and with the
/// replacement character for each that steers a terminal.
pub(super) fn visible(text: &str) -> Cow<'_, str> {
    if text.chars().all(|char| Shown::of(char) == Shown::AsItIs) {
        return Cow::Borrowed(text);
    }
    let shown = text.chars().filter_map(|char| match Shown::of(char) {
        Shown::AsItIs => Some(char),
        Shown::Not => None,
        Shown::AsMark => Some(char::REPLACEMENT_CHARACTER),
    });
    Cow::Owned(shown.collect())
}

/// JSON with the same characters written as escapes: it means the same.
pub(super) fn visible_json(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for char in json.chars() {
        if Shown::of(char) == Shown::AsItIs {
            text.push(char);
        } else {
            for unit in char.encode_utf16(&mut [0; 2]) {
                text.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One line, one case: a text, and what is shown of it.
    #[test]
    fn texts() {
        for (text, shown) in [
            ("Äpfel\tund 日本語 👩\u{200d}🌾\n", "Äpfel\tund 日本語 👩\u{200d}🌾\n"),
            ("می\u{200c}خواهم", "می\u{200c}خواهم"),
            ("invoice\u{202e}fdp.exe", "invoicefdp.exe"),
            ("a\u{2066}b\u{2069}c\u{200f}\u{e0041}", "abc"),
            ("\u{1b}[2J\u{9b}1A\u{7}\r\u{7f}", "\u{fffd}[2J\u{fffd}1A\u{fffd}\u{fffd}\u{fffd}"),
            ("one\u{2028}two\u{85}", "one\u{fffd}two\u{fffd}"),
        ] {
            assert_eq!(visible(text), shown, "{text:?}");
            let json = visible_json(&serde_json::to_string(text).unwrap());
            assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
            assert!(visible(&json).len() == json.len(), "{json}");
        }
    }
}
