//! The operator's own lists of paths, in the pattern syntax of robots.txt.

use alloc::vec::Vec;

use url::Url;

use super::LeftOut;
use crate::robots::PathPattern;

/// Which paths the operator wants. Without a pattern, all of them.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct PathFilter {
    /// If there are any, one of them must match.
    pub include: Vec<PathPattern>,
    /// None of them may match, whatever `include` says.
    pub exclude: Vec<PathPattern>,
}

impl PathFilter {
    /// Whether it lets everything through.
    pub fn is_empty(&self) -> bool {
        self.include.is_empty() && self.exclude.is_empty()
    }

    /// Whether a URL's path is wanted.
    ///
    /// # Errors
    /// [`LeftOut::Excluded`] or [`LeftOut::NotIncluded`].
    pub fn judge(&self, url: &Url) -> Result<(), LeftOut> {
        let any = |patterns: &[PathPattern]| patterns.iter().any(|pattern| pattern.matches(url));
        if any(&self.exclude) {
            return Err(LeftOut::Excluded);
        }
        if !self.include.is_empty() && !any(&self.include) {
            return Err(LeftOut::NotIncluded);
        }
        Ok(())
    }
}
