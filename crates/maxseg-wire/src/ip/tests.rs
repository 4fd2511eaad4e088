use etherparse::{Ipv4Header, Ipv6Header};
use proptest::prelude::*;

use super::*;
use crate::Checksum;
use crate::EncodeError;

fn packet(payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    Ipv4 { protocol: protocol::UDP, ..Ipv4::default() }
        .encode(&[], payload.len(), &mut bytes)
        .unwrap();
    bytes.extend_from_slice(payload);
    bytes
}

#[test]
fn lengths_are_held_against_what_was_captured() {
    let whole = packet(b"12345678");
    let cases: [(&str, usize, usize, Length, usize); 4] = [
        ("whole", 28, 28, Length::Whole, 8),
        ("in a padded frame", 28, 46, Length::Whole, 8),
        ("cut by the capture", 24, 28, Length::Cut(4), 8),
        ("never so long as it says", 24, 24, Length::Overstated(4), 4),
    ];
    for (what, captured, wire_len, length, payload_len) in cases {
        let mut bytes = whole.clone();
        bytes.resize(captured, 0);
        let packet = Packet::decode(&bytes, wire_len).unwrap();
        assert_eq!((packet.length, packet.payload_len), (length, payload_len), "{what}");
        assert_eq!(packet.payload, &whole[20..captured.min(28)], "{what}");
        assert_eq!(packet.checksum, Checksum::Good, "{what}");
    }
    let mut padded = whole.clone();
    padded.resize(46, 0);
    assert_eq!(Packet::decode(&padded, 46).unwrap().payload, b"12345678");
}

#[test]
fn offloaded_packets_have_the_length_that_was_captured() {
    let mut bytes = packet(b"12345678");
    bytes[2..4].fill(0);
    let packet = Packet::decode(&bytes, 70_000).unwrap();
    assert_eq!((packet.length, packet.payload_len), (Length::Offloaded, 69_980));
    assert_eq!(packet.checksum, Checksum::Bad, "it was summed with a length");
    let mut bytes = Vec::new();
    Ipv6 { next_header: protocol::TCP, ..Ipv6::default() }.encode(0, &mut bytes).unwrap();
    let packet = Packet::decode(&bytes, 70_000).unwrap();
    assert_eq!((packet.length, packet.payload_len), (Length::Offloaded, 69_960));
    assert_eq!(Packet::decode(&bytes, 40).unwrap().length, Length::Whole, "nothing is in it");
}

#[test]
fn headers_that_contradict_themselves_are_told() {
    let mut bytes = packet(b"12345678");
    bytes[0] = 0x44;
    let error = |bytes: &[u8]| Packet::decode(bytes, bytes.len()).unwrap_err().to_string();
    assert_eq!(error(&bytes), "IP: invalid length 16; the minimum is 20");
    bytes[0] = 0x46;
    bytes[3] = 23;
    assert_eq!(error(&bytes), "IP: invalid length 23; the minimum is 24");
    bytes[0] = 0x55;
    assert_eq!(error(&bytes), "IP version 5 is neither 4 nor 6");
    assert_eq!(error(&[]), "IP: 0 of 20 bytes are present", "no byte tells the version");
    assert_eq!(error(&[0x45; 19]), "IP: 19 of 20 bytes are present");
}

#[test]
fn fragments_know_their_place() {
    let mut bytes = Vec::new();
    let header =
        Ipv4 { identification: 7, more_fragments: true, fragment_offset: 185, ..Ipv4::default() };
    header.encode(&[], 0, &mut bytes).unwrap();
    let want = Fragment { identification: 7, offset: 1480, more: true };
    assert_eq!(Packet::decode(&bytes, 20).unwrap().fragment, Some(want));

    let extension = |offset, more| {
        let mut bytes = Vec::new();
        Ipv6 { next_header: 0, ..Ipv6::default() }.encode(8 + 8 + 12, &mut bytes).unwrap();
        bytes.extend([Ipv6Fragment::NUMBER, 0, 1, 4, 0, 0, 0, 0]); // hop-by-hop, padded
        Ipv6Fragment { next_header: protocol::TCP, offset, more, identification: 7 }
            .encode(&mut bytes);
        bytes.extend([9; 12]);
        bytes
    };
    let bytes = extension(185, true);
    let packet = Packet::decode(&bytes, bytes.len()).unwrap();
    assert_eq!((packet.fragment, packet.protocol), (Some(want), protocol::TCP));
    assert_eq!((packet.extra.len(), packet.payload, packet.payload_len), (16, &[9; 12][..], 12));
    let whole = extension(0, false);
    assert_eq!(Packet::decode(&whole, whole.len()).unwrap().fragment, None, "RFC 6946");
}

