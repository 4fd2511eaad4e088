//! What is sent, and what it shows.

use std::collections::BTreeMap;
use std::net::IpAddr;

use crate::framing::IpVersion;
use crate::units::Mtu;

/// A packet that is sent to see whether it arrives. It must not be fragmented.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Probe {
    /// Bytes of the IP packet, its header included.
    pub size: u32,
    /// Its TTL or hop limit, where it is to end at a router; `None` for one that goes to the destination.
    pub hop: Option<u8>,
}

/// What became of a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProbeFate {
    /// The destination answered it, or the router at which it was to end.
    Arrived,
    /// A router said that it is too big (RFC 1191 §4, RFC 4443 §3.2), and nothing answered it.
    TooBig(Refusal),
    /// This host did not send it: it exceeds the interface's MTU.
    LocalTooBig {
        /// That MTU, bytes; `None` where the host does not tell it, as a far end.
        mtu: Option<u32>,
    },
    /// Nothing answered it.
    NoAnswer,
}

/// A router's message that a packet is too big.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refusal {
    /// The router, as far as it is known.
    pub router: Option<IpAddr>,
    /// The MTU that it states, bytes; 0 of an IPv4 router that states none (before RFC 1191).
    pub mtu: u32,
    /// Its number on the path, where it is known: 1 for the first router.
    pub hop: Option<u8>,
}

impl ProbeFate {
    /// The same with the number of the router on the path, where that is among these.
    #[must_use]
    pub fn numbered(self, hops: &BTreeMap<IpAddr, u8>) -> Self {
        match self {
            Self::TooBig(refusal) => Self::TooBig(refusal.numbered(hops)),
            Self::Arrived | Self::LocalTooBig { .. } | Self::NoAnswer => self,
        }
    }
}

impl Refusal {
    /// The MTU that it states of a packet of this size; `None` where it states none, or one that cannot be true: it is no less than
    /// the packet, or less than the protocol allows (RFC 791, RFC 8200 §5).
    pub fn stated_mtu(self, ip: IpVersion, size: u32) -> Option<u32> {
        let least = match ip {
            IpVersion::V6 if size > Mtu::IPV6_MIN.into() => Mtu::IPV6_MIN,
            IpVersion::V4 | IpVersion::V6 => Mtu::MIN,
        };
        (self.mtu >= least.into() && self.mtu < size).then_some(self.mtu)
    }

    /// The same with the number of the router on the path, where that is among these.
    #[must_use]
    pub fn numbered(self, hops: &BTreeMap<IpAddr, u8>) -> Self {
        let hop = self.router.and_then(|router| hops.get(&router).copied());
        Self { hop, ..self }
    }
}
