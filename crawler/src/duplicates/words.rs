//! A text as its words.

/// The words of a text in small letters: runs of letters and digits. A character of a script
/// that sets no blanks between words is a word by itself.
pub struct Words {
    /// Each word with a blank behind it; no word holds one, so two words are never one.
    listed: Vec<u8>,
}

impl Words {
    /// Takes a text apart.
    pub fn of(text: &str) -> Self {
        let mut listed = Vec::with_capacity(text.len() + 1);
        let mut rest = text;
        loop {
            let ascii = rest.bytes().position(|byte| !byte.is_ascii()).unwrap_or(rest.len());
            let (run, other) = rest.split_at_checked(ascii).unwrap_or((rest, ""));
            take_ascii(run, &mut listed);
            let mut chars = other.chars();
            let Some(c) = chars.next() else { break };
            take_char(c, &mut listed);
            rest = chars.as_str();
        }
        end_word(&mut listed);
        Self { listed }
    }

    /// The words in order.
    pub(super) fn each(&self) -> impl Iterator<Item = &[u8]> {
        self.listed.split(|byte| *byte == b' ').filter(|word| !word.is_empty())
    }

    /// The words in order, each with a blank behind it.
    pub(super) fn listed(&self) -> &[u8] {
        &self.listed
    }
}

/// ASCII letters and digits as small letters, by their code; a blank for the rest.
const SMALL: [u8; 256] = small_letters();

const fn small_letters() -> [u8; 256] {
    let mut table = [b' '; 256];
    let mut code: u8 = 0;
    while code.is_ascii() {
        if code.is_ascii_alphanumeric() {
            table[code as usize] = code.to_ascii_lowercase();
        }
        code += 1;
    }
    table
}

/// Without a branch on what a byte is: a blank behind a blank is written over by what follows.
fn take_ascii(run: &str, listed: &mut Vec<u8>) {
    let mut at = listed.len();
    let mut before = listed.last().copied().unwrap_or(b' ');
    listed.resize(at + run.len(), b' ');
    for byte in run.bytes() {
        let small = SMALL[usize::from(byte)];
        if let Some(place) = listed.get_mut(at) {
            *place = small;
        }
        at += usize::from(small != b' ' || before != b' ');
        before = small;
    }
    listed.truncate(at);
}

fn take_char(c: char, listed: &mut Vec<u8>) {
    if stands_alone(c) {
        end_word(listed);
        push(c, listed);
        end_word(listed);
    } else if c.is_alphanumeric() {
        c.to_lowercase().for_each(|small| push(small, listed));
    } else {
        end_word(listed);
    }
}

fn push(c: char, listed: &mut Vec<u8>) {
    listed.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
}

fn end_word(listed: &mut Vec<u8>) {
    if listed.last().is_some_and(|last| *last != b' ') {
        listed.push(b' ');
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
    use super::*;

    #[test]
    fn words() {
        let cases = [
            ("", ""),
            ("  The Boat, the\nboat's 2 sails ", "the boat the boat s 2 sails "),
            ("ÄÖ-ß", "äö ß "),
            ("naïve CAFÉ", "naïve café "),
            ("船と海 ok", "船 と 海 ok "),
            ("ok船ok", "ok 船 ok "),
            ("…!?", ""),
        ];
        for (text, expect) in cases {
            assert_eq!(Words::of(text).listed(), expect.as_bytes(), "{text}");
        }
    }
}
