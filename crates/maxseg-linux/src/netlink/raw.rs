//! Routes with every attribute that the kernel tells, known to this program or not: what is replaced must lose none.
//!
//! Layouts: `struct nlmsghdr` in `linux/netlink.h`, `struct rtmsg` and `struct rtattr` in `linux/rtnetlink.h`. Numbers have the
//! byte order of the host.

mod hops;

use std::io;
use std::net::IpAddr;

use maxseg_core::tune::Prefix;
use netlink_packet_core::{NLM_F_ACK, NLM_F_DUMP, NLM_F_DUMP_INTR, NLM_F_REQUEST};

pub(crate) use hops::{Hop, hops_taken_back};

use super::routes::LOCKED_MTU;
use super::routes::USER_HZ;
use super::{Netlink, RouteException, dumped, end_of_list, interrupted};

/// A route, as the kernel tells it and takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RawRoute {
    /// `struct rtmsg`.
    pub(crate) header: RawHeader,
    /// Kind (`RTA_*`) and value, in the kernel's order.
    pub(crate) attributes: Vec<(u16, Vec<u8>)>,
}

/// `struct rtmsg`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RawHeader {
    /// `AF_INET` or `AF_INET6`.
    pub(crate) family: u8,
    /// Bits of the destination that count.
    pub(crate) prefix_length: u8,
    /// Bits of the source that count.
    pub(crate) source_length: u8,
    /// Type of service.
    pub(crate) tos: u8,
    /// The table, where it fits.
    pub(crate) table: u8,
    /// Who made it (`RTPROT_*`).
    pub(crate) protocol: u8,
    /// `RT_SCOPE_*`.
    pub(crate) scope: u8,
    /// `RTN_*`.
    pub(crate) kind: u8,
    /// `RTNH_F_*` and `RTM_F_*`.
    pub(crate) flags: u32,
}

/// Kinds of attributes (`enum rtattr_type_t`).
pub(crate) mod attribute {
    pub(crate) const DESTINATION: u16 = 1;
    pub(crate) const OUT_INTERFACE: u16 = 4;
    pub(crate) const GATEWAY: u16 = 5;
    pub(crate) const PRIORITY: u16 = 6;
    pub(crate) const METRICS: u16 = 8;
    pub(crate) const MULTIPATH: u16 = 9;
    pub(crate) const CACHE_INFO: u16 = 12;
    pub(crate) const TABLE: u16 = 15;
    pub(crate) const VIA: u16 = 18;
    pub(crate) const NEXT_HOP_ID: u16 = 30;
}

const NEW_ROUTE: u16 = 24;
const DELETE_ROUTE: u16 = 25;
const GET_ROUTE: u16 = 26;
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
const MESSAGE_HEADER: usize = 16;
const ROUTE_HEADER: usize = 12;
const ATTRIBUTE_HEADER: usize = 4;
/// `NLA_TYPE_MASK`: without the flags for nesting and byte order.
const KIND_MASK: u16 = 0x3fff;
/// `RTM_F_CLONED`.
const CLONED: u32 = 0x200;
/// `RTAX_MTU`.
const METRIC_MTU: u16 = 2;
/// `RTAX_LOCK`.
const METRIC_LOCK: u16 = 1;

impl Netlink {
    /// Every route of an IP version, of all tables, with what was learnt of paths.
    pub(crate) fn raw_routes(&mut self, is_v6: bool) -> io::Result<Vec<RawRoute>> {
        let mut header = [0; ROUTE_HEADER];
        header[0] = family_of(is_v6);
        match dumped(|| self.exchange(GET_ROUTE, NLM_F_DUMP, &header)) {
            // A kernel without IPv6 has no routes of it.
            Err(error) if is_v6 && error.raw_os_error() == Some(libc::EAFNOSUPPORT) => Ok(vec![]),
            answers => {
                let routes = answers?.into_iter().filter(|(kind, _)| *kind == NEW_ROUTE);
                Ok(routes.filter_map(|(_, body)| RawRoute::parse(&body)).collect())
            }
        }
    }

    /// Makes a route; `flags` say whether it may or must be there already.
    pub(crate) fn make_route(&mut self, route: &RawRoute, flags: u16) -> io::Result<()> {
        self.exchange(NEW_ROUTE, flags | NLM_F_ACK, &route.bytes()).map(|_| ())
    }

    /// Removes a route.
    pub(crate) fn remove_route(&mut self, route: &RawRoute) -> io::Result<()> {
        self.exchange(DELETE_ROUTE, NLM_F_ACK, &route.bytes()).map(|_| ())
    }

