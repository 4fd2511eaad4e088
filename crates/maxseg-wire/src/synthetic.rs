//! Captures made up for measurements: so many connections with so many packets, and nothing random in them.
//!
//! ```text
//! Load → pcap records: handshake, rounds of two segments and an acknowledgement, both FINs
//! ```
//!
//! A few connections at a time take turns.

use std::io::{self, Write};
use std::net::Ipv4Addr;

use crate::Payload;
use crate::ip::{Ipv4, protocol};
use crate::link_type;
use crate::options::TcpOption;
use crate::tcp::{Flags, Tcp};

/// What a capture is to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Load {
    /// How many connections.
    pub connections: u32,
    /// How many rounds each has: two full segments, and an acknowledgement of the two before.
    pub rounds: u32,
    /// How many connections take turns.
    pub at_once: u32,
    /// How many rounds of a connection follow each other before the next takes its turn.
    pub rounds_a_turn: u32,
    /// Whether they end.
    pub ends: bool,
}

/// Bytes that are kept of each packet: what `tcpdump -s 128` keeps.
const SNAP_LEN: usize = 128;
const ETHERNET: [u8; 14] = [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0];
const PAYLOAD: u32 = 1448;
const SERVER: (Ipv4Addr, u16) = (Ipv4Addr::new(11, 0, 0, 1), 80);
const CLIENT_ISN: u32 = 1000;
const SERVER_ISN: u32 = 5000;
/// Ports of one client, from this one on.
const FIRST_PORT: u32 = 10_000;
const PORTS: u32 = 50_000;

impl Load {
    /// Packets that the capture has.
    pub const fn packets(&self) -> u64 {
        let ends = if self.ends { 2 } else { 0 };
        let each = 3 + 3 * self.rounds as u64 + ends;
        self.connections as u64 * each
    }

    /// Writes the capture as pcap.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(&file_header())?;
        let mut tape =
            Tape { out, micros: 1_600_000_000_000_000, packet: Vec::new(), inner: Vec::new() };
        let at_once = self.at_once.max(1);
        let mut first = 0;
        while first < self.connections {
            let last = self.connections.min(first.saturating_add(at_once));
            self.write_some(&mut tape, first..last)?;
            first = last;
        }
        Ok(())
    }

    /// Some connections that take turns.
    fn write_some(
        &self,
        tape: &mut Tape<'_, impl Write>,
        some: std::ops::Range<u32>,
    ) -> io::Result<()> {
        for client in some.clone().map(client) {
            tape.client_sends(client, CLIENT_ISN, 0, Flags::SYN, 0)?;
            tape.pass(100);
            tape.server_sends(client, SERVER_ISN, CLIENT_ISN + 1, Flags::SYN | Flags::ACK)?;
            tape.pass(50);
            tape.client_sends(client, CLIENT_ISN + 1, SERVER_ISN + 1, Flags::ACK, 0)?;
        }
        let behind =
            |rounds: u32| CLIENT_ISN.wrapping_add(1).wrapping_add(rounds.wrapping_mul(2 * PAYLOAD));
        let a_turn = self.rounds_a_turn.max(1);
        for turn in 0..self.rounds.div_ceil(a_turn) {
            let rounds = turn * a_turn..self.rounds.min((turn + 1) * a_turn);
            for client in some.clone().map(client) {
                for round in rounds.clone() {
                    let (seq, next) = (behind(round), behind(round).wrapping_add(PAYLOAD));
                    let last = Flags::ACK | Flags::PSH;
                    tape.client_sends(client, seq, SERVER_ISN + 1, Flags::ACK, PAYLOAD)?;
                    tape.pass(6);
                    tape.client_sends(client, next, SERVER_ISN + 1, last, PAYLOAD)?;
                    tape.pass(6);
                    tape.server_sends(client, SERVER_ISN + 1, seq, Flags::ACK)?;
                    tape.pass(2);
                }
            }
        }
        if self.ends {
            for client in some.map(client) {
                let flags = Flags::FIN | Flags::ACK;
                tape.client_sends(client, behind(self.rounds), SERVER_ISN + 1, flags, 0)?;
                tape.pass(1);
                tape.server_sends(
                    client,
                    SERVER_ISN + 1,
                    behind(self.rounds).wrapping_add(1),
                    flags,
                )?;
                tape.pass(4);
            }
        }
        Ok(())
    }
}

