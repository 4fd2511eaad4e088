//! Captures made up for measurements: so many connections with so many packets, and nothing random in them.
//!
//! ```text
//! Load         → pcap records: handshake, rounds of two segments and an acknowledgement, both FINs
//! LossyLoad    → the same with losses, SACK blocks and retransmissions
//! DialogueLoad → requests and replies
//! ```
//!
//! A few connections at a time take turns.

mod dialogue;
mod lossy;
mod tape;

use std::io::{self, Write};

pub use dialogue::DialogueLoad;
pub use lossy::LossyLoad;
use tape::{SERVER, Segment, Socket, Tape, client};

use crate::tcp::Flags;

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

/// Payload of a full segment, in bytes.
const PAYLOAD: u32 = 1448;
const CLIENT_ISN: u32 = 1000;
const SERVER_ISN: u32 = 5000;

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
        let mut tape = Tape::begin(out)?;
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

impl<W: Write> Tape<'_, W> {
    fn client_sends(
        &mut self,
        client: Socket,
        seq: u32,
        ack: u32,
        flags: Flags,
        payload: u32,
    ) -> io::Result<()> {
        let echo = self.millis().wrapping_sub(1);
        let (from, to) = (client, SERVER);
        self.write(&Segment { from, to, seq, ack, flags, payload, echo, sack: None })
    }

    fn server_sends(&mut self, client: Socket, seq: u32, ack: u32, flags: Flags) -> io::Result<()> {
        let echo = self.millis().wrapping_sub(1);
        let (from, to) = (SERVER, client);
        self.write(&Segment { from, to, seq, ack, flags, payload: 0, echo, sack: None })
    }
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
