//! Files of a ring that are not there: the connections' numbers show it.
//!
//! ```text
//! last segments of a file ┐
//!                         ├→ what is acknowledged behind the seam, and passed on neither side of it → Hole
//! first segments of next  ┘
//! ```
//!
//! What a network loses is not acknowledged until it was sent again, and then it passes: payload that is acknowledged, and
//! passes nowhere, passed while nothing was written. A capture that drops packets shows the same all along, and in some of the connections:
//! there the seam is a place as any other.

use std::collections::{HashMap, VecDeque};
use std::io::Read;

use foldhash::fast::RandomState;
use maxseg_core::units::Time;

use crate::capture_file::{CaptureFile, InterfaceInfo};
use crate::flow::{Decoded, Decoder, Endpoint, FlowKey, Pair, Seen, Sequence};
use crate::tcp::Flags;

/// A stretch of time between two files of which no packet is there, though packets passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hole {
    /// The place of the file behind it among all that were read, from 0.
    pub before: usize,
    /// When the last packet before it passed, and the first behind it, since 1970.
    pub from: Time,
    /// The end of it.
    pub to: Time,
    /// Connections with payload that passed in it, of those that were looked at.
    pub connections: u64,
    /// Their payload that passed in it and was acknowledged, at least.
    pub bytes: u64,
}

/// Segments on either side of a seam that are looked at.
const SEGMENTS: usize = 2048;
/// Where nothing is missing by then, no more are read: most files follow each other at once.
const FIRST_LOOK: usize = 128;
/// Packets that are read for so many segments, at most.
const PACKETS: usize = 4 * SEGMENTS;
/// In this share of the connections that go on, one in so many, payload has to be missing at least.
const SHARE: usize = 2;
/// So many times as much as anywhere else near the seam.
const TIMES: i64 = 4;

/// What of a segment tells whether others are missing.
#[derive(Debug, Clone, Copy)]
struct Glimpse {
    key: FlowKey,
    sender: Endpoint,
    seq: u32,
    len: u32,
    ack: Option<u32>,
    /// It begins a connection, or ends one at a number that may be any.
    is_outside: bool,
    begins: bool,
}

impl Glimpse {
    fn of(seen: &Seen<'_>) -> Self {
        let (key, sender) = FlowKey::of(seen.source, seen.destination);
        let begins = seen.flags.contains(Flags::SYN);
        Self {
            key,
            sender,
            seq: seen.seq,
            len: seen.seq_len(),
            ack: seen.flags.contains(Flags::ACK).then_some(seen.ack),
            is_outside: begins || seen.flags.contains(Flags::RST),
            begins,
        }
    }
}

/// The last segments of the file that is read.
#[derive(Debug, Default)]
pub(super) struct Tail {
    last: VecDeque<Glimpse>,
}

impl Tail {
    /// A packet passes.
    #[inline]
    pub(super) fn on_packet(&mut self, what: &Decoded<'_>) {
        let Decoded::Tcp(seen) = what else { return };
        if self.last.len() >= SEGMENTS {
            self.last.pop_front();
        }
        self.last.push_back(Glimpse::of(seen));
    }

    /// Another file begins, which is read here as far as it takes. Gives how many connections miss payload between both, and how much.
    pub(super) fn missing_before<R: Read>(
        &mut self,
        input: R,
        is_selected: impl Fn(&InterfaceInfo, usize) -> bool,
    ) -> Option<(u64, u64)> {
        let mut file = CaptureFile::open(input).ok()?;
        let mut decoder = Decoder::default();
        let mut head = Vec::new();
        for _ in 0..PACKETS {
            let Ok(Some((record, infos))) = file.next_and_interfaces() else { break };
            let place = record.interface as usize;
            if infos.get(place).is_none_or(|info| is_selected(info, place))
                && let Decoded::Tcp(seen) = decoder.decode(&record).what
            {
                head.push(Glimpse::of(&seen));
            }
            let is_first_look = head.len() == FIRST_LOOK;
            if head.len() >= SEGMENTS
                || is_first_look && !is_missed(self.last.make_contiguous(), &head)
            {
                break;
            }
        }
        missing(self.last.make_contiguous(), &head)
    }
}

/// Payload that did not pass, and up to where it is acknowledged.
#[derive(Debug, Clone, Copy)]
struct Skipped {
    from: i64,
    to: i64,
    acked: i64,
}

