//! The congestion window of the run of an observed path as it is.

use super::rerun::Rerun;
use crate::engine::{Continue, Engine as _, Sample, Watch};
use crate::sim::Sim;
use crate::units::{Bytes, Time};

/// Samples that are wanted of a run.
const SAMPLES: f64 = 800.0;

/// Keeps the congestion window of the first flow.
struct Windows {
    every: Time,
    list: Vec<(Time, Bytes)>,
}

impl Watch for Windows {
    fn on_progress(&mut self, _: Time, _: Time) -> Continue {
        Continue::Go
    }

    fn sample_every(&self) -> Option<Time> {
        Some(self.every)
    }

    fn on_sample(&mut self, sample: &Sample) {
        if sample.flow == 0 {
            self.list.push((sample.at, sample.cwnd));
        }
    }
}

impl Rerun {
    /// The congestion window of the simulator's run of the path as it is, some hundred samples, by the time since its first
    /// data. Empty where the run fails.
    pub fn congestion_window(&self) -> Vec<(Time, Bytes)> {
        let scenario = self.scenario();
        let bytes = scenario.until.bytes.map_or(0, Bytes::get) as f64;
        let seconds = 8.0 * bytes / self.path.goodput_bps.max(1.0);
        let every = Time::from_secs_f64((seconds / SAMPLES).max(1e-6));
        let mut windows = Windows { every, list: Vec::new() };
        if Sim.run(scenario, &mut windows).is_err() {
            return Vec::new();
        }
        // The run's first data follow its handshake, which takes a round trip.
        let handshake = Time::from_secs_f64(self.path.rtt_s.value);
        let after = windows.list.into_iter().filter(|(at, _)| *at >= handshake);
        after.map(|(at, window)| (at.since(handshake), window)).collect()
    }
}
