//! Captures that no network would make: few sequence numbers, few windows, short times, all at random,
//! so that every rule meets every other.

use std::borrow::Cow;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;

use maxseg_core::rng::{Rng, Stream};
use maxseg_wire::Payload;
use maxseg_wire::ip::{Ipv4, Ipv6, protocol};
use maxseg_wire::options::{SackBlock, SackBlocks, TcpOption};
use maxseg_wire::pcapng::{Interface, Packet, Section, Writer, link_type};
use maxseg_wire::tcp::{Flags, Tcp};

/// Writes a capture of `packets` segments; all that is random comes of `seed`.
pub(crate) fn write(file: &Path, seed: u64, packets: usize) {
    let out = std::io::BufWriter::new(std::fs::File::create(file).unwrap());
    let mut writer = Writer::new(out, &Section::default()).unwrap();
    let interface = Interface { link_type: link_type::RAW, ..Interface::default() };
    writer.interface(&interface).unwrap();
    let mut maker = Maker::new(seed);
    for _ in 0..packets {
        let (mut data, payload_len) = maker.packet();
        let original_len = u32::try_from(data.len() + payload_len).unwrap();
        data.truncate(maker.kept(&data));
        let packet = Packet {
            at_nanos: maker.now,
            original_len,
            data: Cow::Owned(data),
            ..Packet::default()
        };
        writer.packet(&packet).unwrap();
    }
    writer.finish().unwrap();
}

/// The kind of MPTCP's options.
const MPTCP: u8 = 30;
/// `MP_CAPABLE` by version and side: it brings the side's key.
const KEYS: [[&[u8]; 2]; 2] = [
    [&[0, 0x81, 1, 2, 3, 4, 5, 6, 7, 8], &[0, 0x81, 8, 7, 6, 5, 4, 3, 2, 1]],
    [&[1, 0x81, 1, 2, 3, 4, 5, 6, 7, 8], &[1, 0x81, 8, 7, 6, 5, 4, 3, 2, 1]],
];
/// `MP_JOIN` by version and side: the first octets of the hash of the peer's key (as `sha1sum` and
/// `sha256sum` give it), and a number.
const JOINS: [[&[u8]; 2]; 2] = [
    [
        &[0x10, 1, 0xbd, 0xf4, 0xf1, 0xe7, 0, 0, 0, 1],
        &[0x10, 1, 0xdd, 0x57, 0x83, 0xbc, 0, 0, 0, 1],
    ],
    [
        &[0x10, 1, 0x38, 0x0b, 0x98, 0x08, 0, 0, 0, 1],
        &[0x10, 1, 0x66, 0x84, 0x0d, 0xda, 0, 0, 0, 1],
    ],
];

/// Makes one segment after the other.
struct Maker {
    rng: Rng,
    now: u64,
    /// Where each side's numbers begin, by connection.
    bases: [[u32; 2]; 2],
    /// How far each side is, by connection.
    next: [[u32; 2]; 2],
    /// The version of MPTCP in which the second connection joins the first, once both keys of that are
    /// known. Captures of that kind are not cut: a cut key would be unknown.
    joined: Option<usize>,
    /// Whose keys the first connection has shown.
    keys: [bool; 2],
    /// The last acknowledgement and window of each side, by connection.
    last: [[(u32, u16); 2]; 2],
}

impl Maker {
    fn new(seed: u64) -> Self {
        let mut rng = Stream::named(seed, "segments").reader();
        // Before the wrap, at a window's distance from it, and anywhere.
        let mut base = || [u32::MAX - 40, u32::MAX - 4_000, 0x8000_0000, 1_000][pick(&mut rng, 4)];
        let bases = [[base(), base()], [base(), base()]];
        let joined = [None, Some(0), None, Some(1)][usize::try_from(seed % 4).unwrap()];
        let keys = [false; 2];
        Self {
            rng,
            joined,
            keys,
            now: 1_700_000_000_000_000_000,
            bases,
            next: bases,
            last: [[(0, 0); 2]; 2],
        }
    }

