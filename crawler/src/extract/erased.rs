//! Extractors of different item types side by side, each behind a wall: its errors and panics are
//! its own.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::dom::{Dom, DomLimits};
use super::gathered::{ItemLimits, Out, Yielded};
use super::view::{PageView, ReadPage};
use super::{ExtractError, Extractor, Needs};
use crate::decision::{Choice, Decision};
use crate::page::PageKind;

/// An extractor whose item type nobody needs to know.
pub(crate) trait ErasedExtractor: Send + Sync {
    fn name(&self) -> &str;
    fn needs(&self) -> Needs;
    fn takes(&self, page: &ReadPage) -> Decision;
    fn extract(&self, page: &PageView<'_>, yielded: &mut Yielded) -> Result<(), ExtractError>;
}

/// An extractor with its type taken off.
pub(crate) struct Erased<E>(pub(crate) E);

impl<E: Extractor> ErasedExtractor for Erased<E> {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn needs(&self) -> Needs {
        self.0.needs()
    }

    fn takes(&self, page: &ReadPage) -> Decision {
        self.0.takes(page)
    }

    fn extract(&self, page: &PageView<'_>, yielded: &mut Yielded) -> Result<(), ExtractError> {
        self.0.extract(page, &mut Out::new(yielded, ItemLimits::default()))
    }
}

/// Runs all extractors on a page. The tree is built once, and only if one of them that takes the
/// page asks for it.
pub(crate) fn run_all(extractors: &[Box<dyn ErasedExtractor>], page: &ReadPage) -> Vec<Yielded> {
    let mut all = Vec::new();
    let mut tree: Option<Result<Dom, String>> = None;
    for extractor in extractors {
        let mut yielded = Yielded::of(extractor.name());
        let wants_tree = match walled(|| (extractor.needs(), extractor.takes(page))) {
            Ok((Needs::Dom, _)) if page.content.kind != PageKind::Html => continue,
            Ok((_, Decision { choice: Choice::Leave, reason })) => {
                tracing::trace!(url = %page.url, extractor = extractor.name(), %reason, "not taken");
                continue;
            }
            Ok((needs, Decision { choice: Choice::Take, .. })) => needs == Needs::Dom,
            Err(panic) => {
                yielded.error = Some(panic);
                all.push(yielded);
                continue;
            }
        };
        let tree = match wants_tree {
            true => {
                Some(&*tree.get_or_insert_with(|| walled(|| Dom::of(page, DomLimits::default()))))
            }
            false => None,
        };
        let dom = match tree {
            None => None,
            Some(Ok(dom)) => {
                dom.wind_up();
                Some(dom)
            }
            Some(Err(panic)) => {
                yielded.error = Some(format!("the page's tree could not be built: {panic}"));
                all.push(yielded);
                continue;
            }
        };
        let view = PageView::new(page, dom);
        let done = walled(|| extractor.extract(&view, &mut yielded));
        yielded.error = match done {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(in_words(&*error)),
            Err(panic) => Some(panic),
        };
        all.push(yielded);
    }
    all
}

/// Does something that may panic; the panic as a sentence.
fn walled<R>(work: impl FnOnce() -> R) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| format!("it panicked: {}", said(&*panic)))
}

fn said(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a word")
}

/// An error with its causes.
fn in_words(error: &(dyn std::error::Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
