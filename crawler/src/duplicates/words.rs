//! A text as its words.

/// The words of a text in small letters: runs of letters and digits. A character of a script
/// that sets no blanks between words is a word by itself.
pub(super) fn for_each_word(text: &str, mut take: impl FnMut(&str)) {
    let mut word = String::new();
    for c in text.chars() {
        let is_alone = stands_alone(c);
        if (is_alone || !c.is_alphanumeric()) && !word.is_empty() {
            take(&word);
            word.clear();
        }
        if is_alone {
            take(c.encode_utf8(&mut [0; 4]));
        } else if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
    }
    if !word.is_empty() {
        take(&word);
    }
}

/// Han, kana, Thai, Lao, Burmese, Khmer.
fn stands_alone(c: char) -> bool {
    c.is_alphanumeric()
        && matches!(
            u32::from(c),
            0x0E00..=0x0EFF
                | 0x1000..=0x109F
                | 0x1780..=0x17FF
                | 0x2E80..=0x9FFF
                | 0xF900..=0xFAFF
                | 0x20000..=0x3FFFF
        )
}

#[cfg(test)]
mod tests {
    #[test]
    fn words() {
        let cases: [(&str, &[&str]); 5] = [
            ("", &[]),
            (
                "  The Boat, the\nboat's 2 sails ",
                &["the", "boat", "the", "boat", "s", "2", "sails"],
            ),
            ("ÄÖ-ß", &["äö", "ß"]),
            ("船と海 ok", &["船", "と", "海", "ok"]),
            ("…!?", &[]),
        ];
        for (text, expect) in cases {
            let mut found = Vec::new();
            super::for_each_word(text, |word| found.push(word.to_owned()));
            assert_eq!(found, expect, "{text}");
        }
    }
}
