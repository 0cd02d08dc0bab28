//! The settings as they are written.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// All of `[extract]`, by name.
pub type ExtractSections = BTreeMap<String, ExtractConfig>;

/// `[extract.NAME]`
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct ExtractConfig {
    /// Pages to read: path patterns as in robots.txt, or whole addresses with one. Empty for all.
    pub urls: Vec<String>,
    /// Which of them by their page rules.
    pub pages: Pages,
    /// A CSS selector of which each match is an item; absent, the page is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub each: Option<String>,
    /// What an item holds.
    pub fields: BTreeMap<String, FieldConfig>,
}

/// Which pages are read, by their page rules.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Pages {
    /// Every page that could be fetched: what may be read is for robots.txt to say.
    #[default]
    All,
    /// Those that a search result may show: no noindex, no date that has passed.
    Indexable,
}

/// `[extract.NAME.fields.X]`
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct FieldConfig {
    /// A CSS selector below the item's element; absent with `each`, that element itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub css: Option<String>,
    /// A path into the page's JSON-LD, such as `Product.offers.price`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jsonld: Option<String>,
    /// An attribute to read in the place of the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attr: Option<String>,
    /// What of the text is meant: the first group, or without one the whole match.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub regex: Option<String>,
    /// What the value is.
    #[serde(rename = "type")]
    pub kind: Type,
    /// Of a list: what its values are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<Type>,
    /// Of a number: the sign before its decimals, `.` or `,`; absent, what the text suggests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decimal: Option<char>,
    /// Of a date: how it is written, such as `%d.%m.%Y`; absent, any form that is in wide use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// Whether there is no item without it.
    pub required: bool,
    /// Of an address: whether the crawl follows it, within all rules.
    pub follow: bool,
}

/// What a value is.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Type {
    /// Text, as words with one blank between them.
    #[default]
    Text,
    /// A number, out of a text such as `£1,234.50`.
    Number,
    /// A date, as an instant of RFC 3339.
    Date,
    /// An address, made absolute.
    Url,
    /// Every match, not the first alone.
    List,
}

impl Type {
    /// As it is written in settings.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Number => "number",
            Self::Date => "date",
            Self::Url => "url",
            Self::List => "list",
        }
    }
}