    fn one<T: Copy>(&mut self, values: &[T]) -> T {
        values[pick(&mut self.rng, values.len())]
    }

    /// How much of a packet's headers the capture keeps: sometimes only a part of the options.
    fn kept(&mut self, headers: &[u8]) -> usize {
        let fixed = if headers[0] >> 4 == 4 { 40 } else { 60 };
        if self.joined.is_none() && pick(&mut self.rng, 20) == 0 {
            fixed + pick(&mut self.rng, headers.len() - fixed + 1)
        } else {
            headers.len()
        }
    }

    /// A packet's headers, and the length of its payload.
    fn packet(&mut self) -> (Vec<u8>, usize) {
        let forth = [1_000, 1_000_000, 2_500_000, 12_000_000, 30_000_000, 1_000];
        self.now += self.one(&forth);
        if pick(&mut self.rng, 50) == 0 {
            self.now -= 5_000_000; // the capture's clock goes back
        }
        let connection = pick(&mut self.rng, 2);
        let side = pick(&mut self.rng, 2);
        if pick(&mut self.rng, 4) == 0 {
            return (self.repeat(connection, side), 0);
        }
        let flags = self.flags();
        let tcp = self.header(connection, side, flags);
        self.last[connection][side] = (tcp.ack, tcp.window);
        let payload_len = self.one(&[0, 0, 0, 1, 1, 2, 100, 100, 100, 1_000]);
        let takes = u32::try_from(payload_len).unwrap() + u32::from(flags.contains(Flags::FIN));
        let next = &mut self.next[connection][side];
        if tcp.seq == *next {
            *next = next.wrapping_add(takes);
        }
        let options = self.options(connection, side, flags);
        (encode(connection, side, tcp, &options, payload_len), payload_len)
    }

    /// A bare segment with nothing new in it.
    fn repeat(&self, connection: usize, side: usize) -> Vec<u8> {
        let (ack, window) = self.last[connection][side];
        let seq = self.next[connection][side];
        let tcp = Tcp { seq, ack, window, flags: Flags::ACK, ..Tcp::default() };
        encode(connection, side, tcp, &[], 0)
    }

    fn flags(&mut self) -> Flags {
        let ack = Flags::ACK;
        let plain = [ack; 60];
        let others = [
            Flags::SYN,
            Flags::SYN | ack,
            Flags::FIN | ack,
            Flags::RST,
            Flags::RST | ack,
            Flags::PSH | ack,
            Flags::SYN | Flags::FIN,
            Flags::default(),
        ];
        self.one(&[plain.as_slice(), &others].concat())
    }

    fn header(&mut self, connection: usize, side: usize, flags: Flags) -> Tcp {
        let (own, peer) = (self.next[connection][side], self.next[connection][1 - side]);
        let mut seq = match pick(&mut self.rng, 10) {
            0 => own.wrapping_sub(1),
            1 => own.wrapping_sub(100),
            2 => own.wrapping_add(100),
            3 => own.wrapping_sub(self.one(&[2, 200, 1_000])),
            _ => own,
        };
        if flags.contains(Flags::SYN) && pick(&mut self.rng, 8) > 0 {
            seq = self.bases[connection][side].wrapping_sub(1);
        }
        let answers_syn = flags.contains(Flags::SYN | Flags::ACK) && pick(&mut self.rng, 2) == 0;
        let ack = match pick(&mut self.rng, 10) {
            _ if answers_syn => self.bases[connection][1 - side],
            0 => peer.wrapping_sub(100),
            1 => peer.wrapping_add(100),
            2 => peer.wrapping_sub(self.one(&[1, 50, 1_000])),
            3 if !flags.contains(Flags::ACK) => 0,
            _ => peer,
        };
        let window = self.one(&[0, 0, 1, 100, 100, 100, 1_000, 65_535]);
        Tcp { seq, ack, flags, window, ..Tcp::default() }
    }

    /// Of a subflow, no option may come before the keys: tshark would take it for another connection.
    fn may_show_mptcp(&self) -> bool {
        self.joined.is_none() || self.keys == [true; 2]
    }

