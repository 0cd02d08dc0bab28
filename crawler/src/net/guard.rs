//! Which addresses may be connected to: those on the public internet, and what the operator named.
//!
//! The classes follow the IANA special-purpose address registries (RFC 6890). Where an IPv6
//! address carries an IPv4 address, that one is judged too: it is where the packets end.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::IpNet;
use thiserror::Error;

/// Why an address is not on the public internet.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum AddressClass {
    /// A cloud provider's instance metadata.
    Metadata,
    /// 127.0.0.0/8, ::1.
    Loopback,
    /// RFC 1918.
    Private,
    /// 169.254.0.0/16, fe80::/10.
    LinkLocal,
    /// fc00::/7.
    UniqueLocal,
    /// 100.64.0.0/10, carrier-grade NAT.
    SharedNat,
    /// 0.0.0.0/8, ::.
    Unspecified,
    /// 224.0.0.0/4, ff00::/8.
    Multicast,
    /// 255.255.255.255.
    Broadcast,
    /// Addresses for documents.
    Documentation,
    /// 198.18.0.0/15, 2001:2::/48.
    Benchmarking,
    /// Everything else that no host on the public internet has.
    Reserved,
}

impl AddressClass {
    /// The class in words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Metadata => "cloud metadata",
            Self::Loopback => "loopback",
            Self::Private => "private",
            Self::LinkLocal => "link-local",
            Self::UniqueLocal => "unique local",
            Self::SharedNat => "carrier-grade NAT",
            Self::Unspecified => "unspecified",
            Self::Multicast => "multicast",
            Self::Broadcast => "broadcast",
            Self::Documentation => "documentation",
            Self::Benchmarking => "benchmarking",
            Self::Reserved => "reserved",
        }
    }

    /// The class of an address; `None` if it is on the public internet.
    pub fn of(address: IpAddr) -> Option<Self> {
        if METADATA.contains(&address.to_canonical()) {
            return Some(Self::Metadata);
        }
        match address {
            IpAddr::V4(v4) => of_v4(v4),
            IpAddr::V6(v6) => of_v6(v6),
        }
    }
}

impl fmt::Display for AddressClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Instance metadata: of most clouds, of Alibaba, of Azure (an otherwise public address), of AWS.
const METADATA: [IpAddr; 4] = [
    IpAddr::V4(Ipv4Addr::new(169, 254, 169, 254)),
    IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)),
    IpAddr::V4(Ipv4Addr::new(168, 63, 129, 16)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254)),
];

fn of_v4(address: Ipv4Addr) -> Option<AddressClass> {
    match address.octets() {
        [0, ..] => Some(AddressClass::Unspecified),
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => Some(AddressClass::Private),
        [100, 64..=127, ..] => Some(AddressClass::SharedNat),
        [127, ..] => Some(AddressClass::Loopback),
        [169, 254, ..] => Some(AddressClass::LinkLocal),
        [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] => Some(AddressClass::Documentation),
        [192, 0, 0, _] | [192, 88, 99, _] => Some(AddressClass::Reserved),
        [198, 18..=19, ..] => Some(AddressClass::Benchmarking),
        [224..=239, ..] => Some(AddressClass::Multicast),
        [255, 255, 255, 255] => Some(AddressClass::Broadcast),
        [240..=255, ..] => Some(AddressClass::Reserved),
        _ => None,
    }
}

fn of_v6(address: Ipv6Addr) -> Option<AddressClass> {
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0] => Some(AddressClass::Unspecified),
        [0, 0, 0, 0, 0, 0, 0, 1] => Some(AddressClass::Loopback),
        // IPv4-mapped, and NAT64 (RFC 6052): as reachable as the address within.
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            AddressClass::of(IpAddr::V4(v4_of(high, low)))
        }
        // IPv4-compatible (RFC 4291 section 2.5.5.1): out of use.
        [0, 0, 0, 0, 0, 0, high, low] => {
            Some(AddressClass::of(IpAddr::V4(v4_of(high, low))).unwrap_or(AddressClass::Reserved))
        }
        // Teredo (RFC 4380): the server, and the client with its bits inverted.
        [0x2001, 0, server_high, server_low, _, _, high, low] => {
            AddressClass::of(IpAddr::V4(v4_of(server_high, server_low)))
                .or_else(|| AddressClass::of(IpAddr::V4(v4_of(!high, !low))))
        }
        // 6to4 (RFC 3056).
        [0x2002, high, low, ..] => AddressClass::of(IpAddr::V4(v4_of(high, low))),
        [0x2001, 0x2, 0, ..] => Some(AddressClass::Benchmarking),
        [0x2001, 0xdb8, ..] | [0x3fff, 0..=0x0fff, ..] => Some(AddressClass::Documentation),
        [0x2001, 0..=0x01ff, ..] => Some(AddressClass::Reserved),
        [0x2000..=0x3fff, ..] => None,
        [0xfc00..=0xfdff, ..] => Some(AddressClass::UniqueLocal),
        [0xfe80..=0xfebf, ..] => Some(AddressClass::LinkLocal),
        [0xff00..=0xffff, ..] => Some(AddressClass::Multicast),
        // Only 2000::/3 is given out as global unicast.
        _ => Some(AddressClass::Reserved),
    }
}

fn v4_of(high: u16, low: u16) -> Ipv4Addr {
    Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low))
}

/// An address that may not be connected to.
#[derive(Clone, Debug, Error, Eq, PartialEq)]
#[error(
    "{address} is a {class} address, not one of the public internet; \
     if you mean to crawl it, permit it with --allow-network {}",
    IpNet::from(*address)
)]
pub struct Blocked {
    /// The address.
    pub address: IpAddr,
    /// What it is.
    pub class: AddressClass,
}

