use proptest::prelude::*;

use super::*;
use crate::units::{BitsPerSec, Bytes, Mtu};

const FRAMINGS: [Framing; 10] = [
    Framing::Ip,
    Framing::Ethernet,
    Framing::EthernetVlan,
    Framing::Ppp,
    Framing::PppProtocol,
    Framing::Pppoe,
    Framing::Serial,
    Framing::SerialVj,
    Framing::AtmAal5,
    Framing::AtmAal5Llc,
];

#[test]
fn wire_bytes_count_every_header_once() {
    let cases = [
        (Framing::Ip, 1500, 1500),
        (Framing::Ethernet, 1500, 1538),
        (Framing::Ethernet, 40, 84), // padded to the minimum frame
        (Framing::EthernetVlan, 1500, 1542),
        (Framing::EthernetVlan, 40, 88), // tagged after it was padded
        (Framing::Ppp, 1500, 1508),
        (Framing::PppProtocol, 1500, 1502),
        (Framing::Pppoe, 1492, 1538),
        (Framing::Pppoe, 41, 87),
        (Framing::Serial, 1500, 1508),
        (Framing::SerialVj, 1500, 1508), // not known to be TCP
        (Framing::AtmAal5, 40, 53),      // 40 + 8 fill one cell
        (Framing::AtmAal5, 41, 106),
        (Framing::AtmAal5, 1500, 1696), // 32 cells
        (Framing::AtmAal5Llc, 40, 106),
    ];
    for (framing, ip, wire) in cases {
        assert_eq!(framing.on_wire(ip), Bytes::new(wire), "{framing:?} {ip}");
    }
}

#[test]
fn only_plain_segments_over_ipv4_are_compressed() {
    let on_wire = |headers: Headers, payload| {
        Framing::SerialVj.on_wire(headers.packet(Bytes::new(payload))).get()
    };
    assert_eq!(on_wire(Headers::plain(IpVersion::V4), 1460), 1460 + 5 + 8);
    assert_eq!(on_wire(Headers::plain(IpVersion::V4), 0), 5 + 8);
    assert_eq!(on_wire(Headers::plain(IpVersion::V6), 1440), 1500 + 8);
    let timestamps = Headers { ip: IpVersion::V4, tcp_options: TCP_TIMESTAMPS };
    assert_eq!(on_wire(timestamps, 1448), 1500 + 8);
}

/// A 28.8 kbit/s modem moved 2.7 to 2.8 KiB/s with 1460-byte segments (Sichel 1998, 16 measured rows):
/// ten bits a byte and eight bytes of PPP. That 268-byte segments reached 2.6 takes header compression.
#[test]
fn a_modem_moves_what_was_measured() {
    let rate = BitsPerSec::new(28_800).unwrap();
    let kib_per_s = |framing: Framing, payload: u64| {
        let packet = Headers::plain(IpVersion::V4).packet(Bytes::new(payload));
        let bits = framing.on_wire(packet).get() * framing.bits_per_byte();
        payload as f64 / (bits as f64 / rate.get() as f64) / 1024.0
    };
    assert!((2.7..2.8).contains(&kib_per_s(Framing::Serial, 1460)));
    assert!((2.7..2.8).contains(&kib_per_s(Framing::SerialVj, 1460)));
    assert!(kib_per_s(Framing::Serial, 268) < 2.4);
    assert!((2.6..2.7).contains(&kib_per_s(Framing::SerialVj, 268)));
}

#[test]
fn tunnels_leave_what_their_headers_leave() {
    let esp = |cipher, nat_traversal| TunnelKind::Esp { cipher, nat_traversal };
    let all = GreFields { key: true, sequence: true, checksum: true };
    let cases = [
        (TunnelKind::Gre(GreFields::default()), IpVersion::V4, 1476),
        (TunnelKind::Gre(all), IpVersion::V4, 1464),
        (TunnelKind::Geneve, IpVersion::V4, 1450),
        (TunnelKind::Wireguard, IpVersion::V6, 1420), // WireGuard's own default
        (esp(EspCipher::Gcm, false), IpVersion::V4, 1446),
        (esp(EspCipher::Gcm, true), IpVersion::V4, 1438),
        (esp(EspCipher::CbcSha1, false), IpVersion::V4, 1438),
    ];
    for (kind, outer, inner) in cases {
        let tunnel = Tunnel { kind, outer };
        assert_eq!(tunnel.largest_inner(Mtu::ETHERNET).map(Mtu::get), Some(inner), "{tunnel:?}");
    }
    let vxlan = Tunnel { kind: TunnelKind::Vxlan, outer: IpVersion::V6 };
    assert_eq!(vxlan.mss(Mtu::ETHERNET, IpVersion::V4), Some(Bytes::new(1390)));
    assert_eq!(vxlan.largest_inner(Mtu::new(100).unwrap()), None, "30 bytes are no MTU");
}

