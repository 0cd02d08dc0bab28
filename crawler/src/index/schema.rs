//! The fields of a document in the index, and the way there and back.

use std::path::Path;

use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, STORED, Schema, TextFieldIndexing, TextOptions,
    Value as _,
};
use tantivy::{Index, TantivyDocument, Term};

use super::language::{self, Language};
use super::{
    Document, DocumentKey, Form, ImagePreview, IndexError, Permission, ShowLimits, address_of,
    analyzer,
};

/// The one definition of the fields; an index written with another is refused.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields {
    pub(super) key: Field,
    pub(super) url: Field,
    pub(super) site: Field,
    pub(super) site_scope: Field,
    pub(super) title: Field,
    pub(super) shown_title: Field,
    pub(super) headings: Field,
    pub(super) url_words: Field,
    pub(super) text: Field,
    pub(super) snippet_text: Field,
    pub(super) language: Field,
    pub(super) language_code: Field,
    pub(super) canonical: Field,
    pub(super) fetched_at_ms: Field,
    pub(super) dated_ms: Field,
    pub(super) address: Field,
    pub(super) links: Field,
    pub(super) embeds: Field,
    pub(super) hidden_embeds: Field,
    pub(super) structured: Field,
    pub(super) expires_at_ms: Field,
    pub(super) form: Field,
    pub(super) is_bare: Field,
    pub(super) snippet_chars: Field,
    pub(super) image_preview: Field,
    pub(super) video_preview_s: Field,
    pub(super) no_translate: Field,
    pub(super) no_image_index: Field,
}

/// What stands in a number field for "no limit".
const UNLIMITED: i64 = -1;

/// When a document expires that never does.
const NEVER_MS: i64 = i64::MAX;

/// The fields, and the schema they belong to.
pub(super) fn build() -> (Schema, Fields) {
    let mut schema = Schema::builder();
    let words = TextFieldIndexing::default()
        .set_tokenizer(analyzer::NAME)
        .set_index_option(IndexRecordOption::WithFreqsAndPositions);
    let words = TextOptions::default().set_indexing_options(words);
    // Names are found as they stand; how often one stands there means nothing.
    let names = TextFieldIndexing::default()
        .set_tokenizer("raw")
        .set_fieldnorms(false)
        .set_index_option(IndexRecordOption::Basic);
    let names = TextOptions::default().set_indexing_options(names);
    let fields = Fields {
        key: schema.add_bytes_field("key", INDEXED),
        url: schema.add_text_field("url", STORED),
        site: schema.add_text_field("site", STORED),
        site_scope: schema.add_text_field("site_scope", names.clone()),
        title: schema.add_text_field("title", words.clone()),
        shown_title: schema.add_text_field("shown_title", STORED),
        headings: schema.add_text_field("headings", words.clone()),
        url_words: schema.add_text_field("url_words", words.clone()),
        text: schema.add_text_field("text", words),
        snippet_text: schema.add_text_field("snippet_text", STORED),
        language: schema.add_text_field("language", STORED),
        language_code: schema.add_text_field("language_code", names.clone()),
        canonical: schema.add_text_field("canonical", STORED),
        fetched_at_ms: schema.add_i64_field("fetched_at_ms", STORED),
        dated_ms: schema.add_i64_field("dated_ms", FAST | STORED),
        address: schema.add_u64_field("address", FAST),
        links: schema.add_u64_field("links", INDEXED),
        embeds: schema.add_u64_field("embeds", INDEXED),
        hidden_embeds: schema.add_u64_field("hidden_embeds", INDEXED),
        structured: schema.add_text_field("structured", STORED),
        expires_at_ms: schema.add_i64_field("expires_at_ms", FAST | STORED),
        form: schema.add_text_field("form", names | STORED),
        is_bare: schema.add_bool_field("is_bare", FAST),
        snippet_chars: schema.add_i64_field("snippet_chars", STORED),
        image_preview: schema.add_text_field("image_preview", STORED),
        video_preview_s: schema.add_i64_field("video_preview_s", STORED),
        no_translate: schema.add_bool_field("no_translate", STORED),
        no_image_index: schema.add_bool_field("no_image_index", STORED),
    };
    (schema.build(), fields)
}

