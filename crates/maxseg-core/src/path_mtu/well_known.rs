//! MTUs that have a name.

use crate::framing::{EspCipher, GreFields, IpVersion, Tunnel, TunnelKind};
use crate::units::Mtu;

/// MTUs of links.
const LINKS: [(u32, &str); 9] = [
    (9216, "Ethernet jumbo frames of 9216"),
    (9000, "Ethernet jumbo frames"),
    (4352, "FDDI"),
    (1500, "Ethernet"),
    (1492, "PPPoE over Ethernet (RFC 2516 §7)"),
    (1460, "DS-Lite: IPv4 in IPv6 over Ethernet (RFC 6333 §5.3)"),
    (1452, "DS-Lite over PPPoE"),
    (1280, "the least MTU of IPv6 (RFC 8200 §5), often set for tunnels"),
    (576, "the least that every IPv4 host takes (RFC 791), and old dial-up"),
];

/// Tunnels whose MTU over Ethernet and `PPPoE` is well known.
const TUNNELS: [(TunnelKind, &str); 9] = [
    (TunnelKind::Ipip, "IP in IP"),
    (TunnelKind::SixInFour, "6in4"),
    (TunnelKind::Gre(GreFields { key: false, sequence: false, checksum: false }), "GRE"),
    (TunnelKind::Gre(GreFields { key: true, sequence: false, checksum: false }), "GRE with a key"),
    (TunnelKind::Vxlan, "VXLAN or Geneve"),
    (TunnelKind::Wireguard, "WireGuard"),
    (TunnelKind::GtpU, "GTP-U"),
    (TunnelKind::Esp { cipher: EspCipher::Gcm, nat_traversal: false }, "IPsec (ESP, AES-GCM)"),
    (
        TunnelKind::Esp { cipher: EspCipher::Gcm, nat_traversal: true },
        "IPsec (ESP, AES-GCM) through NAT",
    ),
];

/// MTUs that tunnels are laid over.
const OUTER: [u32; 5] = [1500, 1492, 9000, 1450, 1400];

/// What has this MTU, the likeliest first: `WireGuard over 1500 (IPv6 outside)`. Several tunnels may have the same.
pub fn well_known_mtu(mtu: u32) -> Vec<String> {
    let links = LINKS.iter().filter(|(known, _)| *known == mtu).map(|(_, name)| (*name).to_owned());
    let tunnels = tunnels().filter(|(known, _)| *known == mtu).map(|(_, name)| name);
    links.chain(tunnels).collect()
}

/// Every MTU that has a name.
pub(super) fn all() -> impl Iterator<Item = u32> {
    LINKS.iter().map(|(mtu, _)| *mtu).chain(tunnels().map(|(mtu, _)| mtu))
}

fn tunnels() -> impl Iterator<Item = (u32, String)> {
    let outers = [IpVersion::V4, IpVersion::V6];
    let each = OUTER.into_iter().flat_map(move |mtu| outers.map(|ip| (mtu, ip)));
    each.flat_map(|(mtu, outer)| {
        TUNNELS.into_iter().filter_map(move |(kind, name)| {
            // 6in4 is in IPv4 by its name.
            if kind == TunnelKind::SixInFour && outer == IpVersion::V6 {
                return None;
            }
            let inner = Tunnel { kind, outer }.largest_inner(Mtu::new(mtu.into()).ok()?)?;
            Some((inner.get().into(), format!("{name} over {mtu} (IPv{} outside)", outer.number())))
        })
    })
}
