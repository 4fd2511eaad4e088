//! Refills: the sender lets acknowledgements pass without sending, and goes on when its flight has fallen.

use maxseg_core::evidence::Refills;
use serde::{Deserialize, Serialize};

/// Follows what the sender knew to be acknowledged at each new segment.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct RefillTracker {
    /// What it knew when it sent the last new segment, and that segment's end.
    una: i64,
    end: i64,
    /// By which timestamp it knew.
    stamp: u32,
    /// Acknowledgements of new data since.
    acks: u32,
    /// The right edge of the window then, now, and before the last acknowledgement; 0 while it is not known.
    edge_then: i64,
    edge: i64,
    edge_before: i64,
    /// Losses may hold it back.
    is_held: bool,
    /// Where the burst at hand began, and what was acknowledged then.
    burst: Option<(i64, i64)>,
    /// What was left in flight, and what was sent at once then, in bytes; the first are kept.
    lows: Vec<u32>,
    bursts: Vec<u32>,
    /// Whether the last new segment was a short one, and how many pauses followed such.
    is_short: bool,
    after_short: u32,
    /// How many pauses ended while no acknowledgement came.
    late: u32,
    /// And how many at once after one.
    at_once: u32,
    count: u32,
    acked: u64,
    /// When the last acknowledgement of new data came, how many came long enough after the one before, and what all of them covered.
    last_ack: u64,
    apart: u32,
    covered: u64,
    /// How many times something was sent for such, and what was acknowledged before that.
    answers: u32,
    answered: u64,
    /// The capture point is not at the sender.
    is_far: bool,
    /// When the first acknowledgement of the pause at hand came.
    first_ack: u64,
    /// The share of the pauses, in hundredths, that would end at once after an acknowledgement by chance.
    by_chance: u32,
    /// When the last pause ended, and the distances between such times; the first are kept.
    ended: u64,
    distances: Vec<u32>,
}

/// A new segment, as far as refills go.
#[expect(clippy::struct_excessive_bools, reason = "facts, each of which holds or not")]
pub(super) struct Sent {
    pub(super) at: u64,
    /// It is no full one, and the send queue was empty after it.
    pub(super) is_short: bool,
    pub(super) end: i64,
    pub(super) payload: i64,
    /// Payload of a full segment.
    pub(super) full: i64,
    /// What its sender knew to be acknowledged, and by which timestamp; `None` where acknowledgements are seen as it sees them.
    pub(super) una: i64,
    pub(super) stamp: Option<u32>,
    pub(super) is_recovering: bool,
    /// It left long after the last acknowledgement that its sender knew.
    pub(super) is_late: bool,
    /// It left at once after an acknowledgement, which is within so many nanoseconds.
    pub(super) is_at_once: bool,
    pub(super) at_once: u64,
}

/// A pause in which this part of the flight is acknowledged, and so many segments, by so many acknowledgements, or ticks of
/// their timestamps: fewer wait for a packet of several segments to be whole, or come together.
const PART: i64 = 4;
const SEGMENTS: i64 = 4;
const ACKS: u32 = 3;
/// A sender whose flight was empty, or nearly, had nothing to send.
const LEFT: i64 = 2;
/// So long after one another, in nanoseconds, each acknowledgement is answered on its own: a congestion window that opens within a
/// millisecond of the last segment may wait for a third of it to be open (`tcp_tso_should_defer`, `net/ipv4/tcp_output.c`). Elsewhere than at
/// the sender two ticks of its timestamps tell them apart.
const APART: u64 = 1_000_000;
const APART_FAR: u64 = 2_000_000;
/// Fewer answers show nothing.
const ANSWERS: u32 = 20;
/// Distances are kept in microseconds, and are equal within so many of them, or this part.
const DISTANCE_UNIT: u64 = 1000;
const EQUAL: u32 = 1000;
const EQUAL_PART: u32 = 50;
/// Most that are kept.
const KEPT: usize = 128;
/// Low marks are alike within this part of the median, or so many segments: what a program finds free depends on the packets that
/// an acknowledgement freed.
const ALIKE: i64 = 4;
const ALIKE_SEGMENTS: i64 = 4;

impl RefillTracker {
    #[inline(always)]
    pub(super) fn on_send(&mut self, sent: &Sent) {
        let acked = sent.una - self.una;
        if acked > 0 {
            if self.end > 0 && !self.is_held && !sent.is_recovering {
                self.answers = self.answers.saturating_add(1);
                self.answered = self.answered.saturating_add(acked.unsigned_abs());
            }
            if acked >= SEGMENTS * sent.full && PART * acked >= self.end - self.una {
                self.on_pause(sent, acked);
            } else if let Some((from, una)) = self.burst
                && sent.una > una
            {
                self.end_burst(from);
            }
            self.una = sent.una;
            self.stamp = sent.stamp.unwrap_or(0);
        }
        self.is_far = sent.stamp.is_some();
        self.end = sent.end;
        self.acks = 0;
        self.is_short = sent.is_short;
        self.edge_then = self.edge;
        self.is_held = sent.is_recovering;
    }