/// Makes an opened index ready for use, and says where its fields are.
pub(super) fn adopt(index: &Index, dir: &Path) -> Result<Fields, IndexError> {
    let (schema, fields) = build();
    if index.schema() != schema {
        return Err(IndexError::OtherVersion {
            dir: dir.to_owned(),
            source: tantivy::TantivyError::SchemaError("its fields are not the same".into()),
        });
    }
    index.tokenizers().register(analyzer::NAME, analyzer::build());
    Ok(fields)
}

/// What of a document comes back from the index.
pub(super) struct StoredDocument {
    pub(super) url: String,
    pub(super) site: String,
    pub(super) form: Form,
    pub(super) title: String,
    pub(super) snippet_text: String,
    pub(super) language: String,
    pub(super) canonical: Option<String>,
    pub(super) fetched_at_ms: i64,
    pub(super) dated_ms: Option<i64>,
    pub(super) expires_at_ms: Option<i64>,
    pub(super) limits: ShowLimits,
    pub(super) structured: Vec<String>,
}

impl Fields {
    pub(super) fn key_term(&self, key: &DocumentKey) -> Term {
        Term::from_field_bytes(self.key, key)
    }

    pub(super) fn form_term(&self, form: Form) -> Term {
        Term::from_field_text(self.form, form_code(form))
    }

    pub(super) fn write(&self, document: &Document) -> TantivyDocument {
        let mut out = TantivyDocument::default();
        out.add_bytes(self.key, &document.key);
        out.add_u64(self.address, address_of(&document.key));
        out.add_text(self.url, &document.url);
        out.add_text(self.site, &document.site);
        scopes(&document.site).for_each(|scope| out.add_text(self.site_scope, scope));
        if let Some(canonical) = &document.canonical {
            out.add_text(self.canonical, canonical);
        }
        self.write_words(document, &mut out);
        self.write_terms(document, &mut out);
        out.add_i64(self.fetched_at_ms, document.fetched_at_ms);
        if let Some(dated) = document.dated_ms {
            out.add_i64(self.dated_ms, dated);
        }
        for (field, addresses) in [
            (self.links, &document.links),
            (self.embeds, &document.embeds),
            (self.hidden_embeds, &document.hidden_embeds),
        ] {
            addresses.iter().for_each(|address| out.add_u64(field, *address));
        }
        document.structured.iter().for_each(|data| out.add_text(self.structured, data));
        out
    }

    /// What a document is found by, and what may be quoted of it.
    fn write_words(&self, document: &Document, out: &mut TantivyDocument) {
        let code = language::primary(&document.language);
        let language = code.as_deref().and_then(Language::of_code);
        let marked = |text: &str| analyzer::marked(text, language);
        out.add_text(self.language, &document.language);
        if let Some(code) = &code {
            out.add_text(self.language_code, code);
        }
        out.add_text(self.title, marked(&document.title));
        out.add_text(self.shown_title, &document.title);
        out.add_text(self.headings, marked(&document.headings));
        out.add_text(self.url_words, marked(words_of_url(&document.url)));
        out.add_text(self.text, marked(&document.text));
        out.add_text(self.snippet_text, document.snippet_text.as_ref().unwrap_or(&document.text));
    }