#[test]
fn options_are_padded_and_limited() {
    let mut bytes = Vec::new();
    Ipv4::default().encode(&[0x94, 4, 0, 0, 1], 3, &mut bytes).unwrap();
    assert_eq!((bytes.len(), bytes[0], bytes[3]), (28, 0x47, 31));
    bytes.extend([1, 2, 3]);
    let packet = Packet::decode(&bytes, 31).unwrap();
    assert_eq!((packet.extra, packet.payload), (&[0x94, 4, 0, 0, 1, 0, 0, 0][..], &[1, 2, 3][..]));
    assert_eq!(packet.checksum, Checksum::Good);
    let too_long = Ipv4::default().encode(&[1; 41], 0, &mut bytes).unwrap_err();
    assert_eq!((too_long.length, too_long.limit), (41, 40));
    let error: EncodeError = Ipv4::default().encode(&[], 65_516, &mut bytes).unwrap_err();
    assert_eq!((error.length, error.limit), (65_536, 65_535));
    assert!(Ipv6::default().encode(65_536, &mut bytes).is_err());
    assert_eq!(bytes.len(), 31, "what is refused leaves no trace");
}

proptest! {
    #[test]
    fn any_bytes_decode_or_fail(version in prop_oneof![Just(0x45_u8), Just(0x60), any::<u8>()], mut bytes: Vec<u8>, wire_len: u16) {
        if let Some(first) = bytes.first_mut() {
            *first = version;
        }
        if let Ok(packet) = Packet::decode(&bytes, usize::from(wire_len)) {
            prop_assert!(packet.payload.len() <= packet.payload_len);
            let _ = packet.ends();
        }
    }

    #[test]
    fn v4_is_decoded_as_encoded_and_another_library_agrees(
        dscp in 0..64_u8, ecn in 0..4_u8, identification: u16, flags: (bool, bool),
        fragment_offset in 0..8192_u16, ttl: u8, protocol: u8, source: [u8; 4], destination: [u8; 4],
        payload in proptest::collection::vec(any::<u8>(), 0..100),
    ) {
        let header = Ipv4 {
            dscp, ecn, identification, dont_fragment: flags.0, more_fragments: flags.1,
            fragment_offset, ttl, protocol, source: source.into(), destination: destination.into(),
            ..Ipv4::default()
        };
        let mut bytes = Vec::new();
        header.encode(&[], payload.len(), &mut bytes).unwrap();
        let (theirs, _) = Ipv4Header::from_slice(&bytes).unwrap();
        bytes.extend_from_slice(&payload);
        let packet = Packet::decode(&bytes, bytes.len()).unwrap();
        let Header::V4(decoded) = packet.header else { panic!("{packet:?}") };
        let computed = Ipv4 {
            total_length: u16::try_from(bytes.len()).unwrap(), checksum: decoded.checksum, ..header
        };
        prop_assert_eq!(decoded, computed);
        prop_assert_eq!((packet.payload, packet.checksum), (&payload[..], Checksum::Good));
        prop_assert_eq!((theirs.dscp.value(), theirs.ecn.value()), (dscp, ecn));
        prop_assert_eq!((theirs.total_len, theirs.identification), (decoded.total_length, identification));
        prop_assert_eq!((theirs.dont_fragment, theirs.more_fragments), flags);
        prop_assert_eq!(theirs.fragment_offset.value(), fragment_offset);
        prop_assert_eq!((theirs.time_to_live, theirs.protocol.0), (ttl, protocol));
        prop_assert_eq!((theirs.source, theirs.destination), (source, destination));
        prop_assert_eq!(theirs.calc_header_checksum(), decoded.checksum);
    }

    #[test]
    fn v6_is_decoded_as_encoded_and_another_library_agrees(
        dscp in 0..64_u8, ecn in 0..4_u8, flow_label in 0..1_u32 << 20, hop_limit: u8,
        source: [u8; 16], destination: [u8; 16], payload in proptest::collection::vec(any::<u8>(), 1..100),
    ) {
        let header = Ipv6 {
            dscp, ecn, flow_label, next_header: protocol::UDP, hop_limit,
            source: source.into(), destination: destination.into(), ..Ipv6::default()
        };
        let mut bytes = Vec::new();
        header.encode(payload.len(), &mut bytes).unwrap();
        let (theirs, _) = Ipv6Header::from_slice(&bytes).unwrap();
        bytes.extend_from_slice(&payload);
        let packet = Packet::decode(&bytes, bytes.len()).unwrap();
        let payload_length = u16::try_from(payload.len()).unwrap();
        prop_assert_eq!(packet.header, Header::V6(Ipv6 { payload_length, ..header }));
        prop_assert_eq!((packet.payload, packet.protocol), (&payload[..], protocol::UDP));
        prop_assert_eq!(theirs.traffic_class, dscp << 2 | ecn);
        prop_assert_eq!((theirs.flow_label.value(), theirs.payload_length), (flow_label, payload_length));
        prop_assert_eq!((theirs.hop_limit, theirs.source, theirs.destination), (hop_limit, source, destination));
    }
}
