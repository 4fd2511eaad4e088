//! What turns a scenario into an outcome: the closed form, the simulator, the lab.

mod size_caveats;
mod stand_ins;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::evidence::SocketInfo;
use crate::outcome::Outcome;
use crate::scenario::{Flow, FlowKind, LabTraffic, Scenario};
use crate::units::{Bytes, Time};
pub use size_caveats::size_caveats;
pub use stand_ins::{assumed_by_formulas, assumed_by_simulator};

/// Something that runs scenarios.
pub trait Engine {
    /// What it will only approximate, known before it runs.
    fn caveats(&self, scenario: &Scenario) -> Vec<Caveat>;

    /// Runs `scenario`, reporting to `watch` on the way.
    ///
    /// # Errors
    /// The scenario is beyond this engine, or `watch` put an end to it.
    fn run(&mut self, scenario: &Scenario, watch: &mut dyn Watch) -> Result<Outcome, EngineError>;
}

/// The engines by name.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum EngineName {
    /// Formulas.
    Model,
    /// Packets in virtual time.
    Sim,
    /// The real kernel, in real time.
    Lab,
    /// A real path: what `maxseg path` measured there. Nothing runs it.
    Measured,
}

impl EngineName {
    /// The word that commands and results use.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Sim => "sim",
            Self::Lab => "lab",
            Self::Measured => "measured",
        }
    }

    /// Whether a seed changes what it gives.
    pub const fn uses_chance(self) -> bool {
        match self {
            Self::Model | Self::Measured => false,
            Self::Sim | Self::Lab => true,
        }
    }

    /// Whether another run of it may give another outcome, where in the scenario anything `is_random` or not.
    pub const fn has_chance(self, is_random: bool) -> bool {
        self.is_real_time() || (self.uses_chance() && is_random)
    }

    /// Whether a run takes as long as it says and needs the machine for itself, and no seed brings the same
    /// outcome again: the kernel's timing is chance.
    pub const fn is_real_time(self) -> bool {
        match self {
            Self::Model | Self::Sim => false,
            Self::Lab | Self::Measured => true,
        }
    }
}

impl std::fmt::Display for EngineName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.word())
    }
}

/// Something to know before relying on a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Caveat {
    /// A word for programs.
    pub code: String,
    /// A sentence for people.
    pub text: String,
}

impl Caveat {
    /// A caveat with this code and text.
    pub fn new(code: &str, text: impl Into<String>) -> Self {
        Self { code: code.to_owned(), text: text.into() }
    }
}

/// Why there is no outcome.
#[derive(Debug, Clone, Error)]
pub enum EngineError {
    /// The watcher stopped the run.
    #[error("cancelled")]
    Cancelled,
    /// This machine, or this user, cannot run the scenario.
    #[error("{source}")]
    Unable {
        /// The engine's own error: its type tells the kind.
        source: Arc<dyn std::error::Error + Send + Sync>,
        /// How to fix it.
        hint: Option<String>,
    },
}

/// Follows a run.
pub trait Watch {
    /// The run's clock stands at `now` and will end at `until` at the latest. Called now and then;
    /// [`Continue::Stop`] ends the run with [`EngineError::Cancelled`].
    fn on_progress(&mut self, now: Time, until: Time) -> Continue;

    /// How often [`Watch::on_sample`] wants to be called, in the run's time; `None` for never.
    fn sample_every(&self) -> Option<Time> {
        None
    }

    /// The state of one TCP flow at a point in time.
    fn on_sample(&mut self, _sample: &Sample) {}

    /// At the same time as [`Watch::on_sample`], what the flow's sending socket tells of itself, from engines and stacks where it does: of
    /// a flow of requests the server's.
    fn on_socket(&mut self, _at: Time, _flow: usize, _info: &SocketInfo) {}
}

/// Whether to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Continue {
    /// Go on.
    Go,
    /// End the run.
    Stop,
}

/// A watcher that lets the run go on and looks at nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn on_progress(&mut self, _: Time, _: Time) -> Continue {
        Continue::Go
    }
}

