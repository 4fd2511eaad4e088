//! What passed while segments of one flight were dropped, as far as retransmissions tell it.

use maxseg_core::evidence::DropLine;
use maxseg_core::units::Time;
use serde::{Deserialize, Serialize};

/// The drops of a flight under way, and the lines of the flight that had most.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct DropLines {
    /// When the first of the drops was sent again: all that was sent before is of this flight. 0 before any drop.
    until: u64,
    /// The last drop: when, and what had passed.
    last: Option<(u64, i64)>,
    /// Where the last segment ended that was dropped, and how much of the flight was dropped until there.
    end: i64,
    dropped: i64,
    line: Sums,
    flight: Flight,
    best: Option<Flight>,
}

/// More segments than this between two drops are not of one line.
const MOST_BETWEEN: i64 = 8;

/// None of the drops was sent again yet.
const NOT_REPAIRED: u64 = u64::MAX;

/// What a line takes, by seconds and bytes since its first drop.
#[derive(Debug, Default, Clone, Copy, Serialize, Deserialize)]
struct Sums {
    from: (u64, i64),
    count: u32,
    passed: f64,
    times: f64,
    bytes: f64,
    times_squared: f64,
    bytes_squared: f64,
    products: f64,
}

/// What the lines of a flight take together: sums of squares and products about the mean of each.
#[derive(Debug, Default, Clone, Copy, Serialize, Deserialize)]
struct Flight {
    at: u64,
    drops: u32,
    passed: f64,
    times: f64,
    bytes: f64,
    products: f64,
}

impl DropLines {
    /// A segment that passed at `sent_at` is sent again for the first time: it was dropped behind the capture point. `full` is a full segment.
    pub(super) fn on_resend(&mut self, at: u64, sent_at: u64, (start, end): (i64, i64), full: i64) {
        if sent_at >= self.until {
            self.begin(at);
            self.flight.at = at;
        }
        if start >= self.end {
            self.drop(sent_at, (start, end), full);
        }
    }

    /// What was sent as `start..end` is missing. The segment before it passed at `passed_at`, when there was room for it and for none behind it: a
    /// sender that pauses then lets a bucket fill.
    pub(super) fn on_gap(&mut self, passed_at: u64, (start, end): (i64, i64), full: i64) {
        if passed_at >= self.until {
            self.begin(NOT_REPAIRED);
        }
        self.drop(passed_at, (start, end), full);
    }

    /// What was missing is sent again.
    pub(super) const fn on_fill(&mut self, at: u64) {
        if self.until == NOT_REPAIRED {
            self.until = at;
            self.flight.at = at;
        }
    }

    /// What was missing was overtaken: nothing tells which of this flight was dropped.
    pub(super) fn on_overtaken(&mut self) {
        *self = Self { best: self.best, ..Self::default() };
    }

    fn begin(&mut self, until: u64) {
        self.finish();
        *self = Self { until, best: self.best, ..Self::default() };
    }

    fn drop(&mut self, sent_at: u64, (start, end): (i64, i64), full: i64) {
        let passed = start - self.dropped;
        self.end = end;
        self.dropped += end - start;
        // Several that were dropped between the same two show one time.
        if self.last.is_some_and(|(at, _)| sent_at <= at) {
            return;
        }
        if self.last.is_none_or(|(_, before)| passed - before > MOST_BETWEEN * full) {
            self.flight.take(&self.line);
            self.line = Sums { from: (sent_at, passed), ..Sums::default() };
        }
        self.line.add((sent_at, passed));
        self.last = Some((sent_at, passed));
    }

    /// The flight is over.
    pub(super) fn finish(&mut self) {
        self.flight.take(&std::mem::take(&mut self.line));
        if self.best.is_none_or(|best| self.flight.drops > best.drops) {
            self.best = Some(self.flight);
        }
    }

    /// The lines of the flight that had most drops.
    pub(super) fn found(&self) -> Option<DropLine> {
        self.best.and_then(|flight| flight.line())
    }
}

impl Sums {
    fn add(&mut self, (at, passed): (u64, i64)) {
        let seconds = at.saturating_sub(self.from.0) as f64 / 1e9;
        let bytes = (passed - self.from.1) as f64;
        self.count = self.count.saturating_add(1);
        self.passed = bytes;
        self.times += seconds;
        self.bytes += bytes;
        self.times_squared += seconds * seconds;
        self.bytes_squared += bytes * bytes;
        self.products += seconds * bytes;
    }
}

impl Flight {
    fn take(&mut self, line: &Sums) {
        if line.count == 0 {
            return;
        }
        let count = f64::from(line.count);
        self.drops = self.drops.saturating_add(line.count - 1);
        self.passed += line.passed;
        self.times += line.times_squared - line.times * line.times / count;
        self.bytes += line.bytes_squared - line.bytes * line.bytes / count;
        self.products += line.products - line.times * line.bytes / count;
    }

