//! One exchange as the records that an archive has of it: request, response or revisit, metadata.

use std::io;

use comity_storage::Archived;
use hyper::StatusCode;

use super::cdxj::Capture;
use super::head;
use super::record::{Header, Names, Sha1, date, labelled, sha1};
use crate::net::{Completeness, PartialCause, Reply};

/// A request, what came of it, and what was decided.
#[derive(Clone, Debug)]
pub(crate) struct Exchange {
    pub(crate) reply: Reply,
    /// The directives and the verdict.
    pub(crate) metadata: serde_json::Value,
    /// The capture of the same URL that the archive has, if it has one.
    pub(crate) known: Option<Archived>,
}

/// Records of one exchange, ready to be appended together.
pub(super) struct Packed {
    pub(super) members: Vec<u8>,
    /// Where in `members` the capture lies.
    pub(super) at: std::ops::Range<u64>,
    pub(super) capture: Capture,
    pub(super) archived: Archived,
}

/// What the main record of an exchange is (WARC 1.1 section 6).
enum Kind {
    Response,
    /// Without the body, which is that of the earlier capture.
    Same(Archived),
    /// The server says that the earlier capture still stands.
    NotModified(Archived),
    /// What came without a head, by FTP.
    Resource,
}

const SAME: &str = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest";
const NOT_MODIFIED: &str = "http://netpreserve.org/warc/1.1/revisit/server-not-modified";
const RESPONSE_TYPE: &str = "application/http; msgtype=response";

impl Exchange {
    fn kind(&self, payload: &Sha1) -> Kind {
        let reply = &self.reply;
        let is_whole = matches!(reply.completeness, Completeness::Whole);
        match self.known {
            _ if head::is_without_heads(&reply.url) => Kind::Resource,
            Some(known) if reply.status == StatusCode::NOT_MODIFIED => Kind::NotModified(known),
            Some(known) if is_whole && !reply.body.is_empty() && known.payload == *payload => {
                Kind::Same(known)
            }
            Some(_) | None => Kind::Response,
        }
    }

    /// Packs the records; each is a gzip member.
    pub(super) fn pack(&self, names: &Names) -> io::Result<Packed> {
        let reply = &self.reply;
        let (url, date) = (target(reply), date(reply.head_at));
        let payload = sha1(&[&reply.body]);
        let kind = self.kind(&payload);
        let name = names.next();
        let header =
            |kind: &str, name: &str| Header::new(kind, name, &date).with("WARC-Target-URI", &url);
        let main = self.main(header(kind.name(), &name), &kind, &payload)?;
        let mut members = Vec::with_capacity(main.len() + 1024);
        if !matches!(kind, Kind::Resource) {
            let request = header("request", &names.next()).with("WARC-Concurrent-To", &name);
            let block = head::of_request(reply);
            members = request.pack("application/http; msgtype=request", &[&block])?;
        }
        let starts = members.len() as u64;
        members.extend(main);
        let ends = members.len() as u64;
        let metadata = header("metadata", &names.next()).with("WARC-Concurrent-To", &name);
        // Not of a JSON type: readers would take it for a capture of the page.
        let fields = format!("comity-decision: {}\r\n", self.metadata);
        members.extend(metadata.pack("application/warc-fields", &[fields.as_bytes()])?);
        let digest = match &kind {
            Kind::NotModified(known) => known.payload,
            Kind::Response | Kind::Same(_) | Kind::Resource => payload,
        };
        let at = match &kind {
            Kind::Same(known) | Kind::NotModified(known) => known.at,
            Kind::Response | Kind::Resource => reply.head_at,
        };
        Ok(Packed {
            members,
            at: starts..ends,
            capture: self.capture(url, &date, &kind, labelled(&digest)),
            archived: Archived { at, payload: digest },
        })
    }

    fn main(&self, header: Header, kind: &Kind, payload: &Sha1) -> io::Result<Vec<u8>> {
        let reply = &self.reply;
        let mut header = header;
        if let Some(address) = reply.address {
            header = header.with("WARC-IP-Address", &address.ip().to_string());
        }
        if let Some(protocol) = head::protocol(reply.version) {
            header = header.with("WARC-Protocol", protocol);
        }
        if let Some(reason) = truncation(reply.completeness) {
            header = header.with("WARC-Truncated", reason);
        }
        let refers = |header: Header, profile: &str, known: &Archived| {
            header
                .with("WARC-Profile", profile)
                .with("WARC-Payload-Digest", &labelled(&known.payload))
                .with("WARC-Refers-To-Target-URI", &target(reply))
                .with("WARC-Refers-To-Date", &date(known.at))
        };
        let response = head::of_response(reply);
        match kind {
            Kind::Response => header
                .with("WARC-Payload-Digest", &labelled(payload))
                .pack(RESPONSE_TYPE, &[&response, &reply.body]),
            Kind::Same(known) => refers(header, SAME, known).pack(RESPONSE_TYPE, &[&response]),
            Kind::NotModified(known) => {
                refers(header, NOT_MODIFIED, known).pack(RESPONSE_TYPE, &[&response])
            }
            Kind::Resource => header
                .with("WARC-Payload-Digest", &labelled(payload))
                .pack("application/octet-stream", &[&reply.body]),
        }
    }

    fn capture(&self, url: String, date: &str, kind: &Kind, digest: String) -> Capture {
        let content_type = self.reply.headers.get("content-type");
        let content_type = content_type.map(|value| String::from_utf8_lossy(value.as_bytes()));
        let (mime, status) = match kind {
            Kind::Response => (
                content_type.as_deref().and_then(head::mime).map(String::from),
                Some(self.reply.status.as_u16().to_string()),
            ),
            Kind::Same(_) | Kind::NotModified(_) => {
                (Some("warc/revisit".into()), Some(self.reply.status.as_u16().to_string()))
            }
            Kind::Resource => (Some("application/octet-stream".into()), None),
        };
        Capture { url, date: date.into(), mime, status, digest: Some(digest) }
    }
}

impl Kind {
    fn name(&self) -> &'static str {
        match self {
            Self::Response => "response",
            Self::Same(_) | Self::NotModified(_) => "revisit",
            Self::Resource => "resource",
        }
    }
}

/// The URL as it was asked for.
fn target(reply: &Reply) -> String {
    reply.url[..url::Position::AfterQuery].to_owned()
}

/// Why a body is not whole (WARC 1.1 section 5.13).
fn truncation(completeness: Completeness) -> Option<&'static str> {
    match completeness {
        Completeness::Whole => None,
        Completeness::Truncated => Some("length"),
        Completeness::Partial(PartialCause::Timeout) => Some("time"),
        Completeness::Partial(PartialCause::Cut) => Some("disconnect"),
        Completeness::Partial(PartialCause::Framing | PartialCause::Coding) => Some("unspecified"),
    }
}
