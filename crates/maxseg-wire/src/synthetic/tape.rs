//! Packets as records of a classic capture file, and the time that passes between them.

use std::io::{self, Write};
use std::net::Ipv4Addr;

use crate::Payload;
use crate::ip::{Ipv4, protocol};
use crate::link_type;
use crate::options::{SackBlocks, TcpOption};
use crate::tcp::{Flags, Tcp};

pub(super) type Socket = (Ipv4Addr, u16);

/// Bytes that are kept of each packet: what `tcpdump -s 128` keeps.
const SNAP_LEN: usize = 128;
const ETHERNET: [u8; 14] = [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0];
pub(super) const SERVER: Socket = (Ipv4Addr::new(11, 0, 0, 1), 80);
/// Ports of one client, from this one on.
const FIRST_PORT: u32 = 10_000;
const PORTS: u32 = 50_000;

/// The client of this number: no two have the same address and port.
pub(super) fn client(number: u32) -> Socket {
    let address = Ipv4Addr::from_bits(Ipv4Addr::new(10, 0, 0, 1).to_bits() + number / PORTS);
    (address, u16::try_from(FIRST_PORT + number % PORTS).unwrap_or(u16::MAX))
}

/// The capture that is written, and the time.
pub(super) struct Tape<'a, W> {
    out: &'a mut W,
    micros: u64,
    packets: u64,
    packet: Vec<u8>,
    /// Its TCP part.
    inner: Vec<u8>,
}

/// A segment to write.
#[derive(Debug, Clone, Copy)]
pub(super) struct Segment {
    pub(super) from: Socket,
    pub(super) to: Socket,
    pub(super) seq: u32,
    pub(super) ack: u32,
    pub(super) flags: Flags,
    /// Bytes of payload.
    pub(super) payload: u32,
    /// The timestamp that it echoes.
    pub(super) echo: u32,
    pub(super) sack: Option<SackBlocks>,
}

impl<'a, W: Write> Tape<'a, W> {
    /// Begins a capture file.
    pub(super) fn begin(out: &'a mut W) -> io::Result<Self> {
        out.write_all(&file_header())?;
        let micros = 1_600_000_000_000_000;
        Ok(Self { out, micros, packets: 0, packet: Vec::new(), inner: Vec::new() })
    }

    pub(super) fn pass(&mut self, micros: u64) {
        self.micros += micros;
    }

    /// Packets so far.
    pub(super) fn packets(&self) -> u64 {
        self.packets
    }

    /// The clock of both ends' timestamps, in milliseconds.
    #[expect(clippy::cast_possible_truncation, reason = "a clock that wraps")]
    pub(super) fn millis(&self) -> u32 {
        (self.micros / 1000) as u32
    }

    pub(super) fn write(&mut self, segment: &Segment) -> io::Result<()> {
        #[expect(clippy::cast_possible_truncation, reason = "a number that wraps")]
        let id = self.micros as u16;
        let stamps = TcpOption::Timestamps { value: self.millis(), echo: segment.echo };
        let pad = TcpOption::NoOperation;
        let offered =
            [TcpOption::Mss(1460), TcpOption::SackPermitted, stamps, TcpOption::WindowScale(10)];
        let usual = [pad, pad, stamps];
        let blocks =
            segment.sack.map(|blocks| [pad, pad, stamps, pad, pad, TcpOption::Sack(blocks)]);
        let options: &[_] = match &blocks {
            _ if segment.flags.contains(Flags::SYN) => &offered,
            Some(blocks) => blocks,
            None => &usual,
        };
        let tcp = Tcp {
            source_port: segment.from.1,
            destination_port: segment.to.1,
            seq: segment.seq,
            ack: segment.ack,
            flags: segment.flags,
            window: 65_000,
            ..Tcp::default()
        };
        let ip = Ipv4 {
            identification: id,
            dont_fragment: true,
            protocol: protocol::TCP,
            source: segment.from.0,
            destination: segment.to.0,
            ..Ipv4::default()
        };
        let payload = segment.payload as usize;
        self.inner.clear();
        let ends = (segment.from.0.into(), segment.to.0.into());
        tcp.encode(options, ends, Payload::Zeros(payload), &mut self.inner)
            .map_err(io::Error::other)?;
        self.packet.clear();
        self.packet.extend_from_slice(&ETHERNET);
        let ip_payload = self.inner.len() + payload;
        ip.encode(&[], ip_payload, &mut self.packet).map_err(io::Error::other)?;
        self.packet.extend_from_slice(&self.inner);
        let length = self.packet.len() + payload;
        self.packet.resize(length.min(SNAP_LEN), 0);
        self.record(length)
    }

    fn record(&mut self, length: usize) -> io::Result<()> {
        let number = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
        let numbers = [
            number(self.micros / 1_000_000),
            number(self.micros % 1_000_000),
            number(self.packet.len() as u64),
            number(length as u64),
        ];
        for number in numbers {
            self.out.write_all(&number.to_le_bytes())?;
        }
        self.packets += 1;
        self.out.write_all(&self.packet)
    }
}

/// Of a classic capture file with microseconds, in this order: magic number, version, two zeros, snap length,
/// link type.
fn file_header() -> Vec<u8> {
    let mut header = 0xa1b2_c3d4_u32.to_le_bytes().to_vec();
    header.extend([2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    header.extend(u32::try_from(SNAP_LEN).unwrap_or(u32::MAX).to_le_bytes());
    header.extend(u32::from(link_type::ETHERNET).to_le_bytes());
    header
}
