//! The headers below the innermost IP packet.

use std::fmt;

use crate::DecodeError;

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

    #[inline]
    pub(super) fn push(&mut self, encapsulation: Encapsulation) -> Result<(), Undecodable> {
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
    /// It ends within a header below IP, or the capture kept less than IP's.
    #[error("it ends within its headers")]
    Short,
    /// Its IP header is broken, or that of its transport protocol.
    #[error("{0}")]
    Broken(#[from] DecodeError),
    /// Headers within headers, without end.
    #[error("more than {} headers lie below IP", EncapPath::MOST)]
    TooDeep,
}
