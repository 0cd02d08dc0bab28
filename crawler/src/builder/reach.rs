//! How a crawl reaches the web: by the usual transport, a layer over it, or one of the caller's own.

use crate::clock::Clock;
use crate::net::{HttpTransport, SetupError, Transport};
use crate::settings::Settings;

/// How the builder comes by its transport.
pub trait Reach {
    /// The transport.
    type Transport: Transport;

    /// Makes it.
    ///
    /// # Errors
    /// [`SetupError`]
    fn reach(self, settings: &Settings, clock: Clock) -> Result<Self::Transport, SetupError>;
}

/// The usual way: HTTP over the network, as the settings say.
#[derive(Clone, Copy, Debug)]
pub struct Http;

impl Reach for Http {
    type Transport = HttpTransport;

    fn reach(self, settings: &Settings, clock: Clock) -> Result<HttpTransport, SetupError> {
        HttpTransport::new(settings.net.http_config(&settings.identity), clock)
    }
}

/// A transport of the caller's own.
#[derive(Debug)]
pub struct Own<T>(pub(super) T);

impl<T: Transport> Reach for Own<T> {
    type Transport = T;

    fn reach(self, _: &Settings, _: Clock) -> Result<T, SetupError> {
        Ok(self.0)
    }
}

/// A layer over the usual transport.
pub struct Layered<F>(pub(super) F);

impl<F: FnOnce(HttpTransport) -> T, T: Transport> Reach for Layered<F> {
    type Transport = T;

    fn reach(self, settings: &Settings, clock: Clock) -> Result<T, SetupError> {
        Http.reach(settings, clock).map(self.0)
    }
}
