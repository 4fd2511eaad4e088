//! Bulk transfers that lose segments: SACK blocks, retransmissions, and acknowledgements that catch up.
//!
//! Captured at the sender. Its window is constant: what varies is which segments are lost. A segment is sent again when
//! three behind it are selectively acknowledged (RFC 6675), and arrives then.

use std::collections::VecDeque;
use std::io::{self, Write};

use super::tape::{SERVER, Segment, Socket, Tape, client};
use super::{CLIENT_ISN, PAYLOAD, SERVER_ISN};
use crate::options::{SackBlock, SackBlocks};
use crate::tcp::Flags;

/// A capture of bulk transfers with losses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LossyLoad {
    /// How many connections, all at once.
    pub connections: u32,
    /// How many new segments each sends.
    pub segments: u32,
    /// One in so many is lost.
    pub one_in: u32,
}

/// Segments in flight at most.
const WINDOW: u32 = 64;
/// In turns of all connections.
const ROUND_TRIP: u64 = 60;
/// Between two packets, in microseconds.
const BETWEEN: u64 = 8;
/// Segments behind a lost one that are selectively acknowledged before it is sent again.
const PROOF: u32 = 3;
/// The last segments are never lost: too few follow that would show it.
const TAIL: u32 = 2 * WINDOW;
/// Most blocks that fit beside timestamps.
const MOST_BLOCKS: usize = 3;

/// Segments and retransmissions of a capture.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LossyCounts {
    /// Packets, acknowledgements included.
    pub packets: u64,
    /// Segments that were sent again.
    pub retransmissions: u64,
}

impl LossyLoad {
    /// Writes the capture as pcap.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, out: &mut impl Write) -> io::Result<LossyCounts> {
        let mut tape = Tape::begin(out)?;
        let mut transfers: Vec<Transfer> =
            (0..self.connections).map(|number| Transfer::new(self, number)).collect();
        self.begin(&transfers, &mut tape)?;
        for turn in 0.. {
            let mut are_done = true;
            for transfer in &mut transfers {
                transfer.take_turn(turn, &mut tape)?;
                are_done &= transfer.una == self.segments;
            }
            if are_done {
                break;
            }
        }
        for transfer in &transfers {
            let (seq, flags) = (number_of(self.segments), Flags::FIN | Flags::ACK);
            tape.write(&Segment { flags, ..transfer.client_segment(seq) })?;
            tape.pass(BETWEEN);
            tape.write(&Segment { flags, ..transfer.server_segment(seq.wrapping_add(1)) })?;
        }
        let retransmissions = transfers.iter().map(|transfer| transfer.retransmissions).sum();
        Ok(LossyCounts { packets: tape.packets(), retransmissions })
    }

    /// The handshakes.
    fn begin(&self, transfers: &[Transfer], tape: &mut Tape<'_, impl Write>) -> io::Result<()> {
        for transfer in transfers {
            let syn = Segment { seq: CLIENT_ISN, ack: 0, ..transfer.client_segment(0) };
            tape.write(&Segment { flags: Flags::SYN, ..syn })?;
        }
        tape.pass(ROUND_TRIP * BETWEEN * u64::from(self.connections));
        for transfer in transfers {
            let answer = Segment { seq: SERVER_ISN, ..transfer.server_segment(CLIENT_ISN + 1) };
            tape.write(&Segment { flags: Flags::SYN | Flags::ACK, ..answer })?;
            tape.write(&transfer.client_segment(CLIENT_ISN + 1))?;
        }
        Ok(())
    }
}

/// One connection: its sender, and its receiver as the sender's acknowledgements will tell.
struct Transfer {
    client: Socket,
    segments: u32,
    one_in: u32,
    /// The next new segment, and the first that is not acknowledged.
    next: u32,
    una: u32,
    /// Lost segments that have not been sent again, in order.
    lost: VecDeque<u32>,
    retransmissions: u64,
    /// The last timestamp of the receiver.
    echo: u32,
    /// Acknowledgements on their way.
    acks: VecDeque<Ack>,
    /// The next segment that the receiver expects, and the timestamp of the last that it expected.
    expected: u32,
    expected_stamp: u32,
    /// Ranges of segments beyond that, the one that changed last first.
    ranges: VecDeque<(u32, u32)>,
    /// Whether a segment waits for the delayed acknowledgement.
    is_delayed: bool,
    random: u64,
}

/// An acknowledgement, and the turn in which it reaches the sender.
struct Ack {
    due: u64,
    expected: u32,
    echo: u32,
    ranges: Vec<(u32, u32)>,
}

impl Transfer {
    fn new(load: &LossyLoad, number: u32) -> Self {
        Self {
            client: client(number),
            segments: load.segments,
            one_in: load.one_in.max(1),
            next: 0,
            una: 0,
            lost: VecDeque::new(),
            retransmissions: 0,
            echo: 0,
            acks: VecDeque::new(),
            expected: 0,
            expected_stamp: 0,
            ranges: VecDeque::new(),
            is_delayed: false,
            random: u64::from(number),
        }
    }