/// What an end of a connection sends near a seam.
#[derive(Debug, Default)]
struct Way {
    numbers: Option<Sequence>,
    /// Behind the highest byte that passed or is acknowledged.
    nxt: i64,
    /// What was skipped last within a file, and over the seam.
    skipped: Option<Skipped>,
    over_seam: Option<Skipped>,
    /// Most that was skipped within a file, and acknowledged.
    most: i64,
    /// Payload of it passed behind the seam, and an acknowledgement of it.
    has_passed: bool,
    was_acked: bool,
}

impl Way {
    /// A segment from `start` to `end` passes.
    fn pass(&mut self, start: i64, end: i64, is_over: bool) {
        for skipped in [&mut self.skipped, &mut self.over_seam] {
            // It passes after all.
            skipped.take_if(|it| start < it.to && it.from < end);
        }
        let is_first = is_over && !std::mem::replace(&mut self.has_passed, true);
        if start > self.nxt {
            let skipped = Skipped { from: self.nxt, to: start, acked: self.nxt };
            match &mut self.over_seam {
                // What was in flight there as well.
                Some(over) if is_first => over.to = start,
                over @ None if is_first => *over = Some(skipped),
                _ => self.skip(skipped),
            }
        }
        self.nxt = self.nxt.max(end);
    }

    /// All before a number is acknowledged.
    fn acknowledge(&mut self, number: u32, is_over: bool) {
        let Some(numbers) = self.numbers else { return };
        let ack = numbers.offset(number, self.nxt);
        let is_first = is_over && !std::mem::replace(&mut self.was_acked, true) && !self.has_passed;
        for skipped in [&mut self.skipped, &mut self.over_seam].into_iter().flatten() {
            skipped.acked = skipped.acked.max(ack.min(skipped.to));
        }
        if ack > self.nxt {
            let skipped = Skipped { from: self.nxt, to: ack, acked: ack };
            if is_first {
                self.over_seam = Some(skipped);
            } else {
                self.skip(skipped);
            }
            self.nxt = ack;
        }
    }

    fn skip(&mut self, skipped: Skipped) {
        self.settle();
        self.skipped = Some(skipped);
    }

    fn settle(&mut self) {
        if let Some(Skipped { from, acked, .. }) = self.skipped.take() {
            self.most = self.most.max(acked - from);
        }
    }

    /// What is missing over the seam; where nothing tells what is acknowledged, all that did not pass.
    fn missing(&self, is_alone: bool) -> i64 {
        self.over_seam.map_or(0, |it| if is_alone { it.to } else { it.acked } - it.from)
    }
}

/// A connection near a seam.
#[derive(Debug, Default)]
struct Near {
    ways: Pair<Way>,
    was_before: bool,
    /// Payload of it passed or was acknowledged behind the seam.
    goes_on: bool,
}

impl Near {
    fn pass(&mut self, it: &Glimpse, is_behind: bool) {
        if it.is_outside {
            if it.begins && is_behind {
                // Another connection of the same ports.
                *self = Self::default();
            }
            return;
        }
        let is_over = is_behind && self.was_before;
        let before = (self.ways.low.nxt, self.ways.high.nxt);
        let way = self.ways.of_mut(it.sender);
        let is_known = way.numbers.is_some();
        let start = way.numbers.get_or_insert(Sequence::from(it.seq)).offset(it.seq, way.nxt);
        if it.len > 0 && is_known {
            way.pass(start, start + i64::from(it.len), is_over);
        } else {
            way.nxt = way.nxt.max(start + i64::from(it.len));
        }
        if let Some(ack) = it.ack {
            self.ways.of_mut(it.sender.other()).acknowledge(ack, is_over);
        }
        self.goes_on |= is_over && before != (self.ways.low.nxt, self.ways.high.nxt);
    }

    /// What is missing over the seam, and most that is within a file.
    fn found(mut self) -> (i64, i64) {
        self.ways.low.settle();
        self.ways.high.settle();
        let (low, high) = (&self.ways.low, &self.ways.high);
        let missing = low.missing(high.numbers.is_none()) + high.missing(low.numbers.is_none());
        (missing, low.most.max(high.most))
    }
}

