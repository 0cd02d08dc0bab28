//! One field: where its value is, and what became of it on a page.

use std::fmt;

use regex::Regex;
use scraper::{ElementRef, Selector};
use serde_json::Value;

use super::json_ld::{JsonPath, Nodes};
use super::value::{Reading, Scalar, excerpt};
use crate::extract::dom::one_line;
use crate::extract::{Dom, PageView, TooCostly};

/// A field, ready to work.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) source: Source,
    pub(super) attr: Option<String>,
    pub(super) regex: Option<Regex>,
    pub(super) reading: Reading,
    pub(super) is_list: bool,
    pub(super) required: bool,
    pub(super) follow: bool,
}

/// Where a field looks.
#[derive(Debug)]
pub(super) enum Source {
    /// The item's own element.
    Own,
    Css(Selector),
    JsonLd(JsonPath),
}

/// Where an item is looked for.
#[derive(Debug)]
pub(super) struct Place<'p> {
    pub(super) page: &'p PageView<'p>,
    pub(super) dom: Option<&'p Dom>,
    pub(super) nodes: &'p Nodes,
    /// The item's element; none where no tree was built.
    pub(super) root: Option<ElementRef<'p>>,
}

/// What became of a field on a page.
#[derive(Clone, Debug)]
pub struct FieldTrace {
    /// The field.
    pub field: String,
    /// Elements or JSON-LD values that are there.
    pub matched: usize,
    /// The first few of their texts, cut, before regex and type.
    pub texts: Vec<String>,
    /// The value; null if there is none.
    pub value: Value,
    /// Why there is none.
    pub miss: Option<Miss>,
}

/// Why a field has no value.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Miss {
    /// The page is no HTML.
    NoTree,
    /// Its selector matches nothing.
    NoElement,
    /// The element has no such attribute.
    NoAttribute(String),
    /// There is no JSON-LD on the page; so many scripts of it are no JSON.
    NoJsonLd(usize),
    /// Nothing of the JSON-LD is there.
    NoPath,
    /// At the end of the path lies an object; its keys.
    Object(String),
    /// There is no text.
    Empty,
    /// More text than a value may have.
    TooLong,
    /// The regex does not match this.
    NoMatch(String),
    /// This holds no number.
    NoNumber(String),
    /// This is no date.
    NoDate(String),
    /// This is a date in a zone whose hours are not known.
    UnknownZone(String),
    /// This is no http or https address.
    NoUrl(String),
}

impl Miss {
    /// The same without what the page says: for counts.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::NoTree => "the page is no HTML",
            Self::NoElement => "no element matches",
            Self::NoAttribute(_) => "no such attribute",
            Self::NoJsonLd(_) => "no JSON-LD",
            Self::NoPath => "nothing at this path",
            Self::Object(_) => "an object, not a value",
            Self::Empty => "no text",
            Self::TooLong => "too long",
            Self::NoMatch(_) => "regex does not match",
            Self::NoNumber(_) => "no number",
            Self::NoDate(_) => "no date",
            Self::UnknownZone(_) => "a time zone that is not known",
            Self::NoUrl(_) => "no address",
        }
    }
}

impl fmt::Display for Miss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind())?;
        match self {
            Self::NoAttribute(name) => write!(f, ": {name}"),
            Self::NoJsonLd(broken) if *broken > 0 => write!(f, "; {broken} scripts are no JSON"),
            Self::Object(keys) => write!(f, "; go on in the path, to one of {keys}"),
            Self::NoMatch(text)
            | Self::NoNumber(text)
            | Self::NoDate(text)
            | Self::UnknownZone(text)
            | Self::NoUrl(text) => write!(f, ": \"{text}\""),
            Self::NoTree
            | Self::NoElement
            | Self::NoJsonLd(_)
            | Self::NoPath
            | Self::Empty
            | Self::TooLong => Ok(()),
        }
    }
}

/// Values of one field that are looked at.
const MOST_VALUES: usize = 1_000;
/// Bytes of one value's text.
const TEXT_BYTES: usize = 256 << 10;
/// Texts that a trace keeps.
const TEXTS_SHOWN: usize = 3;

impl Field {
    pub(super) fn needs_dom(&self) -> bool {
        !matches!(self.source, Source::JsonLd(_))
    }

