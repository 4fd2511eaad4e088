use std::net::IpAddr;

use proptest::prelude::*;

use super::*;
use crate::tcp_info::{State, TcpInfo};

/// A message of this kind with so much padding as netlink has.
fn message(kind: u16, flags: u16, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(16 + payload.len()).unwrap();
    let mut bytes = [&length.to_ne_bytes()[..], &kind.to_ne_bytes(), &flags.to_ne_bytes()].concat();
    bytes.extend_from_slice(&[0; 8]);
    bytes.extend_from_slice(payload);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let length = u16::try_from(4 + value.len()).unwrap();
    let mut bytes = [&length.to_ne_bytes()[..], &kind.to_ne_bytes(), value].concat();
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

/// 10.0.0.1:80 to 10.0.0.2:1234, established, with a retransmission timer.
fn ipv4_socket() -> Vec<u8> {
    let mut bytes = vec![2, 1, 1, 3, 0, 80, 4, 210];
    for address in [[10, 0, 0, 1], [10, 0, 0, 2]] {
        bytes.extend_from_slice(&address);
        bytes.extend_from_slice(&[0; 12]);
    }
    for number in [7_u32, 0xaaaa, 0xbbbb, 250, 11, 22, 1000, 4242] {
        bytes.extend_from_slice(&number.to_ne_bytes());
    }
    bytes
}

fn only(bytes: &[u8]) -> Socket<'_> {
    match Messages::new(bytes).next() {
        Some(Ok(Message::Socket(socket))) => *socket,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_socket_with_its_attributes() {
    let words = |numbers: &[u32]| numbers.iter().flat_map(|n| n.to_ne_bytes()).collect::<Vec<_>>();
    let payload = [
        ipv4_socket(),
        attribute(8, &[2]),
        attribute(4, b"bbr\0"),
        attribute(7, &words(&[1, 2, 3, 4, 5, 6, 7, 8, 9])),
        attribute(16, &words(&[0x10, 1, 20_000, 320, 512])),
        attribute(2, &[0; 104]),
        attribute(21, &99_u64.to_ne_bytes()),
        attribute(19, &attribute(1, b"mptcp\0")),
        attribute(999, b"not known"),
    ]
    .concat();
    let bytes = message(20, 2, &payload);
    let socket = only(&bytes);
    assert_eq!(socket.local, "10.0.0.1:80".parse().unwrap());
    assert_eq!(socket.remote, "10.0.0.2:1234".parse().unwrap());
    assert_eq!((socket.state, socket.interface), (Some(State::Established), 7));
    assert_eq!(socket.cookie, 0xbbbb_0000_aaaa);
    assert_eq!((socket.receive_queue, socket.send_queue), (11, 22));
    assert_eq!((socket.uid, socket.inode), (1000, 4242));
    let timer = socket.timer.unwrap();
    assert_eq!((timer.kind, timer.expiries), (TimerKind::Retransmission, 3));
    assert_eq!(timer.expires_in.as_millis(), 250);
    assert_eq!((socket.congestion, socket.shutdown), (Some("bbr"), Some(2)));
    let memory = socket.memory.unwrap();
    assert_eq!((memory.receive_buffer, memory.send_queued, memory.drops), (2, 6, 9));
    let bbr = socket.bbr.unwrap();
    assert_eq!((bbr.bandwidth, bbr.min_rtt.as_millis()), (0x1_0000_0010, 20));
    assert_eq!((bbr.pacing_gain, bbr.cwnd_gain), (1.25, 2.0));
    assert!(socket.info.is_some());
    assert_eq!((socket.cgroup, socket.upper_layer), (Some(99), Some("mptcp")));
}

/// `struct inet_diag_req_v2` and `struct inet_diag_req` in `include/uapi/linux/inet_diag.h`.
#[test]
fn both_families_are_asked_for_as_before_there_were_families() {
    let states = StateSet::NONE.with(State::Established);
    let filter = Some(Filter::All(Vec::new()));
    let of = |family, filter| {
        Request { family, states, filter, type_of_service: false }.encode(0x0102_0304)
    };
    let established = 2_u32.to_ne_bytes();
    let one = of(Some(Family::Ipv6), None);
    assert_eq!(
        (one.len(), &one[16..20], &one[20..24]),
        (72, &[10, 6, 0x4e, 0][..], &established[..])
    );
    let both = of(None, None);
    assert_eq!((both.len(), both[4], &both[16..20]), (76, 18, &[0, 0, 0, 0x4e][..]));
    assert_eq!(&both[8..12], 0x0102_0304_u32.to_ne_bytes());
    assert_eq!((&both[20..68], &both[68..72]), (&[0; 48][..], &established[..]));
    // What is filtered follows either, and is told among the length.
    let filtered = of(None, filter);
    assert_eq!(filtered[..4], u32::try_from(filtered.len()).unwrap().to_ne_bytes());
    assert_eq!((&filtered[4..76], &filtered[78..80]), (&both[4..], &1_u16.to_ne_bytes()[..]));
}

#[test]
fn a_list_ends_with_done_and_an_error_has_a_number() {
    let bytes = [
        message(20, 2, &ipv4_socket()),
        message(77, 0, &[1]),
        message(3, 0x12, &[0; 4]),
        message(2, 0, &(-2_i32).to_ne_bytes()),
        // A list that the kernel could not give; and an end without a number.
        message(3, 2, &(-95_i32).to_ne_bytes()),
        message(3, 2, &[]),
    ]
    .concat();
    let messages: Vec<_> = Messages::new(&bytes).map(Result::unwrap).collect();
    assert!(matches!(messages[0], Message::Socket(_)));
    assert_eq!(
        messages[1..],
        [
            Message::Other,
            Message::Done { interrupted: true },
            Message::Error(2),
            Message::Error(95),
            Message::Done { interrupted: false },
        ]
    );
}

#[test]
fn a_cut_message_is_an_error_and_the_end() {
    let bytes = message(20, 2, &ipv4_socket());
    let mut messages = Messages::new(&bytes[..60]);
    assert!(messages.next().unwrap().is_err());
    assert_eq!(messages.next(), None);
    assert!(
        Messages::new(&[3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]).next().unwrap().is_err()
    );
}

#[test]
fn mapped_addresses_count_as_ipv4() {
    let prefix = Prefix { address: "10.1.0.0".parse().unwrap(), length: 16 };
    let contains = |text: &str| prefix.contains(text.parse().unwrap());
    assert!(contains("10.1.255.3") && contains("::ffff:10.1.2.3"));
    assert!(!contains("10.2.0.0") && !contains("::1"));
    let all = Prefix { address: "::".parse().unwrap(), length: 0 };
    assert!(all.contains("fe80::1".parse().unwrap()) && !all.contains("10.0.0.1".parse().unwrap()));
}

/// `inet_diag_bc_run`, as its source has it: whether the program accepts a socket with these ends.
fn runs(code: &[u8], local: (IpAddr, u16), remote: (IpAddr, u16)) -> bool {
    let (mut at, length) = (0_usize, code.len());
    while at < length {
        let op = &code[at..];
        let (yes, no) = (usize::from(op[1]), usize::from(u16::from_ne_bytes([op[2], op[3]])));
        let port = || u16::from_ne_bytes([op[6], op[7]]);
        let host = |address: IpAddr| {
            let bytes: Vec<u8> = match (op[4], address) {
                (2, IpAddr::V4(v4)) => v4.octets().to_vec(),
                (10, IpAddr::V6(v6)) => v6.octets().to_vec(),
                (2, IpAddr::V6(v6)) => match v6.to_ipv4_mapped() {
                    Some(v4) => v4.octets().to_vec(),
                    None => return false,
                },
                _ => return false,
            };
            (0..usize::from(op[5])).all(|bit| {
                let mask = 0x80 >> (bit % 8);
                bytes[bit / 8] & mask == op[12 + bit / 8] & mask
            })
        };
        let holds = match op[0] {
            1 => false,
            7 => host(local.0),
            8 => host(remote.0),
            11 => local.1 == port(),
            12 => remote.1 == port(),
            other => panic!("operation {other}"),
        };
        at += if holds { yes } else { no };
    }
    at == length
}

/// What `inet_diag_bc_audit` asks: jumps of whole operations, to the beginning of one, at most one beyond the end.
fn is_accepted(code: &[u8]) -> bool {
    let mut starts = vec![code.len(), code.len() + 4];
    let mut at = 0;
    while at < code.len() {
        starts.push(at);
        at += usize::from(code[at + 1]);
    }
    let mut at = 0;
    while at < code.len() {
        let no = usize::from(u16::from_ne_bytes([code[at + 2], code[at + 3]]));
        if !starts.contains(&(at + no)) || code[at + 1] < 4 {
            return false;
        }
        at += usize::from(code[at + 1]);
    }
    at == code.len()
}

fn addresses() -> impl Strategy<Value = IpAddr> {
    // Few, so that conditions hold now and then.
    proptest::sample::select(vec![
        "10.0.0.1",
        "10.0.0.9",
        "192.168.3.4",
        "::1",
        "fe80::7",
        "::ffff:10.0.0.1",
    ])
    .prop_map(|text| text.parse().unwrap())
}

fn endpoints() -> impl Strategy<Value = Endpoint> {
    proptest::sample::select(vec![Endpoint::Local, Endpoint::Remote])
}

fn filters() -> impl Strategy<Value = Filter> {
    let leaf = prop_oneof![
        (endpoints(), 79_u16..82).prop_map(|(end, port)| Filter::Port(end, port)),
        (endpoints(), addresses(), 0_u8..=32)
            .prop_map(|(end, address, length)| Filter::Address(end, Prefix { address, length })),
        (endpoints(), addresses())
            .prop_map(|(end, address)| Filter::Address(end, Prefix::host(address))),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Filter::All),
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Filter::Any),
            inner.prop_map(|part| Filter::Not(Box::new(part))),
        ]
    })
}

