//! The search index looked after: whether it holds nothing that it may not, and how it is made anew
//! from what else is kept of the crawl.

mod place;
mod rebuild;
mod verify;

use comity_compliance::{Publication, RefusalReason, Terms, Timestamp, Withheld};
use comity_storage::{Outcome, PageRecord, Role};

pub use self::place::{Place, PlaceError};
pub use self::rebuild::{Rebuilding, Rebuilt, fetch_missing, rebuild};
pub use self::verify::{Verified, verify, withdraw};

use super::publish;
use crate::reasons::IndexFault;

/// What the index may hold of a page, by all that the crawl knows.
enum Due {
    Full(Terms),
    Embedded(Terms),
    Bare,
    Nothing(&'static str),
}

impl Due {
    /// What the index may hold of a page at `now`; `bare_urls` says whether the operator wants
    /// addresses that are forbidden.
    fn of(page: &PageRecord, bare_urls: bool, now: Timestamp) -> Self {
        let forbidden = RefusalReason::RobotsDisallow.code();
        match &page.last {
            Some((_, Outcome::Refused { code, .. })) if *code == forbidden => {
                match bare_urls && publish::may_be_bare(page, now) {
                    true => Self::Bare,
                    false => Self::Nothing(forbidden),
                }
            }
            Some((_, Outcome::Redirected { .. })) => Self::Nothing(Withheld::Redirect.code()),
            Some(_) | None => Self::of_copy(page, now),
        }
    }

    fn of_copy(page: &PageRecord, now: Timestamp) -> Self {
        let Some((_, fetched)) = page.last_fetch() else {
            return Self::Nothing(IndexFault::NeverRead.code());
        };
        if page.role != Role::Page {
            return Self::Nothing(IndexFault::NeverRead.code());
        }
        if fetched.stand_in.is_some() {
            return Self::Nothing(IndexFault::CopyOfAnother.code());
        }
        match publish::publication_of(fetched, now) {
            Publication::Full(terms) => Self::Full(terms),
            Publication::EmbeddedOnly(terms) => Self::Embedded(terms),
            Publication::BareUrl(why) | Publication::Nothing(why) => Self::Nothing(why.code()),
        }
    }
}
