//! What a test is to do, and who is told of its steps.

use std::time::Duration;

use maxseg_core::engine::EngineName;
use maxseg_core::framing::Framing;
use maxseg_core::rfc6349::{ROUND_TRIPS_OF_SLOW_START, Thresholds};
use maxseg_core::units::{BitsPerSec, approx};
use maxseg_linux::far_end::FarEndError;
use maxseg_wire::responder::Limits;

/// What is tested, and how.
#[derive(Debug, Clone)]
pub struct PathOptions {
    /// Flows that are tried, each with ports of its own: routers with several paths of equal cost choose by them.
    pub flows: u8,
    /// Round trips that are measured.
    pub pings: u32,
    /// A far end, and what is measured with it.
    pub far_end: Option<FarEndOptions>,
    /// Only probes that teach the kernel nothing.
    pub quiet_probes: bool,
    /// Whether the beginning of a request may be sent to an open port, where nothing else shows what arrives.
    pub payload: bool,
}

impl Default for PathOptions {
    fn default() -> Self {
        Self { flows: 4, pings: 20, far_end: None, quiet_probes: false, payload: true }
    }
}

/// What is told while a test runs.
pub trait PathObserver {
    /// What is tried now, in a few words.
    fn on_step(&mut self, step: &str);

    /// What a user should know before it is done.
    fn on_warning(&mut self, warning: &str);
}

impl PathObserver for () {
    fn on_step(&mut self, _: &str) {}
    fn on_warning(&mut self, _: &str) {}
}

/// What runs at the far end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FarEndKind {
    /// `maxseg responder`.
    Responder,
    /// `iperf3 -s`.
    Iperf3,
}

/// What is measured with a far end.
#[derive(Debug, Clone)]
pub struct FarEndOptions {
    /// What runs there.
    pub kind: FarEndKind,
    /// Its port; `None` for the usual one.
    pub port: Option<u16>,
    /// The responder's token.
    pub token: String,
    /// The time of a step; the run in equilibrium of RFC 6349 has its own.
    pub step: Duration,
    /// Connections that fill the path.
    pub connections: u16,
    /// The test of RFC 6349.
    pub rfc6349: Option<Rfc6349Options>,
    /// The table of segment sizes and windows.
    pub table: Option<TableOptions>,
}

impl FarEndOptions {
    /// The same, with no transfer too short for a round trip of so many seconds. iperf3 knows whole seconds.
    pub(super) fn for_round_trip(&self, rtt_s: Option<f64>) -> Self {
        let least = rtt_s.map_or(0.0, |rtt| (ROUND_TRIPS_OF_SLOW_START * rtt).ceil());
        let least = Duration::try_from_secs_f64(least).unwrap_or_default();
        let mut options = self.clone();
        options.step = options.step.max(least);
        if let Some(asked) = &mut options.rfc6349 {
            asked.duration = asked.duration.max(least);
        }
        if let Some(asked) = &mut options.table {
            asked.row = asked.row.max(least);
        }
        options
    }

    /// Seconds of all its transfers, where none has to be repeated.
    fn total_s(&self) -> f64 {
        self.load_s() + self.table.as_ref().map_or(0.0, TableOptions::total_s)
    }

    /// Seconds of all but the table.
    pub(super) fn load_s(&self) -> f64 {
        let step = self.step.as_secs_f64();
        let trains = if self.kind == FarEndKind::Responder { 2.0 * TRAINS_S } else { 0.0 };
        trains + self.rfc6349.map_or(2.0 * step, |asked| asked.total_s(step))
    }

    /// The longest transfer that is made in any case.
    fn longest(&self) -> Duration {
        let equilibrium = self.rfc6349.map(|asked| asked.duration);
        let row = self.table.as_ref().map(|asked| asked.row);
        [equilibrium, row].into_iter().flatten().fold(self.step, Duration::max)
    }

    /// Refuses a far end that takes no transfer as long as the longest, or as fast as one is to be: all before it would be in vain.
    pub(super) fn refuse_limits(&self, limits: Limits) -> Result<(), FarEndError> {
        let (asked, most_seconds) = (self.longest(), limits.seconds);
        if asked > Duration::from_secs(most_seconds.into()) {
            return Err(FarEndError::TooLong { asked, most_seconds });
        }
        let asked_bps = self.rfc6349.and_then(|asked| asked.thresholds.throughput_min_bps);
        let most_bps = limits.bits_per_second as f64;
        if let Some(asked_bps) = asked_bps.filter(|asked| most_bps > 0.0 && *asked > most_bps) {
            return Err(FarEndError::TooFast { asked_bps, most_bps });
        }
        Ok(())
    }

