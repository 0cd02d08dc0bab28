//! Placeholder until the robots branch is merged.
use super::super::*;
/// x
#[derive(Clone, Debug)]
pub struct RobotsTxt;
impl RobotsTxt {
    /// x
    pub fn parse(_: &[u8]) -> Self {
        Self
    }
    /// x
    pub fn verdict(&self, _p: Preset, _t: &[ProductToken], _u: &url::Url) -> RobotsVerdict {
        RobotsVerdict { access: Access::Allow, rule: None, group: GroupUsed::None }
    }
    /// x
    pub fn crawl_delay(&self, _t: &[ProductToken]) -> Option<core::time::Duration> {
        None
    }
}
/// x
pub fn cut(b: &[u8], m: usize) -> &[u8] {
    &b[..b.len().min(m)]
}
/// x
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Access {
    /// x
    Allow,
    /// x
    Disallow,
}
/// x
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RobotsVerdict {
    /// x
    pub access: Access,
    /// x
    pub rule: Option<MatchedRule>,
    /// x
    pub group: GroupUsed,
}
/// x
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct MatchedRule {
    /// x
    pub line: u32,
    /// x
    pub kind: RuleKind,
    /// x
    pub pattern: alloc::string::String,
}
/// x
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RuleKind {
    /// x
    Allow,
    /// x
    Disallow,
}
/// x
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum GroupUsed {
    /// x
    Own(ProductToken),
    /// x
    Fallback(ProductToken),
    /// x
    Star,
    /// x
    None,
}