/// The connections of the segments before a seam and of those behind it.
fn connections_near(before: &[Glimpse], behind: &[Glimpse]) -> impl Iterator<Item = Near> + use<> {
    let mut connections: HashMap<FlowKey, Near, RandomState> = HashMap::default();
    for glimpse in before {
        let near = connections.entry(glimpse.key).or_default();
        near.pass(glimpse, false);
        near.was_before = true;
    }
    for glimpse in behind {
        connections.entry(glimpse.key).or_default().pass(glimpse, true);
    }
    connections.into_values()
}

/// Whether anything seems to be missing between them.
fn is_missed(before: &[Glimpse], behind: &[Glimpse]) -> bool {
    connections_near(before, behind).any(|near| near.found().0 > 0)
}

/// How many connections miss payload between them, and how much.
fn missing(before: &[Glimpse], behind: &[Glimpse]) -> Option<(u64, u64)> {
    let (mut going_on, mut missing, mut bytes, mut most) = (0, 0, 0, 0);
    for near in connections_near(before, behind) {
        going_on += usize::from(near.goes_on);
        let (over_seam, within) = near.found();
        missing += usize::from(over_seam > 0);
        bytes += over_seam;
        most = most.max(within);
    }
    let is_hole = missing > 0 && SHARE * missing >= going_on && bytes > TIMES * most;
    is_hole.then(|| (missing as u64, bytes.cast_unsigned()))
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::*;

    /// A segment of the sender on this port, and the acknowledgement of all before a byte.
    fn data(port: u16, seq: u32, len: u32) -> Glimpse {
        let (key, sender) = FlowKey::of(end(1, port), end(2, 80));
        Glimpse { key, sender, seq, len, ack: Some(1), is_outside: false, begins: false }
    }

    fn ack(port: u16, ack: u32) -> Glimpse {
        let (key, sender) = FlowKey::of(end(2, 80), end(1, port));
        Glimpse { key, sender, seq: 1, len: 0, ack: Some(ack), is_outside: false, begins: false }
    }

    fn end(host: u8, port: u16) -> SocketAddr {
        SocketAddr::from(([10, 0, 0, host], port))
    }

    fn first_part() -> Vec<Glimpse> {
        vec![data(1, 0, 1000), ack(1, 1000), data(1, 1000, 1000), data(2, 0, 1000), ack(2, 1000)]
    }

    #[test]
    fn what_is_acknowledged_and_passed_nowhere_is_missing() {
        let behind = [ack(1, 50_000), data(1, 60_000, 1000), data(2, 30_000, 1000), ack(2, 31_000)];
        // Of the second a segment passes first: what lies before it may be lost, until it is acknowledged.
        assert_eq!(missing(&first_part(), &behind[..3]), Some((1, 48_000)));
        assert_eq!(missing(&first_part(), &behind), Some((2, 48_000 + 29_000)));
        let wrapped = [data(1, u32::MAX - 999, 1000), ack(1, 0)];
        assert_eq!(missing(&wrapped, &[ack(1, 5000)]), Some((1, 5000)));
    }

    #[test]
    fn what_a_network_loses_is_sent_again_and_no_hole() {
        let behind = [data(1, 3000, 1000), ack(1, 2000), data(1, 2000, 1000), ack(1, 4000)];
        assert_eq!(missing(&first_part(), &behind), None);
        // An acknowledgement that is stored before its data.
        let early = [ack(1, 4000), data(1, 2000, 1000), data(1, 3000, 1000)];
        assert_eq!(missing(&first_part(), &early), None);
    }

    #[test]
    fn a_capture_that_drops_packets_everywhere_has_no_hole() {
        let mut before = first_part();
        before.extend([ack(1, 5000), data(1, 5000, 1000)]);
        assert_eq!(missing(&before, &[ack(1, 9000), data(1, 9000, 1000)]), None);
        // One connection of five.
        let going_on = (10..14).map(|port| data(port, 0, 1000));
        let before: Vec<_> = first_part().into_iter().chain(going_on).collect();
        let mut behind = vec![ack(1, 5000)];
        behind.extend((10..14).map(|port| data(port, 1000, 1000)));
        assert_eq!(missing(&before, &behind), None);
    }

    #[test]
    fn another_connection_of_the_same_ports_misses_nothing() {
        let syn = Glimpse { is_outside: true, begins: true, ..data(1, 70_000, 1) };
        let behind = [syn, data(1, 70_001, 100), ack(1, 70_101)];
        assert_eq!(missing(&first_part(), &behind), None);
    }
}
