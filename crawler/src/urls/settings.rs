//! What the operator says about addresses, and what a crawl makes of it.

use comity_compliance::PathFilter;
use comity_compliance::robots::{PathPattern, PathPatternError};
use serde::{Deserialize, Serialize};

use super::{DedupeRules, Needless, TrapLimits};

/// `[urls]`
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct UrlsConfig {
    /// Paths to crawl, in the pattern syntax of robots.txt; empty for all.
    pub include: Vec<String>,
    /// Paths to leave out, in the same syntax.
    pub exclude: Vec<String>,
    /// Whether parameters of advertising and analytics are taken out.
    pub strip_tracking: bool,
    /// Whether the numbers of sessions are taken out.
    pub strip_sessions: bool,
    /// Names of further parameters to take out.
    pub strip: Vec<String>,
    /// Addresses of one site.
    pub site_urls: usize,
    /// Addresses of one site that wait at the same time.
    pub site_queue: usize,
    /// Addresses of one site that share a shape.
    pub shape_urls: usize,
    /// The same for shapes with days in them.
    pub dated_urls: usize,
    /// The same for addresses made of ever new words.
    pub wordy_urls: usize,
    /// Years before this one that a day in an address may lie.
    pub past_years: u16,
    /// Years after this one that a day in an address may lie.
    pub future_years: u16,
}

impl Default for UrlsConfig {
    fn default() -> Self {
        let limits = TrapLimits::default();
        Self {
            include: vec![],
            exclude: vec![],
            strip_tracking: true,
            strip_sessions: true,
            strip: vec![],
            site_urls: limits.site_urls,
            site_queue: limits.site_queue,
            shape_urls: limits.shape_urls,
            dated_urls: limits.dated_urls,
            wordy_urls: limits.wordy_urls,
            past_years: limits.past_years,
            future_years: limits.future_years,
        }
    }
}

/// Which addresses a crawl wants, checked.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct UrlSettings {
    /// Paths that are wanted.
    pub filter: PathFilter,
    /// Which spellings are one page.
    pub dedupe: DedupeRules,
    /// From where on addresses look like a trap.
    pub traps: TrapLimits,
}

impl UrlSettings {
    /// Checks a configuration.
    ///
    /// # Errors
    /// [`PathPatternError`] names the first pattern that is none.
    pub fn new(config: &UrlsConfig) -> Result<Self, PathPatternError> {
        let patterns = |texts: &[String]| -> Result<Vec<_>, _> {
            texts.iter().map(|text| PathPattern::parse(text)).collect()
        };
        let needless = |strip| if strip { Needless::Strip } else { Needless::Keep };
        Ok(Self {
            filter: PathFilter {
                include: patterns(&config.include)?,
                exclude: patterns(&config.exclude)?,
            },
            dedupe: DedupeRules {
                tracking: needless(config.strip_tracking),
                sessions: needless(config.strip_sessions),
                strip: config.strip.clone(),
            },
            traps: TrapLimits {
                site_urls: config.site_urls,
                site_queue: config.site_queue,
                shape_urls: config.shape_urls,
                dated_urls: config.dated_urls,
                wordy_urls: config.wordy_urls,
                past_years: config.past_years,
                future_years: config.future_years,
                ..TrapLimits::default()
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_checked() {
        let settings = UrlSettings::new(&UrlsConfig::default());
        assert_eq!(settings, Ok(UrlSettings::default()));
        let wrong = UrlsConfig { exclude: vec!["docs".into()], ..UrlsConfig::default() };
        let message = UrlSettings::new(&wrong).unwrap_err().to_string();
        assert_eq!(message, "\"docs\" matches nothing; begin it with / or *, as in robots.txt");
    }
}
