//! The selection of packets.

use std::net::{IpAddr, Ipv4Addr};

use crate::inet_diag::Prefix;
use crate::ip::{Packet, protocol};

/// The packets to capture. A packet matches if it matches every list; it matches a list that is empty or has an
/// entry for it.
///
/// - A host or port matches source and destination.
/// - A fragment without ports (any but the first) passes if the other lists match: a stateless filter cannot know
///   the ports, and fragments matter for the MTU.
/// - An ICMP error passes if the packet that it quotes does. With the host at the other end of a connection
///   selected, a router's "packet too big" about that connection passes, although its own addresses do not match.
/// - With hosts alone, ARP for them passes too.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    /// Addresses of hosts, one by one or by prefix.
    pub hosts: Vec<Prefix>,
    /// TCP or UDP ports.
    pub ports: Vec<u16>,
    /// Protocols.
    pub protocols: Vec<Protocol>,
}

/// A protocol that can be selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
    /// ICMP or, in IPv6, ICMPv6.
    Icmp,
}

impl Protocol {
    /// The protocol's number in IPv4 and in IPv6.
    pub(super) const fn numbers(self) -> (u8, u8) {
        match self {
            Self::Tcp => (protocol::TCP, protocol::TCP),
            Self::Udp => (protocol::UDP, protocol::UDP),
            Self::Icmp => (protocol::ICMP, protocol::ICMPV6),
        }
    }
}

/// Bytes of an ICMP error before the quoted packet.
pub(super) const ICMP_HEADER: usize = 8;
/// Types of ICMP that quote a packet: unreachable, source quench, redirect, time exceeded, parameter problem.
pub(super) const QUOTING: [u8; 5] = [3, 4, 5, 11, 12];
/// Types of ICMPv6 below this are errors (RFC 4443 §2.1).
pub(super) const FIRST_INFORMATIONAL: u8 = 128;

impl Selection {
    /// Whether every packet passes.
    pub fn is_everything(&self) -> bool {
        self.hosts.is_empty() && self.ports.is_empty() && self.protocols.is_empty()
    }

    /// Whether no packet can pass: ports are selected, but only protocols without ports.
    pub fn is_nothing(&self) -> bool {
        self.wanted_protocols().is_some_and(|protocols| protocols.is_empty())
    }

    /// The protocols of which a packet must have one; `None` for any. Ports imply TCP or UDP.
    pub(super) fn wanted_protocols(&self) -> Option<Vec<Protocol>> {
        let has_ports = |protocol: &Protocol| *protocol != Protocol::Icmp;
        match (self.protocols.is_empty(), self.ports.is_empty()) {
            (true, true) => None,
            (false, true) => Some(self.protocols.clone()),
            (true, false) => Some(vec![Protocol::Tcp, Protocol::Udp]),
            (false, false) => Some(self.protocols.iter().copied().filter(has_ports).collect()),
        }
    }

    /// Whether ARP for one of the hosts passes.
    pub(super) fn takes_arp(&self) -> bool {
        self.ports.is_empty() && self.protocols.is_empty()
    }

    /// Whether an ARP packet with these protocol addresses passes.
    pub fn passes_arp(&self, sender: Ipv4Addr, target: Ipv4Addr) -> bool {
        let is_one = |host: &Prefix| host.contains(sender.into()) || host.contains(target.into());
        self.takes_arp() && (self.hosts.is_empty() || self.hosts.iter().any(is_one))
    }

    /// Whether an IP packet passes.
    pub fn passes(&self, packet: &Packet<'_>) -> bool {
        self.passes_as(packet) || quoted(packet).is_some_and(|quoted| self.passes_as(&quoted))
    }

    /// Whether the packet itself passes, regardless of a quoted one.
    fn passes_as(&self, packet: &Packet<'_>) -> bool {
        let (source, destination) = packet.ends();
        let has_host = |host: &Prefix| host.contains(source) || host.contains(destination);
        let is_one = |protocol: Protocol| {
            let (v4, v6) = protocol.numbers();
            packet.protocol == if source.is_ipv4() { v4 } else { v6 }
        };
        (self.hosts.is_empty() || self.hosts.iter().any(has_host))
            && self.wanted_protocols().is_none_or(|wanted| wanted.into_iter().any(is_one))
            && self.passes_by_port(packet)
    }

    fn passes_by_port(&self, packet: &Packet<'_>) -> bool {
        if self.ports.is_empty() || !begins_here(packet) {
            return true;
        }
        match packet.payload {
            [a, b, c, d, ..] => {
                let ports = [u16::from_be_bytes([*a, *b]), u16::from_be_bytes([*c, *d])];
                ports.iter().any(|port| self.ports.contains(port))
            }
            _ => false,
        }
    }
}

fn begins_here(packet: &Packet<'_>) -> bool {
    packet.fragment.is_none_or(|fragment| fragment.offset == 0)
}

/// The packet that an ICMP error quotes; `None` for other packets.
fn quoted<'a>(packet: &Packet<'a>) -> Option<Packet<'a>> {
    let kind = *packet.payload.first()?;
    let is_error = match packet.ends().0 {
        IpAddr::V4(_) => packet.protocol == protocol::ICMP && QUOTING.contains(&kind),
        IpAddr::V6(_) => packet.protocol == protocol::ICMPV6 && kind < FIRST_INFORMATIONAL,
    };
    let body = packet.payload.get(ICMP_HEADER..).filter(|_| is_error && begins_here(packet))?;
    // A quoted packet is cut; its length is taken as the wire length, so that decoding accepts it.
    Packet::decode(body, body.len()).ok()
}