/// Lets through public addresses and the networks that the operator named.
#[derive(Clone, Debug, Default)]
pub struct Guard {
    allowed: Vec<IpNet>,
}

impl Guard {
    /// A guard that also lets `allowed` through.
    pub fn allowing(allowed: Vec<IpNet>) -> Self {
        Self { allowed }
    }

    /// Judges one address.
    ///
    /// # Errors
    /// [`Blocked`] if it is neither public nor in a network that the operator named.
    pub fn admit(&self, address: IpAddr) -> Result<(), Blocked> {
        let Some(class) = AddressClass::of(address) else {
            return Ok(());
        };
        let canonical = address.to_canonical();
        let named = |network: &IpNet| network.contains(&address) || network.contains(&canonical);
        if self.allowed.iter().any(named) {
            return Ok(());
        }
        Err(Blocked { address, class })
    }

    /// Keeps those addresses of a name that may be connected to, in their order.
    ///
    /// # Errors
    /// [`Blocked`], with the first address, if none may.
    pub fn sift(&self, mut addresses: Vec<IpAddr>) -> Result<Vec<IpAddr>, Blocked> {
        let mut first = None;
        addresses.retain(|&address| match self.admit(address) {
            Ok(()) => true,
            Err(blocked) => {
                first.get_or_insert(blocked);
                false
            }
        });
        match first {
            Some(blocked) if addresses.is_empty() => Err(blocked),
            Some(_) | None => Ok(addresses),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One line, one address, from the IANA registries; `-` is public.
    const ADDRESSES: &str = "
        0.0.0.0 unspecified
        0.1.2.3 unspecified
        10.0.0.1 private
        10.255.255.255 private
        11.0.0.1 -
        100.63.255.255 -
        100.64.0.1 carrier-grade NAT
        100.127.255.255 carrier-grade NAT
        100.128.0.1 -
        100.100.100.200 cloud metadata
        127.0.0.1 loopback
        127.255.255.254 loopback
        168.63.129.16 cloud metadata
        169.254.0.1 link-local
        169.254.169.254 cloud metadata
        172.15.255.255 -
        172.16.0.1 private
        172.31.255.255 private
        172.32.0.1 -
        192.0.0.8 reserved
        192.0.2.1 documentation
        192.88.99.1 reserved
        192.168.1.1 private
        192.169.0.1 -
        198.17.255.255 -
        198.18.0.1 benchmarking
        198.19.255.255 benchmarking
        198.51.100.7 documentation
        203.0.113.9 documentation
        212.96.82.21 -
        223.255.255.255 -
        224.0.0.1 multicast
        239.255.255.255 multicast
        240.0.0.1 reserved
        255.255.255.255 broadcast
        8.8.8.8 -
        :: unspecified
        ::1 loopback
        ::2 unspecified
        ::8.8.8.8 reserved
        ::127.0.0.1 loopback
        ::ffff:127.0.0.1 loopback
        ::ffff:10.1.2.3 private
        ::ffff:169.254.169.254 cloud metadata
        ::ffff:8.8.8.8 -
        64:ff9b::8.8.8.8 -
        64:ff9b::10.0.0.1 private
        64:ff9b::169.254.169.254 cloud metadata
        64:ff9b:1::1 reserved
        100::1 reserved
        2001::1 unspecified
        2001:0:4136:e378:8000:63bf:3fff:fdd2 documentation
        2001:0:808:808::f7f7:f7f7 -
        2001:0:808:808::80ff:fffe loopback
        2001:2::1 benchmarking
        2001:10::1 reserved
        2001:db8::1 documentation
        2001:4860:4860::8888 -
        2002:7f00:1::1 loopback
        2002:a00:1::1 private
        2002:808:808::1 -
        2606:4700::1111 -
        3fff::1 documentation
        3fff:1000::1 -
        4000::1 reserved
        5f00::1 reserved
        fc00::1 unique local
        fd00:ec2::254 cloud metadata
        fdff::1 unique local
        fe80::1 link-local
        febf::1 link-local
        fec0::1 reserved
        ff02::1 multicast
    ";

    #[test]
    fn classes_of_addresses() {
        let mut lines = 0;
        for line in ADDRESSES.lines().map(str::trim).filter(|l| !l.is_empty()) {
            let (address, expect) = line.split_once(' ').unwrap();
            let class = AddressClass::of(address.parse().unwrap());
            assert_eq!(class.map_or("-", AddressClass::name), expect, "{address}");
            lines += 1;
        }
        assert!(lines >= 40);
    }

    #[test]
    fn operator_networks_are_let_through() {
        let guard = Guard::allowing(vec!["127.0.0.0/8".parse().unwrap()]);
        for (address, let_through) in [
            ("127.0.0.9", true),
            ("::ffff:127.0.0.9", true),
            ("::1", false),
            ("10.0.0.1", false),
            ("8.8.8.8", true),
        ] {
            assert_eq!(
                guard.admit(address.parse().unwrap()).is_ok(),
                let_through,
                "{address}"
            );
        }
    }

    #[test]
    fn a_name_keeps_what_is_permitted() {
        let mixed: Vec<IpAddr> = ["10.0.0.1", "8.8.8.8", "::1"]
            .map(|a| a.parse().unwrap())
            .into();
        let guard = Guard::default();
        assert_eq!(
            guard.sift(mixed.clone()),
            Ok(vec!["8.8.8.8".parse().unwrap()])
        );
        let blocked = guard.sift(vec![mixed[0], mixed[2]]).unwrap_err();
        assert_eq!(
            blocked.to_string(),
            "10.0.0.1 is a private address, not one of the public internet; \
             if you mean to crawl it, permit it with --allow-network 10.0.0.1/32"
        );
    }
}
