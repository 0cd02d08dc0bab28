//! From a page and its publication to what the index gets.

use comity_compliance::{
    Directive, Directives, ImagePreview, Limit, Permission, Publication, Rule, Site, Source, Terms,
    Timestamp, Withheld,
};
use comity_storage::Fetched;
use url::Url;
use xxhash_rust::xxh3::xxh3_128;

use crate::index::{self, Document, DocumentKey, Form, IndexChange, ShowLimits};
use crate::page::Page;

/// What a URL's document is known by: the same in every store and index.
pub(super) fn document_key(url: &Url) -> DocumentKey {
    xxh3_128(url.as_str().as_bytes()).to_be_bytes()
}

/// Puts a page into the index as its publication permits, or takes it out. `canonical` is the
/// address that stands for it.
pub(super) fn change(
    url: &Url,
    (page, canonical): (&Page, Option<&Url>),
    publication: &Publication,
    now: Timestamp,
) -> IndexChange {
    let put = |terms, form| put(url, (page, canonical), terms, form, now);
    match publication {
        Publication::Full(terms) => put(terms, Form::Full),
        Publication::EmbeddedOnly(terms) => put(terms, Form::Embedded),
        Publication::BareUrl(_) | Publication::Nothing(_) => withdraw(url),
    }
}

/// Takes a page out of the index, if it is there.
pub(super) fn withdraw(url: &Url) -> IndexChange {
    IndexChange::Withdraw { key: document_key(url) }
}

fn put(
    url: &Url,
    (page, canonical): (&Page, Option<&Url>),
    terms: &Terms,
    form: Form,
    now: Timestamp,
) -> IndexChange {
    IndexChange::Put(Box::new(Document {
        key: document_key(url),
        url: url.to_string(),
        site: Site::of(url).map_or_else(|_| String::new(), |site| site.to_string()),
        title: page.title.clone().unwrap_or_default(),
        text: page.text.clone(),
        snippet_text: page.snippet_text.clone(),
        language: page.language.clone().unwrap_or_default(),
        canonical: canonical.map(ToString::to_string),
        fetched_at_ms: now.as_millis(),
        expires_at_ms: terms.until.map(Timestamp::as_millis),
        form,
        limits: show_limits(terms),
    }))
}

fn show_limits(terms: &Terms) -> ShowLimits {
    ShowLimits {
        snippet_chars: number(terms.snippet.limit()),
        image_preview: match terms.image_preview {
            ImagePreview::None => index::ImagePreview::None,
            ImagePreview::Standard => index::ImagePreview::Standard,
            ImagePreview::Large => index::ImagePreview::Large,
        },
        video_preview_s: number(terms.video_preview),
        translation: permission(terms.translation),
        image_indexing: permission(terms.images),
    }
}

fn number(limit: Limit) -> Option<u32> {
    match limit {
        Limit::AtMost(number) => Some(number),
        Limit::Unlimited => None,
    }
}

fn permission(permission: Permission) -> index::Permission {
    match permission {
        Permission::Allow => index::Permission::Granted,
        Permission::Forbid => index::Permission::Withheld,
    }
}

/// The directives that a page record keeps, as compliance knows them.
pub(super) fn directives_of(fetched: &Fetched) -> Directives {
    let directives = fetched.directives.iter().filter_map(|kept| {
        Some(Directive {
            rule: Rule::from_stored(&kept.rule)?,
            source: kept.source.parse::<Source>().ok()?,
            agent: kept.agent.clone(),
        })
    });
    Directives::from_parts(directives)
}

/// What may be shown at `now` of a page that was fetched, by what its record keeps.
pub(crate) fn publication_of(fetched: &Fetched, now: Timestamp) -> Publication {
    match Withheld::from_code(&fetched.publication) {
        Some(why @ (Withheld::ContentType | Withheld::NotSuccessful | Withheld::Redirect)) => {
            Publication::Nothing(why)
        }
        Some(Withheld::NoIndex | Withheld::Expired | Withheld::RobotsDisallow) | None => {
            Publication::of(&directives_of(fetched), now)
        }
    }
}

/// Whether it was never a page that an index could show, whatever its rules said.
pub(super) fn is_no_page(fetched: &Fetched) -> bool {
    match Withheld::from_code(&fetched.publication) {
        Some(Withheld::ContentType | Withheld::NotSuccessful | Withheld::Redirect) => true,
        Some(Withheld::NoIndex | Withheld::Expired | Withheld::RobotsDisallow) | None => false,
    }
}

/// Changes that are made together, as they travel through the outbox.
pub(super) fn to_bytes(changes: &[IndexChange]) -> Option<Vec<u8>> {
    postcard::to_allocvec(changes)
        .inspect_err(|error| tracing::error!(%error, "a change for the index could not be written"))
        .ok()
}

/// Changes from the outbox.
pub(super) fn from_bytes(bytes: &[u8]) -> Option<Vec<IndexChange>> {
    postcard::from_bytes(bytes).ok()
}
