//! Requests and replies: small packets of many connections.

use std::io::{self, Write};

use super::tape::{SERVER, Segment, Socket, Tape, client};
use super::{CLIENT_ISN, SERVER_ISN};
use crate::tcp::Flags;

/// A capture of requests and replies. All connections take turns; the replies of some pass between the requests of
/// others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DialogueLoad {
    /// How many connections.
    pub connections: u32,
    /// How many requests each has; each is answered, and the answer acknowledged.
    pub turns: u32,
}

/// Payload of a request, and of a reply, in bytes.
const REQUEST: u32 = 100;
const REPLY: u32 = 120;
/// So many requests of others pass before the reply to one, and before the acknowledgement of that.
const REPLY_LAG: u64 = 16;
const ACK_LAG: u64 = 64;

impl DialogueLoad {
    /// Packets that the capture has.
    pub const fn packets(&self) -> u64 {
        self.connections as u64 * (3 + 3 * self.turns as u64 + 2)
    }

    /// Writes the capture as pcap.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let mut tape = Tape::begin(out)?;
        for client in (0..self.connections).map(client) {
            tape.write(&from_client(client, CLIENT_ISN, 0, Flags::SYN, 0, 0))?;
            tape.pass(500);
            let (ack, echo) = (CLIENT_ISN + 1, tape.millis());
            tape.write(&from_server(client, SERVER_ISN, ack, Flags::SYN | Flags::ACK, 0, echo))?;
            tape.pass(10);
            let echo = tape.millis();
            tape.write(&from_client(client, ack, SERVER_ISN + 1, Flags::ACK, 0, echo))?;
        }
        let requests = u64::from(self.connections) * u64::from(self.turns);
        for place in 0..requests + ACK_LAG {
            if place < requests {
                self.request(place, &mut tape)?;
            }
            if let Some(behind) = place.checked_sub(REPLY_LAG).filter(|it| *it < requests) {
                self.reply(behind, &mut tape)?;
            }
            if let Some(behind) = place.checked_sub(ACK_LAG) {
                self.acknowledgement(behind, &mut tape)?;
            }
            tape.pass(40);
        }
        for client in (0..self.connections).map(client) {
            let (seq, ack) = numbers(self.turns, self.turns);
            let (flags, echo) = (Flags::FIN | Flags::ACK, tape.millis());
            tape.write(&from_client(client, seq, ack, flags, 0, echo))?;
            tape.pass(5);
            tape.write(&from_server(client, ack, seq.wrapping_add(1), flags, 0, echo))?;
            tape.pass(5);
        }
        Ok(())
    }

    /// The connection of a request, and which of its requests it is.
    fn turn(self, place: u64) -> (Socket, u32) {
        let connections = u64::from(self.connections.max(1));
        let number = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
        (client(number(place % connections)), number(place / connections))
    }

    fn request(self, place: u64, tape: &mut Tape<'_, impl Write>) -> io::Result<()> {
        let (client, turn) = self.turn(place);
        let (seq, ack) = numbers(turn, turn);
        let flags = Flags::ACK | Flags::PSH;
        tape.write(&from_client(client, seq, ack, flags, REQUEST, tape.millis()))
    }

    fn reply(self, place: u64, tape: &mut Tape<'_, impl Write>) -> io::Result<()> {
        let (client, turn) = self.turn(place);
        let (ack, seq) = numbers(turn + 1, turn);
        let flags = Flags::ACK | Flags::PSH;
        tape.write(&from_server(client, seq, ack, flags, REPLY, tape.millis()))
    }

    fn acknowledgement(self, place: u64, tape: &mut Tape<'_, impl Write>) -> io::Result<()> {
        let (client, turn) = self.turn(place);
        let (seq, ack) = numbers(turn + 1, turn + 1);
        tape.write(&from_client(client, seq, ack, Flags::ACK, 0, tape.millis()))
    }
}

/// The next numbers of client and server after so many requests and replies.
fn numbers(requests: u32, replies: u32) -> (u32, u32) {
    let behind = |isn: u32, bytes: u32| isn.wrapping_add(1).wrapping_add(bytes);
    let requests = behind(CLIENT_ISN, requests.wrapping_mul(REQUEST));
    (requests, behind(SERVER_ISN, replies.wrapping_mul(REPLY)))
}

fn from_client(
    client: Socket,
    seq: u32,
    ack: u32,
    flags: Flags,
    payload: u32,
    echo: u32,
) -> Segment {
    Segment { from: client, to: SERVER, seq, ack, flags, payload, echo, sack: None }
}

fn from_server(
    client: Socket,
    seq: u32,
    ack: u32,
    flags: Flags,
    payload: u32,
    echo: u32,
) -> Segment {
    Segment { from: SERVER, to: client, ..from_client(client, seq, ack, flags, payload, echo) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::{ReadOptions, read};

    #[test]
    fn requests_and_replies_are_counted() {
        let load = DialogueLoad { connections: 90, turns: 30 };
        let mut bytes = Vec::new();
        load.write(&mut bytes).unwrap();
        let reading = read(bytes.as_slice(), &ReadOptions::default()).unwrap();
        assert_eq!(reading.summary.problems, []);
        assert_eq!(reading.summary.file.packets, load.packets());
        let mut connections = 0;
        for connection in reading.connections {
            connections += 1;
            assert_eq!(connection.forward.unique_bytes, u64::from(REQUEST * load.turns));
            assert_eq!(connection.reverse.retransmitted_packets, 0);
            assert_eq!(connection.requests.unwrap().turns, load.turns);
        }
        assert_eq!(connections, load.connections);
    }
}
