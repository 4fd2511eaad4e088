//! How the flight came to be what it was at the first loss: by slow start alone, or by other growth behind it.
//!
//! Slow start doubles the flight each round trip, so that twice the flight has been sent when a loss shows. CUBIC leaves it when round
//! trips rise by an eighth (`HyStart`, RFC 9406 §4.2), Reno does not: what is in flight beyond what the path holds tells that they
//! rose, and how often the flight was sent before tells whether slow start went on. Neither needs round trips under load.

use super::CongestionAlgorithm::{self, Cubic, Reno};
use super::weights::Weights;
use crate::evidence::DirectionStats;
use crate::outcome::LimitedBy;

/// Slow start has sent the flight twice at a loss; with a round trip or two that a buffer held it up, not more often than so.
const BY_DOUBLING: f64 = 3.5;
/// What has been sent so many times its flight has grown otherwise: CUBIC needs tens of round trips to double it then.
const BY_GROWING: f64 = 6.0;
/// A round trip has risen beyond doubt where the flight is so many times what the path holds,
const QUEUED: f64 = 2.0;
/// and at all where it is so many times that.
const FULL: f64 = 1.3;
/// `HyStart` needs 16 segments in flight and 8 round trips of them (`hystart_low_window` and `HYSTART_MIN_SAMPLES` in
/// `net/ipv4/tcp_cubic.c`): where the path holds fewer than so many it may come too late.
const LEAST_PATH: f64 = 24.0;
/// BBR's start-up keeps 2.89 times what the path holds in flight at most (`bbr_high_gain` in `net/ipv4/tcp_bbr.c`), besides half as
/// much again that was lost meanwhile.
const STARTUP_FLIGHT: f64 = 4.3;
/// Reno loses a good part of a flight that it has doubled; one that grew by some segments loses only these, at most this share.
const LITTLE_LOST: f64 = 0.2;
/// It speaks against an algorithm by this at most: buffers and programs change how flights grow.
const MOST: f64 = 2.3;

/// What the first loss shows.
#[derive(Debug, Clone, Default)]
pub(super) struct FirstLoss {
    pub(super) weights: Weights,
    found: Option<(CongestionAlgorithm, String)>,
}

impl FirstLoss {
    pub(super) fn of(data: &DirectionStats, limit: LimitedBy) -> Self {
        let mut found = Self::default();
        let is_held =
            matches!(limit, LimitedBy::Paced | LimitedBy::Application | LimitedBy::SendBuffer);
        let loss = data.epochs.losses().first().filter(|loss| !loss.is_capped);
        let path = data.capacity_bps.zip(data.path_rtt_min_s).map(|(bps, s)| bps / 8.0 * s);
        let Some((loss, path)) = loss.zip(path).filter(|_| !data.begins_late && !is_held) else {
            return found;
        };
        let segment = f64::from(data.mss_used_bytes.unwrap_or(1460).max(1));
        let flight = loss.in_flight.max(1) as f64;
        let (times, over) = (loss.sent_since as f64 / flight, flight / path.max(1.0));
        let sent_again = f64::from(loss.resent) * segment / flight;
        if times <= BY_DOUBLING && over >= QUEUED && path >= LEAST_PATH * segment {
            let bbr = if over > STARTUP_FLIGHT { 0.3 } else { 0.6 };
            found.weights.add([1.0, 0.1, bbr], MOST);
            let text =
                format!("slow start doubled the flight to {over:.1} times what the path holds");
            found.found = Some((Reno, text));
        } else if times >= BY_GROWING && over >= FULL && sent_again <= LITTLE_LOST {
            found.weights.add([0.1, 1.0, 0.3], MOST);
            let text = "slow start ended before the first loss, and the flight went on growing";
            found.found = Some((Cubic, text.to_owned()));
        }
        found
    }

    /// Whether it shows anything.
    pub(super) const fn count(&self) -> usize {
        self.found.is_some() as usize
    }

    /// What it shows for an algorithm, as a clause.
    pub(super) fn sentence(&self, name: CongestionAlgorithm) -> Option<String> {
        self.found.as_ref().filter(|(of, _)| *of == name).map(|(_, text)| text.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{CongestionEpochs, FlightAtLoss};

    const SEGMENT: u64 = 1000;

    /// A path that holds 50 segments, and a first loss at such a flight after so many segments.
    fn direction(flight: u64, sent: u64, resent: u32) -> DirectionStats {
        let mut epochs = CongestionEpochs::default();
        epochs.push_loss(FlightAtLoss {
            in_flight: flight * SEGMENT,
            sent_since: sent * SEGMENT,
            resent,
            ..FlightAtLoss::default()
        });
        DirectionStats {
            mss_used_bytes: Some(1000),
            capacity_bps: Some(8e6),
            path_rtt_min_s: Some(0.05),
            epochs,
            ..DirectionStats::default()
        }
    }

    fn shown(data: &DirectionStats) -> Option<CongestionAlgorithm> {
        let found = FirstLoss::of(data, LimitedBy::Bandwidth);
        (found.count() > 0).then(|| found.weights.best().0)
    }

    #[test]
    fn doubling_into_a_queue_is_reno_and_slower_growth_is_cubic() {
        assert_eq!(shown(&direction(200, 390, 95)), Some(Reno));
        assert_eq!(shown(&direction(120, 1400, 6)), Some(Cubic));
    }

    #[test]
    fn without_a_queue_slow_start_tells_nothing() {
        assert_eq!(shown(&direction(40, 78, 1)), None);
        assert_eq!(shown(&direction(40, 1400, 1)), None);
    }
}
