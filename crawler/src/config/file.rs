//! Reading `comity.toml`: faults with line and column, and for a key that does not exist the nearest
//! one that does.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::place::place_of;
use super::{Config, TEMPLATE};
use crate::extract::rules;

/// The largest file that is read: a device or a pipe may have no end.
const MOST_BYTES: u64 = 16 << 20;

/// A file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// It could not be read.
    #[error("could not read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        cause: std::io::Error,
    },
    /// It is larger than any configuration is.
    #[error("{} is larger than {} MiB; that is no configuration", path.display(), MOST_BYTES >> 20)]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// It is not TOML, or a value is of the wrong kind.
    #[error("{}: {message}", path.display())]
    Value {
        /// The file.
        path: PathBuf,
        /// Line, column and what is wrong, for people.
        message: String,
    },
    /// A key that does not exist.
    #[error("{}: there is no setting \"{key}\"{}", path.display(), nearest_words(nearest.as_deref()))]
    UnknownKey {
        /// The file.
        path: PathBuf,
        /// The key with its section.
        key: String,
        /// The nearest that exists.
        nearest: Option<String>,
    },
}

fn nearest_words(nearest: Option<&str>) -> String {
    match nearest {
        Some(key) => format!("; did you mean \"{key}\"?"),
        None => "; `comity init` writes a file with all that there are".into(),
    }
}

impl Config {
    /// Reads a file.
    ///
    /// # Errors
    /// [`ConfigError`], which names the file and the place.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let failed = |cause| ConfigError::Read { path: path.into(), cause };
        let mut text = Vec::new();
        let file = std::fs::File::open(path).map_err(failed)?;
        file.take(MOST_BYTES + 1).read_to_end(&mut text).map_err(failed)?;
        if text.len() as u64 > MOST_BYTES {
            return Err(ConfigError::TooLarge { path: path.into() });
        }
        let no_text = |e| failed(std::io::Error::new(std::io::ErrorKind::InvalidData, e));
        let text = String::from_utf8(text).map_err(no_text)?;
        Self::parse(&text, path)
    }

    /// Reads the text of a file; `path` is for messages.
    ///
    /// # Errors
    /// As [`Config::read`].
    pub fn parse(text: &str, path: &Path) -> Result<Self, ConfigError> {
        let value = |message: String| ConfigError::Value { path: path.into(), message };
        let table: toml::Table = text.parse().map_err(|e: toml::de::Error| value(e.to_string()))?;
        if let Some(key) = unknown_key(&table) {
            let nearest = nearest_key(&key);
            return Err(ConfigError::UnknownKey { path: path.into(), key, nearest });
        }
        let config: Self = toml::from_str(text).map_err(|e| value(e.to_string()))?;
        rules::check(&config.extract)
            .map_err(|fault| value(placed(&fault.path, &fault.to_string(), text)))?;
        if let Some((setting, problem)) = config.output.items.fault() {
            let path: Vec<_> = setting.split('.').map(str::to_owned).collect();
            return Err(value(placed(&path, &format!("{setting}: {problem}"), text)));
        }
        Ok(config)
    }
}

/// A fault with the place of its setting in the file.
fn placed(setting: &[String], fault: &str, text: &str) -> String {
    match place_of(text, setting) {
        Some(place) => format!("line {}, column {}: {fault}", place.line, place.column),
        None => fault.to_owned(),
    }
}

/// Every key that exists, as `section.key`.
pub(super) fn known_keys() -> Vec<String> {
    let template: toml::Table = uncommented(TEMPLATE).parse().unwrap_or_default();
    let mut keys = Vec::new();
    for (section, settings) in &template {
        for key in settings.as_table().into_iter().flat_map(toml::Table::keys) {
            keys.push(format!("{section}.{key}"));
        }
    }
    keys
}

/// The template with its optional settings, written as `#key = value`, put to work.
pub(super) fn uncommented(template: &str) -> String {
    let lines = template.lines().map(|line| match line.strip_prefix('#') {
        Some(rest) if rest.starts_with(|c: char| c.is_ascii_lowercase()) => rest,
        Some(_) | None => line,
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The section whose keys are names.
const EXTRACT: &str = "extract";

fn unknown_key(table: &toml::Table) -> Option<String> {
    let known = known_keys();
    let is_section = |name: &str| known.iter().any(|key| key.split('.').next() == Some(name));
    for (section, settings) in table {
        // Its names are the operator's; what stands below them is checked where it is read.
        if section == EXTRACT {
            continue;
        }
        if !is_section(section) {
            return Some(section.clone());
        }
        for key in settings.as_table().into_iter().flat_map(toml::Table::keys) {
            let key = format!("{section}.{key}");
            if !known.contains(&key) {
                return Some(key);
            }
        }
    }
    None
}

/// The name that is most like another, if one is like it.
pub(crate) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let likeness = |other: &str| strsim::jaro_winkler(name, other);
    known.max_by(|a, b| likeness(a).total_cmp(&likeness(b))).filter(|best| likeness(best) > 0.8)
}

/// The known key, or section, that is most like `key`.
fn nearest_key(key: &str) -> Option<String> {
    let mut known = known_keys();
    if !key.contains('.') {
        let sections = known.iter().filter_map(|key| key.split('.').next()).map(String::from);
        let sections: Vec<_> = sections.chain([EXTRACT.to_owned()]).collect();
        known.extend(sections);
    }
    // The name decides; of two names alike, the one in the section that was meant.
    let split = |key: &str| match key.split_once('.') {
        Some((section, name)) => (section.to_owned(), name.to_owned()),
        None => (String::new(), key.to_owned()),
    };
    let (section, name) = split(key);
    let likeness = |other: &str| {
        let (other_section, other_name) = split(other);
        let bonus = if section == other_section { 0.05 } else { 0.0 };
        strsim::jaro_winkler(&name, &other_name) + bonus
    };
    let best = known.into_iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
    (likeness(&best) > 0.8).then_some(best)
}