    /// Sends a request, and gives what is answered: each message's kind and body.
    pub(super) fn exchange(
        &mut self,
        kind: u16,
        flags: u16,
        body: &[u8],
    ) -> io::Result<Vec<(u16, Vec<u8>)>> {
        self.sequence += 1;
        let length = u32::try_from(MESSAGE_HEADER + body.len()).map_err(io::Error::other)?;
        let mut message = Vec::with_capacity(MESSAGE_HEADER + body.len());
        message.extend_from_slice(&length.to_ne_bytes());
        message.extend_from_slice(&kind.to_ne_bytes());
        message.extend_from_slice(&(NLM_F_REQUEST | flags).to_ne_bytes());
        message.extend_from_slice(&self.sequence.to_ne_bytes());
        message.extend_from_slice(&[0; 4]);
        message.extend_from_slice(body);
        self.socket.send(&message, 0)?;
        let mut answers = Vec::new();
        let mut is_whole = true;
        loop {
            let (datagram, _) = self.socket.recv_from_full()?;
            let mut rest = &datagram[..];
            while let Some((answer, after)) = next_message(rest) {
                rest = after;
                if answer.sequence != self.sequence {
                    continue; // a reply to an earlier request
                }
                is_whole &= answer.flags & NLM_F_DUMP_INTR == 0;
                let code = || answer.body.first_chunk().map_or(0, |b| i32::from_ne_bytes(*b));
                match answer.kind {
                    NLMSG_DONE if !is_whole => return Err(interrupted()),
                    NLMSG_DONE => return end_of_list(code()).map(|()| answers),
                    NLMSG_ERROR => {
                        return match code() {
                            0 => Ok(answers),
                            code => Err(io::Error::from_raw_os_error(code.saturating_neg())),
                        };
                    }
                    kind => answers.push((kind, answer.body.to_vec())),
                }
            }
        }
    }
}

struct Answer<'a> {
    kind: u16,
    flags: u16,
    sequence: u32,
    body: &'a [u8],
}

/// The first message of some bytes, and those after it.
fn next_message(bytes: &[u8]) -> Option<(Answer<'_>, &[u8])> {
    let header: &[u8; MESSAGE_HEADER] = bytes.first_chunk()?;
    let length = usize::try_from(u32_at(header, 0)?).ok()?;
    let body = bytes.get(MESSAGE_HEADER..length)?;
    let kind = u16_at(header, 4)?;
    let (flags, sequence) = (u16_at(header, 6)?, u32_at(header, 8)?);
    let after = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
    Some((Answer { kind, flags, sequence, body }, after))
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|bytes| u16::from_ne_bytes(*bytes))
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|bytes| u32::from_ne_bytes(*bytes))
}