/// The state of one TCP flow at a point in time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// When, on the run's clock.
    pub at: Time,
    /// Which flow, counted from 0.
    pub flow: usize,
    /// The congestion window.
    pub cwnd: Bytes,
    /// The window that the peer offers.
    pub window: Bytes,
    /// Unacknowledged bytes, lost ones included.
    pub in_flight: Bytes,
    /// The smoothed round trip; `None` before there is one.
    pub srtt: Option<Time>,
    /// The retransmission timeout.
    pub rto: Time,
    /// How long a packet that came now would wait in the longest queue on its way.
    pub queue: Time,
    /// Payload acknowledged so far.
    pub acknowledged: Bytes,
}

/// What to know of transfers, and of counted requests, that did not come to their end.
pub fn unfinished(scenario: &Scenario, outcome: &Outcome) -> Option<Caveat> {
    let outcomes =
        if outcome.flows.is_empty() { std::slice::from_ref(outcome) } else { &outcome.flows };
    let flows = scenario.flows.iter().zip(outcomes);
    let is_by_iperf3 = outcome.lab.is_some() && scenario.lab.traffic == LabTraffic::Iperf3;
    let bytes = if is_by_iperf3 {
        "bytes received, when iperf3 had written the last"
    } else {
        "bytes acknowledged"
    };
    let done = |(flow, outcome): (&Flow, &Outcome)| match flow.kind {
        FlowKind::Bulk => {
            let wanted = scenario.until.bytes?.get();
            Some((outcome.payload_bytes?, wanted, bytes))
        }
        FlowKind::Request(plan) => Some((outcome.requests?, plan.count?, "requests answered")),
        FlowKind::Cbr { .. } | FlowKind::Ping { .. } => None,
    };
    let short = flows.filter_map(done).filter(|(got, wanted, _)| got < wanted);
    let (got, wanted, of) = short.max_by_key(|(got, wanted, _)| wanted - got)?;
    // iperf3 ends by itself, the others' runs at the time limit.
    let own_end = outcome.elapsed_s.filter(|_| is_by_iperf3).map(rounded);
    let after = own_end.unwrap_or(scenario.until.time);
    Some(Caveat::new(
        "unfinished",
        format!("the run ended after {after} with {got} of {wanted} {of}"),
    ))
}

/// To milliseconds.
fn rounded(seconds: f64) -> Time {
    Time::from_secs_f64(libm::round(seconds * 1e3) / 1e3)
}

/// Says of each flow of an outcome which flow of the scenario it is, and whether it is on the way of the first TCP flow.
pub fn name_flows(outcome: &mut Outcome, scenario: &Scenario) {
    let is_tcp = |flow: &&Flow| matches!(flow.kind, FlowKind::Bulk | FlowKind::Request(_));
    let way = |flow: &Flow| (flow.from, flow.hops);
    let first = scenario.flows.iter().find(is_tcp).map(way);
    for (index, (flow, spec)) in outcome.flows.iter_mut().zip(&scenario.flows).enumerate() {
        flow.kind = Some(spec.kind.word().to_owned());
        flow.name = Some(format!("flow.{index}"));
        flow.on_first_way = is_tcp(&spec).then(|| first == Some(way(spec)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_on_the_way_of_the_first_one_are_told_from_others() {
        let flows = "[[flow]]\nkind = \"ping\"\n[[flow]]\nkind = \"bulk\"\n[[flow]]\nkind = \"bulk\"\nstart = \"1 s\"\n\
                     [[flow]]\nkind = \"bulk\"\nfrom = \"receiver\"\n";
        let text = format!(
            "[[hop]]\nrate = \"1 Mbit/s\"\ndelay = \"5 ms\"\n{flows}[until]\ntime = \"2 s\""
        );
        let scenario = Scenario::from_toml("test", &text).unwrap();
        let flows = vec![Outcome::default(); scenario.flows.len()];
        let mut outcome = Outcome { flows, ..Outcome::default() };
        name_flows(&mut outcome, &scenario);
        let ways: Vec<_> = outcome.flows.iter().map(|flow| flow.on_first_way).collect();
        assert_eq!(ways, [None, Some(true), Some(true), Some(false)]);
    }
}
