//! Round trips, and what a sender makes of them.

use std::num::NonZeroU64;

use serde::{Deserialize, Serialize};

/// Round trips, in nanoseconds.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct RoundTrips {
    pub(super) count: u32,
    pub(super) sum: u64,
    pub(super) least: Option<u64>,
    /// Smoothed, and its deviation (RFC 6298 §2).
    pub(super) srtt: u64,
    rttvar: u64,
    /// Of the whole path.
    pub(super) path_count: u32,
    pub(super) path_sum: u64,
    pub(super) path_least: Option<u64>,
    /// The last two of the whole path, the later first.
    path_last: [Option<NonZeroU64>; 2],
    /// All so far were of acknowledgements that had waited for a segment before.
    all_waited: bool,
    /// The last was that of a single segment's acknowledgement.
    last_is_single: bool,
}

/// What is known of the acknowledgement that shows a round trip.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sample {
    /// It was of one segment alone.
    pub(super) is_single: bool,
    /// The round trip of the whole path as its sender may know it by now, in nanoseconds; `None` where that is the one which is seen.
    pub(super) known: Option<u64>,
    /// It came behind duplicates: the last of what arrived waited for a segment before, or had overtaken it.
    pub(super) fills_gap: bool,
}

/// Before a round trip is known (RFC 6298 §2.1).
const FIRST_RTO: u64 = 1_000_000_000;
/// Least time-out of the stacks in use (Linux; RFC 6298 asks for a second).
pub(super) const LEAST_RTO: u64 = 200_000_000;

/// The least of so many round trips is that of the path.
const ENOUGH: u32 = 8;
/// The least that a timer delays an acknowledgement, in nanoseconds: Linux's `TCP_DELACK_MIN` less a tick of 4 ms.
const ACK_TIMER: u64 = 36_000_000;
/// A receiver is far from here on, in nanoseconds.
const FAR: u64 = 1_000_000;

impl RoundTrips {
    /// One at the point of capture, and of the whole path.
    pub(super) fn add(
        &mut self,
        sample: u64,
        path: u64,
        Sample { is_single, known, fills_gap }: Sample,
    ) {
        let known = known.unwrap_or(path);
        if self.count == 0 {
            self.all_waited = fills_gap;
        } else if self.all_waited && !fills_gap {
            self.all_waited = false;
            (self.count, self.sum, self.least) = (0, 0, None);
            self.forget_path();
        }
        // With the time until a repair, better than none.
        let counts = !fills_gap || self.all_waited || self.path_least.is_none();
        if counts {
            self.count += 1;
            self.path_count += 1;
            self.sum = self.sum.saturating_add(sample);
            self.path_sum = self.path_sum.saturating_add(path);
            self.least = Some(self.least.map_or(sample, |least| least.min(sample)));
            self.path_least = Some(self.path_least.map_or(path, |least| least.min(path)));
        }
        if !fills_gap {
            self.path_last = [NonZeroU64::new(path), self.path_last[0]];
            self.last_is_single = is_single;
        }
        if counts && self.count == 1 {
            (self.srtt, self.rttvar) = (known, known / 2);
        } else {
            self.rttvar = self.rttvar / 4 * 3 + self.srtt.abs_diff(known) / 4;
            self.srtt = self.srtt / 8 * 7 + known / 8;
        }
    }

    /// Those of the whole path so far were none.
    pub(super) const fn forget_path(&mut self) {
        (self.path_count, self.path_sum, self.path_least, self.path_last) = (0, 0, None, [None; 2]);
    }

    /// That of the segments which left last, in nanoseconds; the one before where the last is much longer and of a single segment: the
    /// acknowledgement of one in front of a lost one waits for the next flight, or for the receiver's timer (RFC 5681 §4.2). A queue
    /// lengthens one round trip after the other by what leaves between them.
    pub(super) fn before_loss(&self) -> Option<u64> {
        let [last, before] = self.path_last.map(|sample| sample.map(NonZeroU64::get));
        let waited = |before: &u64| {
            self.last_is_single && last > Some(before / 2 * 3) || last >= Some(before + ACK_TIMER)
        };
        before.filter(waited).or(last)
    }