    #[cold]
    #[inline(never)]
    fn on_pause(&mut self, sent: &Sent, acked: i64) {
        if let Some((from, _)) = self.burst {
            self.end_burst(from);
        }
        let acks = sent.stamp.map_or(self.acks, |stamp| stamp.wrapping_sub(self.stamp));
        let start = sent.end - sent.payload;
        let low = start - sent.una;
        // Whoever waits for the receive window sends as soon as its edge moves.
        let has_window = self.edge_then > 0 && PART * (self.edge_before - self.edge_then) >= acked;
        let is_held = self.is_held || sent.is_recovering || !has_window;
        if self.end == 0 || is_held || acks < ACKS || low < LEFT * sent.full {
            return;
        }
        self.burst = Some((start, sent.una));
        let gap = self.last_ack.saturating_sub(self.first_ack) / u64::from(self.acks.max(2) - 1);
        let chance = (100 * sent.at_once / gap.max(1)).min(100);
        self.by_chance = self.by_chance.saturating_add(u32::try_from(chance).unwrap_or(100));
        let distance = (sent.at - self.ended.min(sent.at)) / DISTANCE_UNIT;
        if self.ended > 0 && self.distances.len() < KEPT {
            self.distances.push(u32::try_from(distance).unwrap_or(u32::MAX));
        }
        self.ended = sent.at;
        self.count = self.count.saturating_add(1);
        self.acked = self.acked.saturating_add(acked.unsigned_abs());
        keep(&mut self.lows, low);
        self.after_short = self.after_short.saturating_add(u32::from(self.is_short));
        self.late = self.late.saturating_add(u32::from(sent.is_late));
        self.at_once = self.at_once.saturating_add(u32::from(sent.is_at_once));
    }

    #[cold]
    fn end_burst(&mut self, from: i64) {
        self.burst = None;
        keep(&mut self.bursts, self.end - from);
    }

    /// An acknowledgement of so much new data reached the sender.
    #[inline(always)]
    pub(super) fn on_ack(&mut self, at: u64, acked: i64, edge: Option<i64>) {
        if acked > 0 {
            let apart = if self.is_far { APART_FAR } else { APART };
            if self.acks == 0 {
                self.first_ack = at;
            }
            self.acks = self.acks.saturating_add(1);
            self.apart = self.apart.saturating_add(u32::from(at >= self.last_ack + apart));
            self.last_ack = at;
            self.covered = self.covered.saturating_add(acked.unsigned_abs());
        }
        self.edge_before = self.edge;
        self.edge = edge.unwrap_or(0);
    }

    pub(super) const fn on_resend(&mut self) {
        self.is_held = true;
    }

    /// What was sent and acknowledged meanwhile is not known: the capture has a hole.
    pub(super) fn resume(&mut self) {
        (self.una, self.end, self.stamp, self.acks, self.ended) = (0, 0, 0, 0, 0);
        (self.edge_then, self.edge, self.edge_before) = (0, 0, 0);
        (self.burst, self.is_held) = (None, true);
    }

    /// What was found; `full` is the payload of a full segment.
    pub(super) fn found(&self, full: i64) -> Option<Refills> {
        let acks_an_answer = self.acks_an_answer();
        if self.lows.is_empty() && acks_an_answer.is_none() {
            return None;
        }
        let low = median(&self.lows).unwrap_or(0);
        let margin = (low / ALIKE).max(ALIKE_SEGMENTS * full);
        let is_alike = |other: &&u32| (i64::from(**other) - low).abs() <= margin;
        let alike = self.lows.iter().filter(is_alike).count();
        Some(Refills {
            count: self.count,
            low_bytes: low.unsigned_abs(),
            burst_bytes: median(&self.bursts).unwrap_or(0).unsigned_abs(),
            alike_percent: u32::try_from(100 * alike / self.lows.len().max(1)).unwrap_or(0),
            after_short_percent: 100 * self.after_short / self.count.max(1),
            late_percent: 100 * self.late / self.count.max(1),
            at_once_percent: 100 * self.at_once / self.count.max(1),
            by_chance_percent: self.by_chance / self.count.max(1),
            equal_percent: self.equal_percent(),
            acked_bytes: self.acked,
            acks_an_answer,
        })
    }

    /// How many in a hundred distances between the ends of pauses are about the median.
    fn equal_percent(&self) -> u32 {
        let mut sorted = self.distances.clone();
        sorted.sort_unstable();
        let Some(middle) = sorted.get(sorted.len() / 2) else { return 0 };
        let margin = EQUAL.max(middle / EQUAL_PART);
        let equal = sorted.iter().filter(|distance| distance.abs_diff(*middle) <= margin).count();
        u32::try_from(100 * equal / sorted.len()).unwrap_or(0)
    }

    /// How many acknowledgements, of those that came apart, something was sent for at a time.
    fn acks_an_answer(&self) -> Option<f64> {
        let is_known = self.answers >= ANSWERS && self.apart > 0 && self.covered > 0;
        let answered = self.answered as f64 / f64::from(self.answers.max(1));
        is_known.then(|| answered * f64::from(self.apart) / self.covered as f64)
    }
}

