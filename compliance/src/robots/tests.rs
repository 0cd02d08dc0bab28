//! What the documents say, case by case.
//!
//! Each path is followed by what it may do under courteous, google and rfc9309, in this order:
//! `y` may be accessed, `n` must not.

mod files;
mod groups;
mod paths;

use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

use url::Url;

use super::*;
use crate::{Preset, ProductToken};

fn tokens(names: &str) -> Vec<ProductToken> {
    let token = |name| ProductToken::new(name).unwrap();
    names.split(' ').map(token).collect()
}

#[track_caller]
fn check(robots: &str, agents: &str, cases: &[(&str, &str)]) {
    check_bytes(robots.as_bytes(), agents, cases);
}

#[track_caller]
fn check_bytes(robots: &[u8], agents: &str, cases: &[(&str, &str)]) {
    let file = RobotsTxt::parse(robots);
    for (path, expect) in cases {
        let url = Url::parse(&format!("https://example.com{path}")).unwrap();
        let answer = |preset: &Preset| match file.verdict(*preset, &tokens(agents), &url).access {
            Access::Allow => 'y',
            Access::Disallow => 'n',
        };
        let found: String = Preset::ALL.iter().map(answer).collect();
        assert_eq!(&found, expect, "{path} of {}", robots.escape_ascii());
    }
}

/// The line, group and pattern that a person is told.
fn told(robots: &str, preset: Preset, agents: &str, path: &str) -> Option<(u32, String, String)> {
    let url = Url::parse(&format!("https://example.com{path}")).unwrap();
    let verdict = RobotsTxt::parse(robots.as_bytes()).verdict(preset, &tokens(agents), &url);
    let group = match verdict.group {
        GroupUsed::Own(token) => format!("own {token}"),
        GroupUsed::Fallback(token) => format!("fallback {token}"),
        GroupUsed::Star => "*".to_string(),
        GroupUsed::None => "none".to_string(),
    };
    verdict.rule.map(|rule| (rule.line, group, rule.pattern))
}
