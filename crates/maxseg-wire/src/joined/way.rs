//! One direction of a connection between two captures: packets wait from when they pass the sender's capture until they
//! pass the receiver's, or are given up.
//!
//! Payload is matched by its bytes, not by packets: the sender's card cuts what it is given, the receiver's joins what it
//! gets. Packets without payload are matched by all of their numbers but the window, which hops rewrite. Where several could be meant (a retransmission has
//! the numbers of what it repeats), the timestamp, IPv4's identification and the time tell them apart.

mod matching;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use maxseg_core::evidence::{DelayAtLosses, Passage};

use super::coverage::Coverage;
use super::delays::{Delays, Thinned, seconds};
use super::passing::Passing;
use super::windows::Windows;
use crate::flow::{CE, Sequence};
use matching::Candidate;

/// What both captures cover, by the clock of the first; nanoseconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Coverages {
    /// First and last packet at the sender.
    pub(super) sender: (i64, i64),
    /// First and last packet at the receiver.
    pub(super) receiver: (i64, i64),
}

/// What holds for all packets of a direction.
#[derive(Debug, Clone, Copy)]
pub(super) struct WayFacts {
    /// The number of the first byte, as it was sent and as it arrives.
    pub(super) bases: (u32, u32),
    /// The same of the other direction, whose bytes are acknowledged.
    pub(super) acked_bases: (u32, u32),
    /// Payload of a full segment.
    pub(super) segment: u32,
    /// Whether hops leave IPv4's identification as it is.
    pub(super) keeps_ids: bool,
    pub(super) covered: Coverages,
    /// The least round trip between the captures, where it is known: no delay is below 0 then.
    pub(super) base: Option<i64>,
}

/// A direction of a connection.
#[derive(Debug)]
pub(super) struct Way {
    facts: WayFacts,
    near: (i64, i64),
    /// Packets in the order in which they were sent, the first with the number `first_serial`. Those that arrived stay
    /// while one before them is missing.
    sent: VecDeque<Sent>,
    first_serial: u64,
    /// Payload on its way: beginning and packet, and where it ends.
    payload: BTreeMap<(i64, u64), i64>,
    /// Packets without payload on their way: what their numbers hash to, and the packet.
    control: BTreeSet<(u64, u64)>,
    longest: i64,
    sent_to: Option<i64>,
    arrived: Coverage,
    /// What the receiver acknowledged.
    acked_to: Option<i64>,
    delays: Delays,
    /// The latest packet that arrived.
    last_serial: Option<u64>,
    /// Its delay.
    last_delay: i64,
    at_losses: Thinned,
    /// The last packet whose delay is among these: losses in a row have one between them.
    last_before: Option<u64>,
    pub(super) windows: Windows,
    passage: Passage,
}

/// A packet that was sent.
#[derive(Debug, Clone, Copy)]
struct Sent {
    at: i64,
    timestamp: Option<u32>,
    ip_id: u16,
    ttl: u8,
    ecn: u8,
    is_again: bool,
    what: What,
    /// Units that did not arrive so far: bytes, or 1 for a packet without payload.
    missing: u32,
    /// The packet that arrived last before this one was passed over, and its delay.
    before: Option<(u64, i64)>,
}

#[derive(Debug, Clone, Copy)]
enum What {
    Payload { start: i64, end: i64 },
    Control { print: u64, window: u16 },
}

/// A packet is given up after so long, and the longer, the more delays vary; in nanoseconds. With very many on their way
/// it is the first of these.
const PATIENCE: (i64, i64) = (1_000_000_000, 10_000_000_000);
/// Beyond so many packets on their way the oldest are given up.
const MOST_ON_THE_WAY: usize = 1 << 20;

impl Way {
    pub(super) fn new(facts: WayFacts) -> Self {
        Self {
            facts,
            near: (0, 0),
            sent: VecDeque::new(),
            first_serial: 0,
            payload: BTreeMap::new(),
            control: BTreeSet::new(),
            longest: 0,
            sent_to: None,
            arrived: Coverage::default(),
            acked_to: None,
            delays: Delays::default(),
            last_serial: None,
            last_delay: 0,
            at_losses: Thinned::default(),
            last_before: None,
            windows: Windows::default(),
            passage: Passage::default(),
        }
    }

    /// Packets on their way, and those behind them.
    pub(super) fn waiting(&self) -> usize {
        self.sent.len()
    }

