//! Text as a reader sees it: blanks run together, blocks on lines of their own.

/// A growing text with a limit in bytes.
pub(super) struct Text {
    out: String,
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
        Self { out: String::new(), pending: Gap::None, limit_bytes, is_cut: false }
    }

    /// Appends text in which a run of blanks means one blank.
    pub(super) fn push(&mut self, text: &str) {
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
        let kept = char_boundary_at_or_before(&self.out, limit_bytes);
        let is_cut = kept < self.out.len() || self.is_cut;
        let kept = self.out.get(..kept).unwrap_or_default();
        // A gap is only written with what follows it.
        let out = if is_cut { kept.trim_end_matches([' ', '\n']) } else { kept };
        Self { out: out.to_owned(), pending: self.pending, limit_bytes, is_cut }
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
        self.out
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
        let gap = match self.pending {
            Gap::None => "",
            Gap::Blank => " ",
            Gap::Line => "\n",
        };
        let room = self.limit_bytes.saturating_sub(self.out.len() + gap.len());
        let kept = char_boundary_at_or_before(word, room);
        self.is_cut = kept < word.len();
        if let Some(kept) = word.get(..kept).filter(|kept| !kept.is_empty()) {
            self.out.push_str(gap);
            self.out.push_str(kept);
            self.pending = Gap::None;
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
    if c.is_ascii() { c <= ' ' || c == '\x7f' } else { c.is_whitespace() || c.is_control() }
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
