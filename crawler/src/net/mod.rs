//! Requests over the network: one URL, one request, every limit kept.
//!
//! - [`Transport`] and its types: what the crawl sees, real or simulated.
//! - [`HttpTransport`]: hyper, rustls and hickory behind it.
//! - [`Names`]: host names to addresses.
//! - [`Guard`]: which addresses may be connected to.
//! - [`Ceilings`]: how often, as a second lock at the wire.

mod appointments;
mod body;
mod ceiling;
mod dns;
mod error;
mod freshness;
#[cfg(feature = "ftp")]
mod ftp;
mod guard;
mod http;
mod kept;
mod proxy;
mod setup;
mod tls;
mod transport;
mod wall;

#[cfg(test)]
mod tests;

pub use self::body::CodingFault;
pub use self::ceiling::{CeilingNumbers, Ceilings};
pub use self::dns::{DnsError, DnsErrorKind, Names};
pub use self::error::{FetchError, FetchErrorKind};
pub use self::freshness::fresh_until;
pub use self::guard::{AddressClass, Blocked, Guard};
pub use self::http::HttpTransport;
pub use self::proxy::{Proxies, Proxy, ProxyError, ProxyFault};
pub use self::setup::{HttpConfig, SetupError};
pub(crate) use self::tls::client_config;
pub use self::tls::{CaError, TlsFault, TlsProblem};
pub use self::transport::{
    Accept, Completeness, Limits, PartialCause, Reply, Terms, Transport, Validators,
};
pub use self::wall::Wall;