proptest! {
    #[test]
    fn the_bytecode_says_what_the_filter_says(
        filter in filters(),
        local in (addresses(), 79_u16..82),
        remote in (addresses(), 79_u16..82),
    ) {
        let code = filter.bytecode();
        prop_assert!(is_accepted(&code), "{code:?}");
        prop_assert_eq!(runs(&code, local, remote), filter.matches(local.into(), remote.into()));
    }

    #[test]
    fn any_bytes_are_read_to_their_end(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        crate::fuzz::inet_diag(&bytes);
    }

    #[test]
    fn an_outline_is_of_the_decoded_socket(
        info in proptest::collection::vec(any::<u8>(), 90..290),
        rest in proptest::collection::vec(any::<u8>(), 0..40),
        state in 0_u8..14,
    ) {
        let mut payload = [ipv4_socket(), attribute(2, &info), rest].concat();
        payload[1] = state;
        let (outline, socket) = (Outline::of(&payload).unwrap(), Socket::decode(&payload).unwrap());
        let bytes = |of: fn(&TcpInfo) -> Option<u64>| socket.info.as_ref().and_then(of).unwrap_or(0);
        let moved_bytes = bytes(|info| info.bytes_acked).saturating_add(bytes(|info| info.bytes_received));
        prop_assert_eq!(outline, Outline {
            is_listening: socket.state == Some(State::Listen),
            inode: socket.inode,
            has_info: socket.info.is_some(),
            moved_bytes,
        });
        prop_assert_eq!(Outline::of(&payload[..71]).unwrap_err(), Socket::decode(&payload[..71]).unwrap_err());
    }

    #[test]
    fn a_damaged_socket_is_read_to_its_end(
        attributes in proptest::collection::vec(any::<u8>(), 0..200),
        cut in 0_usize..300,
    ) {
        let bytes = message(20, 2, &[ipv4_socket(), attributes].concat());
        crate::fuzz::inet_diag(&bytes[..cut.min(bytes.len())]);
        prop_assert!(matches!(Messages::new(&bytes).next(), Some(Ok(Message::Socket(_)))));
    }
}
