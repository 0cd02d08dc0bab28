//! Which found links are wanted: the pluggable part of a crawl's extent.

use super::scorer::FoundLink;
use crate::decision::Decision;

/// Judges found links, beside the scope and all rules: it can leave a link, and cannot loosen
/// anything. Asked from many threads for every link, redirect and entry of a sitemap that would else
/// be queued; seeds are the operator's own word and are not asked about.
///
/// A link that is left is counted and logged, with the reason. It is not remembered: where it is found
/// again, it is judged again.
pub trait UrlFilter: Send + Sync + 'static {
    /// Whether the link is wanted.
    fn judge(&self, link: &FoundLink<'_>) -> Decision;
}
