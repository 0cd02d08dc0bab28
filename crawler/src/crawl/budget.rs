//! The limit on pages, counted so that workers side by side never exceed it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Pages that may still be fetched.
#[derive(Debug)]
pub(super) struct Budget {
    left: Option<Arc<AtomicU64>>,
}

/// The right to fetch one page; given back unless it is kept.
#[derive(Debug)]
pub(super) struct Place {
    left: Option<Arc<AtomicU64>>,
}

impl Budget {
    /// `limit` pages in all, of which `fetched` came in earlier runs.
    pub(super) fn new(limit: Option<u64>, fetched: u64) -> Self {
        let left = limit.map(|limit| Arc::new(AtomicU64::new(limit.saturating_sub(fetched))));
        Self { left }
    }

    pub(super) fn take(&self) -> Option<Place> {
        if let Some(left) = &self.left {
            let less = |left: u64| left.checked_sub(1);
            left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).ok()?;
        }
        Some(Place { left: self.left.clone() })
    }

    /// Whether no page may be fetched now; places under way may yet be given back.
    pub(super) fn is_spent(&self) -> bool {
        self.left.as_ref().is_some_and(|left| left.load(Ordering::Relaxed) == 0)
    }
}

impl Place {
    /// A page came: the place is used up.
    pub(super) fn keep(mut self) {
        self.left = None;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(left) = &self.left {
            left.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_come_back_unless_kept() {
        let budget = Budget::new(Some(3), 1);
        let (first, second) = (budget.take().unwrap(), budget.take().unwrap());
        assert!(budget.take().is_none() && budget.is_spent());
        first.keep();
        drop(second);
        assert!(!budget.is_spent());
        budget.take().unwrap().keep();
        assert!(budget.take().is_none());
        assert!(Budget::new(Some(3), 7).is_spent());
        assert!(!Budget::new(None, 7).is_spent());
    }
}