    /// What the field is at a place. Of several matches the first that gives a value counts, or all
    /// of them if it is a list.
    pub(super) fn read(&self, place: &Place<'_>) -> Result<FieldTrace, TooCostly> {
        let mut trace = FieldTrace {
            field: self.name.clone(),
            matched: 0,
            texts: vec![],
            value: Value::Null,
            miss: None,
        };
        let texts = match self.texts(place)? {
            Ok(texts) => texts,
            Err(miss) => {
                trace.miss = Some(miss);
                return Ok(trace);
            }
        };
        trace.matched = texts.len();
        let shown = texts.iter().filter_map(|text| text.as_ref().ok()).take(TEXTS_SHOWN);
        trace.texts = shown.map(|text| excerpt(text)).collect();
        let mut values = Vec::new();
        for text in texts {
            match text.and_then(|text| self.value(&text, place)) {
                Ok(value) => {
                    values.push(value);
                    if !self.is_list {
                        break;
                    }
                }
                Err(miss) => {
                    trace.miss.get_or_insert(miss);
                }
            }
        }
        if !values.is_empty() {
            trace.miss = None;
            let first = |values: Vec<Value>| values.into_iter().next().unwrap_or_default();
            trace.value = if self.is_list { Value::Array(values) } else { first(values) };
        }
        Ok(trace)
    }

    /// The texts that the field's place has, at least one.
    fn texts(
        &self,
        place: &Place<'_>,
    ) -> Result<Result<Vec<Result<String, Miss>>, Miss>, TooCostly> {
        let (dom, root) = match (&self.source, place.dom, place.root) {
            (Source::JsonLd(path), ..) => return Ok(json_texts(path, place.nodes)),
            (Source::Own | Source::Css(_), Some(dom), Some(root)) => (dom, root),
            (Source::Own | Source::Css(_), ..) => return Ok(Err(Miss::NoTree)),
        };
        let elements = match &self.source {
            Source::Css(selector) => dom.select(root, selector, MOST_VALUES)?,
            Source::Own | Source::JsonLd(_) => vec![root],
        };
        if elements.is_empty() {
            return Ok(Err(Miss::NoElement));
        }
        let texts = elements.into_iter().map(|element| self.element_text(dom, element));
        texts.collect::<Result<Vec<_>, _>>().map(Ok)
    }

    fn element_text(
        &self,
        dom: &Dom,
        element: ElementRef<'_>,
    ) -> Result<Result<String, Miss>, TooCostly> {
        let own = self.attr.as_deref();
        if let Some(name) = own.or_else(|| usual_attribute(element, self.reading.scalar)) {
            let value = element.attr(name).map(one_line);
            return Ok(value.ok_or_else(|| Miss::NoAttribute(name.into())));
        }
        dom.text(element).map(Ok)
    }

    fn value(&self, text: &str, place: &Place<'_>) -> Result<Value, Miss> {
        if text.len() > TEXT_BYTES {
            return Err(Miss::TooLong);
        }
        let meant = match &self.regex {
            None => text,
            Some(regex) => {
                let found = regex.captures(text);
                let found = found.and_then(|found| found.get(1).or_else(|| found.get(0)));
                found.ok_or_else(|| Miss::NoMatch(excerpt(text)))?.as_str().trim()
            }
        };
        let page = place.page;
        let resolve = |address: &str| match place.dom {
            Some(dom) => dom.resolve(address),
            None => page.url.join(address).ok().filter(|url| url.scheme().starts_with("http")),
        };
        self.reading.read(meant, resolve, page.at)
    }
}

/// The attribute that holds an element's value for machines, if it has one.
fn usual_attribute(element: ElementRef<'_>, scalar: Scalar) -> Option<&'static str> {
    let has = |name: &&'static str| element.attr(name).is_some();
    let of_element = match element.value().name() {
        "meta" => Some("content"),
        "data" | "meter" | "input" => Some("value"),
        _ => None,
    };
    let of_kind = match scalar {
        Scalar::Url => ["href", "src", "action"].iter().copied().find(|name| has(name)),
        Scalar::Date => ["datetime"].iter().copied().find(|name| has(name)),
        Scalar::Text | Scalar::Number => None,
    };
    of_kind.or(of_element)
}

fn json_texts(path: &JsonPath, nodes: &Nodes) -> Result<Vec<Result<String, Miss>>, Miss> {
    if nodes.is_empty() {
        return Err(Miss::NoJsonLd(nodes.broken));
    }
    let found = path.find(nodes);
    if found.is_empty() {
        return Err(Miss::NoPath);
    }
    let text = |value: &Value| match value {
        Value::String(text) => Ok(one_line(text)),
        Value::Object(object) => match object.get("@value") {
            Some(Value::String(text)) => Ok(one_line(text)),
            Some(Value::Number(number)) => Ok(number.to_string()),
            _ => {
                let keys = object.keys().take(8).cloned().collect::<Vec<_>>();
                Err(Miss::Object(excerpt(&keys.join(", "))))
            }
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => Ok(value.to_string()),
    };
    Ok(found.into_iter().map(text).collect())
}
