//! One direction alone: round trips show where a loss is repaired, and the rate of the path where the first flights end with
//! pauses. Both are seen without the other direction, at any point of the path.

use maxseg_core::evidence::{Alone as Found, Repair};
use maxseg_core::units::Time;
use serde::{Deserialize, Serialize};

use super::recovery_rounds::THRESHOLD;

/// The course of one direction.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Alone {
    /// From the SYN to the next segment, in nanoseconds; 0 where the SYN was not captured.
    trip: u64,
    begin: Passed,
    last: Passed,
    /// The last few, in order.
    few: [Passed; FEW],
    count: usize,
    /// The first packet of a flight, and how many it has.
    flight: (Passed, usize),
    flight_bps: f64,
    fastest_bps: f64,
    has_data: bool,
    /// Duplicate acknowledgements: since when, and how many.
    duplicates: (u64, u32),
    window: u16,
    /// When anything passed last.
    last_at: u64,
    /// A recovery repairs what was sent before this offset.
    covered: i64,
    /// What the last recovery began with, and when it repaired something last.
    recovery: (u64, u64),
    repairing: u64,
    repairs: Vec<(u64, i64)>,
}

/// So much has passed, or is acknowledged.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct Passed {
    at: u64,
    bytes: i64,
}

/// An acknowledgement.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ack {
    pub(super) at: u64,
    pub(super) una: i64,
    /// What of it is new.
    pub(super) acked: i64,
    pub(super) window: u16,
    pub(super) has_blocks: bool,
    /// Payload of a full segment: each duplicate is of one.
    pub(super) segment: i64,
}

/// A segment with payload.
#[derive(Debug, Clone, Copy)]
pub(super) struct Data {
    pub(super) at: u64,
    pub(super) payload: i64,
    pub(super) start: i64,
    /// The highest byte that was sent, and one.
    pub(super) nxt: i64,
    /// Of one that is sent again: since when it is missing, and what passed meanwhile.
    pub(super) missing: Option<(u64, i64)>,
}

/// Fewer packets are no train.
const FEW: usize = 8;
/// A flight ends with a pause of this part of a round trip: packets of one are nearer to each other, unless the path carries no more than a
/// few in a round trip.
const PAUSE: u64 = 4;
/// First flights come within so many round trips: a window of ten segments that doubles (RFC 6928, RFC 5681 §3.1) fills any path by then.
const OPENING: u64 = 20;
/// While a queue stands packets pass all the time. A repair behind a silence of more than this part of the time that it took is by a timer, or of a
/// sender that had no more.
const SILENT: u64 = 3;
/// Most repairs that are kept.
const MOST: usize = 256;

impl Alone {
    /// Its first segment behind the SYN comes so long after it.
    pub(super) fn new(trip: u64) -> Self {
        Self { trip, covered: i64::MIN, ..Self::default() }
    }

    /// Whether it is the direction of the data.
    pub(super) const fn is_of_data(&self) -> bool {
        self.has_data
    }

    pub(super) fn on_ack(&mut self, ack: &Ack) {
        if self.has_data {
            return;
        }
        if ack.acked > 0 {
            let (since, count) = std::mem::take(&mut self.duplicates);
            if count >= THRESHOLD && ack.una >= self.covered {
                let arrived = i64::from(count) * ack.segment;
                self.covered = ack.una - ack.acked + arrived;
                self.repair(ack.at, since, arrived);
            }
            self.pass(Passed { at: ack.at, bytes: ack.una });
        } else if ack.acked == 0 && self.count > 0 && (ack.has_blocks || ack.window == self.window)
        {
            let since = if self.duplicates.1 == 0 { ack.at } else { self.duplicates.0 };
            self.duplicates = (since, self.duplicates.1 + 1);
        }
        self.window = ack.window;
        self.last_at = ack.at;
    }

    pub(super) fn on_data(&mut self, data: &Data) {
        if !self.has_data {
            *self = Self { has_data: true, ..Self::new(self.trip) };
        }
        if let Some((since, bytes)) = data.missing {
            if data.start >= self.covered {
                self.covered = data.nxt;
                self.end_recovery();
                self.repair(data.at, since, bytes);
                self.recovery = (since, data.at);
            } else {
                self.recovery.1 = data.at;
            }
        }
        self.pass(Passed { at: data.at, bytes: self.last.bytes + data.payload });
        self.last_at = data.at;
    }

    fn end_recovery(&mut self) {
        let (begin, end) = std::mem::take(&mut self.recovery);
        self.repairing = self.repairing.saturating_add(end.saturating_sub(begin));
    }

    /// The first repair of a recovery.
    fn repair(&mut self, at: u64, since: u64, bytes: i64) {
        let after = at.saturating_sub(since);
        if at.saturating_sub(self.last_at) <= after / SILENT && self.repairs.len() < MOST {
            self.repairs.push((after, bytes));
        }
    }

    /// More has passed, or is acknowledged.
    fn pass(&mut self, now: Passed) {
        let before = std::mem::replace(&mut self.last, now);
        if self.count == 0 {
            self.begin = now;
            self.flight = (now, 1);
        } else if now.at.saturating_sub(self.begin.at) <= OPENING.saturating_mul(self.trip) {
            self.open(now, before);
        }
        self.few.rotate_left(1);
        if let Some(last) = self.few.last_mut() {
            *last = now;
        }
        self.count += 1;
    }

