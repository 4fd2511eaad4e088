//! From what a link carried to the innermost IP packet in it.
//!
//! A link's header comes first ([`link_type`]), then tags, labels and sessions, then
//! IP, and where that carries a tunnel, all of this again. What is no tunnel after all, or none that can
//! be followed, stays a packet of the IP around it.

mod link;
mod tunnel;

use std::fmt;

use crate::DecodeError;
use crate::capture_file::Record;
use crate::ip::Outline;
use crate::link_type;

/// A header that was passed on the way to a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Encapsulation {
    /// Ethernet.
    Ethernet = 1,
    /// A VLAN tag (IEEE 802.1Q, 802.1ad).
    Vlan,
    /// IEEE 802.2 LLC, with SNAP or without.
    Llc,
    /// A PPPoE session (RFC 2516).
    Pppoe,
    /// PPP (RFC 1661).
    Ppp,
    /// Cisco's HDLC.
    CiscoHdlc,
    /// Linux's "cooked" header.
    LinuxCooked,
    /// A loopback interface's protocol family.
    Loopback,
    /// An MPLS label (RFC 3032).
    Mpls,
    /// The control word of an Ethernet pseudowire (RFC 4448).
    Pseudowire,
    /// IP within IP (RFC 2003, 4213).
    IpInIp,
    /// GRE (RFC 2784, 2890, 2637).
    Gre,
    /// ERSPAN, a mirrored port within GRE.
    Erspan,
    /// VXLAN (RFC 7348), or its generic protocol extension.
    Vxlan,
    /// Geneve (RFC 8926).
    Geneve,
    /// GTP-U (3GPP TS 29.281).
    Gtp,
    /// FDDI.
    Fddi,
}

impl Encapsulation {
    const ALL: [Self; 17] = [
        Self::Ethernet,
        Self::Vlan,
        Self::Llc,
        Self::Pppoe,
        Self::Ppp,
        Self::CiscoHdlc,
        Self::LinuxCooked,
        Self::Loopback,
        Self::Mpls,
        Self::Pseudowire,
        Self::IpInIp,
        Self::Gre,
        Self::Erspan,
        Self::Vxlan,
        Self::Geneve,
        Self::Gtp,
        Self::Fddi,
    ];

    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ethernet => "Ethernet",
            Self::Vlan => "VLAN",
            Self::Llc => "LLC",
            Self::Pppoe => "PPPoE",
            Self::Ppp => "PPP",
            Self::CiscoHdlc => "Cisco HDLC",
            Self::LinuxCooked => "Linux cooked",
            Self::Loopback => "loopback",
            Self::Mpls => "MPLS",
            Self::Pseudowire => "pseudowire",
            Self::IpInIp => "IP in IP",
            Self::Gre => "GRE",
            Self::Erspan => "ERSPAN",
            Self::Vxlan => "VXLAN",
            Self::Geneve => "Geneve",
            Self::Gtp => "GTP-U",
            Self::Fddi => "FDDI",
        }
    }

    /// Whether it carries packets over IP.
    pub const fn is_tunnel(self) -> bool {
        matches!(
            self,
            Self::IpInIp | Self::Gre | Self::Erspan | Self::Vxlan | Self::Geneve | Self::Gtp
        )
    }
}

/// The headers that were passed, the outermost first: at most [`MOST`](Self::MOST).
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct EncapPath(u128);

impl EncapPath {
    /// As many headers are passed; a packet with more is not understood.
    pub const MOST: u32 = 16;

    /// Nothing but Ethernet.
    pub(crate) const ETHERNET: Self = Self(Encapsulation::Ethernet as u128);

    /// The headers, the outermost first.
    pub fn iter(self) -> impl Iterator<Item = Encapsulation> {
        let codes = self.0.to_be_bytes().into_iter().filter(|code| *code != 0);
        codes.filter_map(|code| Encapsulation::ALL.get(usize::from(code).wrapping_sub(1)).copied())
    }

    /// Whether there is one that carries packets over IP.
    pub fn has_tunnel(self) -> bool {
        self.iter().any(Encapsulation::is_tunnel)
    }

    #[inline]
    fn push(&mut self, encapsulation: Encapsulation) -> Result<(), Undecodable> {
        if self.0 >> 120 != 0 {
            return Err(Undecodable::TooDeep);
        }
        self.0 = self.0 << 8 | encapsulation as u128;
        Ok(())
    }
}

/// `Ethernet, VLAN, PPPoE, PPP`.
impl fmt::Display for EncapPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.iter().map(Encapsulation::name).collect();
        f.pad(&names.join(", "))
    }
}

impl fmt::Debug for EncapPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EncapPath({self})")
    }
}