    /// Acknowledgements come, and a segment leaves, if the window allows one.
    fn take_turn(&mut self, turn: u64, tape: &mut Tape<'_, impl Write>) -> io::Result<()> {
        let mut highest = 0;
        while self.acks.front().is_some_and(|ack| ack.due <= turn)
            && let Some(ack) = self.acks.pop_front()
        {
            self.una = ack.expected;
            self.echo = tape.millis();
            highest = ack.ranges.iter().map(|range| range.1).fold(highest, u32::max);
            let segment = self.server_segment(number_of(ack.expected));
            let blocks: Vec<SackBlock> = ack.ranges.into_iter().map(block).collect();
            let sack = SackBlocks::new(&blocks);
            tape.write(&Segment { echo: ack.echo, sack, ..segment })?;
            tape.pass(BETWEEN / 2);
        }
        if self.lost.front().is_some_and(|lost| *lost + PROOF < highest)
            && let Some(segment) = self.lost.pop_front()
        {
            self.retransmissions += 1;
            self.send(segment, tape)?;
            self.arrive(segment, turn, tape.millis());
        } else if self.next < self.segments && self.next - self.una < WINDOW {
            let segment = self.next;
            self.next += 1;
            self.send(segment, tape)?;
            if self.is_lost(segment) {
                self.lost.push_back(segment);
            } else {
                self.arrive(segment, turn, tape.millis());
            }
        }
        tape.pass(BETWEEN / 2);
        Ok(())
    }

    fn send(&self, segment: u32, tape: &mut Tape<'_, impl Write>) -> io::Result<()> {
        let segment = self.client_segment(number_of(segment));
        tape.write(&Segment { payload: PAYLOAD, ..segment })
    }

    /// Knuth's generator for MMIX.
    fn is_lost(&mut self, segment: u32) -> bool {
        self.random = self
            .random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let is_drawn = (self.random >> 33).is_multiple_of(self.one_in.into());
        is_drawn && segment + TAIL < self.segments
    }

    /// A segment reaches the receiver, which acknowledges every second one, and at once what shows or fills a gap.
    fn arrive(&mut self, segment: u32, turn: u64, stamp: u32) {
        let was_whole = self.ranges.is_empty();
        if segment == self.expected {
            self.expected += 1;
            self.expected_stamp = stamp;
            if let Some(place) = self.ranges.iter().position(|range| range.0 == self.expected)
                && let Some((_, end)) = self.ranges.remove(place)
            {
                self.expected = end;
            }
        } else {
            let place = self.ranges.iter().position(|range| range.1 == segment);
            let start =
                place.and_then(|place| self.ranges.remove(place)).map_or(segment, |it| it.0);
            let place = self.ranges.iter().position(|range| range.0 == segment + 1);
            let behind = place.and_then(|place| self.ranges.remove(place));
            self.ranges.push_front((start, behind.map_or(segment + 1, |it| it.1)));
        }
        self.is_delayed = was_whole && !self.is_delayed && self.expected < self.segments;
        if self.is_delayed && self.ranges.is_empty() {
            return;
        }
        self.is_delayed = false;
        self.acks.push_back(Ack {
            due: turn + ROUND_TRIP,
            expected: self.expected,
            echo: self.expected_stamp,
            ranges: self.ranges.iter().copied().take(MOST_BLOCKS).collect(),
        });
    }

    fn client_segment(&self, seq: u32) -> Segment {
        let (from, to, ack) = (self.client, SERVER, SERVER_ISN + 1);
        Segment { from, to, seq, ack, flags: Flags::ACK, payload: 0, echo: self.echo, sack: None }
    }

    fn server_segment(&self, ack: u32) -> Segment {
        let (from, to, seq) = (SERVER, self.client, SERVER_ISN + 1);
        let echo = self.expected_stamp;
        Segment { from, to, seq, ack, flags: Flags::ACK, payload: 0, echo, sack: None }
    }
}

/// Where a segment begins.
fn number_of(segment: u32) -> u32 {
    CLIENT_ISN.wrapping_add(1).wrapping_add(segment.wrapping_mul(PAYLOAD))
}

fn block((start, end): (u32, u32)) -> SackBlock {
    SackBlock { left: number_of(start), right: number_of(end) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::{ReadOptions, read};

    #[test]
    fn what_is_lost_is_sent_again_by_sack() {
        let load = LossyLoad { connections: 5, segments: 4000, one_in: 100 };
        let mut bytes = Vec::new();
        let counts = load.write(&mut bytes).unwrap();
        let reading = read(bytes.as_slice(), &ReadOptions::default()).unwrap();
        assert_eq!(reading.summary.problems, []);
        assert_eq!(reading.summary.file.packets, counts.packets);
        let (mut retransmissions, mut connections) = (0, 0);
        for connection in reading.connections {
            let sent = &connection.forward;
            assert_eq!(sent.unique_bytes, u64::from(load.segments * PAYLOAD));
            assert_eq!(sent.resent.sack + sent.resent.fast, sent.retransmitted_packets);
            assert_eq!(sent.spurious_retransmissions, 0);
            assert_eq!(sent.dsack_acks, 0);
            connections += 1;
            retransmissions += sent.retransmitted_packets;
        }
        assert_eq!(connections, load.connections);
        assert_eq!(retransmissions, counts.retransmissions);
        let share = retransmissions as f64 / f64::from(load.connections * load.segments);
        assert!((share - 0.01).abs() < 0.003, "{share}");
    }
}
