//! The flight of which most was sent again.

use maxseg_core::evidence::{DirectionStats, SegmentPoint, Trace};
use maxseg_core::units::Time;

/// Taken for a round trip where none was measured, in seconds.
const UNKNOWN_RTT_S: f64 = 0.1;

/// What was sent in one round trip, and then sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Burst {
    /// The first and the last packet that carried it at first; `None` where the capture does not have these, as behind the hop that
    /// lost them.
    pub(super) sent: Option<(SegmentPoint, SegmentPoint)>,
    /// The first and the last packet that carried it again.
    pub(super) first: SegmentPoint,
    pub(super) last: SegmentPoint,
    /// Captured ones, each of which may stand for several segments.
    pub(super) packets: u64,
    /// Those of them whose bytes the capture has at no earlier time, as where it lost packets.
    pub(super) unseen: u64,
    pub(super) bytes: u64,
}

/// A retransmission, with the packet that had carried its first byte.
#[derive(Debug, Clone, Copy)]
struct Repair {
    sent: Option<SegmentPoint>,
    again: SegmentPoint,
}

impl Repair {
    /// When its payload went out at first, as far as that was captured.
    fn at(&self) -> Time {
        self.sent.unwrap_or(self.again).at
    }
}

impl Burst {
    /// The round trip of whose payload most was sent again; `None` without a trace of any.
    pub(super) fn densest(data: &DirectionStats) -> Option<Self> {
        let repairs = repairs(data.trace.as_ref()?);
        let rtt = data.path_rtt_loaded_s.or(data.path_rtt_mean_s).unwrap_or(UNKNOWN_RTT_S);
        let rtt = Time::from_secs_f64(rtt);
        let mut densest = (0, 0);
        let (mut begin, mut bytes, mut most) = (0, 0, 0);
        for (end, repair) in repairs.iter().enumerate() {
            bytes += u64::from(repair.again.bytes);
            while repair.at().since(repairs[begin].at()) > rtt {
                bytes -= u64::from(repairs[begin].again.bytes);
                begin += 1;
            }
            if bytes > most {
                (densest, most) = ((begin, end + 1), bytes);
            }
        }
        let of = &repairs[densest.0..densest.1];
        let again = || of.iter().map(|repair| repair.again);
        let sent = || of.iter().filter_map(|repair| repair.sent);
        let by_time = |point: &SegmentPoint| (point.at, point.frame);
        Some(Self {
            sent: sent().min_by_key(by_time).zip(sent().max_by_key(by_time)),
            first: again().min_by_key(by_time)?,
            last: again().max_by_key(by_time)?,
            packets: of.len() as u64,
            unseen: of.iter().filter(|repair| repair.sent.is_none()).count() as u64,
            bytes: most,
        })
    }
}

/// What was sent again, each byte once, by the times at which it went out at first.
fn repairs(trace: &Trace) -> Vec<Repair> {
    let mut originals: Vec<SegmentPoint> =
        trace.segments.iter().filter(|segment| !segment.is_resent).copied().collect();
    originals.sort_by_key(|segment| segment.offset);
    let original = |again: &SegmentPoint| {
        let behind = originals.partition_point(|segment| segment.offset <= again.offset);
        let segment = originals[..behind].last()?;
        let has_it = again.offset < segment.offset + u64::from(segment.bytes);
        (has_it && segment.at <= again.at).then_some(*segment)
    };
    let resent = trace.segments.iter().filter(|segment| segment.is_resent);
    let mut repairs: Vec<Repair> =
        resent.map(|again| Repair { sent: original(again), again: *again }).collect();
    repairs.sort_by_key(|repair| (repair.at(), repair.again.offset, repair.again.at));
    // The repair itself may be lost: it is sent again then.
    repairs.dedup_by_key(|repair| repair.again.offset);
    repairs
}

#[cfg(test)]
mod tests {
    use maxseg_core::evidence::Points;
    use maxseg_testkit::at;

    use super::*;

    /// Segments 1 to 10 go out 10 ms apart, from packet 1 on; these are sent again, at these times.
    fn data(again: &[(u64, u64)]) -> DirectionStats {
        let mut trace = Trace::default();
        let point = |frame, ms, n: u64, is_resent| SegmentPoint {
            at: at(ms),
            frame,
            offset: (n - 1) * 1000,
            bytes: 1000,
            is_resent,
        };
        for n in 1..=10 {
            trace.segments.note(point(n, 10 * n, n, false), false);
        }
        for (frame, (ms, n)) in (100..).zip(again) {
            trace.segments.note(point(frame, *ms, *n, true), true);
        }
        DirectionStats {
            trace: Some(Box::new(trace)),
            path_rtt_loaded_s: Some(0.03),
            ..DirectionStats::default()
        }
    }

    #[test]
    fn one_flight_is_repaired_over_several_round_trips() {
        let repaired = [(200, 2), (260, 3), (320, 4), (340, 9), (345, 10)];
        let burst = Burst::densest(&data(&repaired)).unwrap();
        let (first, last) = burst.sent.unwrap();
        assert_eq!((first.frame, last.frame, burst.packets, burst.bytes), (2, 4, 3, 3000));
        assert_eq!((burst.first.frame, burst.last.frame), (100, 102));
        // A repair that was lost counts once.
        let twice = [(200, 2), (260, 3), (340, 9), (345, 10), (400, 9), (460, 9), (500, 10)];
        let burst = Burst::densest(&data(&twice)).unwrap();
        assert_eq!((burst.packets, burst.sent.unwrap().0.frame), (2, 2), "{burst:?}");
    }

    #[test]
    fn behind_the_loss_only_repairs_are_known() {
        let mut data = data(&[(200, 2), (210, 3), (300, 4)]);
        let trace = data.trace.as_mut().unwrap();
        let repairs: Vec<SegmentPoint> =
            trace.segments.iter().filter(|segment| segment.is_resent).copied().collect();
        trace.segments = Points::default();
        for repair in repairs {
            trace.segments.note(repair, true);
        }
        let burst = Burst::densest(&data).unwrap();
        assert_eq!((burst.sent, burst.packets, burst.last.frame), (None, 2, 101));
    }
}
