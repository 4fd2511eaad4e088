use proptest::prelude::*;

use super::*;
use crate::ip::{Header, Packet};

/// What the strict decoder says, as an outline.
fn strictly(bytes: &[u8], wire_len: usize) -> Result<Outline<'_>, DecodeError> {
    let packet = Packet::decode(bytes, wire_len)?;
    let (source, destination) = packet.ends();
    let (header_len, identification, dont_fragment, ttl, ecn) = match packet.header {
        Header::V4(header) => {
            let len = usize::from(header.header_words) * 4;
            let identification = Some(header.identification);
            (len, identification, header.dont_fragment, header.ttl, header.ecn)
        }
        Header::V6(header) => (40 + packet.extra.len(), None, true, header.hop_limit, header.ecn),
    };
    Ok(Outline {
        source,
        destination,
        protocol: packet.protocol,
        identification,
        dont_fragment,
        ttl,
        ecn,
        len: count(header_len + packet.payload_len),
        fragment: packet.fragment,
        is_atomic: false,
        payload: packet.payload,
        payload_len: count(packet.payload_len),
    })
}

fn both_say_the_same(bytes: &[u8], wire_len: usize) {
    let outline = Outline::read(bytes, wire_len);
    let outline = outline.map(|ip| Outline { is_atomic: false, ..ip });
    assert_eq!(outline, strictly(bytes, wire_len), "{wire_len} {bytes:?}");
}

proptest! {
    #[test]
    fn any_bytes_have_the_outline_of_their_packet(
        first in prop_oneof![0x40..0x50_u8, 0x60..0x70_u8, any::<u8>()],
        length in prop_oneof![Just(0_u16), 0..100_u16, any::<u16>()],
        next_header in prop_oneof![Just(6_u8), Just(0), Just(43), Just(44), Just(51), Just(60), any::<u8>()],
        mut bytes in proptest::collection::vec(any::<u8>(), 0..120),
        wire_len in 0..200_usize,
    ) {
        let is_v4 = first >> 4 == 4;
        let [high, low] = length.to_be_bytes();
        for (at, byte) in [(0, first), (if is_v4 { 2 } else { 4 }, high), (if is_v4 { 3 } else { 5 }, low), (6, next_header)] {
            if let Some(place) = bytes.get_mut(at) {
                *place = byte;
            }
        }
        both_say_the_same(&bytes, wire_len);
    }

    #[test]
    fn extension_headers_are_passed_alike(
        chain in proptest::collection::vec((prop_oneof![Just(0_u8), Just(43), Just(44), Just(51), Just(60)], 0..3_u8, any::<[u8; 6]>()), 0..5),
        cut in 0..40_usize, offload: bool,
    ) {
        let mut behind = Vec::new();
        for (at, (number, units, rest)) in chain.iter().enumerate() {
            let next = chain.get(at + 1).map_or(6, |(next, ..)| *next);
            let begin = behind.len();
            behind.extend([next, *units]);
            behind.extend(rest);
            let len = match number { 44 => 8, 51 => (usize::from(*units) + 2) * 4, _ => (usize::from(*units) + 1) * 8 };
            behind.resize(begin + len, 1);
        }
        behind.extend([7; 30]);
        let mut bytes = vec![0; 40];
        bytes[0] = 0x60;
        bytes[6] = chain.first().map_or(6, |(number, ..)| *number);
        if !offload {
            bytes[5] = u8::try_from(behind.len()).unwrap();
        }
        bytes.extend(&behind);
        let wire_len = bytes.len();
        bytes.truncate(wire_len - cut.min(wire_len));
        both_say_the_same(&bytes, wire_len);
    }
}