#[test]
fn wireguard_pads_up_to_the_tunnel_s_mtu() {
    let tunnel = Tunnel { kind: TunnelKind::Wireguard, outer: IpVersion::V4 };
    let mtu = Mtu::new(1420).unwrap();
    let outer = |inner: u32| tunnel.wrap(inner, mtu).length().get();
    assert_eq!(outer(40), 48 + 60);
    assert_eq!(outer(1408), 1408 + 60);
    assert_eq!(outer(1409), 1420 + 60);
    assert_eq!(outer(1420), 1420 + 60);
}

#[test]
fn plateaus_go_down() {
    let next = |length| next_plateau(Bytes::new(length)).get();
    assert_eq!([next(1500), next(1492), next(68), next(0)], [1492, 1006, 68, 68]);
    assert!(PLATEAUS.is_sorted_by(|a, b| a > b));
}

fn any_tunnel() -> impl Strategy<Value = Tunnel> {
    let gre = any::<(bool, bool, bool)>().prop_map(|(key, sequence, checksum)| GreFields {
        key,
        sequence,
        checksum,
    });
    let cipher = prop_oneof![Just(EspCipher::Gcm), Just(EspCipher::CbcSha1)];
    let esp = (cipher, any::<bool>())
        .prop_map(|(cipher, nat_traversal)| TunnelKind::Esp { cipher, nat_traversal });
    let kind = prop_oneof![
        gre.prop_map(TunnelKind::Gre),
        Just(TunnelKind::Ipip),
        Just(TunnelKind::SixInFour),
        Just(TunnelKind::Vxlan),
        Just(TunnelKind::Geneve),
        Just(TunnelKind::Wireguard),
        esp,
        Just(TunnelKind::GtpU),
    ];
    let outer = prop_oneof![Just(IpVersion::V4), Just(IpVersion::V6)];
    (kind, outer).prop_map(|(kind, outer)| Tunnel { kind, outer })
}

fn any_mtu() -> impl Strategy<Value = Mtu> {
    (Mtu::MIN..=Mtu::MAX).prop_map(|n| Mtu::new(u64::from(n)).unwrap())
}

proptest! {
    #[test]
    fn the_largest_inner_packet_fits_and_one_byte_more_does_not(
        tunnel in any_tunnel(), outer in any_mtu()
    ) {
        if let Some(inner) = tunnel.largest_inner(outer) {
            let wrapped = |more: u32| tunnel.wrap(u32::from(inner.get()) + more, inner).length();
            prop_assert!(wrapped(0) <= outer.bytes());
            prop_assert!(wrapped(1) > outer.bytes());
        }
    }

    #[test]
    fn a_longer_packet_never_costs_less(
        framing in prop::sample::select(FRAMINGS.to_vec()), tunnel in any_tunnel(),
        mtu in any_mtu(), length in 20..65_535_u32
    ) {
        prop_assert!(framing.on_wire(length) >= Bytes::new(u64::from(length)));
        prop_assert!(framing.on_wire(length) <= framing.on_wire(length + 1));
        let outer = |length| tunnel.wrap(length, mtu).length();
        prop_assert!(outer(length) > Bytes::new(u64::from(length)));
        prop_assert!(outer(length) <= outer(length + 1));
    }

    #[test]
    fn fragments_carry_the_payload_once_and_begin_at_multiples_of_eight(
        length in 20..=65_535_u64, header in 5..=15_u64, mtu in any_mtu()
    ) {
        let header = Bytes::new(4 * header);
        let length = Bytes::new(length).max(header);
        let (mut end, mut count) = (Bytes::ZERO, 0);
        for fragment in fragments(length, mtu, header) {
            prop_assert_eq!(fragment.offset, end);
            prop_assert!(fragment.offset.get().is_multiple_of(8));
            prop_assert!(fragment.length <= mtu.bytes());
            prop_assert_eq!(fragment.length, header + fragment.payload);
            end += fragment.payload;
            count += 1;
        }
        prop_assert_eq!(end, length - header);
        prop_assert_eq!(count == 1, length <= mtu.bytes());
    }

    #[test]
    fn a_packet_keeps_its_length_whatever_else_is_known(length in 0..70_000_u32, more: u16) {
        let plain = IpPacket::from(length);
        let compressible = IpPacket::compressible(plain.length());
        prop_assert_eq!(plain.length(), compressible.length());
        prop_assert!(plain != compressible && !plain.is_compressible());
        let longer = compressible.with_payload(more);
        prop_assert_eq!(longer.length().get(), u64::from(length) + u64::from(more));
        prop_assert!(longer.is_compressible());
    }
}
