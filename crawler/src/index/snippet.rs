//! The part of a page that is shown under a result, within what its publisher permits.

use std::collections::HashSet;
use std::ops::Range;

use tantivy::tokenizer::TextAnalyzer;

use super::analyzer::{MARK_BYTES, marked};
use super::language::Language;

/// Characters of a snippet where the publisher sets no limit.
pub(super) const USUAL_CHARS: usize = 240;

/// What stands for text that was left out; counts towards the limit.
const ELLIPSIS: char = '…';

/// A part of a page's text.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Snippet {
    /// The text, with `…` where it was cut.
    pub text: String,
    /// Where the words stand that were looked for: byte ranges of `text`, in order.
    pub highlights: Vec<Range<usize>>,
}

impl Snippet {
    /// The best part of `text`, which is in this language and stands under this title, for `words`,
    /// in at most `limit_chars` characters, ellipses included. None if nothing may or can be shown.
    pub(super) fn cut(
        (title, text): (&str, &str),
        (words, language): (&HashSet<&str>, Option<Language>),
        analyzer: &mut TextAnalyzer,
        limit_chars: usize,
    ) -> Option<Self> {
        if limit_chars == 0 || text.trim().is_empty() {
            return None;
        }
        let matches = find_words(&marked(text, language), words, analyzer);
        let start = best_start((title, text), &matches, limit_chars);
        let part = cut_part(text, start, limit_chars)?;
        let mut out = String::new();
        if part.start > 0 && limit_chars > MARKED_CHARS_MIN {
            out.push(ELLIPSIS);
        }
        let shift = out.len();
        out.push_str(text.get(part.clone())?);
        if part.end < text.trim_end().len() && limit_chars > MARKED_CHARS_MIN {
            out.push(ELLIPSIS);
        }
        let inside = |found: &&Match| part.start <= found.at.start && found.at.end <= part.end;
        let highlights = matches.iter().filter(inside).map(|found| {
            let moved = |offset: usize| offset - part.start + shift;
            moved(found.at.start)..moved(found.at.end)
        });
        let highlights = highlights.collect();
        Some(Self { text: out, highlights })
    }
}

/// With no more room than this, ellipses would take the place of text.
const MARKED_CHARS_MIN: usize = 8;

/// A word of the query, found in the text.
struct Match {
    at: Range<usize>,
    word: String,
}

fn find_words(marked: &str, words: &HashSet<&str>, analyzer: &mut TextAnalyzer) -> Vec<Match> {
    let mut matches = Vec::new();
    let mut stream = analyzer.token_stream(marked);
    while stream.advance() {
        let token = stream.token();
        if words.contains(token.text.as_str()) {
            let at = token.offset_from - MARK_BYTES..token.offset_to - MARK_BYTES;
            matches.push(Match { at, word: token.text.clone() });
        }
    }
    matches
}

/// How many matches from one on are weighed against each other.
const WINDOW_MATCHES: usize = 16;

/// Where the part with the most different words begins: some way before its first match. What only
/// says the title again is left out if there is anything else.
fn best_start((title, text): (&str, &str), matches: &[Match], limit_chars: usize) -> usize {
    let mut best: Option<(usize, Range<usize>)> = None;
    let mut after_title = end_of_repeated(title, text, 0).unwrap_or(0);
    for (at, first) in matches.iter().enumerate() {
        if let Some(end) = end_of_repeated(title, text, first.at.start) {
            after_title = after_title.max(end);
            continue;
        }
        let mut seen: Vec<&str> = Vec::new();
        // Bytes are at least as many as characters, so what is counted does fit.
        let fits = |found: &&Match| found.at.end - first.at.start <= limit_chars * 3 / 4;
        let window = matches.iter().skip(at).take(WINDOW_MATCHES);
        for found in window.take_while(fits) {
            if !seen.contains(&found.word.as_str()) {
                seen.push(&found.word);
            }
        }
        if best.as_ref().is_none_or(|(most, _)| seen.len() > *most) {
            best = Some((seen.len(), after_title..first.at.start));
        }
    }
    let Some((_, Range { start: floor, end: first_match })) = best else {
        let goes_on = text.get(after_title..).is_some_and(|rest| !rest.trim().is_empty());
        return if goes_on { after_title } else { 0 };
    };
    let before = text.get(floor..first_match).unwrap_or_default();
    let lead = before.char_indices().rev().take(limit_chars / 4);
    let lead = lead.map(|(at, _)| floor + at).last().unwrap_or(first_match);
    // Begins with a line or a sentence if one is near, else with a whole word.
    let near = text.get(lead..first_match).unwrap_or_default();
    if lead == floor {
        return floor;
    }
    let ends_sentence = |at: &usize| {
        let rest = near.get(*at..).unwrap_or_default();
        rest.starts_with('\n') || rest.chars().nth(1).is_some_and(char::is_whitespace)
    };
    let ends = near.rmatch_indices(['\n', '.', '!', '?']);
    let sentence = ends.map(|(at, _)| at).find(ends_sentence);
    let start = sentence.or_else(|| near.find(char::is_whitespace));
    start.map_or(first_match, |at| lead + at + char_len_at(near, at))
}

/// What generators put behind a heading, for a link to the place.
const MARKS: [char; 3] = ['¶', '#', ' '];
const MARKS_BYTES: usize = 8;

/// If the line at `at` is a heading that the title begins with, where it ends.
fn end_of_repeated(title: &str, text: &str, at: usize) -> Option<usize> {
    // No line is looked at that is longer than the title and its marks.
    let reach = title.len() + MARKS_BYTES;
    let (before, after) = text.as_bytes().split_at_checked(at)?;
    let first = before.len().saturating_sub(reach);
    let start = memchr::memrchr(b'\n', before.get(first..)?).map(|end| first + end + 1);
    let start = start.or((first == 0).then_some(0))?;
    let length = memchr::memchr(b'\n', after.get(..reach.min(after.len()))?);
    let end = at + length.or((after.len() <= reach).then_some(after.len()))?;
    let line = text.get(start..end)?.trim_end_matches(MARKS).trim_start();
    title.starts_with(line).then_some(end)
}

fn char_len_at(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    rest.chars().next().map_or(0, char::len_utf8)
}

/// The part from `start` on that fits, ellipses minded, ended at a word if it can be.
fn cut_part(text: &str, start: usize, limit_chars: usize) -> Option<Range<usize>> {
    let rest = text.get(start..)?;
    let start = start + rest.len() - rest.trim_start().len();
    let rest = text.get(start..)?.trim_end();
    let marks = limit_chars > MARKED_CHARS_MIN;
    let room = limit_chars - usize::from(marks && start > 0);
    let Some((_, _)) = rest.char_indices().nth(room) else {
        return Some(start..start + rest.len());
    };
    let room = room - usize::from(marks);
    let end = rest.char_indices().nth(room).map_or(rest.len(), |(end, _)| end);
    let fits = rest.get(..end)?;
    let cuts_word = rest.get(end..)?.starts_with(|c: char| !c.is_whitespace());
    let whole = match fits.rfind(char::is_whitespace) {
        // Ending at a word may cost up to half of the room, no more.
        Some(at) if cuts_word && at * 2 >= fits.len() => fits.get(..at)?,
        Some(_) | None => fits,
    };
    Some(start..start + whole.trim_end().len())
}
