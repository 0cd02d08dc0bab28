//! Documents on their way to the engine's own thread, in bounded memory: the engine's queue counts
//! documents, and ten thousand large ones are half a gigabyte.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

use tantivy::TantivyDocument;
use tantivy::schema::document::Document;

/// Bytes of documents that may wait; a larger document waits alone.
const WAITING_BYTES: usize = 8 << 20;

/// How many bytes of documents wait.
#[derive(Clone, Default)]
pub(super) struct Queue(Arc<(Mutex<usize>, Condvar)>);

impl Queue {
    /// Waits until there is room for a document of so many bytes.
    pub(super) fn admit(&self, document: TantivyDocument, bytes: usize) -> Queued {
        let (waiting, less) = &*self.0;
        let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
        while *waiting > 0 && *waiting + bytes > WAITING_BYTES {
            waiting = less.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        *waiting += bytes;
        Queued { document, _place: Place { queue: self.clone(), bytes } }
    }
}

/// A document that waits.
pub(super) struct Queued {
    document: TantivyDocument,
    _place: Place,
}

/// Its place in the queue, given back when the engine takes it, and when the engine fails.
struct Place {
    queue: Queue,
    bytes: usize,
}

impl Drop for Place {
    fn drop(&mut self) {
        let (waiting, less) = &*self.queue.0;
        *waiting.lock().unwrap_or_else(PoisonError::into_inner) -= self.bytes;
        less.notify_all();
    }
}

impl Document for Queued {
    type Value<'a> = <TantivyDocument as Document>::Value<'a>;
    type FieldsValuesIter<'a> = <TantivyDocument as Document>::FieldsValuesIter<'a>;

    fn iter_fields_and_values(&self) -> Self::FieldsValuesIter<'_> {
        self.document.iter_fields_and_values()
    }

    fn into_tantivy_document(self) -> TantivyDocument {
        self.document
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn no_more_waits_than_may() {
        let queue = Queue::default();
        let first = queue.admit(TantivyDocument::default(), 2 * WAITING_BYTES);
        let (other, (told, tells)) = (queue.clone(), std::sync::mpsc::channel());
        let thread = std::thread::spawn(move || {
            let second = other.admit(TantivyDocument::default(), 1);
            told.send(()).unwrap();
            drop(second);
        });
        assert!(tells.recv_timeout(Duration::from_millis(50)).is_err(), "it waits");
        drop(first.into_tantivy_document());
        tells.recv_timeout(Duration::from_secs(60)).unwrap();
        thread.join().unwrap();
        assert_eq!(*queue.0.0.lock().unwrap(), 0);
    }
}
