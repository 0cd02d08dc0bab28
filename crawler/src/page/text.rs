//! Text as a reader sees it: blanks run together, blocks on lines of their own.

/// A growing text with a limit in bytes.
pub(super) struct Text {
    /// UTF-8.
    out: Vec<u8>,
    pending: Gap,
    limit_bytes: usize,
    is_cut: bool,
}

/// What is owed before the next character; written only once there is one.
#[derive(Clone, Copy, Eq, Ord, PartialEq, PartialOrd)]
enum Gap {
    None,
    Blank,
    Line,
}

impl Text {
    pub(super) fn with_limit(limit_bytes: usize) -> Self {
        Self { out: Vec::new(), pending: Gap::None, limit_bytes, is_cut: false }
    }

    /// Appends text in which a run of blanks means one blank.
    pub(super) fn push(&mut self, text: &str) {
        if text.is_ascii() && self.out.len() + text.len() < self.limit_bytes {
            self.push_ascii(text);
        } else {
            self.push_words(text);
        }
    }

    /// The quick way for most texts, which fit and are ASCII.
    fn push_ascii(&mut self, text: &str) {
        let blanks = text.bytes().take_while(|byte| is_ascii_blank(*byte)).count();
        let from_word = text.as_bytes().get(blanks..).unwrap_or_default();
        let end_blanks = from_word.iter().rev().take_while(|byte| is_ascii_blank(**byte)).count();
        let words = from_word.get(..from_word.len() - end_blanks).unwrap_or_default();
        if blanks > 0 {
            self.owe(Gap::Blank);
        }
        if words.is_empty() {
            return;
        }
        self.out.extend_from_slice(self.pending.written().as_bytes());
        self.pending = Gap::None;
        if has_plain_blanks(words) {
            self.out.extend_from_slice(words);
        } else {
            let words = words.split(|byte| is_ascii_blank(*byte)).filter(|word| !word.is_empty());
            for (nth, word) in words.enumerate() {
                self.out.extend_from_slice(if nth > 0 { b" " } else { b"" });
                self.out.extend_from_slice(word);
            }
        }
        if end_blanks > 0 {
            self.owe(Gap::Blank);
        }
    }

    fn push_words(&mut self, text: &str) {
        let mut rest = text;
        while !self.is_cut {
            let (word, blank) = rest.split_at_checked(next_blank(rest)).unwrap_or((rest, ""));
            self.push_word(word);
            let mut chars = blank.chars();
            if chars.next().is_none() {
                return;
            }
            self.owe(Gap::Blank);
            rest = chars.as_str();
        }
    }

    /// The same text, cut at another limit.
    pub(super) fn with_other_limit(&self, limit_bytes: usize) -> Self {
        let whole = str::from_utf8(&self.out).unwrap_or_default();
        let kept = char_boundary_at_or_before(whole, limit_bytes);
        let is_cut = kept < whole.len() || self.is_cut;
        let kept = whole.get(..kept).unwrap_or_default();
        // A gap is only written with what follows it.
        let out = if is_cut { kept.trim_end_matches([' ', '\n']) } else { kept };
        Self { out: out.into(), pending: self.pending, limit_bytes, is_cut }
    }

    /// A blank, if text stands on both sides.
    pub(super) fn break_word(&mut self) {
        self.owe(Gap::Blank);
    }

    /// A new line, if text stands on both sides.
    pub(super) fn break_line(&mut self) {
        self.owe(Gap::Line);
    }

    pub(super) fn is_cut(&self) -> bool {
        self.is_cut
    }

    pub(super) fn into_string(self) -> String {
        String::from_utf8(self.out).unwrap_or_default()
    }

    fn owe(&mut self, gap: Gap) {
        if !self.out.is_empty() {
            self.pending = self.pending.max(gap);
        }
    }

    fn push_word(&mut self, word: &str) {
        if word.is_empty() || self.is_cut {
            return;
        }
        let gap = self.pending.written();
        let room = self.limit_bytes.saturating_sub(self.out.len() + gap.len());
        let kept = char_boundary_at_or_before(word, room);
        self.is_cut = kept < word.len();
        if let Some(kept) = word.get(..kept).filter(|kept| !kept.is_empty()) {
            self.out.extend_from_slice(gap.as_bytes());
            self.out.extend_from_slice(kept.as_bytes());
            self.pending = Gap::None;
        }
    }
}

impl Gap {
    const fn written(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Blank => " ",
            Self::Line => "\n",
        }
    }
}

/// The longest a character gets in UTF-8.
const UTF8_BYTES_MAX: usize = 4;

pub(super) fn char_boundary_at_or_before(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// Where the first blank is; the text's length if there is none.
fn next_blank(text: &str) -> usize {
    let mut from = 0;
    loop {
        let plain = |byte: &u8| matches!(byte, b'!'..=b'~');
        let rest = text.as_bytes().get(from..).unwrap_or_default();
        from += rest.iter().take_while(|byte| plain(byte)).count();
        match text.get(from..).and_then(|rest| rest.chars().next()) {
            Some(c) if !is_blank(c) => from += c.len_utf8(),
            Some(_) | None => return from,
        }
    }
}

/// White space, and control characters, which no reader sees.
fn is_blank(c: char) -> bool {
    match u8::try_from(c) {
        Ok(byte) if byte.is_ascii() => is_ascii_blank(byte),
        Ok(_) | Err(_) => c.is_whitespace() || c.is_control(),
    }
}

/// Whether all blanks of a text are single spaces, as in most: then it can be taken as it is. No
/// early end, so that many bytes are looked at together.
fn has_plain_blanks(words: &[u8]) -> bool {
    let next = words.iter().skip(1);
    let odd = words.iter().zip(next).fold(false, |odd, (byte, next)| {
        let is_odd = is_ascii_blank(*byte) & ((*byte != b' ') | is_ascii_blank(*next));
        odd | is_odd
    });
    !odd
}

const fn is_ascii_blank(byte: u8) -> bool {
    byte <= b' ' || byte == 0x7f
}

/// The text on one line, at most so many characters of it.
pub(super) fn one_line(text: &str, limit_chars: usize) -> String {
    let mut line = Text::with_limit(limit_chars.saturating_mul(UTF8_BYTES_MAX));
    line.push(text);
    let mut line = line.into_string();
    if let Some((end, _)) = line.char_indices().nth(limit_chars) {
        line.truncate(end);
        line.truncate(line.trim_end().len());
    }
    line
}
