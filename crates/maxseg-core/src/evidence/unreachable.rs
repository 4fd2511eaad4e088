//! ICMP messages that a destination is unreachable.

use std::fmt::{Display, Formatter};
use std::net::{IpAddr, SocketAddr};

use serde::{Deserialize, Serialize};

use crate::units::Time;

/// "Destination unreachable" (RFC 792, RFC 4443 §3.1) about a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnreachableEvent {
    /// When it was captured.
    pub at: Time,
    /// Which packet of the capture it is, counted from 1.
    pub frame: u64,
    /// Who sent it: a router, a firewall, the destination, or the sender's own host.
    pub from: IpAddr,
    /// Why.
    pub code: UnreachableCode,
    /// Source and destination of the segment.
    pub quoted: (SocketAddr, SocketAddr),
}

/// The code of such a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnreachableCode {
    /// Whether the message is of ICMP for IPv4.
    pub is_v4: bool,
    /// The number.
    pub number: u8,
}

impl UnreachableCode {
    /// What it says of the destination.
    pub const fn meaning(self) -> &'static str {
        if self.is_v4 { meaning_v4(self.number) } else { meaning_v6(self.number) }
    }
}

/// `ICMP type 3, code 13`.
impl Display for UnreachableCode {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let kind = if self.is_v4 { "ICMP type 3" } else { "ICMPv6 type 1" };
        write!(f, "{kind}, code {}", self.number)
    }
}

/// Codes of "destination unreachable" (RFC 792, RFC 1122 §3.2.2.1, RFC 1812 §5.2.7.1).
const fn meaning_v4(code: u8) -> &'static str {
    match code {
        0 | 6 | 11 => "no route to its network",
        1 | 7 | 12 => "no route to the host, or the host does not answer there",
        3 => "the port is unreachable",
        9 | 10 | 13 => "administratively prohibited",
        _ => "the packets are not passed on",
    }
}

/// The same of `ICMPv6` (RFC 4443 §3.1).
const fn meaning_v6(code: u8) -> &'static str {
    match code {
        0 => "no route to it",
        1 | 5 => "administratively prohibited",
        2 => "beyond the scope of the source address",
        3 => "the host does not answer there",
        4 => "the port is unreachable",
        6 => "a route rejects it",
        _ => "the packets are not passed on",
    }
}