    /// A packet passes the sender's capture.
    pub(super) fn on_sent(&mut self, packet: &Passing) {
        let what = if packet.len > 0 {
            let start = self.offset(packet.payload_seq(), true);
            let end = start + i64::from(packet.len);
            self.longest = self.longest.max(end - start);
            What::Payload { start, end }
        } else {
            What::Control { print: self.print(packet, true), window: packet.window }
        };
        let serial = self.first_serial + self.sent.len() as u64;
        let mut is_again = false;
        let missing = match what {
            What::Payload { start, end } => {
                // A keep-alive repeats one byte, and means nothing by it.
                let is_probe = end - start <= 1;
                is_again = self.sent_to.is_some_and(|sent_to| start < sent_to) && !is_probe;
                self.sent_to = Some(self.sent_to.map_or(end, |sent_to| sent_to.max(end)));
                self.payload.insert((start, serial), end);
                packet.len
            }
            What::Control { print, .. } => {
                self.control.insert((print, serial));
                1
            }
        };
        let count = self.packets(what, missing);
        self.passage.sent_packets += count;
        self.passage.sent_bytes += u64::from(packet.len);
        self.passage.retransmitted_packets += if is_again { count } else { 0 };
        self.sent.push_back(Sent {
            at: packet.at,
            timestamp: packet.timestamp,
            ip_id: packet.ip_id,
            ttl: packet.ttl,
            ecn: packet.ecn,
            is_again,
            what,
            missing,
            before: None,
        });
    }

    /// A part of what was on its way arrived; the rest stays.
    fn take_payload(&mut self, found: &Candidate, from: i64, to: i64) {
        self.payload.remove(&(found.start, found.serial));
        if found.start < from {
            self.payload.insert((found.start, found.serial), from);
        }
        if to < found.end {
            self.payload.insert((to, found.serial), found.end);
        }
    }

    fn needless(&mut self, found: &Candidate, from: i64, to: i64, is_known: bool) {
        let is_again = self.get(found.serial).is_some_and(|sent| sent.is_again);
        if is_again && is_known {
            self.passage.needless_retransmissions += self.segments(to - from);
        }
    }

    /// A packet, or this many bytes of it, arrived.
    fn arrive(&mut self, packet: &Passing, found: &Candidate, units: i64) {
        let before = self.last_serial.map(|last| (last, self.last_delay));
        let Some(sent) = self.get_mut(found.serial) else { return };
        sent.missing = sent.missing.saturating_sub(u32::try_from(units).unwrap_or(u32::MAX));
        let sent = *sent;
        let count = self.packets(sent.what, u32::try_from(units).unwrap_or(u32::MAX));
        match self.last_serial {
            Some(last) if found.serial < last => self.passage.reordered_packets += count,
            last => {
                let passed = last.map_or(self.first_serial, |last| last + 1);
                self.pass_over(passed, found.serial, before);
                self.last_serial = Some(found.serial);
                self.last_delay = packet.at - sent.at;
            }
        }
        self.delays.add(packet.at - sent.at);
        if self.passage.hops.is_none() && packet.ttl <= sent.ttl {
            self.passage.hops = Some(sent.ttl - packet.ttl);
        }
        let (there, here) = (sent.ecn, packet.ecn);
        self.passage.marked_packets += if here == CE && there != CE { count } else { 0 };
        self.passage.bleached_packets += if there != 0 && here == 0 { count } else { 0 };
        self.pop_arrived();
    }

    /// Packets that were sent before one that arrived, and did not.
    fn pass_over(&mut self, from: u64, to: u64, before: Option<(u64, i64)>) {
        for serial in from.max(self.first_serial)..to {
            if let Some(sent) = self.get_mut(serial).filter(|sent| sent.missing > 0) {
                sent.before = sent.before.or(before);
            }
        }
    }

    /// The receiver acknowledges the bytes before this number, as it sends it.
    pub(super) fn on_acknowledged(&mut self, ack: u32, at_receiver: bool) {
        let to = self.base(!at_receiver).offset(ack, self.acked_to.unwrap_or(0));
        self.acked_to = Some(self.acked_to.map_or(to, |acked_to| acked_to.max(to)));
    }

    /// A packet arrived that the sender's capture does not hold, in whole or in part.
    pub(super) fn on_unknown(&mut self, packet: &Passing, bytes: i64) {
        let (first, last) = self.facts.covered.sender;
        let slowest = self.delays.range.map_or(0, |(_, most)| most);
        let fastest = self.delays.range.map_or(0, |(least, _)| least);
        if packet.at - slowest >= first && packet.at - fastest <= last {
            let count = if packet.len > 0 { self.segments(bytes) } else { 1 };
            self.passage.missed_at_sender += count;
        }
    }

    /// A second copy of a packet arrived.
    pub(super) fn on_duplicate(&mut self, packet: &Passing) {
        self.passage.duplicated_packets += self.segments(i64::from(packet.len));
    }

    /// Gives up what has been on its way for too long.
    pub(super) fn give_up(&mut self, now: i64, is_crowded: bool) {
        let patience = if is_crowded { PATIENCE.0 } else { PATIENCE.1 };
        let patience = patience.saturating_add(self.delays.spread().saturating_mul(2));
        while let Some(first) = self.sent.front() {
            let is_late = now.saturating_sub(first.at) > patience;
            if first.missing > 0 && !is_late && self.sent.len() <= MOST_ON_THE_WAY {
                break;
            }
            self.pop_front();
        }
    }