    /// The least-squares fit of lines of one slope; `None` where no two drops lie on one.
    fn line(&self) -> Option<DropLine> {
        if self.times <= 0.0 {
            return None;
        }
        let slope = self.products / self.times;
        let off = (self.bytes - slope * self.products).max(0.0) / f64::from(self.drops);
        Some(DropLine {
            at: Time::from_nanos(self.at),
            drops: self.drops,
            passed_bytes: self.passed,
            rate_bps: slope * 8.0,
            off_bytes: off.sqrt(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEGMENT: i64 = 1000;
    const MILLI: u64 = 1_000_000;

    /// A flight of a segment a millisecond, of which these are dropped, and sent again a round trip of 200 ms behind the first.
    fn line_of(drops: &[u64]) -> Option<DropLine> {
        let mut lines = DropLines::default();
        for (n, drop) in drops.iter().enumerate() {
            let start = i64::try_from(*drop).unwrap() * SEGMENT;
            let again = 200 + drops[0] + u64::try_from(n).unwrap();
            lines.on_resend(again * MILLI, drop * MILLI, (start, start + SEGMENT), SEGMENT);
        }
        lines.finish();
        lines.found()
    }

    /// Every second is dropped: half of 8 Mbit/s passes.
    #[test]
    fn what_passes_between_drops_above_a_rate_is_that_rate() {
        let second: Vec<u64> = (10..60).step_by(2).collect();
        let line = line_of(&second).unwrap();
        assert_eq!((line.drops, line.passed_bytes), (24, 24_000.0));
        assert!((line.rate_bps - 4e6).abs() < 1.0 && line.off_bytes < 1.0, "{line:?}");
        // Two of three, three times, between which the bucket fills for one.
        let line = line_of(&[10, 11, 13, 14, 16, 17, 19, 20, 22, 23]).unwrap();
        assert!((line.rate_bps - 8e6 / 3.0).abs() < 2e5 && line.off_bytes < 300.0, "{line:?}");
    }

    /// The bucket fills while the sender pauses: what passes behind the pause is more than one rate.
    #[test]
    fn a_pause_ends_a_line() {
        let (before, behind) = ((10..40).step_by(2), (90..120).step_by(2));
        let line = line_of(&before.chain(behind).collect::<Vec<u64>>()).unwrap();
        assert_eq!((line.drops, line.passed_bytes), (28, 28_000.0));
        assert!((line.rate_bps - 4e6).abs() < 1.0 && line.off_bytes < 1.0, "{line:?}");
    }

    #[test]
    fn what_is_dropped_by_chance_lies_on_no_line() {
        let line = line_of(&[3, 4, 11, 16, 17, 18, 19, 27, 34, 35, 36, 37, 38, 46]).unwrap();
        assert!(line.off_bytes > 700.0, "{line:?}");
        assert_eq!(line_of(&[3]), None);
    }

    /// Of segments a millisecond apart those are missing which a bucket of 4 Mbit/s drops; the first is filled 100 ms later, another was late.
    #[test]
    fn gaps_tell_it_at_the_receiver() {
        let line_with = |is_overtaken: bool| {
            let mut lines = DropLines::default();
            for missing in (10..60).step_by(2) {
                let start = missing * SEGMENT;
                let at = (u64::try_from(missing).unwrap() - 1) * MILLI;
                lines.on_gap(at, (start, start + SEGMENT), SEGMENT);
            }
            lines.on_fill(100 * MILLI);
            if is_overtaken {
                lines.on_overtaken();
            }
            lines.finish();
            lines.found()
        };
        let line = line_with(false).unwrap();
        assert_eq!((line.at, line.drops), (Time::from_millis(100), 24));
        assert!((line.rate_bps - 4e6).abs() < 1.0, "{line:?}");
        assert_eq!(line_with(true), None);
    }

    /// What is sent behind the first retransmission is of another flight.
    #[test]
    fn a_flight_ends_where_its_drops_are_repaired() {
        let mut lines = DropLines::default();
        let mut resend = |at: u64, sent: u64| {
            let start = i64::try_from(sent).unwrap() * SEGMENT;
            lines.on_resend(at * MILLI, sent * MILLI, (start, start + SEGMENT), SEGMENT);
        };
        for (at, sent) in [(100, 1), (101, 3), (102, 5), (300, 150), (301, 152)] {
            resend(at, sent);
        }
        lines.finish();
        let line = lines.found().unwrap();
        assert_eq!((line.at, line.drops), (Time::from_millis(100), 2));
    }
}