    /// No acknowledgement comes sooner after the segment that brings it about, in nanoseconds: a little less than the least
    /// round trip at the point of capture. 0 where too few were measured for that, or the receiver is so near that its own
    /// delay is most of them.
    pub(super) fn soonest(&self) -> u64 {
        let least = self.least.filter(|least| self.count >= ENOUGH && *least >= FAR);
        least.map_or(0, |least| least / 5 * 4)
    }

    /// The least of the whole path; before one is measured, that of the handshake.
    pub(super) fn least_of_path(&self) -> u64 {
        self.path_least.unwrap_or(self.srtt)
    }

    /// A train ends where nothing comes for longer, in nanoseconds: a quarter of the path's round trip. On a path that is shorter than
    /// hosts take to answer single segments are farther apart on a slow link: there of the round trip that its queue makes.
    pub(super) fn pause(&self) -> u64 {
        let least = self.path_least.unwrap_or(u64::MAX);
        if least < FAR { self.srtt.max(least) / 4 } else { least / 4 }
    }

    /// About when the retransmission timer expires (RFC 6298 §2.3, with Linux's least).
    pub(super) fn rto(&self) -> u64 {
        if self.srtt == 0 {
            return FIRST_RTO;
        }
        self.srtt.saturating_add(self.rttvar.saturating_mul(4).max(LEAST_RTO))
    }

    /// None yet but that of the handshake.
    pub(super) fn since_handshake(rtt: u64) -> Self {
        Self { srtt: rtt, rttvar: rtt / 2, ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trains_of_a_slow_link_nearby_end_where_its_queue_would_be_empty() {
        let pause = |samples: &[u64]| {
            let mut trips = RoundTrips::default();
            for micros in samples {
                trips.add(micros * 1_000, micros * 1_000, Sample::default());
            }
            trips.pause() / 1_000
        };
        assert_eq!(pause(&[20_000, 80_000]), 5_000, "a quarter of the least");
        let queued: Vec<u64> = (0..100).map(|n| 40 + 1_000 * n.min(40)).collect();
        assert!(pause(&queued) > 9_000, "{}", pause(&queued));
        assert_eq!(pause(&[40, 40, 40]), 10);
        assert_eq!(RoundTrips::default().pause(), u64::MAX / 4, "none is known");
    }

    /// On paths that change the order of packets every acknowledgement may be one of those.
    #[test]
    fn what_fills_a_gap_is_no_round_trip() {
        let mut trips = RoundTrips::default();
        for (millis, fills_gap) in [(30, true), (20, false), (10, true)] {
            trips.add(millis, millis, Sample { fills_gap, ..Sample::default() });
        }
        assert_eq!((trips.count, trips.path_least), (1, Some(20)));
        assert_eq!((trips.sum, trips.path_sum), (20, 20), "nor of the mean");
        let mut others = RoundTrips::default();
        others.add(30, 30, Sample { fills_gap: true, ..Sample::default() });
        assert_eq!(others.path_least, Some(30), "better than none");
    }

    #[test]
    fn an_acknowledgement_that_waited_is_no_queue() {
        let before_loss = |samples: &[u64], is_single| {
            let mut trips = RoundTrips::default();
            for millis in samples {
                trips.add(
                    millis * 1_000_000,
                    millis * 1_000_000,
                    Sample { is_single, ..Sample::default() },
                );
            }
            trips.before_loss().map(|nanos| nanos / 1_000_000)
        };
        assert_eq!(before_loss(&[], true), None);
        assert_eq!(before_loss(&[20], true), Some(20));
        assert_eq!(before_loss(&[18, 18, 33], true), Some(18), "for the next flight");
        assert_eq!(before_loss(&[100, 140], true), Some(100), "for the timer");
        assert_eq!(before_loss(&[20, 40, 60], false), Some(60), "a queue that fills");
        assert_eq!(before_loss(&[40, 44, 48], true), Some(48), "the same, each acknowledged");
        assert_eq!(before_loss(&[60, 20], true), Some(20));
    }
}
