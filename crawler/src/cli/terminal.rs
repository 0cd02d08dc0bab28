//! Writing for people: standard output, colours where they are wanted, numbers that can be read.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use super::visible::{visible, visible_json};

/// Standard output.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terminal {
    colours: bool,
}

/// What a piece of text is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Tone {
    Good,
    Bad,
    Note,
    Title,
    Faint,
}

/// Ends a tone.
const END: &str = "\x1b[0m";

impl Tone {
    const ALL: [Self; 5] = [Self::Good, Self::Bad, Self::Note, Self::Title, Self::Faint];

    const fn begin(self) -> &'static str {
        match self {
            Self::Good => "\x1b[32m",
            Self::Bad => "\x1b[31m",
            Self::Note => "\x1b[33m",
            Self::Title => "\x1b[1m",
            Self::Faint => "\x1b[2m",
        }
    }
}

impl Terminal {
    /// Colours only on a terminal, and not if `NO_COLOR` is set.
    pub(super) fn new() -> Self {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        Self { colours: wanted && io::stdout().is_terminal() }
    }

    /// Prints a line, as far as it is visible. A reader that has gone away, such as `head`, ends the program quietly; an
    /// answer that cannot be written, as on a full disk, ends it with an error.
    pub(super) fn line(self, text: impl Display) {
        self.write(&self.shown(&text.to_string()));
    }

    fn write(self, text: &str) {
        let mut output = io::stdout().lock();
        let Err(error) = writeln!(output, "{text}").and_then(|()| output.flush()) else { return };
        if error.kind() == io::ErrorKind::BrokenPipe {
            std::process::exit(0);
        }
        super::progress::say(&format!("comity: could not write to standard output: {error}"));
        std::process::exit(1);
    }

    /// Prints a value as indented JSON.
    pub(super) fn json(self, value: &serde_json::Value) {
        self.write(&visible_json(&format!("{value:#}")));
    }

    /// Text in a tone.
    pub(super) fn paint(self, tone: Tone, text: impl Display) -> String {
        let text = text.to_string();
        let text = visible(&text);
        if self.colours { format!("{}{text}{END}", tone.begin()) } else { text.into_owned() }
    }

    /// What is shown of a text in which there may be pieces in tones.
    fn shown(self, mut text: &str) -> String {
        let mut shown = String::with_capacity(text.len());
        while let Some((at, code)) = self.next_code(text) {
            shown.push_str(&visible(text.get(..at).unwrap_or_default()));
            shown.push_str(code);
            text = text.get(at + code.len()..).unwrap_or_default();
        }
        shown + &visible(text)
    }

    /// The first code of a tone, and where.
    fn next_code(self, text: &str) -> Option<(usize, &'static str)> {
        let codes = Tone::ALL.into_iter().map(Tone::begin).chain([END]);
        let mut places =
            text.match_indices('\x1b').filter(|_| self.colours).filter_map(|(at, _)| {
                let code = codes
                    .clone()
                    .find(|code| text.get(at..).is_some_and(|rest| rest.starts_with(code)));
                code.map(|code| (at, code))
            });
        places.next()
    }
}

/// `12,345`
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 page`, `12,345 pages`
pub(super) fn plural(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

/// `18.2 MB`
pub(super) fn megabytes(bytes: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "one decimal is shown")]
    let bytes = bytes as f64;
    if bytes < 1e6 { format!("{:.1} KB", bytes / 1e3) } else { format!("{:.1} MB", bytes / 1e6) }
}

/// `4 s`, `3 min 20 s`, `2 h 5 min`, `3 d 4 h`
pub(super) fn duration(time: Duration) -> String {
    let secs = time.as_secs();
    match secs {
        0..=9 if time.subsec_millis() > 0 => format!("{:.1} s", time.as_secs_f64()),
        0..=9 => format!("{secs} s"),
        10..=59 => format!("{secs} s"),
        60..=3599 => format!("{} min {} s", secs / 60, secs % 60),
        3600..=86_399 => format!("{} h {} min", secs / 3600, secs / 60 % 60),
        _ => format!("{} d {} h", secs / 86_400, secs / 3600 % 24),
    }
}

/// `14: robots-disallow 12, too-deep 2`, the most frequent first.
pub(super) fn by_reason(reasons: &BTreeMap<String, u64>) -> String {
    let total: u64 = reasons.values().sum();
    let mut rows: Vec<_> = reasons.iter().collect();
    rows.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let rows = rows.iter().map(|(reason, count)| format!("{reason} {}", grouped(**count)));
    match rows.collect::<Vec<_>>().join(", ") {
        rows if rows.is_empty() => "0".into(),
        rows => format!("{}: {rows}", grouped(total)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Colours are ours alone.
    #[test]
    fn tones() {
        let evil = "\x1b[2J\x1b[31m\u{202e}x";
        for (colours, shown) in
            [(false, "\u{fffd}[2J\u{fffd}[31mx"), (true, "\x1b[1m\u{fffd}[2J\u{fffd}[31mx\x1b[0m")]
        {
            let terminal = Terminal { colours };
            assert_eq!(terminal.shown(&terminal.paint(Tone::Title, evil)), shown);
        }
        assert_eq!(Terminal { colours: true }.shown("\x1b[2J"), "\u{fffd}[2J");
    }

    #[test]
    fn numbers_for_people() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number), text);
        }
        for (secs, text) in [(4, "4 s"), (59, "59 s"), (200, "3 min 20 s"), (7500, "2 h 5 min")] {
            assert_eq!(duration(Duration::from_secs(secs)), text);
        }
        assert_eq!(by_reason(&BTreeMap::new()), "0");
        let reasons = BTreeMap::from([("a".into(), 2), ("b".into(), 12)]);
        assert_eq!(by_reason(&reasons), "14: b 12, a 2");
    }
}