    fn pop_arrived(&mut self) {
        while self.sent.front().is_some_and(|first| first.missing == 0) {
            self.pop_front();
        }
    }

    fn pop_front(&mut self) {
        let serial = self.first_serial;
        let Some(sent) = self.sent.pop_front() else { return };
        self.first_serial += 1;
        if sent.missing == 0 {
            return;
        }
        match sent.what {
            What::Payload { start, end } => {
                let pieces = self.payload.range((start, 0)..(end, 0));
                let pieces: Vec<(i64, i64)> = pieces
                    .filter(|((_, of), _)| *of == serial)
                    .map(|((from, _), to)| (*from, *to))
                    .collect();
                for (from, to) in pieces {
                    self.payload.remove(&(from, serial));
                    self.lose(&sent, serial, Some((from, to)));
                }
            }
            What::Control { print, .. } => {
                self.control.remove(&(print, serial));
                self.lose(&sent, serial, None);
            }
        }
    }

    /// A packet, or a part of it, did not arrive.
    fn lose(&mut self, sent: &Sent, serial: u64, payload: Option<(i64, i64)>) {
        let count = payload.map_or(1, |(from, to)| self.segments(to - from));
        if !self.is_followed(sent, serial) {
            self.passage.outside_packets += count;
            return;
        }
        if let Some((from, to)) = payload {
            let is_acked = self.acked_to.is_some_and(|acked_to| acked_to >= to);
            if is_acked && !self.arrived.has(from, to) {
                self.arrived.add(from, to);
                self.passage.missed_at_receiver += count;
                return;
            }
            self.passage.lost_bytes += u64::try_from(to - from).unwrap_or(0);
            self.passage.lost_data_packets += count;
            if let Some((before, delay)) = sent.before
                && self.last_before != Some(before)
            {
                self.last_before = Some(before);
                self.passage.at_losses.count += 1;
                self.at_losses.add(delay);
            }
        }
        self.passage.lost_packets += count;
    }

    /// Whether the other capture ran when a packet would have arrived.
    fn is_followed(&self, sent: &Sent, serial: u64) -> bool {
        let (first, last) = self.facts.covered.receiver;
        let (fastest, slowest) = self.delays.range.unwrap_or((0, self.facts.base.unwrap_or(0)));
        let is_before_another = self.last_serial.is_some_and(|latest| latest > serial);
        sent.at.saturating_add(fastest.max(0)) >= first
            && (is_before_another || sent.at.saturating_add(slowest) <= last)
    }

    /// Nothing more comes.
    pub(super) fn finish(mut self, is_clock_known: bool) -> Passage {
        while !self.sent.is_empty() {
            self.pop_front();
        }
        let delay = self.delays.finish(is_clock_known);
        if let (Some((least, _)), Some(delay)) = (self.delays.range, delay) {
            let half = delay.queue_max_s / 2.0;
            let kept = self.at_losses.values();
            let high = kept.iter().filter(|value| seconds(*value - least) >= half).count();
            let share = high as f64 / kept.len().max(1) as f64;
            let count = self.passage.at_losses.count;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a share of a count"
            )]
            let high = (share * count as f64).round() as u64;
            let median = self.at_losses.quantile(0.5).map_or(0.0, |value| seconds(value - least));
            self.passage.at_losses = DelayAtLosses { count, high, median_s: median };
        }
        // Copies of most packets are made by a capture, and not by the path.
        let is_copied = self.passage.duplicated_packets * 2 > self.passage.sent_packets;
        let duplicated = if is_copied { 0 } else { self.passage.duplicated_packets };
        Passage { delay, duplicated_packets: duplicated, ..self.passage }
    }

    fn get(&self, serial: u64) -> Option<&Sent> {
        self.sent.get(self.place(serial)?)
    }

    fn get_mut(&mut self, serial: u64) -> Option<&mut Sent> {
        let place = self.place(serial)?;
        self.sent.get_mut(place)
    }

    fn place(&self, serial: u64) -> Option<usize> {
        usize::try_from(serial.checked_sub(self.first_serial)?).ok()
    }

    fn packets(&self, what: What, units: u32) -> u64 {
        if matches!(what, What::Payload { .. }) { self.segments(i64::from(units)) } else { 1 }
    }

    /// Packets on the wire that carry so many bytes.
    fn segments(&self, bytes: i64) -> u64 {
        let bytes = u64::try_from(bytes).unwrap_or(0);
        bytes.div_ceil(u64::from(self.facts.segment.max(1))).max(1)
    }

    const fn base(&self, as_sent: bool) -> Sequence {
        let (sent, received) = self.facts.bases;
        Sequence::from(if as_sent { sent } else { received })
    }

    fn offset(&mut self, seq: u32, as_sent: bool) -> i64 {
        let base = self.base(as_sent);
        let near = if as_sent { &mut self.near.0 } else { &mut self.near.1 };
        *near = base.offset(seq, *near);
        *near
    }
}
