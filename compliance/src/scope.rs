//! Placeholder until the directives branch is merged.
/// x
#[derive(Debug)]
pub struct Scope;
impl Scope {
    /// x
    pub fn contains(&self, _u: &url::Url) -> bool {
        true
    }
}
/// x
#[derive(Debug)]
pub enum ScopeKind {
    /// x
    Host,
}
