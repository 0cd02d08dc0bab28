//! The settings checked: all that can be wrong with them is found before a crawl begins.

use regex::{Regex, RegexBuilder};
use scraper::Selector;

use super::Rules;
use super::config::{ExtractConfig, ExtractSections, FieldConfig, Type};
use super::field::{Field, Source};
use super::json_ld::JsonPath;
use super::urls::UrlPattern;
use super::value::{Reading, Scalar};

/// What is wrong with the settings of an extractor, and where.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{}: {problem}", path.join("."))]
pub struct RuleFault {
    /// The setting, key by key; a number is a place in a list.
    pub path: Vec<String>,
    /// What is wrong, for people.
    pub problem: String,
}

/// A compiled regex is no larger.
const REGEX_BYTES: usize = 1 << 20;

/// Checks all sections.
///
/// # Errors
/// [`RuleFault`] names the first setting that cannot be.
pub fn check(sections: &ExtractSections) -> Result<Vec<Rules>, RuleFault> {
    sections.iter().map(|(name, section)| rules(name, section)).collect()
}

/// A part of the settings, for faults in it.
struct At<'a>(&'a [&'a str]);

impl At<'_> {
    fn wrong(&self, key: &str, problem: impl ToString) -> RuleFault {
        let path = self.0.iter().copied().chain([key]).filter(|key| !key.is_empty());
        RuleFault { path: path.map(str::to_owned).collect(), problem: problem.to_string() }
    }
}

fn rules(name: &str, section: &ExtractConfig) -> Result<Rules, RuleFault> {
    let path = ["extract", name];
    let at = At(&path);
    if section.fields.is_empty() {
        let example = format!("[extract.{name}.fields.title] with css = \"h1\"");
        return Err(at.wrong("", format!("it has no fields; add for example {example}")));
    }
    let pattern = |(n, text): (usize, &String)| {
        UrlPattern::parse(text).map_err(|problem| {
            let place = n.to_string();
            At(&["extract", name, "urls"]).wrong(&place, problem)
        })
    };
    let urls = section.urls.iter().enumerate().map(pattern).collect::<Result<Vec<_>, _>>()?;
    let each = section.each.as_deref().map(|text| selector(text, "each", &at)).transpose()?;
    let has_each = each.is_some();
    let fields = section.fields.iter().map(|(field, config)| {
        let path = ["extract", name, "fields", field];
        self::field(field, config, has_each, &At(&path))
    });
    let fields = fields.collect::<Result<Vec<_>, _>>()?;
    Ok(Rules { name: name.into(), urls, pages: section.pages, each, fields })
}

fn field(
    name: &str,
    config: &FieldConfig,
    has_each: bool,
    at: &At<'_>,
) -> Result<Field, RuleFault> {
    let source = match (&config.css, &config.jsonld) {
        (Some(css), None) => Source::Css(selector(css, "css", at)?),
        (None, Some(path)) => {
            Source::JsonLd(JsonPath::parse(path).map_err(|problem| at.wrong("jsonld", problem))?)
        }
        (Some(_), Some(_)) => return Err(at.wrong("jsonld", "a field has css or jsonld, not both")),
        (None, None) if has_each => Source::Own,
        (None, None) => {
            let problem = "it says nowhere to look: give css, jsonld, or the section an each";
            return Err(at.wrong("", problem));
        }
    };
    if config.attr.is_some() && config.jsonld.is_some() {
        return Err(at.wrong("attr", "JSON-LD has no attributes; go on in the path instead"));
    }
    let scalar = scalar(config, at)?;
    if config.follow && scalar != Scalar::Url {
        return Err(at.wrong("follow", "only an address can be followed: type = \"url\""));
    }
    let reading = Reading { scalar, decimal: decimal(config, at)?, format: format(config, at)? };
    Ok(Field {
        name: name.into(),
        source,
        attr: config.attr.as_ref().map(|attr| attr.to_ascii_lowercase()),
        regex: config.regex.as_deref().map(|text| regex(text, at)).transpose()?,
        reading,
        is_list: config.kind == Type::List,
        required: config.required,
        follow: config.follow,
    })
}

fn scalar(config: &FieldConfig, at: &At<'_>) -> Result<Scalar, RuleFault> {
    let (kind, key) = match (config.kind, config.of) {
        (Type::List, of) => (of.unwrap_or_default(), "of"),
        (_, Some(_)) => return Err(at.wrong("of", "only a list is of something: type = \"list\"")),
        (kind, None) => (kind, "type"),
    };
    match kind {
        Type::Text => Ok(Scalar::Text),
        Type::Number => Ok(Scalar::Number),
        Type::Date => Ok(Scalar::Date),
        Type::Url => Ok(Scalar::Url),
        Type::List => Err(at.wrong(key, "a list holds text, number, date or url, not lists")),
    }
}

fn decimal(config: &FieldConfig, at: &At<'_>) -> Result<Option<char>, RuleFault> {
    let is_number = [config.kind, config.of.unwrap_or_default()].contains(&Type::Number);
    match config.decimal {
        Some(_) if !is_number => Err(at.wrong("decimal", "only a number has decimals")),
        Some(sign) if sign != '.' && sign != ',' => {
            Err(at.wrong("decimal", format!("\"{sign}\" is neither \".\" nor \",\"")))
        }
        sign => Ok(sign),
    }
}

fn format(config: &FieldConfig, at: &At<'_>) -> Result<Option<String>, RuleFault> {
    let is_date = [config.kind, config.of.unwrap_or_default()].contains(&Type::Date);
    let Some(format) = &config.format else { return Ok(None) };
    if !is_date {
        return Err(at.wrong("format", "only a date has a format"));
    }
    // What cannot be written so cannot be read so.
    match jiff::fmt::strtime::format(format, jiff::Timestamp::UNIX_EPOCH) {
        Ok(_) => Ok(Some(format.clone())),
        Err(error) => Err(at.wrong("format", error)),
    }
}

fn selector(text: &str, key: &str, at: &At<'_>) -> Result<Selector, RuleFault> {
    Selector::parse(text).map_err(|error| {
        // What the parser has no words for it asks to be reported, which is not the operator's to do.
        let error = error.to_string();
        let why = if error.contains("report this") { "" } else { &*error };
        let colon = if why.is_empty() { "" } else { ": " };
        at.wrong(key, format!("\"{text}\" is no CSS selector{colon}{why}"))
    })
}

fn regex(text: &str, at: &At<'_>) -> Result<Regex, RuleFault> {
    let regex = RegexBuilder::new(text).size_limit(REGEX_BYTES).build();
    regex.map_err(|error| at.wrong("regex", error))
}