    /// One of the first packets.
    fn open(&mut self, now: Passed, before: Passed) {
        if let Some(oldest) = self.few.first().filter(|_| self.count >= FEW) {
            self.fastest_bps = self.fastest_bps.max(rate(*oldest, now));
        }
        if now.at.saturating_sub(before.at) <= self.trip / PAUSE {
            self.flight.1 += 1;
            return;
        }
        let (first, packets) = std::mem::replace(&mut self.flight, (now, 1));
        if packets >= FEW {
            self.flight_bps = self.flight_bps.max(rate(first, before));
        }
    }

    /// What it shows, where its SYN was captured.
    pub(super) fn found(mut self: Box<Self>) -> Option<Found> {
        self.end_recovery();
        (self.trip > 0 && self.count > FEW).then(|| Found {
            trip: Time::from_nanos(self.trip),
            rate_bps: rate(self.begin, self.last),
            flight_bps: (self.flight_bps > 0.0).then_some(self.flight_bps),
            fastest_bps: self.fastest_bps,
            repairing: Time::from_nanos(self.repairing),
            repairs: self
                .repairs
                .iter()
                .map(|(after, bytes)| Repair {
                    after: Time::from_nanos(*after),
                    bytes: u64::try_from(*bytes).unwrap_or(0),
                })
                .collect(),
        })
    }
}

/// Bits per second between two packets; what a sender sends at one time came through no link.
fn rate(from: Passed, to: Passed) -> f64 {
    let nanos = to.at.saturating_sub(from.at);
    if nanos == 0 { f64::INFINITY } else { (to.bytes - from.bytes) as f64 * 8e9 / nanos as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Times of a broken file are any.
    #[test]
    fn a_handshake_of_centuries_is_no_fault() {
        let mut alone = Alone::new(u64::MAX / 2);
        for at in [0, u64::MAX, 0] {
            let data = Data { at, payload: 1000, start: 0, nxt: 1000, missing: Some((at, 1000)) };
            alone.on_data(&data);
        }
        assert!(Box::new(alone).found().is_none());
    }

    /// Acknowledgements a millisecond apart of flights that double, each a round trip of 50 ms after the one before.
    fn opened() -> Alone {
        let mut alone = Alone::new(50 * MS);
        let mut una = 0;
        for (flight, segments) in [(0, 10), (1, 20), (2, 40)] {
            for n in 0..segments {
                una += 1000;
                let at = (flight * 50 + n) * MS;
                alone.on_ack(&ack(at, una, 1000));
            }
        }
        alone
    }

    fn ack(at: u64, una: i64, acked: i64) -> Ack {
        Ack { at, una, acked, window: 500, has_blocks: false, segment: 1000 }
    }

    #[test]
    fn first_flights_have_the_rate_of_the_path() {
        let found = Box::new(opened()).found().unwrap();
        // The first two end with a pause, of 8 Mbit/s.
        assert_eq!(found.flight_bps, Some(8e6));
        assert!((found.fastest_bps / 8e6 - 1.0).abs() < 1e-9);
        assert_eq!(found.trip, Time::from_millis(50));
        assert!(Box::new(Alone::new(0)).found().is_none(), "its SYN was not captured");
    }

    #[test]
    fn duplicates_last_until_the_loss_is_repaired() {
        let mut alone = opened();
        for n in 0..80 {
            alone.on_ack(&ack((140 + n) * MS, 70_000, 0));
        }
        alone.on_ack(&ack(220 * MS, 71_000, 1000));
        // Another of the same flight.
        for n in 0..5 {
            alone.on_ack(&ack((221 + n) * MS, 71_000, 0));
        }
        alone.on_ack(&ack(270 * MS, 150_000, 79_000));
        // One that is late, as by a timer.
        for n in 0..5 {
            alone.on_ack(&ack((280 + n) * MS, 150_000, 0));
        }
        alone.on_ack(&ack(480 * MS, 151_000, 1000));
        let found = Box::new(alone).found().unwrap();
        assert_eq!(found.repairs, [Repair { after: Time::from_millis(80), bytes: 80_000 }]);
    }

    #[test]
    fn what_is_sent_again_tells_the_round_trip() {
        let mut alone = Alone::new(50 * MS);
        let data = |at: u64, start: i64, missing: Option<(u64, i64)>| Data {
            at: at * MS,
            payload: 1000,
            start,
            nxt: if missing.is_some() { 100_000 } else { start + 1000 },
            missing,
        };
        for n in 0..100 {
            alone.on_data(&data(n, i64::try_from(n).unwrap() * 1000, None));
        }
        alone.on_data(&data(100, 20_000, Some((20 * MS, 79_000))));
        alone.on_data(&data(101, 22_000, Some((22 * MS, 77_000))));
        let found = Box::new(alone).found().unwrap();
        assert_eq!(found.repairs, [Repair { after: Time::from_millis(80), bytes: 79_000 }]);
        assert_eq!(found.repairing, Time::from_millis(81));
    }
}
