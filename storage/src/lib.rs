//! What a crawl remembers: the frontier, the page records, robots.txt records,
//! site pace, and what the sinks still have to get.
//!
//! Storage knows bytes on disk. It knows no HTTP and no policy, and reads no
//! clock: the time is an argument of every call that needs one.
//!
//! - [`Store`] is what a crawler sees. [`LocalStore`] is the store on one
//!   machine; [`open()`] opens one in a directory.
//! - [`Engine`] is what a local store stands on: sled, redb or memory. A thin
//!   file each, with the same keys and values, so that [`copy_store`] moves between them.
//!
//! **Crash contract.** With [`Durability::Process`] what was acknowledged is there after `kill -9`
//! at any instant; with [`Durability::Power`] also after a power cut. A lease that was not
//! reported is forgotten, and its URLs are lent again. A store that was emptied or damaged is an
//! [`OpenError`] that says what to do, never an empty crawl.

mod copy;
mod engine;
mod key;
mod local;
mod marker;
mod open;
mod page;
mod peek;
mod record;
mod store;
mod tally;

#[cfg(any(test, feature = "contract"))]
pub mod contract;

pub use copy::copy_store;
pub use engine::{Batch, EachRow, Engine, EngineError, MemoryEngine, RedbEngine, SledEngine, copy};
pub use local::LocalStore;
pub use open::{Durability, EngineKind, OpenError, OpenOptions, Opening, Work, open};
pub use page::{
    Alike, Archived, DirectiveNote, Fate, Fetched, Found, Likeness, MAX_URL_BYTES, Next, Outcome,
    PageRecord, Plan, Review, Role, Via, Visit,
};
pub use peek::{durability_in, engine_in, is_in_use};
pub use store::{
    AfterReport, Lease, LeaseToken, MAX_META_BYTES, OutboxEntry, PageCursor, Payload, Receipt,
    Renewal, SiteReport, SiteState, Stats, Store, StoreError,
};
