//! Losses that come again before any window could have grown back what the one before took.
//!
//! A window of w segments that Reno halves is back after w ÷ 2 round trips, and after as many flights but a quarter; CUBIC's, which grows
//! by 0.53 segments a round trip at least, after 0.57 w. From 5 segments on that is two flights and more. Who loses again after one,
//! most of the time, and still has as much in flight, reduces it for no loss: BBR at a policer, and in front of a queue that others fill.

use super::weights::Weights;
use crate::evidence::{DirectionStats, FlightAtLoss};
use crate::outcome::LimitedBy;
use crate::stats::median;

/// So many flights, in the median, are too few for growth.
const MOST_FLIGHTS: f64 = 1.5;
/// The median flight has so many segments at least,
const LEAST_FLIGHT: f64 = 5.0;
/// of so many losses.
const LEAST_LOSSES: usize = 6;
/// How likely it is under Reno, CUBIC and BBR: windows fall for some losses one upon another.
const LIKELIHOODS: [f64; 3] = [0.1, 0.1, 1.0];
const MOST: f64 = 2.3;

/// What the distances of losses show.
#[derive(Debug, Clone, Default)]
pub(super) struct FrequentLosses {
    pub(super) weights: Weights,
    /// Flights from one loss to the next, in the median.
    flights: Option<f64>,
}

impl FrequentLosses {
    pub(super) fn of(data: &DirectionStats, limit: LimitedBy) -> Self {
        let mut found = Self::default();
        let is_held = matches!(limit, LimitedBy::Paced | LimitedBy::Application);
        if !is_held && !super::hears_of_needless(data) {
            found.flights = flights_between(data);
        }
        if found.flights.is_some() {
            found.weights.add(LIKELIHOODS, MOST);
        }
        found
    }

    /// Whether it shows anything.
    pub(super) const fn count(&self) -> usize {
        self.flights.is_some() as usize
    }

    /// What it shows, as a clause; of BBR.
    pub(super) fn sentence(&self) -> Option<String> {
        let flights = self.flights?;
        Some(format!(
            "losses came again after {flights:.1} flights (median), and left as much in flight"
        ))
    }
}

/// How many flights are sent from one loss to the next, in the median, where these are too few.
fn flights_between(data: &DirectionStats) -> Option<f64> {
    let segment = f64::from(data.mss_used_bytes.unwrap_or(1460).max(1));
    let is_plain = |loss: &FlightAtLoss| !loss.by_timer && !loss.is_capped;
    let steps: Vec<(f64, f64)> = data
        .epochs
        .losses()
        .windows(2)
        .filter_map(|pair| match pair {
            [before, loss] if !before.by_timer && is_plain(loss) => {
                let flight = before.in_flight.max(1) as f64;
                Some((loss.sent_since as f64 / flight, flight / segment))
            }
            _ => None,
        })
        .collect();
    if steps.len() < LEAST_LOSSES {
        return None;
    }
    let flights = median(steps.iter().map(|step| step.0).collect())?;
    let flight = median(steps.iter().map(|step| step.1).collect())?;
    (flights <= MOST_FLIGHTS && flight >= LEAST_FLIGHT).then_some(flights)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::CongestionEpochs;

    /// Losses at such flights, each after so many new segments.
    fn direction(losses: &[(u64, u64)]) -> DirectionStats {
        let mut epochs = CongestionEpochs::default();
        for (flight, sent) in losses {
            epochs.push_loss(FlightAtLoss {
                in_flight: flight * 1000,
                sent_since: sent * 1000,
                resent: 1,
                ..FlightAtLoss::default()
            });
        }
        DirectionStats { mss_used_bytes: Some(1000), epochs, ..DirectionStats::default() }
    }

    #[test]
    fn losses_after_every_flight_that_leave_it_are_bbr() {
        let data = direction(&[(20, 24); 8]);
        assert_eq!(FrequentLosses::of(&data, LimitedBy::Bandwidth).count(), 1);
        // Without a full link a program may send as it likes.
        assert_eq!(FrequentLosses::of(&data, LimitedBy::Application).count(), 0);
    }

    /// From 10 to 20 segments 150 are acknowledged, a segment a round trip, and 20 more are in flight.
    #[test]
    fn growth_in_between_is_not() {
        let reno = direction(&[(20, 170); 8]);
        assert_eq!(FrequentLosses::of(&reno, LimitedBy::Congestion).count(), 0);
        // Of three segments a loss leaves two, which are three again at once.
        let small = direction(&[(3, 4); 8]);
        assert_eq!(FrequentLosses::of(&small, LimitedBy::Congestion).count(), 0);
    }
}
