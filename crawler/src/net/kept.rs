//! How many connections stay open between requests. hyper's pool bounds them for each origin and
//! in time; this bounds all of them together, in number.
//!
//! An idle connection costs 23 to 95 KiB (docs/connections.md), and a crawl of many sites would
//! collect thousands. One that has brought its answer while too many are open is closed instead of
//! kept: those that are kept are then still there when their site is due again, whereas putting
//! out the oldest would put out each just before it is needed.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll};

use futures_util::task::AtomicWaker;
use hyper::Uri;
use hyper::http::Extensions;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{CaptureConnection, Connected, Connection};
use tower_service::Service;

/// The connections that are open now, idle or not.
#[derive(Clone, Debug)]
pub(super) struct OpenConnections {
    count: Arc<AtomicUsize>,
    /// Up to so many open ones, another is kept after its answer.
    keep: usize,
}

impl OpenConnections {
    pub(super) fn keeping(keep: usize) -> Self {
        Self { count: Arc::default(), keep }
    }

    /// Watches over the connection of a request until the request is done.
    pub(super) fn hold(&self, connection: CaptureConnection) -> Held {
        Held { connection, open: self.clone(), outcome: Outcome::Failed }
    }

    fn are_too_many(&self) -> bool {
        self.count.load(Ordering::Relaxed) > self.keep
    }
}

/// A request's hold on its connection. Dropping it decides whether the connection is kept.
pub(super) struct Held {
    connection: CaptureConnection,
    open: OpenConnections,
    outcome: Outcome,
}

/// What a request says of its connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Outcome {
    Answered,
    /// Also a request that was given up: over HTTP/2 its connection, which may be dead, would
    /// otherwise be used for the next.
    Failed,
}

impl Held {
    /// The connection has brought its answer.
    pub(super) fn answered(mut self) {
        self.outcome = Outcome::Answered;
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if self.outcome == Outcome::Answered && !self.open.are_too_many() {
            return;
        }
        let connected = self.connection.connection_metadata();
        let Some(connected) = connected.as_ref() else { return };
        // Nobody takes it from the pool between now and its end.
        connected.poison();
        let mut extras = Extensions::new();
        connected.get_extras(&mut extras);
        if let Some(end) = extras.get::<EndSwitch>() {
            end.turn();
        }
    }
}

/// Ends a connection from outside hyper's pool, whatever the protocol.
#[derive(Clone, Debug, Default)]
struct EndSwitch(Arc<SwitchState>);

#[derive(Debug, Default)]
struct SwitchState {
    ended: AtomicBool,
    reader: AtomicWaker,
}

impl EndSwitch {
    fn turn(&self) {
        self.0.ended.store(true, Ordering::Release);
        self.0.reader.wake();
    }

    fn is_turned(&self, cx: &Context<'_>) -> bool {
        self.0.reader.register(cx.waker());
        self.0.ended.load(Ordering::Acquire)
    }
}

/// A connector whose connections are counted.
#[derive(Clone)]
pub(super) struct Counting<C> {
    pub(super) connector: C,
    pub(super) open: OpenConnections,
}

impl<C> Service<Uri> for Counting<C>
where
    C: Service<Uri>,
    C::Future: Send + 'static,
{
    type Response = Counted<C::Response>;
    type Error = C::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, C::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), C::Error>> {
        self.connector.poll_ready(cx)
    }

    fn call(&mut self, to: Uri) -> Self::Future {
        let (connecting, count) = (self.connector.call(to), Arc::clone(&self.open.count));
        Box::pin(async move {
            let stream = connecting.await?;
            Ok(Counted { stream, end: EndSwitch::default(), _seat: Seat::take(count) })
        })
    }
}

/// One of the open connections.
pub(super) struct Counted<S> {
    stream: S,
    end: EndSwitch,
    _seat: Seat,
}

/// Counts one while it lives.
struct Seat(Arc<AtomicUsize>);

impl Seat {
    fn take(count: Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl<S: Connection> Connection for Counted<S> {
    fn connected(&self) -> Connected {
        self.stream.connected().extra(self.end.clone())
    }
}

impl<S: Read + Unpin> Read for Counted<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        if self.end.is_turned(cx) {
            // Nothing read is the end of the stream.
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.stream).poll_read(cx, into)
    }
}

impl<S: Write + Unpin> Write for Counted<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }
}
