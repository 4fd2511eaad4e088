//! The observed path with a change, as the remedy's commands make it.

use super::Rerun;
use crate::advise::change::mend_losses;
use crate::advise::path::{Confidence, LEAST_QUEUE, whole};
use crate::advise::scenario_text::LossModel;
use crate::advise::{Case, Change};
use crate::diagnose::LossCause;
use crate::engine::EngineName;
use crate::path::QueueLimit;
use crate::scenario::Scenario;
use crate::settings::WindowSize;
use crate::sim::Sim;
use crate::units::{BitsPerSec, Bytes, Time};
use crate::window::{FIELD, LARGEST_SHIFT, MEMORY_PER_PAYLOAD};

/// So much of a rate waits where a sender paces itself, or its host shapes: before the path, and without loss.
const SHAPER_ROOM: Time = Time::from_secs(1);

/// A queue that is assumed may be so many times shorter, and one that did not overflow hold so many times what the path does.
const SHORT_QUEUE: u64 = 3;
const LONG_QUEUE: u64 = 3;

impl Rerun {
    /// The scenario as the remedy's commands make it: limits of autotuning are raised, no window is set.
    pub(super) fn changed(&self, changes: &[Change]) -> Scenario {
        let mut scenario = self.scenario.clone();
        for change in changes {
            match (change, &mut scenario.receiver.linux, &mut scenario.sender.linux) {
                (Change::Window(window), Some(rules), _) => {
                    rules.tcp_rmem[2] = rules.tcp_rmem[2].max(MEMORY_PER_PAYLOAD * window.get());
                    let most = Bytes::new(rules.tcp_rmem[2] / MEMORY_PER_PAYLOAD);
                    scenario.receiver.window = WindowSize::Auto { most };
                }
                (Change::SendBuffer(buffer), _, Some(rules)) => {
                    rules.tcp_wmem[2] = rules.tcp_wmem[2].max(MEMORY_PER_PAYLOAD * buffer.get());
                    scenario.sender.send_buffer = None;
                    scenario.receiver.window =
                        WindowSize::Bytes(Bytes::new(self.path.window_bytes.value));
                }
                // A program that reads at once lets the window grow, as far as its scale allows.
                (Change::ReadsAtOnce, Some(rules), _) => {
                    let scale = self.path.window_scale.unwrap_or(0).min(LARGEST_SHIFT);
                    let most = (rules.tcp_rmem[2] / MEMORY_PER_PAYLOAD).min(FIELD << scale);
                    let most = Bytes::new(most.max(self.path.window_bytes.value));
                    scenario.receiver.window = WindowSize::Auto { most };
                    scenario.receiver.read_rate = None;
                }
                (Change::Pacing(rate), _, _) => shape(&mut scenario, *rate),
                (change, _, _) => change.apply(&mut scenario),
            }
        }
        scenario
    }
}

impl Rerun {
    /// Goodput after changes that send larger flights, in bits per second, with that of the [other queues](Self::other_queues) which costs most, and
    /// without SACK where the capture does not show whether it is in use: an overflow costs far more without it. Where there is none, the end of
    /// losses and a longer queue send such flights, too. `None` of other changes.
    pub(super) fn at_worst(&self, changes: &[Change], after: &Scenario) -> Option<f64> {
        let lifts_flight = changes.iter().any(|change| {
            matches!(change, Change::Window(_) | Change::SendBuffer(_) | Change::ReadsAtOnce)
        });
        let is_without_sack = self.path.sack != Some(true);
        if !(lifts_flight || is_without_sack && mend_losses(changes)) {
            return None;
        }
        let is_window_open = self.path.window_bytes.confidence == Confidence::Low;
        let queues = self.other_queues(after, is_without_sack);
        let goodputs = queues.into_iter().filter_map(|queue| {
            let mut scenario = after.clone();
            for hop in &mut scenario.path.hops {
                hop.forward.queue = queue;
            }
            if is_without_sack {
                // One run for both: without SACK no overflow is repaired sooner.
                scenario.receiver.sack = false;
                if is_window_open {
                    open_window(&mut scenario);
                }
            }
            Some(self.runs(&mut Sim, EngineName::Sim, &scenario)?.goodput_bps)
        });
        goodputs.reduce(f64::min)
    }

