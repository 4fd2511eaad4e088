use etherparse::TcpHeader;
use proptest::prelude::*;

use super::*;

const ENDS: (IpAddr, IpAddr) = (
    IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1)),
    IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 2)),
);

#[test]
fn flags_have_their_names_and_places() {
    let flags = Flags::SYN | Flags::ECE | Flags::CWR | Flags::AE;
    assert_eq!(flags.to_string(), "SYN ECE CWR AE");
    assert_eq!(flags.bits(), 0b1_1100_0010);
    assert!(flags.contains(Flags::SYN) && !flags.contains(Flags::SYN | Flags::ACK));
    let mut bytes = Vec::new();
    let header = Tcp { flags, ..Tcp::default() };
    header.encode(&[], ENDS, Payload::Zeros(0), &mut bytes).unwrap();
    assert_eq!(bytes[12..14], [0x51, 0xc2]);
}

#[test]
fn data_offsets_that_lie() {
    let mut bytes = Vec::new();
    let options = [TcpOption::Mss(1460)];
    Tcp::default().encode(&options, ENDS, Payload::Bytes(b"hello"), &mut bytes).unwrap();
    let decode = |bytes: &[u8], len| Segment::decode(bytes, len, ENDS).map(|s| s.payload_len);
    assert_eq!(decode(&bytes, 29), Ok(5));
    assert_eq!(decode(&bytes[..22], 29), Ok(5), "cut within the options");
    bytes[12] = 0x40;
    assert_eq!(
        decode(&bytes, 29),
        Err(DecodeError::Length { layer: Layer::Tcp, says: 16, least: 20 })
    );
    bytes[12] = 0x80;
    assert_eq!(
        decode(&bytes, 29),
        Err(DecodeError::Short { layer: Layer::Tcp, have: 29, need: 32 })
    );
}

fn any_header() -> impl Strategy<Value = Tcp> {
    let ports = any::<(u16, u16)>();
    (ports, any::<(u32, u32)>(), 0..512_u16, any::<(u16, u16)>()).prop_map(
        |(ports, (seq, ack), flags, (window, urgent))| Tcp {
            source_port: ports.0,
            destination_port: ports.1,
            seq,
            ack,
            flags: Flags::from_bits(flags),
            window,
            urgent,
            ..Tcp::default()
        },
    )
}

proptest! {
    #[test]
    fn any_bytes_decode_or_fail(bytes: Vec<u8>, len: u16, ends: (IpAddr, IpAddr)) {
        if let Ok(segment) = Segment::decode(&bytes, usize::from(len), ends) {
            let _ = options::walk(segment.options).values().count();
        }
    }

    #[test]
    fn what_is_encoded_is_decoded_and_another_library_agrees(
        header in any_header(), a: [u8; 4], b: [u8; 4], mss: u16, payload: Vec<u8>,
    ) {
        let ends = (IpAddr::from(a), IpAddr::from(b));
        let options = [TcpOption::Mss(mss), TcpOption::NoOperation, TcpOption::WindowScale(7)];
        let mut bytes = Vec::new();
        header.encode(&options, ends, Payload::Bytes(&payload), &mut bytes).unwrap();

        let segment = Segment::decode(&bytes, bytes.len(), ends).unwrap();
        let computed = Tcp { header_words: 7, checksum: segment.header.checksum, ..header };
        prop_assert_eq!(segment.header, computed);
        prop_assert_eq!((segment.payload, segment.checksum), (&payload[..], Checksum::Good));

        let (theirs, rest) = TcpHeader::from_slice(&bytes).unwrap();
        prop_assert_eq!((theirs.source_port, theirs.destination_port), (header.source_port, header.destination_port));
        prop_assert_eq!((theirs.sequence_number, theirs.acknowledgment_number), (header.seq, header.ack));
        prop_assert_eq!((theirs.window_size, theirs.urgent_pointer), (header.window, header.urgent));
        let flags = [theirs.fin, theirs.syn, theirs.rst, theirs.psh, theirs.ack, theirs.urg, theirs.ece, theirs.cwr, theirs.ns];
        let ours: Vec<bool> = (0..9).map(|bit| header.flags.bits() >> bit & 1 == 1).collect();
        prop_assert_eq!(&flags[..], &ours[..]);
        prop_assert_eq!(rest, &payload[..]);
        prop_assert_eq!(theirs.calc_checksum_ipv4_raw(a, b, rest).unwrap(), theirs.checksum);
    }

    #[test]
    fn zeros_need_not_be_written_to_be_summed(header in any_header(), ends: (IpAddr, IpAddr), n in 0..2000_usize) {
        let (mut whole, mut cut) = (Vec::new(), Vec::new());
        header.encode(&[], ends, Payload::Bytes(&vec![0; n]), &mut whole).unwrap();
        header.encode(&[], ends, Payload::Zeros(n), &mut cut).unwrap();
        prop_assert_eq!(&whole[..20], &cut[..]);
        let segment = Segment::decode(&cut, whole.len(), ends).unwrap();
        prop_assert_eq!(segment.payload_len, n);
        prop_assert_eq!(segment.checksum == Checksum::Unknown, n > 0);
    }
}