    /// What is to come: how long it takes, and that it fills the path (RFC 6349 §5 wants a warning where that may exceed what a
    /// provider has agreed to).
    pub(super) fn warning(&self) -> String {
        let stated = self.rfc6349.and_then(|asked| asked.bandwidth);
        let agreed = stated.map_or_else(String::new, |(rate, _)| {
            format!(", perhaps beyond the stated {}", approx::rate(rate.get() as f64))
        });
        let connections = match self.connections {
            1 => "one connection".to_owned(),
            several => format!("{several} connections"),
        };
        let settle = if self.kind == FarEndKind::Responder {
            let longest = LONGEST_SETTLE.as_secs();
            format!("; before each, up to {longest} s until pings are as without load")
        } else {
            String::new()
        };
        format!(
            "transfers with the far end take {:.0} s in all and fill the path both ways{agreed}; where windows or losses hold {}, \
             up to {:.0} s more for more of them{settle}",
            self.total_s(),
            connections,
            self.more_s()
        )
    }

    /// Seconds of transfers with more connections, where those that are asked for do not fill the path either way: four times as many
    /// each time, and a longer one at the end.
    fn more_s(&self) -> f64 {
        let asked = std::iter::successors(Some(self.connections.max(1)), |n| n.checked_mul(4));
        let steps = asked.take_while(|count| *count < MOST_CONNECTIONS).count();
        2.0 * self.step.as_secs_f64() * (steps as f64 + f64::from(LONGER))
    }
}

/// What an earlier transfer has queued is waited for no longer.
pub(super) const LONGEST_SETTLE: Duration = Duration::from_secs(10);
/// More connections are not asked for (`--connections`, and `maxseg responder --max-connections` unless set).
const MOST_CONNECTIONS: u16 = 64;
/// A policer lets a burst pass besides its rate: over a time that is so much longer it counts less.
pub(super) const LONGER: u32 = 4;
/// Seconds of all trains of datagrams of a direction, as a rule.
const TRAINS_S: f64 = 2.0;

/// Windows of the sweep, by the product of bandwidth and delay.
pub(super) const SWEEP: [f64; 5] = [0.25, 0.5, 0.75, 1.0, 1.5];

/// Inputs of the test.
#[derive(Debug, Clone, Copy)]
pub struct Rfc6349Options {
    /// The run in equilibrium, each way.
    pub duration: Duration,
    /// How often it is repeated.
    pub repeats: u32,
    /// What has to be reached.
    pub thresholds: Thresholds,
    /// The bandwidth that the provider states, with the framing of the link that it is of; the measured one unless given.
    pub bandwidth: Option<(BitsPerSec, Framing)>,
    /// Send buffer and receive window of the run in equilibrium, bytes; the kernels' own autotuning unless given.
    pub buffer: Option<u32>,
    /// Whether the path passed a test of layers 2 and 3, as far as the user says so.
    pub is_layer_2_tested: bool,
}

impl Rfc6349Options {
    /// Seconds of all transfers, where a step takes so many.
    fn total_s(&self, step_s: f64) -> f64 {
        let equilibrium = self.duration.as_secs_f64() * f64::from(self.repeats.max(1));
        // Both directions at once is one more step.
        2.0 * (step_s * (1.0 + SWEEP.len() as f64) + equilibrium) + step_s
    }
}

/// How the table is made.
#[derive(Debug, Clone)]
pub struct TableOptions {
    /// The time of each of the sixteen rows.
    pub row: Duration,
    /// Engines that run each row as well, on the path as it was measured.
    pub engines: Vec<EngineName>,
}

impl TableOptions {
    fn total_s(&self) -> f64 {
        self.row.as_secs_f64() * 16.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_round_trip_takes_longer_transfers() {
        let second = Duration::from_secs(1);
        let options = FarEndOptions {
            kind: FarEndKind::Iperf3,
            port: None,
            token: String::new(),
            step: second,
            connections: 4,
            rfc6349: None,
            table: Some(TableOptions { row: second, engines: Vec::new() }),
        };
        let long = options.for_round_trip(Some(0.41));
        assert_eq!((long.step, long.table.as_ref().unwrap().row), (9 * second, 9 * second));
        let said = long.warning();
        assert!(said.contains("take 162 s in all"), "{said}");
        assert!(said.contains("up to 108 s more"), "{said}");
        assert_eq!(options.for_round_trip(Some(0.02)).step, second);
        assert_eq!(options.for_round_trip(None).step, second);
        let limits = |seconds, bits_per_second| Limits { seconds, bits_per_second, connections: 4 };
        assert!(long.refuse_limits(limits(9, 0)).is_ok());
        let refused = long.refuse_limits(limits(8, 0)).unwrap_err().to_string();
        assert!(refused.contains("at most 8 s, and one of 9 s"), "{refused}");
        let one = FarEndOptions { connections: 1, ..options }.warning();
        assert!(one.contains("hold one connection,"), "{one}");
    }
}