    /// A key on the first connection, and on the second the wish to join it.
    fn mptcp_of_syn(
        &mut self,
        connection: usize,
        side: usize,
        flags: Flags,
    ) -> Option<TcpOption<'static>> {
        let version = self.joined?;
        let data = if connection == 0 {
            self.keys[side] = true;
            KEYS[version][side]
        } else if self.may_show_mptcp() && !flags.contains(Flags::ACK) {
            JOINS[version][side]
        } else {
            return None;
        };
        Some(TcpOption::Other { kind: MPTCP, data })
    }

    fn options(&mut self, connection: usize, side: usize, flags: Flags) -> Vec<TcpOption<'static>> {
        let mut options = Vec::new();
        if flags.contains(Flags::SYN) {
            let every = [
                TcpOption::Mss(1_460),
                TcpOption::SackPermitted,
                TcpOption::WindowScale(self.one(&[0, 2, 14, 200])),
                TcpOption::FastOpen(&[1, 2, 3, 4]),
            ];
            options.extend(every.into_iter().filter(|_| pick(&mut self.rng, 3) > 0));
            options.extend(self.mptcp_of_syn(connection, side, flags));
        } else if pick(&mut self.rng, 4) == 0 {
            let ack = self.next[connection][1 - side];
            let edge = |offset: i32| ack.wrapping_add_signed(offset);
            let blocks = [(0, 100), (-100, 0), (100, 200), (200, 300)]
                .map(|(left, right)| SackBlock { left: edge(left), right: edge(right) });
            let from = pick(&mut self.rng, blocks.len());
            options.extend(SackBlocks::new(&blocks[from..]).map(TcpOption::Sack));
        } else if pick(&mut self.rng, 40) == 0 && self.may_show_mptcp() {
            // A priority, a removed address, an empty mapping, no key: the shortest there are.
            let data = self.one::<&[u8]>(&[&[0x50], &[0x40, 1], &[0x20, 0], &[1, 0x81]]);
            options.push(TcpOption::Other { kind: MPTCP, data });
        }
        options
    }
}

/// A number below `choices`.
fn pick(rng: &mut Rng, choices: usize) -> usize {
    let choices = u64::try_from(choices).unwrap();
    usize::try_from(rng.next_u64() % choices).unwrap()
}

/// An IP packet's headers: the first connection is over IPv4, the second over IPv6.
fn encode(
    connection: usize,
    side: usize,
    mut tcp: Tcp,
    options: &[TcpOption<'_>],
    payload_len: usize,
) -> Vec<u8> {
    let ends = ends(connection);
    let (source, destination) = (ends[side], ends[1 - side]);
    (tcp.source_port, tcp.destination_port) = (source.port(), destination.port());
    let mut segment = Vec::new();
    let addresses = (source.ip(), destination.ip());
    tcp.encode(options, addresses, Payload::Zeros(payload_len), &mut segment).unwrap();
    let mut packet = Vec::new();
    match addresses {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            let protocol = protocol::TCP;
            let ip = Ipv4 { ttl: 64, protocol, source, destination, ..Ipv4::default() };
            ip.encode(&[], segment.len() + payload_len, &mut packet).unwrap();
        }
        (IpAddr::V6(source), IpAddr::V6(destination)) => {
            let next_header = protocol::TCP;
            let ip = Ipv6 { hop_limit: 64, next_header, source, destination, ..Ipv6::default() };
            ip.encode(segment.len() + payload_len, &mut packet).unwrap();
        }
        _ => unreachable!("both ends have one version"),
    }
    packet.extend(segment);
    packet
}

fn ends(connection: usize) -> [SocketAddr; 2] {
    let addresses = |host: u8| match connection {
        0 => IpAddr::V4(Ipv4Addr::new(192, 0, 2, host)),
        _ => IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, host.into())),
    };
    [SocketAddr::new(addresses(1), 40_000), SocketAddr::new(addresses(2), 50_000)]
}
