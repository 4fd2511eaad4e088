//! Tunnels: packets that carry packets.

use serde::Serialize;

use super::{IpPacket, IpVersion, TCP_HEADER, UDP_HEADER, ip_header};
use crate::units::{Bytes, Mtu};

/// A tunnel, and the IP that carries it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Tunnel {
    /// What wraps the inner packet.
    #[serde(flatten)]
    pub kind: TunnelKind,
    /// The version of the outer IP, whose header has no options.
    #[serde(serialize_with = "as_number")]
    pub outer: IpVersion,
}

/// What wraps the inner packet, outer IP header aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum TunnelKind {
    /// GRE: 4 bytes, and 4 for each optional field (RFC 2784, RFC 2890).
    Gre(GreFields),
    /// IP in IP: nothing but the outer header (RFC 2003, RFC 2473).
    Ipip,
    /// IPv6 in IPv4: the same (RFC 4213).
    #[serde(rename = "6in4")]
    SixInFour,
    /// VXLAN: UDP, 8 bytes, and the inner Ethernet header of 14 (RFC 7348 §5).
    Vxlan,
    /// Geneve without options: the same (RFC 8926 §3).
    Geneve,
    /// `WireGuard`: UDP, a header of 16 and a tag of 16; the inner packet is padded to a multiple of
    /// 16, but not beyond the tunnel's MTU (Linux, `calculate_skb_padding`).
    Wireguard,
    /// ESP in tunnel mode (RFC 4303 §2).
    Esp {
        /// What encrypts and authenticates.
        cipher: EspCipher,
        /// Whether UDP wraps it to pass a NAT (RFC 3948).
        nat_traversal: bool,
    },
    /// GTP-U: UDP and the mandatory 8 bytes (3GPP TS 29.281 §5.1).
    GtpU,
}

/// The optional fields of a GRE header, 4 bytes each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct GreFields {
    /// A key (RFC 2890 §2.1).
    pub key: bool,
    /// A sequence number (RFC 2890 §2.2).
    pub sequence: bool,
    /// A checksum (RFC 2784 §2.2).
    pub checksum: bool,
}

/// What ESP encrypts and authenticates with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EspCipher {
    /// AES-GCM with a tag of 16 (RFC 4106).
    Gcm,
    /// AES-CBC with HMAC-SHA1-96 (RFC 3602, RFC 2404).
    CbcSha1,
}

/// What a cipher adds, in bytes.
struct EspSizes {
    iv: u64,
    icv: u64,
    /// What the payload, with its trailer of 2, is padded to a multiple of.
    block: u64,
}

/// SPI and sequence number.
const ESP_HEADER: u64 = 8;
/// Pad length and next header.
const ESP_TRAILER: u64 = 2;
/// `WireGuard` pads to a multiple of this.
const WIREGUARD_PADDING: u64 = 16;

impl EspCipher {
    const fn sizes(self) -> EspSizes {
        match self {
            Self::Gcm => EspSizes { iv: 8, icv: 16, block: 4 },
            Self::CbcSha1 => EspSizes { iv: 16, icv: 12, block: 16 },
        }
    }
}

impl Tunnel {
    /// The outer packet of an inner one, through a tunnel whose own MTU is `mtu`.
    pub fn wrap(self, inner: impl Into<IpPacket>, mtu: Mtu) -> IpPacket {
        let inner = inner.into().length().get();
        let padded = match self.kind {
            TunnelKind::Wireguard => {
                let most = inner.max(u64::from(mtu.get()));
                inner.next_multiple_of(WIREGUARD_PADDING).min(most)
            }
            TunnelKind::Esp { cipher, .. } => {
                (inner + ESP_TRAILER).next_multiple_of(cipher.sizes().block)
            }
            TunnelKind::Gre(_)
            | TunnelKind::Ipip
            | TunnelKind::SixInFour
            | TunnelKind::Vxlan
            | TunnelKind::Geneve
            | TunnelKind::GtpU => inner,
        };
        IpPacket::from(Bytes::new(padded + self.headers()))
    }

    /// The MTU of a tunnel over a path of MTU `outer`: the largest inner packet whose outer one fits.
    /// `None` where that is below what IP must carry.
    pub fn largest_inner(self, outer: Mtu) -> Option<Mtu> {
        let room = u64::from(outer.get()).checked_sub(self.headers())?;
        let inner = match self.kind {
            TunnelKind::Esp { cipher, .. } => {
                let block = cipher.sizes().block;
                (room / block * block).checked_sub(ESP_TRAILER)?
            }
            // WireGuard's padding ends at the tunnel's MTU: the largest packet has none.
            TunnelKind::Wireguard
            | TunnelKind::Gre(_)
            | TunnelKind::Ipip
            | TunnelKind::SixInFour
            | TunnelKind::Vxlan
            | TunnelKind::Geneve
            | TunnelKind::GtpU => room,
        };
        Mtu::new(inner).ok()
    }

    /// The MSS of TCP over `inner` IP through this tunnel: the largest inner packet less the headers
    /// without options (RFC 6691). `None` where nothing is left.
    pub fn mss(self, outer: Mtu, inner: IpVersion) -> Option<Bytes> {
        let room = self.largest_inner(outer)?.bytes();
        let mss = room.saturating_sub(ip_header(inner) + TCP_HEADER);
        (mss > Bytes::ZERO).then_some(mss)
    }

    /// The version of IP that it can carry; `None` for either.
    pub const fn carries(self) -> Option<IpVersion> {
        match self.kind {
            TunnelKind::SixInFour => Some(IpVersion::V6),
            TunnelKind::Gre(_)
            | TunnelKind::Ipip
            | TunnelKind::Vxlan
            | TunnelKind::Geneve
            | TunnelKind::Wireguard
            | TunnelKind::Esp { .. }
            | TunnelKind::GtpU => None,
        }
    }

    /// Bytes around the inner packet, its padding and ESP's trailer aside.
    fn headers(self) -> u64 {
        let udp = UDP_HEADER.get();
        let own = match self.kind {
            TunnelKind::Gre(fields) => {
                let given = [fields.key, fields.sequence, fields.checksum];
                4 + 4 * given.into_iter().map(u64::from).sum::<u64>()
            }
            TunnelKind::Ipip | TunnelKind::SixInFour => 0,
            TunnelKind::Vxlan | TunnelKind::Geneve => udp + 8 + 14,
            TunnelKind::Wireguard => udp + 16 + 16,
            TunnelKind::Esp { cipher, nat_traversal } => {
                let sizes = cipher.sizes();
                let wrapped = if nat_traversal { udp } else { 0 };
                wrapped + ESP_HEADER + sizes.iv + sizes.icv
            }
            TunnelKind::GtpU => udp + 8,
        };
        ip_header(self.outer).get() + own
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn as_number<S: serde::Serializer>(ip: &IpVersion, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_u8(ip.number())
}
