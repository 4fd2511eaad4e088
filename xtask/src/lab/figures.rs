//! What is compared of a run, from either engine.

use anyhow::Result;
use maxseg_core::engine::{Continue, Engine, Sample, Watch};
use maxseg_core::outcome::Outcome;
use maxseg_core::scenario::Scenario;
use maxseg_core::sim::Sim;
use maxseg_core::units::Time;

/// The figures of one run.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Figures {
    /// Payload over time, all flows together.
    pub(super) goodput_bps: f64,
    /// The sender's smoothed round trip, averaged over time and flows.
    pub(super) round_trip_s: f64,
    /// Segments sent again.
    pub(super) retransmitted: f64,
    /// Of several flows, each one's share of the goodput, largest first.
    pub(super) shares: Vec<f64>,
    /// Median time of requests.
    pub(super) request_s: Option<f64>,
}

impl Figures {
    /// Of a run of the lab, which averages round trips over time by itself (`tcp_info` every 20 ms).
    pub(super) fn of_lab(outcome: &Outcome) -> Self {
        Self::of(outcome, outcome.rtt_mean_s.unwrap_or(f64::NAN))
    }

    /// Runs a scenario in the simulator.
    ///
    /// # Errors
    /// It is no scenario.
    pub(super) fn simulated(text: &str) -> Result<Self> {
        let scenario = Scenario::from_toml("path", text)?;
        let mut round_trips = RoundTrips::default();
        let outcome = Sim.run(&scenario, &mut round_trips)?;
        Ok(Self::of(&outcome, round_trips.mean_s()))
    }

    fn of(outcome: &Outcome, round_trip_s: f64) -> Self {
        let goodput_bps = outcome.goodput_bps.unwrap_or(f64::NAN);
        let payload = |flow: &Outcome| flow.payload_bytes.unwrap_or(0) as f64;
        let all: f64 = outcome.flows.iter().map(payload).sum();
        let mut shares: Vec<f64> =
            outcome.flows.iter().map(|flow| payload(flow) / all.max(1.0)).collect();
        shares.sort_by(|a, b| b.total_cmp(a));
        Self {
            goodput_bps,
            round_trip_s,
            retransmitted: outcome.retransmitted_packets.unwrap_or(0) as f64,
            shares,
            request_s: outcome.request_p50_s,
        }
    }

    /// The mean of several runs of a path; shares are averaged in their order.
    pub(super) fn mean(runs: &[Self]) -> Self {
        let mean = |of: &dyn Fn(&Self) -> f64| runs.iter().map(of).sum::<f64>() / runs.len() as f64;
        let flows = runs.first().map_or(0, |run| run.shares.len());
        let has_requests = runs.iter().all(|run| run.request_s.is_some());
        Self {
            goodput_bps: mean(&|run| run.goodput_bps),
            round_trip_s: mean(&|run| run.round_trip_s),
            retransmitted: mean(&|run| run.retransmitted),
            shares: (0..flows).map(|flow| mean(&|run| run.shares[flow])).collect(),
            request_s: has_requests.then(|| mean(&|run| run.request_s.unwrap_or(f64::NAN))),
        }
    }
}

/// Averages the smoothed round trip over time, as the lab does.
#[derive(Debug, Default)]
struct RoundTrips {
    sum_s: f64,
    samples: u32,
}

/// The lab's (`CHECK_INTERVAL` in `maxseg-linux`, `lab/run.rs`).
const INTERVAL: Time = Time::from_millis(20);

impl RoundTrips {
    fn mean_s(&self) -> f64 {
        self.sum_s / f64::from(self.samples)
    }
}

impl Watch for RoundTrips {
    fn on_progress(&mut self, _: Time, _: Time) -> Continue {
        Continue::Go
    }

    fn sample_every(&self) -> Option<Time> {
        Some(INTERVAL)
    }

    fn on_sample(&mut self, sample: &Sample) {
        if let Some(srtt) = sample.srtt {
            self.sum_s += srtt.as_secs_f64();
            self.samples += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::path::Path;
    use super::*;

    #[test]
    fn the_simulator_gives_every_figure_of_a_path_with_three_flows() {
        let mut path = Path::draw(1, 6);
        assert_eq!(path.starts_s.len(), 3);
        path.seconds = 3.0;
        let figures = Figures::simulated(&path.to_toml(path.seed, "")).unwrap();
        assert!(figures.goodput_bps > 0.0 && figures.goodput_bps < path.rate_bps as f64);
        assert!(figures.round_trip_s >= path.rtt_s, "{figures:?}");
        assert!((figures.shares.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{figures:?}");
        assert!(figures.shares.is_sorted_by(|a, b| a >= b), "{figures:?}");
    }

    #[test]
    fn shares_are_averaged_in_their_order() {
        let of = |shares: &[f64]| Figures { shares: shares.to_vec(), ..Figures::default() };
        let mean = Figures::mean(&[of(&[0.6, 0.3, 0.1]), of(&[0.5, 0.3, 0.2])]);
        assert!((mean.shares[0] - 0.55).abs() < 1e-9 && (mean.shares[2] - 0.15).abs() < 1e-9);
    }
}
