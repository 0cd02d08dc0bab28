//! The fields of a document in the index, and the way there and back.

use std::path::Path;

use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, STORED, STRING, Schema, TextFieldIndexing,
    TextOptions, Value as _,
};
use tantivy::{Index, TantivyDocument, Term};

use super::analyzer;
use super::{Document, DocumentKey, Form, ImagePreview, IndexError, Permission, ShowLimits};

/// The one definition of the fields; an index written with another is refused.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields {
    pub(super) key: Field,
    pub(super) url: Field,
    pub(super) site: Field,
    pub(super) title: Field,
    pub(super) text: Field,
    pub(super) snippet_text: Field,
    pub(super) language: Field,
    pub(super) canonical: Field,
    pub(super) fetched_at_ms: Field,
    pub(super) expires_at_ms: Field,
    pub(super) form: Field,
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
    let fields = Fields {
        key: schema.add_bytes_field("key", INDEXED),
        url: schema.add_text_field("url", STORED),
        site: schema.add_text_field("site", STRING | STORED),
        title: schema.add_text_field("title", words.clone() | STORED),
        text: schema.add_text_field("text", words),
        snippet_text: schema.add_text_field("snippet_text", STORED),
        language: schema.add_text_field("language", STRING | STORED),
        canonical: schema.add_text_field("canonical", STORED),
        fetched_at_ms: schema.add_i64_field("fetched_at_ms", FAST | STORED),
        expires_at_ms: schema.add_i64_field("expires_at_ms", FAST),
        form: schema.add_text_field("form", STRING),
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
    index
        .tokenizers()
        .register(analyzer::NAME, analyzer::build());
    Ok(fields)
}

/// What of a document comes back from the index.
pub(super) struct StoredDocument {
    pub(super) url: String,
    pub(super) site: String,
    pub(super) title: String,
    pub(super) snippet_text: String,
    pub(super) language: String,
    pub(super) canonical: Option<String>,
    pub(super) fetched_at_ms: i64,
    pub(super) limits: ShowLimits,
}

impl Fields {
    pub(super) fn key_term(&self, key: &DocumentKey) -> Term {
        Term::from_field_bytes(self.key, key)
    }

    pub(super) fn form_term(&self, form: Form) -> Term {
        Term::from_field_text(self.form, form_code(form))
    }

    pub(super) fn write(&self, document: &Document) -> TantivyDocument {
        let limits = &document.limits;
        let mut out = TantivyDocument::default();
        out.add_bytes(self.key, &document.key);
        out.add_text(self.url, &document.url);
        out.add_text(self.site, &document.site);
        out.add_text(self.title, &document.title);
        out.add_text(self.text, &document.text);
        out.add_text(self.snippet_text, &document.snippet_text);
        out.add_text(self.language, &document.language);
        if let Some(canonical) = &document.canonical {
            out.add_text(self.canonical, canonical);
        }
        out.add_i64(self.fetched_at_ms, document.fetched_at_ms);
        out.add_i64(
            self.expires_at_ms,
            document.expires_at_ms.unwrap_or(NEVER_MS),
        );
        out.add_text(self.form, form_code(document.form));
        out.add_i64(self.snippet_chars, or_unlimited(limits.snippet_chars));
        out.add_text(self.image_preview, image_code(limits.image_preview));
        out.add_i64(self.video_preview_s, or_unlimited(limits.video_preview_s));
        let withheld = |permission| permission == Permission::Withheld;
        out.add_bool(self.no_translate, withheld(limits.translation));
        out.add_bool(self.no_image_index, withheld(limits.image_indexing));
        out
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
            title: text(self.title).unwrap_or_default(),
            snippet_text: text(self.snippet_text).unwrap_or_default(),
            language: text(self.language).unwrap_or_default(),
            canonical: text(self.canonical),
            fetched_at_ms: number(self.fetched_at_ms).unwrap_or_default(),
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
