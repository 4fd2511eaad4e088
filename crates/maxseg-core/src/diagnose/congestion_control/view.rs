//! Where packets of a direction were seen, as far as its flights depend on it.

use crate::diagnose::trip_view::is_at_sender;
use crate::evidence::DirectionStats;
use crate::outcome::LimitedBy;
use crate::stats::median;

/// What tells the sender's flights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum View {
    /// The capture is at the sender: flights and their clock are its own.
    Sender,
    /// Elsewhere timestamps tell what the sender knew: flights are its own, as precisely as the timestamps.
    Elsewhere,
    /// Without timestamps, acknowledgements are taken to reach the sender after the round trip of the handshake: flights are its
    /// own where nothing waits on the path.
    ByHandshake,
}

/// The flight at a loss needs no round trip. Where that before it is the same to these shares, in so many epochs, the round trip of
/// the handshake was that under load.
const SAME_FLIGHT: std::ops::RangeInclusive<f64> = 0.78..=1.15;
const LEAST_EPOCHS: usize = 3;
/// Timestamps count milliseconds.
const TICK_S: f64 = 0.001;
/// Round trips vary by this share even where nothing waits: acknowledgements are delayed.
const TRIP_VARIES: f64 = 0.03;

impl View {
    /// `None` where flights are not known.
    pub(super) fn of(data: &DirectionStats, limit: LimitedBy) -> Option<Self> {
        // A link that is full has a queue.
        let may_be_empty =
            matches!(limit, LimitedBy::Congestion | LimitedBy::ReceiveWindow | LimitedBy::Rto);
        match (data.epochs.is_by_echo, is_at_sender(data)) {
            (true, _) => Some(Self::Elsewhere),
            (false, true) => Some(Self::Sender),
            (false, false) => {
                (may_be_empty && has_flights_of_losses(data)).then_some(Self::ByHandshake)
            }
        }
    }

    /// How far a flight may be wrong, as a share of itself.
    pub(super) fn grain(self, data: &DirectionStats) -> f64 {
        match (self, data.path_rtt_loaded_s) {
            (Self::Elsewhere, Some(loaded)) => TICK_S / loaded.max(TICK_S),
            (Self::ByHandshake, _) => TRIP_VARIES,
            _ => 0.0,
        }
    }
}

/// Whether the flights of the round trips before losses are those at the losses, but for a segment that duplicates have released where the receive window had
/// room for it.
fn has_flights_of_losses(data: &DirectionStats) -> bool {
    let losses = data.epochs.losses();
    let segment = data.mss_used_bytes.map_or(0, u64::from);
    let shares: Vec<f64> = data
        .epochs
        .as_slice()
        .iter()
        .filter(|epoch| epoch.peak > 0)
        .filter_map(|epoch| {
            let before = losses.iter().rev().find(|loss| loss.at <= epoch.from)?;
            let released = if before.is_capped { 0 } else { segment };
            (before.in_flight > 0).then(|| (epoch.peak + released) as f64 / before.in_flight as f64)
        })
        .collect();
    shares.len() >= LEAST_EPOCHS && median(shares).is_some_and(|share| SAME_FLIGHT.contains(&share))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{CongestionEpoch, CongestionEpochs, FlightAtLoss};
    use crate::units::Time;

    /// At the receiver, without timestamps: losses at 40 segments, where flights by the handshake's round trip were `seen`.
    fn direction(seen: u64) -> DirectionStats {
        losing_at(FlightAtLoss { in_flight: 40_000, ..FlightAtLoss::default() }, seen)
    }

    fn losing_at(loss: FlightAtLoss, seen: u64) -> DirectionStats {
        let mut epochs = CongestionEpochs::default();
        for second in 1..4 {
            let at = Time::from_secs(second);
            epochs.push_loss(FlightAtLoss { at, ..loss });
            let from = at.saturating_add(Time::from_millis(50));
            epochs.push(CongestionEpoch { from, peak: seen, ..CongestionEpoch::default() });
        }
        DirectionStats {
            rtt_min_s: Some(0.0001),
            path_rtt_min_s: Some(0.05),
            epochs,
            ..DirectionStats::default()
        }
    }

    #[test]
    fn the_handshake_tells_flights_where_nothing_waits() {
        let plain = direction(38_000);
        assert_eq!(View::of(&plain, LimitedBy::Congestion), Some(View::ByHandshake));
        assert_eq!(View::of(&plain, LimitedBy::Bandwidth), None);
        // A queue makes round trips longer, and what is counted in one of the handshake's is less.
        assert_eq!(View::of(&direction(20_000), LimitedBy::Congestion), None);
    }

    /// Six segments fill a window: duplicates release no seventh, which would be a sixth more.
    #[test]
    fn a_full_window_has_the_same_flight_at_a_loss() {
        let seen = |is_capped| {
            let loss = FlightAtLoss { in_flight: 8760, is_capped, ..FlightAtLoss::default() };
            let mut data = losing_at(loss, 8760);
            data.mss_used_bytes = Some(1460);
            View::of(&data, LimitedBy::ReceiveWindow)
        };
        assert_eq!(seen(true), Some(View::ByHandshake));
        assert_eq!(seen(false), None);
    }
}
