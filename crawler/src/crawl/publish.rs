//! From a page and its publication to what the index gets.

use comity_compliance::{
    Directive, Directives, ImagePreview, Limit, Permission, Publication, Rule, Site, Source, Terms,
    Timestamp, Withheld,
};
use comity_storage::{Fetched, PageRecord, Role};
use url::Url;
use xxhash_rust::xxh3::xxh3_128;

use crate::index::{self, Document, DocumentKey, Form, IndexChange, ShowLimits};
use crate::page::Page;

/// What a URL's document is known by: the same in every store and index.
pub(super) fn document_key(url: &Url) -> DocumentKey {
    xxh3_128(url.as_str().as_bytes()).to_be_bytes()
}

/// The number that stands for a URL among the links of documents.
pub(super) fn address_of(url: &Url) -> u64 {
    index::address_of(&document_key(url))
}

/// A page as it is to be published.
pub(super) struct Published<'a> {
    pub(super) url: &'a Url,
    pub(super) page: &'a Page,
    /// The address that stands for it.
    pub(super) canonical: Option<&'a Url>,
    /// Its structured data.
    pub(super) structured: Vec<String>,
    /// Its `Last-Modified` header.
    pub(super) last_modified: Option<&'a str>,
    /// Its links, as the index counts them.
    pub(super) links: Linked,
    pub(super) fetched_at: Timestamp,
}

/// The addresses that a page leads to, as the index knows them.
#[derive(Clone, Debug, Default)]
pub(super) struct Linked {
    /// By links that may be followed.
    pub(super) links: Vec<u64>,
    /// By frames.
    pub(super) embeds: Vec<u64>,
    /// By frames that `data-nosnippet` covers.
    pub(super) hidden_embeds: Vec<u64>,
}

impl Published<'_> {
    /// Puts the page into the index as its publication permits, or takes it out.
    pub(super) fn change(self, publication: &Publication) -> IndexChange {
        match publication {
            Publication::Full(terms) => self.put(terms, Form::Full),
            Publication::EmbeddedOnly(terms) => self.put(terms, Form::Embedded),
            Publication::BareUrl(_) | Publication::Nothing(_) => withdraw(self.url),
        }
    }

    fn put(self, terms: &Terms, form: Form) -> IndexChange {
        let page = self.page;
        let language = page.language.clone().or_else(|| index::language_told(&page.text));
        IndexChange::Put(Box::new(Document {
            title: page.title.clone().unwrap_or_default(),
            headings: page.headings.clone(),
            text: page.text.clone(),
            snippet_text: (page.snippet_text != page.text).then(|| page.snippet_text.clone()),
            language: language.unwrap_or_default(),
            canonical: self.canonical.map(ToString::to_string),
            dated_ms: index::dated(page, self.last_modified, self.fetched_at)
                .map(Timestamp::as_millis),
            expires_at_ms: terms.until.map(Timestamp::as_millis),
            limits: show_limits(terms),
            links: self.links.links,
            embeds: self.links.embeds,
            hidden_embeds: self.links.hidden_embeds,
            structured: self.structured,
            ..empty(self.url, form, self.fetched_at)
        }))
    }
}

/// A document of this address that says nothing.
fn empty(url: &Url, form: Form, fetched_at: Timestamp) -> Document {
    Document {
        key: document_key(url),
        url: url.to_string(),
        site: Site::of(url).map_or_else(|_| String::new(), |site| site.to_string()),
        title: String::new(),
        headings: String::new(),
        text: String::new(),
        snippet_text: None,
        language: String::new(),
        canonical: None,
        fetched_at_ms: fetched_at.as_millis(),
        dated_ms: None,
        expires_at_ms: None,
        form,
        limits: ShowLimits::default(),
        links: Vec::new(),
        embeds: Vec::new(),
        hidden_embeds: Vec::new(),
        structured: Vec::new(),
    }
}

/// Puts an address into the index that may not be fetched, with what a link to it says for a title
/// (RT-049). Nothing of its content was seen.
pub(crate) fn bare(page: &PageRecord, now: Timestamp) -> IndexChange {
    let title = page.anchor.clone().unwrap_or_default();
    let limits = ShowLimits { snippet_chars: Some(0), ..ShowLimits::default() };
    IndexChange::Put(Box::new(Document {
        title,
        limits,
        expires_at_ms: until(page, now).map(Timestamp::as_millis),
        ..empty(&page.url, Form::Bare, now)
    }))
}

/// The day that a page's rules named when it was last read.
pub(super) fn until(page: &PageRecord, now: Timestamp) -> Option<Timestamp> {
    publication_of(page.last_fetch()?.1, now).until()
}

/// Whether nothing that was seen of a page before it was forbidden keeps its address back.
pub(crate) fn may_be_bare(page: &PageRecord, now: Timestamp) -> bool {
    let seen = page.last_fetch().map(|(_, fetched)| publication_of(fetched, now));
    let is_page = page.role == Role::Page;
    is_page && !matches!(seen, Some(Publication::Nothing(_) | Publication::EmbeddedOnly(_)))
}

/// Takes a page out of the index, if it is there.
pub(super) fn withdraw(url: &Url) -> IndexChange {
    IndexChange::Withdraw { key: document_key(url) }
}

/// How much may be shown of a page under these terms.
pub(super) fn show_limits(terms: &Terms) -> ShowLimits {
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

/// Bytes of a change beside its texts, roughly.
const CHANGE_BYTES: usize = 1024;

/// Changes that are made together, as they travel through the outbox.
pub(super) fn to_bytes(changes: &[IndexChange]) -> Option<Vec<u8>> {
    let bytes = changes.iter().map(|change| match change {
        IndexChange::Put(document) => document.text.len() + CHANGE_BYTES,
        IndexChange::Withdraw { .. } => CHANGE_BYTES,
    });
    postcard::to_extend(changes, Vec::with_capacity(bytes.sum()))
        .inspect_err(|error| tracing::error!(%error, "a change for the index could not be written"))
        .ok()
}

/// Changes from the outbox.
pub(super) fn from_bytes(bytes: &[u8]) -> Option<Vec<IndexChange>> {
    postcard::from_bytes(bytes).ok()
}