fn keep(list: &mut Vec<u32>, bytes: i64) {
    if list.len() < KEPT {
        list.push(u32::try_from(bytes).unwrap_or(u32::MAX));
    }
}

fn median(list: &[u32]) -> Option<i64> {
    let mut sorted = list.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).map(|middle| i64::from(*middle))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: i64 = 1000;

    /// A sender of full segments whose acknowledgements bring the window's edge along.
    #[derive(Default)]
    struct Sender {
        refills: RefillTracker,
        una: i64,
        nxt: i64,
        /// Whether its program ends what it sends with a short segment.
        ends_short: bool,
        /// Whether it writes by a clock of its own, and not when an acknowledgement comes.
        is_late: bool,
        /// The time, and that between two acknowledgements.
        now: u64,
        every: u64,
    }

    impl Sender {
        fn new(window: i64) -> Self {
            let mut sender = Self::default();
            sender.refills.on_ack(0, 0, Some(window));
            sender.send(60);
            sender
        }

        fn send(&mut self, segments: i64) {
            for left in (0..segments).rev() {
                let is_short = self.ends_short && left == 0;
                let payload = if is_short { FULL / 2 } else { FULL };
                self.nxt += payload;
                self.refills.on_send(&Sent {
                    at: self.now,
                    at_once: 300_000,
                    is_short,
                    end: self.nxt,
                    payload,
                    full: FULL,
                    una: self.una,
                    stamp: None,
                    is_recovering: false,
                    is_late: self.is_late && left == segments - 1,
                    is_at_once: !self.is_late,
                });
            }
        }

        fn ack(&mut self, segments: i64, window: i64) {
            for _ in 0..segments {
                self.una += FULL;
                self.now += self.every;
                self.refills.on_ack(self.now, FULL, Some(self.una + window));
            }
        }
    }

    #[test]
    fn a_program_that_waits_for_room_lets_acknowledgements_pass() {
        let mut sender = Sender::new(1_000_000);
        for _ in 0..10 {
            sender.ack(40, 1_000_000);
            sender.send(40);
        }
        let found = sender.refills.found(FULL).unwrap();
        assert_eq!((found.count, found.low_bytes, found.alike_percent), (10, 20_000, 100));
        assert_eq!((found.burst_bytes, found.acked_bytes), (40_000, 400_000));
        assert_eq!(found.after_short_percent, 0);
    }

    #[test]
    fn a_program_that_writes_by_a_clock_ends_with_a_short_segment() {
        let mut sender = Sender { ends_short: true, ..Sender::default() };
        sender.refills.on_ack(0, 0, Some(1_000_000));
        sender.send(60);
        for _ in 0..10 {
            sender.ack(40, 1_000_000);
            sender.send(40);
        }
        assert_eq!(sender.refills.found(FULL).unwrap().after_short_percent, 100);
    }

    #[test]
    fn a_program_that_writes_by_a_clock_sends_long_after_acknowledgements() {
        let mut sender = Sender::new(1_000_000);
        for round in 0..10 {
            sender.ack(40, 1_000_000);
            sender.is_late = round % 5 > 0;
            sender.send(40);
        }
        let found = sender.refills.found(FULL).unwrap();
        assert_eq!((found.late_percent, found.at_once_percent), (80, 20));
    }

    #[test]
    fn acknowledgements_clock_a_congestion_window() {
        let mut sender = Sender::new(1_000_000);
        for _ in 0..400 {
            sender.ack(2, 1_000_000);
            sender.send(2);
        }
        assert_eq!(sender.refills.found(FULL).map_or(0, |found| found.count), 0);
    }

    #[test]
    fn who_waits_for_room_answers_acknowledgements_together() {
        let acks = |together: i64, every: u64| {
            let mut sender = Sender { every, ..Sender::default() };
            sender.refills.on_ack(0, 0, Some(1_000_000));
            sender.send(10);
            for _ in 0..40 {
                sender.ack(together, 1_000_000);
                sender.send(together);
            }
            sender.refills.found(FULL).and_then(|found| found.acks_an_answer)
        };
        let near = |found: Option<f64>, wanted: f64| (found.unwrap() - wanted).abs() < 0.05;
        assert!(near(acks(2, 2_400_000), 2.0), "a third of six");
        assert!(near(acks(1, 2_400_000), 1.0), "a congestion window");
        assert!(acks(2, 400_000).is_none_or(|share| share < 0.1), "too close to each other");
    }

    #[test]
    fn a_window_that_does_not_move_holds_the_sender_back() {
        let mut sender = Sender::new(60_000);
        for _ in 0..10 {
            let edge = sender.nxt;
            for _ in 0..40 {
                sender.una += FULL;
                sender.refills.on_ack(0, FULL, Some(edge));
            }
            sender.refills.on_ack(0, 0, Some(edge + 40 * FULL));
            sender.send(40);
        }
        assert_eq!(sender.refills.found(FULL).map_or(0, |found| found.count), 0);
    }
}