/// Attributes one after the other.
pub(super) fn parse_attributes(mut bytes: &[u8]) -> Vec<(u16, Vec<u8>)> {
    let mut attributes = Vec::new();
    while let (Some(length), Some(kind)) = (u16_at(bytes, 0), u16_at(bytes, 2)) {
        let length = usize::from(length);
        let Some(value) = bytes.get(ATTRIBUTE_HEADER..length) else { break };
        attributes.push((kind & KIND_MASK, value.to_vec()));
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    attributes
}

/// The same as bytes.
pub(crate) fn write_attributes(attributes: &[(u16, Vec<u8>)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (kind, value) in attributes {
        let length = u16::try_from(ATTRIBUTE_HEADER + value.len()).unwrap_or(u16::MAX);
        bytes.extend_from_slice(&length.to_ne_bytes());
        bytes.extend_from_slice(&kind.to_ne_bytes());
        bytes.extend_from_slice(value);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
    }
    bytes
}

/// `AF_INET6` or `AF_INET`.
pub(crate) fn family_of(is_v6: bool) -> u8 {
    u8::try_from(if is_v6 { libc::AF_INET6 } else { libc::AF_INET }).unwrap_or_default()
}

impl RawRoute {
    /// Of the body of a message; `None` for one that is cut.
    pub(crate) fn parse(body: &[u8]) -> Option<Self> {
        let header: &[u8; ROUTE_HEADER] = body.first_chunk()?;
        let [family, prefix_length, source_length, tos, table, protocol, scope, kind, ..] = *header;
        let flags = u32_at(header, 8)?;
        let header = RawHeader {
            family,
            prefix_length,
            source_length,
            tos,
            table,
            protocol,
            scope,
            kind,
            flags,
        };
        Some(Self { header, attributes: parse_attributes(&body[ROUTE_HEADER..]) })
    }

    /// The body of a message.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let RawHeader { family, prefix_length, source_length, tos, .. } = self.header;
        let RawHeader { table, protocol, scope, kind, flags, .. } = self.header;
        let mut bytes =
            vec![family, prefix_length, source_length, tos, table, protocol, scope, kind];
        bytes.extend_from_slice(&flags.to_ne_bytes());
        bytes.extend_from_slice(&write_attributes(&self.attributes));
        bytes
    }

    /// The value of an attribute.
    pub(crate) fn attribute(&self, kind: u16) -> Option<&[u8]> {
        self.attributes.iter().find(|(of, _)| *of == kind).map(|(_, value)| &value[..])
    }

    fn number(&self, kind: u16) -> Option<u32> {
        u32_at(self.attribute(kind)?, 0)
    }

    /// Gives an attribute this value, or none.
    pub(crate) fn set_attribute(&mut self, kind: u16, value: Option<Vec<u8>>) {
        let place = self.attributes.iter().position(|(of, _)| *of == kind);
        match (place, value) {
            (Some(place), Some(value)) => self.attributes[place].1 = value,
            (Some(place), None) => drop(self.attributes.remove(place)),
            (None, Some(value)) => self.attributes.push((kind, value)),
            (None, None) => {}
        }
    }

    /// The destinations.
    pub(crate) fn destination(&self) -> Prefix {
        let all = if self.is_v6() { Prefix::ALL_V6 } else { Prefix::ALL_V4 };
        let address = self.attribute(attribute::DESTINATION).and_then(address_of);
        address.map_or(all, |address| Prefix::new(address, self.header.prefix_length))
    }

    /// Whether it is IPv6's.
    pub(crate) fn is_v6(&self) -> bool {
        self.header.family == family_of(true)
    }

    /// The table.
    pub(crate) fn table(&self) -> u32 {
        self.number(attribute::TABLE).unwrap_or_else(|| self.header.table.into())
    }

    /// The less, the more the kernel prefers it (`metric`).
    pub(crate) fn priority(&self) -> u32 {
        self.number(attribute::PRIORITY).unwrap_or(0)
    }

    /// Index of its interface; `None` where it has several next hops.
    pub(crate) fn interface(&self) -> Option<u32> {
        self.number(attribute::OUT_INTERFACE)
    }

    /// The address of its next hop.
    pub(crate) fn gateway(&self) -> Option<IpAddr> {
        self.attribute(attribute::GATEWAY).and_then(address_of)
    }

    /// Whether it is what the kernel has learnt of a path, and no route that was set.
    pub(crate) fn is_learnt(&self) -> bool {
        self.header.flags & CLONED != 0
    }

    /// For how many seconds more it is there; `None` of one that stays.
    pub(crate) fn expires_s(&self) -> Option<f64> {
        // `rta_expires` of `struct rta_cacheinfo`.
        let ticks = u32_at(self.attribute(attribute::CACHE_INFO)?, 8)?.cast_signed();
        (ticks > 0).then(|| f64::from(ticks) / USER_HZ)
    }

    /// What it sets (`RTAX_*`).
    pub(crate) fn metrics(&self) -> Vec<(u16, Vec<u8>)> {
        self.attribute(attribute::METRICS).map(parse_attributes).unwrap_or_default()
    }

    /// The path MTU that was learnt, of an exception.
    pub(crate) fn learnt(&self) -> Option<(IpAddr, RouteException)> {
        let metrics = self.metrics();
        let (_, value) = metrics.iter().find(|(kind, _)| *kind == METRIC_MTU)?;
        let locked = metrics.iter().find(|(kind, _)| *kind == METRIC_LOCK);
        let locked = locked.and_then(|(_, value)| u32_at(value, 0)).unwrap_or(0);
        let exception = RouteException {
            mtu: u32_at(value, 0)?,
            expires_s: self.expires_s()?,
            is_locked: locked & LOCKED_MTU != 0,
        };
        self.is_learnt().then(|| (self.destination().address(), exception))
    }
}

fn address_of(bytes: &[u8]) -> Option<IpAddr> {
    let v4 = <[u8; 4]>::try_from(bytes).ok().map(IpAddr::from);
    v4.or_else(|| <[u8; 16]>::try_from(bytes).ok().map(IpAddr::from))
}

/// An address as an attribute has it.
pub(crate) fn bytes_of(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_is_written_as_it_was_read() {
        let header = RawHeader {
            family: family_of(false),
            prefix_length: 8,
            source_length: 0,
            tos: 0,
            table: 254,
            protocol: 4,
            scope: 0,
            kind: 1,
            flags: 0,
        };
        let attributes = vec![
            (attribute::DESTINATION, vec![10, 0, 0, 0]),
            (attribute::PRIORITY, 7_u32.to_ne_bytes().to_vec()),
            (99, vec![1, 2, 3]),
        ];
        let mut route = RawRoute { header, attributes };
        assert_eq!(RawRoute::parse(&route.bytes()), Some(route.clone()));
        assert_eq!(route.destination().to_string(), "10.0.0.0/8");
        assert_eq!((route.priority(), route.table(), route.gateway()), (7, 254, None));
        route.set_attribute(99, None);
        route.set_attribute(attribute::GATEWAY, Some(vec![192, 0, 2, 1]));
        assert_eq!(route.gateway(), Some([192, 0, 2, 1].into()));
        assert_eq!(route.attribute(99), None);
        let bytes = route.bytes();
        for length in 0..bytes.len() {
            let _ = RawRoute::parse(&bytes[..length]); // a cut one is no panic
        }
    }
}
