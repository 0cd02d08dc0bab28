//! One meta tag: whether its name binds us, and the rules of its content.

use super::list::read_element;
use super::remarks::Found;
use crate::{DateReader, Identity, ProductToken};

/// Whom a meta tag with a binding name is for.
#[derive(Clone, Copy)]
pub(super) enum Addressee<'i> {
    AllCrawlers,
    Us(&'i ProductToken),
}

/// Whom a meta name addresses, if it binds `identity`: one of its tokens, or `robots` if it
/// is a search crawler, in any case (RM-002, RM-004, RM-005, AM-42). Every other name is ignored.
pub(super) fn addressee<'i>(name: &str, identity: &'i Identity) -> Option<Addressee<'i>> {
    let name = name.trim();
    if name.eq_ignore_ascii_case("robots") {
        return identity.class().heeds_robots_meta().then_some(Addressee::AllCrawlers);
    }
    let own = identity.tokens().iter().find(|token| token.is(name));
    own.map(Addressee::Us)
}

/// Gives `keep` every rule and remark of the content.
pub(super) fn read_content(content: &str, dates: DateReader, mut keep: impl FnMut(Found<'_>)) {
    let mut rest = Some(content);
    while let Some(text) = rest {
        rest = read_element(text, dates, &mut keep);
    }
}
