//! What a packet costs, and the pieces it comes in.

use maxseg_core::framing::{
    EspCipher, Fragment, Framing, GreFields, Headers, IpVersion, Tunnel, TunnelKind,
    ethernet_frame, fragments, next_plateau,
};
use maxseg_core::units::{Bytes, Mtu};

use super::row::{Row, Rule};

pub(crate) const OVERHEAD: Rule = Rule { file: "overhead", check: overhead };
pub(crate) const TUNNEL: Rule = Rule { file: "tunnel_mss", check: tunnel };
pub(crate) const FRAGMENTS: Rule = Rule { file: "fragments_ipv4", check: fragment };
pub(crate) const PLATEAU: Rule = Rule {
    file: "rfc1191_plateau",
    check: |row| {
        let plateau = next_plateau(row.bytes("total_length_of_dropped_datagram_bytes"));
        row.expect_count("next_lower_plateau_bytes", plateau.get().into());
    },
};

fn overhead(row: &mut Row) {
    let payload = row.bytes("payload_bytes");
    let headers =
        Headers { ip: row.ip_version("ip_version"), tcp_options: row.bytes("tcp_option_bytes") };
    let packet = headers.packet(payload);
    let wire = match row.text("encapsulation").as_str() {
        "eth" => Framing::Ethernet.on_wire(packet),
        "eth_vlan" => Framing::EthernetVlan.on_wire(packet),
        "eth_nogap" => ethernet_frame(packet),
        "ppp" => Framing::Ppp.on_wire(packet),
        "pppoe_eth" => Framing::Pppoe.on_wire(packet),
        unknown => panic!("the encapsulation `{unknown}` is not understood"),
    };
    let efficiency = payload.get() as f64 / wire.get() as f64;
    row.expect_count("ip_packet_bytes", packet.length().get());
    row.expect_count("wire_bytes_incl_all", wire.get());
    row.expect("efficiency", efficiency);
    row.expect("goodput_bits_per_s_at_1e9_line", 1e9 * efficiency);
}

fn tunnel(row: &mut Row) {
    let outer = row.mtu("outer_mtu_bytes");
    let inner = row.ip_version("inner_ip_version");
    let headers = Headers::plain(inner).bytes();
    let (largest, wrapped, mss) = match tunnel_called(&row.text("tunnel")) {
        Some(tunnel) => {
            let largest = tunnel.largest_inner(outer).unwrap();
            let wrapped = tunnel.wrap(largest.bytes(), largest).length();
            (largest, wrapped, tunnel.mss(outer, inner).unwrap())
        }
        None => (outer, outer.bytes(), outer.bytes() - headers),
    };
    row.expect_count("max_inner_ip_bytes", largest.get().into());
    row.expect_count("outer_ip_bytes_at_max", wrapped.get());
    row.expect_count("advertised_mss_bytes", mss.get());
    let timestamps = maxseg_core::framing::TCP_TIMESTAMPS;
    row.expect_count("data_per_segment_with_timestamps_bytes", (mss - timestamps).get());
}

/// `None` for no tunnel.
fn tunnel_called(name: &str) -> Option<Tunnel> {
    use IpVersion::{V4, V6};
    let esp = |cipher, nat_traversal| TunnelKind::Esp { cipher, nat_traversal };
    let (kind, outer) = match name {
        "none" => return None,
        "gre4" => (TunnelKind::Gre(GreFields::default()), V4),
        "gre4_key" => (TunnelKind::Gre(GreFields { key: true, ..GreFields::default() }), V4),
        "ipip" => (TunnelKind::Ipip, V4),
        "6in4" => (TunnelKind::SixInFour, V4),
        "vxlan4" => (TunnelKind::Vxlan, V4),
        "vxlan6" => (TunnelKind::Vxlan, V6),
        "wg4" => (TunnelKind::Wireguard, V4),
        "wg6" => (TunnelKind::Wireguard, V6),
        "esp4_gcm" => (esp(EspCipher::Gcm, false), V4),
        "esp4_natt_gcm" => (esp(EspCipher::Gcm, true), V4),
        "esp4_cbc_sha1" => (esp(EspCipher::CbcSha1, false), V4),
        "esp4_natt_cbc_sha1" => (esp(EspCipher::CbcSha1, true), V4),
        "gtpu4" => (TunnelKind::GtpU, V4),
        unknown => panic!("the tunnel `{unknown}` is not understood"),
    };
    Some(Tunnel { kind, outer })
}

fn fragment(row: &mut Row) {
    let total = row.bytes("total_length_bytes");
    let mtu = row.mtu("next_hop_mtu_bytes");
    let pieces: Vec<Fragment> = fragments(total, mtu, row.bytes("ihl_bytes")).collect();
    let sum = pieces.iter().fold(Bytes::ZERO, |sum, piece| sum + piece.length);
    row.expect_count("n_fragments", pieces.len() as u64);
    row.expect_count("first_fragment_total_bytes", pieces[0].length.get());
    row.expect_count("last_fragment_total_bytes", pieces[pieces.len() - 1].length.get());
    row.expect_count("sum_total_bytes", sum.get());
    row.expect_count("extra_bytes", (sum - total).get());
}

impl Row {
    /// A size in bytes.
    pub(crate) fn bytes(&mut self, column: &str) -> Bytes {
        Bytes::new(self.count(column))
    }

    /// An MTU in bytes.
    pub(crate) fn mtu(&mut self, column: &str) -> Mtu {
        Mtu::new(self.count(column)).unwrap()
    }

    /// 4 or 6.
    pub(crate) fn ip_version(&mut self, column: &str) -> IpVersion {
        match self.count(column) {
            4 => IpVersion::V4,
            6 => IpVersion::V6,
            other => panic!("{column}: there is no IPv{other}"),
        }
    }
}
