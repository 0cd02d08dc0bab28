//! A name server on loopback that answers what a test tells it to.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::{Arc, Mutex};

/// A running name server.
pub(crate) struct NameServer {
    pub(crate) address: SocketAddr,
    asked: Arc<Mutex<HashMap<String, usize>>>,
}

/// What is said of a name: a response code and records, each with its owner and its seconds to live.
#[derive(Clone)]
pub(crate) struct Said {
    pub(crate) code: u8,
    pub(crate) records: Vec<(String, u32, Data)>,
}

/// A record's data.
#[derive(Clone)]
pub(crate) enum Data {
    Address(IpAddr),
    Alias(String),
}

/// The name does not exist.
pub(crate) const NO_NAME: Said = Said { code: 3, records: Vec::new() };
/// The name has no such record.
pub(crate) const NO_DATA: Said = Said { code: 0, records: Vec::new() };
/// The server failed.
pub(crate) const SERVER_FAILURE: Said = Said { code: 2, records: Vec::new() };

/// Seconds that a name without records may be remembered as such.
const NEGATIVE_SECONDS: u32 = 600;

impl Said {
    /// The name has this address.
    pub(crate) fn address(name: &str, seconds: u32, address: &str) -> Self {
        let data = Data::Address(address.parse().unwrap());
        Self { code: 0, records: vec![(name.into(), seconds, data)] }
    }

    /// The name stands for another one.
    pub(crate) fn alias(name: &str, seconds: u32, to: &str) -> Self {
        Self { code: 0, records: vec![(name.into(), seconds, Data::Alias(to.into()))] }
    }
}

impl NameServer {
    /// Answers what `answer` says of a name, whether IPv6 is asked for, and how often this name
    /// was asked for in this family before.
    pub(crate) fn start(answer: impl Fn(&str, bool, usize) -> Said + Send + 'static) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let address = socket.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(HashMap::new()));
        let count = Arc::clone(&asked);
        std::thread::spawn(move || {
            let mut query = [0; 512];
            while let Ok((_, client)) = socket.recv_from(&mut query) {
                let (name, end) = name_at(&query, 12);
                let is_v6 = query[end..][..2] == [0, 28];
                let key = format!("{name} {is_v6}");
                let before = {
                    let mut count = count.lock().unwrap();
                    let times = count.entry(key).or_insert(0);
                    *times += 1;
                    *times - 1
                };
                let said = answer(&name, is_v6, before);
                let _ = socket.send_to(&message(&query[..end + 4], &said), client);
            }
        });
        Self { address, asked }
    }

    /// Questions so far.
    pub(crate) fn questions(&self) -> usize {
        self.asked.lock().unwrap().values().sum()
    }
}

/// The name at this place, in lower case, and where it ends.
fn name_at(message: &[u8], mut at: usize) -> (String, usize) {
    let mut labels = Vec::new();
    while message[at] != 0 {
        let label = &message[at + 1..][..usize::from(message[at])];
        labels.push(String::from_utf8_lossy(label).to_ascii_lowercase());
        at += 1 + label.len();
    }
    (labels.join("."), at + 1)
}

fn encoded(name: &str) -> Vec<u8> {
    let labels = name.split('.').filter(|label| !label.is_empty());
    let mut bytes: Vec<u8> = labels
        .flat_map(|label| [&[u8::try_from(label.len()).unwrap()], label.as_bytes()].concat())
        .collect();
    bytes.push(0);
    bytes
}

/// RFC 1035 section 4.1. What is not there comes with a SOA, so that it may be remembered
/// (RFC 2308 section 3).
fn message(query: &[u8], said: &Said) -> Vec<u8> {
    let lacks = matches!(said.code, 0 | 3) && said.records.is_empty();
    let count = u8::try_from(said.records.len()).unwrap();
    let mut reply = vec![query[0], query[1], 0x81, 0x80 | said.code];
    reply.extend([0, 1, 0, count, 0, u8::from(lacks), 0, 0]);
    reply.extend(&query[12..]);
    for (owner, seconds, data) in &said.records {
        let (kind, data) = match data {
            Data::Address(IpAddr::V4(ip)) => (1, ip.octets().to_vec()),
            Data::Address(IpAddr::V6(ip)) => (28, ip.octets().to_vec()),
            Data::Alias(to) => (5, encoded(to)),
        };
        record(&mut reply, owner, kind, *seconds, &data);
    }
    if lacks {
        let numbers = [1, 1, 1, 1, NEGATIVE_SECONDS].map(u32::to_be_bytes).concat();
        let data = [encoded("ns.example"), encoded("admin.example"), numbers].concat();
        let (name, _) = name_at(query, 12);
        let zone = name.rsplit('.').next().unwrap_or_default();
        record(&mut reply, zone, 6, NEGATIVE_SECONDS, &data);
    }
    reply
}

fn record(reply: &mut Vec<u8>, owner: &str, kind: u8, seconds: u32, data: &[u8]) {
    reply.extend(encoded(owner));
    reply.extend([0, kind, 0, 1]);
    reply.extend(seconds.to_be_bytes());
    reply.extend(u16::try_from(data.len()).unwrap().to_be_bytes());
    reply.extend(data);
}
