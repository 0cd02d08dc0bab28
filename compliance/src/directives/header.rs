//! One `X-Robots-Tag` field line: rules, and the names of the crawlers that they are for.

use alloc::borrow::Cow;
use alloc::string::String;

use super::list::{is_known_rule, read_element, split_element, takes_value};
use super::remarks::Found;
use super::vocabulary::Word;
use crate::{DateReader, Identity, KnownCrawler, ProductToken};

/// Whom the rules of a line are for, until another name follows (XR-005).
#[derive(Clone, Copy)]
enum Scope<'i> {
    AllCrawlers,
    Us(&'i ProductToken),
    Others,
}

/// Gives `keep` every rule and remark of the line that binds `identity`, with the token that it is for.
///
/// The scope starts anew with each line (AM-44).
pub(super) fn read_line<'i>(
    value: &[u8],
    identity: &'i Identity,
    dates: DateReader,
    mut keep: impl FnMut(Found<'_>, Option<&'i ProductToken>),
) {
    let line = text_of(value);
    let mut scope = Scope::AllCrawlers;
    let mut rest = Some(&*line);
    while let Some(mut text) = rest {
        if let Some((named, body)) = split_agent(text, identity) {
            (scope, text) = (named, body);
        }
        rest = read_element(text, dates, &mut |found| match scope {
            Scope::AllCrawlers => keep(found, None),
            Scope::Us(token) => keep(found, Some(token)),
            Scope::Others => {}
        });
    }
}

/// A field value is bytes. What is not UTF-8 is taken as Latin-1: the words are ASCII either way.
pub(super) fn text_of(value: &[u8]) -> Cow<'_, str> {
    match core::str::from_utf8(value) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(value.iter().copied().map(char::from).collect::<String>()),
    }
}

/// The name that the first element of `text` starts with, if it is a crawler's, and the text
/// after its colon (AM-43).
///
/// A word of the vocabulary is no crawler, so `noindex: nofollow, nosnippet` cannot send the
/// last rule to one of that name. By the letter of AM-43 only words with a value are exempt; this
/// is stricter, because a slip must not lift a rule and no crawler has such a name.
fn split_agent<'t, 'i>(text: &'t str, identity: &'i Identity) -> Option<(Scope<'i>, &'t str)> {
    let (element, _) = split_element(text);
    let (before, rule) = element.split_once(':')?;
    let name = before.trim();
    let body = text.get(before.len() + 1..)?;
    if takes_value(name) {
        return None;
    }
    if name == "*" || name.eq_ignore_ascii_case("robots") {
        return Some((Scope::AllCrawlers, body));
    }
    if let Some(own) = identity.tokens().iter().find(|token| token.is(name)) {
        return Some((Scope::Us(own), body));
    }
    let known = KnownCrawler::named(name).is_some();
    let named = is_token(name) && Word::named(name).is_none() && is_known_rule(rule);
    (known || named).then_some((Scope::Others, body))
}

fn is_token(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphabetic() || b == b'_' || b == b'-')
}