    /// What its publisher permits.
    fn write_terms(&self, document: &Document, out: &mut TantivyDocument) {
        let limits = &document.limits;
        out.add_i64(self.expires_at_ms, document.expires_at_ms.unwrap_or(NEVER_MS));
        out.add_text(self.form, form_code(document.form));
        out.add_bool(self.is_bare, document.form == Form::Bare);
        out.add_i64(self.snippet_chars, or_unlimited(limits.snippet_chars));
        out.add_text(self.image_preview, image_code(limits.image_preview));
        out.add_i64(self.video_preview_s, or_unlimited(limits.video_preview_s));
        let withheld = |permission| permission == Permission::Withheld;
        out.add_bool(self.no_translate, withheld(limits.translation));
        out.add_bool(self.no_image_index, withheld(limits.image_indexing));
    }

    /// Reads a document back. A limit that cannot be read counts as the strictest.
    pub(super) fn read(&self, stored: &TantivyDocument) -> StoredDocument {
        let text = |field| {
            let value = stored.get_first(field);
            value.and_then(|value| value.as_str()).map(str::to_owned)
        };
        let number = |field| stored.get_first(field).and_then(|value| value.as_i64());
        let permission = |field| match stored.get_first(field).and_then(|value| value.as_bool()) {
            Some(false) => Permission::Granted,
            Some(true) | None => Permission::Withheld,
        };
        StoredDocument {
            url: text(self.url).unwrap_or_default(),
            site: text(self.site).unwrap_or_default(),
            form: form(text(self.form).as_deref()),
            title: text(self.shown_title).unwrap_or_default(),
            snippet_text: text(self.snippet_text).unwrap_or_default(),
            language: text(self.language).unwrap_or_default(),
            canonical: text(self.canonical),
            fetched_at_ms: number(self.fetched_at_ms).unwrap_or_default(),
            dated_ms: number(self.dated_ms),
            expires_at_ms: Some(number(self.expires_at_ms).unwrap_or(i64::MIN))
                .filter(|at| *at != NEVER_MS),
            structured: stored
                .get_all(self.structured)
                .filter_map(|data| data.as_str().map(str::to_owned))
                .collect(),
            limits: ShowLimits {
                snippet_chars: limit(number(self.snippet_chars)),
                image_preview: image_preview(text(self.image_preview).as_deref()),
                video_preview_s: limit(number(self.video_preview_s)),
                translation: permission(self.no_translate),
                image_indexing: permission(self.no_image_index),
            },
        }
    }
}

fn or_unlimited(limit: Option<u32>) -> i64 {
    limit.map_or(UNLIMITED, i64::from)
}

fn limit(stored: Option<i64>) -> Option<u32> {
    match stored {
        Some(UNLIMITED) => None,
        Some(limit) => Some(u32::try_from(limit).unwrap_or(0)),
        None => Some(0),
    }
}

/// A form that cannot be read counts as the one that is shown least.
fn form(code: Option<&str>) -> Form {
    match code {
        Some("full") => Form::Full,
        Some("bare") => Form::Bare,
        Some(_) | None => Form::Embedded,
    }
}

/// A site and all domains it lies in, so that `site:example.org` finds `docs.example.org`.
fn scopes(site: &str) -> impl Iterator<Item = &str> {
    let is_address = site.parse::<std::net::IpAddr>().is_ok() || site.starts_with('[');
    let domains = site.match_indices('.').filter(move |_| !is_address);
    std::iter::once(site).chain(domains.filter_map(|(dot, _)| site.get(dot + 1..)))
}

/// What of an address has words: all but its scheme.
fn words_of_url(url: &str) -> &str {
    url.split_once("://").map_or(url, |(_, rest)| rest)
}

fn form_code(form: Form) -> &'static str {
    match form {
        Form::Full => "full",
        Form::Embedded => "embedded",
        Form::Bare => "bare",
    }
}

fn image_code(preview: ImagePreview) -> &'static str {
    match preview {
        ImagePreview::None => "none",
        ImagePreview::Standard => "standard",
        ImagePreview::Large => "large",
    }
}

fn image_preview(code: Option<&str>) -> ImagePreview {
    match code {
        Some("large") => ImagePreview::Large,
        Some("standard") => ImagePreview::Standard,
        Some(_) | None => ImagePreview::None,
    }
}
