//! Languages that the index knows: whose words it can bring to their stem, and by what a page's own
//! language is told where the page does not state it.

use tantivy::tokenizer::Language as Stemming;

/// A language whose words are indexed in their stem.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) struct Language(u8);

/// ISO 639-1 codes, and whose stemming they mean.
const KNOWN: [(&str, Stemming); 18] = [
    ("ar", Stemming::Arabic),
    ("da", Stemming::Danish),
    ("nl", Stemming::Dutch),
    ("en", Stemming::English),
    ("fi", Stemming::Finnish),
    ("fr", Stemming::French),
    ("de", Stemming::German),
    ("el", Stemming::Greek),
    ("hu", Stemming::Hungarian),
    ("it", Stemming::Italian),
    ("no", Stemming::Norwegian),
    ("pt", Stemming::Portuguese),
    ("ro", Stemming::Romanian),
    ("ru", Stemming::Russian),
    ("es", Stemming::Spanish),
    ("sv", Stemming::Swedish),
    ("ta", Stemming::Tamil),
    ("tr", Stemming::Turkish),
];

/// Codes that mean the same language.
const ALSO: [(&str, &str); 2] = [("nb", "no"), ("nn", "no")];

impl Language {
    /// How many there are.
    pub(super) const COUNT: usize = KNOWN.len();

    /// The language of a primary subtag such as `de`.
    pub(super) fn of_code(code: &str) -> Option<Self> {
        let same = ALSO.iter().find(|(other, _)| *other == code).map_or(code, |(_, same)| same);
        let at = KNOWN.iter().position(|(known, _)| *known == same)?;
        u8::try_from(at).ok().map(Self)
    }

    /// The language at a place below [`Self::COUNT`].
    pub(super) fn at(place: usize) -> Option<Self> {
        u8::try_from(place).ok().filter(|_| place < Self::COUNT).map(Self)
    }

    /// Its place.
    pub(super) fn place(self) -> usize {
        usize::from(self.0)
    }

    /// Its ISO 639-1 code.
    #[cfg(test)]
    pub(super) fn code(self) -> &'static str {
        KNOWN.get(self.place()).map_or("", |(code, _)| code)
    }

    /// Whose stemming brings its words to one form.
    pub(super) fn stemming(self) -> Option<Stemming> {
        KNOWN.get(self.place()).map(|(_, stemming)| *stemming)
    }
}

/// The primary subtag of a language tag in small letters: `de` of `de-AT` and of `DE_at`
/// (RFC 5646 2.2.1). None if it begins with no language.
pub(super) fn primary(tag: &str) -> Option<String> {
    let code = tag.trim().split(['-', '_', ',', ';', ' ']).next().unwrap_or_default();
    let is_code = (2..=3).contains(&code.len()) && code.bytes().all(|b| b.is_ascii_alphabetic());
    is_code.then(|| code.to_ascii_lowercase())
}

/// Characters of a text that its language is told by: a few sentences.
const TOLD_BY: usize = 1_000;

/// The language that a text seems to be in, as its ISO 639-1 code where there is one. None if that
/// is not plain.
pub(crate) fn told(text: &str) -> Option<String> {
    let end = text.char_indices().nth(TOLD_BY);
    let start = end.and_then(|(end, _)| text.get(..end)).unwrap_or(text);
    let told = whatlang::detect(start).filter(whatlang::Info::is_reliable)?;
    let code = told.lang().code();
    let short = SHORT.iter().find(|(long, _)| *long == code).map_or(code, |(_, short)| short);
    Some(short.to_owned())
}

/// ISO 639-3 codes of the detector that have a code of two letters, for the languages of
/// [`KNOWN`] and the largest others.
const SHORT: [(&str, &str); 34] = [
    ("ara", "ar"),
    ("bul", "bg"),
    ("cat", "ca"),
    ("ces", "cs"),
    ("cmn", "zh"),
    ("dan", "da"),
    ("deu", "de"),
    ("ell", "el"),
    ("eng", "en"),
    ("est", "et"),
    ("fin", "fi"),
    ("fra", "fr"),
    ("heb", "he"),
    ("hin", "hi"),
    ("hrv", "hr"),
    ("hun", "hu"),
    ("ind", "id"),
    ("ita", "it"),
    ("jpn", "ja"),
    ("kor", "ko"),
    ("nld", "nl"),
    ("nob", "no"),
    ("pol", "pl"),
    ("por", "pt"),
    ("ron", "ro"),
    ("rus", "ru"),
    ("slk", "sk"),
    ("slv", "sl"),
    ("spa", "es"),
    ("swe", "sv"),
    ("tam", "ta"),
    ("tha", "th"),
    ("tur", "tr"),
    ("ukr", "uk"),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 5646: tags are written in any case; some servers write `_`.
    #[test]
    fn tags() {
        for (tag, expect) in [
            ("de", Some("de")),
            ("de-AT", Some("de")),
            ("EN_us", Some("en")),
            ("gsw-CH", Some("gsw")),
            ("zh-Hans", Some("zh")),
            ("en, de", Some("en")),
            ("", None),
            ("x-klingon", None),
            ("german", None),
            ("d3", None),
        ] {
            assert_eq!(primary(tag).as_deref(), expect, "{tag}");
        }
    }

    #[test]
    fn every_known_language_has_a_place() {
        for (place, (code, _)) in KNOWN.iter().enumerate() {
            let language = Language::of_code(code).unwrap();
            assert_eq!((language.place(), Language::at(place)), (place, Some(language)));
            assert_eq!(language.code(), *code);
        }
        assert_eq!(Language::of_code("nb"), Language::of_code("no"));
        assert_eq!((Language::of_code("xx"), Language::at(Language::COUNT)), (None, None));
    }

    /// First sentences of the Universal Declaration of Human Rights.
    #[test]
    fn texts() {
        for (text, expect) in [
            (
                "All human beings are born free and equal in dignity and rights. They are endowed \
                 with reason and conscience and should act towards one another in a spirit of \
                 brotherhood.",
                Some("en"),
            ),
            (
                "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit \
                 Vernunft und Gewissen begabt und sollen einander im Geist der Brüderlichkeit \
                 begegnen.",
                Some("de"),
            ),
            (
                "Tous les êtres humains naissent libres et égaux en dignité et en droits. Ils sont \
                 doués de raison et de conscience et doivent agir les uns envers les autres dans \
                 un esprit de fraternité.",
                Some("fr"),
            ),
            ("Все люди рождаются свободными и равными в своем достоинстве и правах.", Some("ru")),
            ("人人生而自由,在尊严和权利上一律平等。", Some("zh")),
            ("", None),
            ("42 17 %", None),
        ] {
            assert_eq!(told(text).as_deref(), expect, "{text}");
        }
    }
}