/// Why there is no IP packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Undecodable {
    /// A link type that is not known here.
    #[error("link type {0} is not known")]
    LinkType(u16),
    /// It carries something else: the `EtherType`, or what takes its place.
    #[error("protocol {0:#06x} is not IP")]
    NotIp(u16),
    /// It ends within a header below IP.
    #[error("it ends within the headers below IP")]
    Short,
    /// Its IP header is broken, or that of its transport protocol.
    #[error("{0}")]
    Broken(#[from] DecodeError),
    /// Headers within headers, without end.
    #[error("more than {} headers lie below IP", EncapPath::MOST)]
    TooDeep,
}

/// The innermost IP packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decapsulated<'a> {
    /// The packet, from its IP header on, as far as it was kept.
    pub bytes: &'a [u8],
    /// How many bytes the headers around it leave it; IP's own length may be less, for padding.
    pub wire_len: u32,
    /// What its header says.
    pub ip: Outline<'a>,
    /// The headers that were passed.
    pub passed: EncapPath,
    /// Bytes before it.
    pub overhead: u32,
}

/// The innermost IP packet in `data`, which was `original_len` bytes long and begins as `link_type`
/// says.
///
/// # Errors
/// There is none, or none that is understood.
pub fn decapsulate(
    link_type: u16,
    data: &[u8],
    original_len: u32,
) -> Result<Decapsulated<'_>, Undecodable> {
    let mut rest = Rest { bytes: data, wire_len: original_len, overhead: 0, passed: EncapPath(0) };
    let next = link::first(link_type, &mut rest)?;
    Ok(within(outermost(next, rest)?))
}

/// The IP packet right behind an Ethernet header: what nearly every packet of nearly every capture is, and
/// the same as [`decapsulate`] finds unless it is a tunnel's. Its bytes, and how many they were.
#[inline(always)]
pub(crate) fn behind_ethernet<'a>(record: &Record<'a>) -> Option<(&'a [u8], usize)> {
    let (head, bytes) = record.data.split_first_chunk::<{ ETHERNET_LEN as usize }>()?;
    let is_ip = record.link_type == link_type::ETHERNET && link::announces_ip(head);
    let wire_len = record.original_len.saturating_sub(ETHERNET_LEN) as usize;
    is_ip.then_some((bytes, wire_len.max(bytes.len())))
}

/// Bytes of an Ethernet header.
pub(crate) const ETHERNET_LEN: u32 = 14;

/// The innermost packet within one that is there already: that itself if it carries no tunnel.
#[inline]
pub(crate) fn within(outer: Decapsulated<'_>) -> Decapsulated<'_> {
    if tunnel::may_hold(&outer.ip) { innermost(outer) } else { outer }
}

fn innermost(mut outer: Decapsulated<'_>) -> Decapsulated<'_> {
    // Every tunnel passes at least one header, and these are limited.
    while let Some(inner) = tunnel::inside(&outer) {
        outer = inner;
    }
    outer
}

/// What comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Ip,
    Ethernet,
    Ethertype(u16),
    Ppp,
}

/// What has not been passed yet.
#[derive(Debug, Clone, Copy)]
struct Rest<'a> {
    bytes: &'a [u8],
    /// How long it was.
    wire_len: u32,
    /// How much lies before it.
    overhead: u32,
    passed: EncapPath,
}

impl<'a> Rest<'a> {
    /// Passes the `N` bytes of a header, or of a part of it.
    #[inline]
    fn take<const N: usize>(&mut self) -> Result<&'a [u8; N], Undecodable> {
        let (head, rest) = self.bytes.split_first_chunk::<N>().ok_or(Undecodable::Short)?;
        self.advance(rest, N);
        Ok(head)
    }

    /// Passes `n` bytes whose content does not matter.
    fn skip(&mut self, n: usize) -> Result<(), Undecodable> {
        let rest = self.bytes.get(n..).ok_or(Undecodable::Short)?;
        self.advance(rest, n);
        Ok(())
    }

    #[inline]
    fn advance(&mut self, rest: &'a [u8], n: usize) {
        let n = u32::try_from(n).unwrap_or(u32::MAX);
        self.bytes = rest;
        self.wire_len = self.wire_len.saturating_sub(n);
        self.overhead = self.overhead.saturating_add(n);
    }

    #[inline]
    fn push(&mut self, encapsulation: Encapsulation) -> Result<(), Undecodable> {
        self.passed.push(encapsulation)
    }

    /// IP begins here.
    fn into_packet(self) -> Result<Decapsulated<'a>, Undecodable> {
        let ip = Outline::read(self.bytes, self.wire_len as usize)?;
        let Self { bytes, wire_len, overhead, passed } = self;
        Ok(Decapsulated { bytes, wire_len, ip, passed, overhead })
    }
}

/// The first IP packet from here on.
fn outermost(mut next: Next, mut rest: Rest<'_>) -> Result<Decapsulated<'_>, Undecodable> {
    while next != Next::Ip {
        next = link::step(next, &mut rest)?;
    }
    rest.into_packet()
}

#[cfg(test)]
mod tests;