    /// The standard deviation of the logarithm of a goodput that losses limit, for so few were seen: n vary by the square root of n, and the goodput goes by
    /// the inverse square root of their share (RFC 5348 §3.1).
    pub(super) fn loss_uncertainty(&self, case: &Case<'_>, changes: &[Change]) -> f64 {
        let seen = case.data().needed_retransmissions();
        let remain = self.loss == LossModel::Errors && seen > 0 && !mend_losses(changes);
        if remain { 0.5 / libm::sqrt(seen as f64) } else { 0.0 }
    }

    /// Queues that the path may have as well after a change.
    fn other_queues(&self, after: &Scenario, is_without_sack: bool) -> Vec<QueueLimit> {
        let bytes = |bytes: u64| QueueLimit::Bytes(Bytes::new(bytes.max(LEAST_QUEUE)));
        let taken = self.path.queue_bytes.value;
        let overflowed = self.path.loss_cause == LossCause::Queue;
        let is_queue_open = self.path.queue_bytes.confidence == Confidence::Low;
        let mut queues = Vec::new();
        if is_queue_open || is_without_sack && !overflowed {
            queues.push(bytes(taken / SHORT_QUEUE));
        }
        if is_without_sack {
            // Slow start loses half of what path and queue hold, and repairs one segment in each round trip.
            if overflowed {
                let longest = after.path.hops.iter().filter_map(|hop| match hop.forward.queue {
                    QueueLimit::Bytes(bytes) => Some(bytes.get()),
                    QueueLimit::Packets(_) => None,
                });
                queues.push(bytes(longest.max().unwrap_or(taken) * 2 / 3));
            } else {
                let path = whole(self.path.bdp_bytes());
                queues.extend([path / 2, path, 2 * path, LONG_QUEUE * path].map(bytes));
            }
        }
        queues
    }
}

/// Lets the window grow as far as autotuning goes: one whose scale was not captured may hold back in a run what overflows the queue on
/// the path.
fn open_window(scenario: &mut Scenario) {
    let rules = scenario.receiver.linux.filter(|_| scenario.receiver.read_rate.is_none());
    if let Some(rules) = rules {
        scenario.receiver.window = WindowSize::Auto { most: rules.widest_window() };
    }
}

/// A sender at this rate in front of a policer that passes it, whose bucket a capture does not show: a link of that rate stands for both, with
/// room for all that the sender has ready.
fn shape(scenario: &mut Scenario, rate: BitsPerSec) {
    for link in scenario.path.hops.iter_mut().map(|hop| &mut hop.forward) {
        link.rate = link.rate.min(rate);
        link.policer = None;
        link.queue = QueueLimit::Bytes(rate.bytes_in(SHAPER_ROOM));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sender_below_a_policer_is_a_link_of_that_rate() {
        let text = "[[hop]]\nrate = \"50 Mbit/s\"\ndelay = \"10 ms\"\npolicer = { rate = \"8 Mbit/s\", burst = \"20 kB\" }\n\
                    [until]\ntime = \"1 s\"\n[[flow]]\nkind = \"bulk\"\n";
        let mut scenario = Scenario::from_toml("policed.toml", text).unwrap();
        let rate = BitsPerSec::new(7_600_000).unwrap();
        shape(&mut scenario, rate);
        let link = &scenario.path.hops[0].forward;
        assert_eq!((link.rate, link.policer), (rate, None));
        assert_eq!(link.queue, QueueLimit::Bytes(Bytes::new(950_000)), "a second of it");
    }
}