type Socket = (Ipv4Addr, u16);

/// The client of this number: no two have the same address and port.
fn client(number: u32) -> Socket {
    let address = Ipv4Addr::from_bits(Ipv4Addr::new(10, 0, 0, 1).to_bits() + number / PORTS);
    (address, u16::try_from(FIRST_PORT + number % PORTS).unwrap_or(u16::MAX))
}

/// Where packets are written, and the time.
struct Tape<'a, W> {
    out: &'a mut W,
    micros: u64,
    packet: Vec<u8>,
    /// Its TCP part.
    inner: Vec<u8>,
}

impl<W: Write> Tape<'_, W> {
    fn pass(&mut self, micros: u64) {
        self.micros += micros;
    }

    fn client_sends(
        &mut self,
        client: Socket,
        seq: u32,
        ack: u32,
        flags: Flags,
        payload: u32,
    ) -> io::Result<()> {
        self.segment(client, SERVER, seq, ack, flags, payload)
    }

    fn server_sends(&mut self, client: Socket, seq: u32, ack: u32, flags: Flags) -> io::Result<()> {
        self.segment(SERVER, client, seq, ack, flags, 0)
    }

    fn segment(
        &mut self,
        from: Socket,
        to: Socket,
        seq: u32,
        ack: u32,
        flags: Flags,
        payload: u32,
    ) -> io::Result<()> {
        #[expect(clippy::cast_possible_truncation, reason = "clocks that wrap")]
        let (millis, id) = ((self.micros / 1000) as u32, self.micros as u16);
        let stamps = TcpOption::Timestamps { value: millis, echo: millis.wrapping_sub(1) };
        let offered =
            [TcpOption::Mss(1460), TcpOption::SackPermitted, stamps, TcpOption::WindowScale(10)];
        let usual = [TcpOption::NoOperation, TcpOption::NoOperation, stamps];
        let options: &[_] = if flags.contains(Flags::SYN) { &offered } else { &usual };
        let tcp = Tcp {
            source_port: from.1,
            destination_port: to.1,
            seq,
            ack,
            flags,
            window: 65_000,
            ..Tcp::default()
        };
        let ip = Ipv4 {
            identification: id,
            dont_fragment: true,
            protocol: protocol::TCP,
            source: from.0,
            destination: to.0,
            ..Ipv4::default()
        };
        let payload = payload as usize;
        self.inner.clear();
        let ends = (from.0.into(), to.0.into());
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture_file::CaptureFile;
    use crate::flow::{Decoder, FlowOptions, Flows};

    #[test]
    fn it_holds_what_was_asked_for() {
        for ends in [false, true] {
            let load = Load { connections: 60, rounds: 5, at_once: 25, rounds_a_turn: 1, ends };
            let mut bytes = Vec::new();
            load.write(&mut bytes).unwrap();
            let mut file = CaptureFile::open(bytes.as_slice()).unwrap();
            let (mut decoder, mut flows) = (Decoder::default(), Flows::new(FlowOptions::default()));
            let mut packets = 0;
            while let Some(record) = file.next().unwrap() {
                packets += 1;
                flows.on_packet(&decoder.decode(&record));
            }
            assert_eq!(packets, load.packets());
            let connections: Vec<_> = flows.finish().connections.collect();
            assert_eq!(connections.len(), 60);
            for connection in connections {
                assert_eq!(connection.forward.unique_bytes, 5 * 2 * 1448);
                assert_eq!(connection.forward.retransmitted_packets, 0);
                assert_eq!(connection.forward.mss_used_bytes, Some(1448));
            }
        }
    }
}
