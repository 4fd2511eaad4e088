//! Which flows share a host, and what a host takes for each packet.

use super::problem::{Problem, problem};
use super::{End, Flow, FlowKind, Scenario};
use crate::units::Time;

/// A host: flows that enter, or leave, the path at the same place share it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Host {
    /// Whose settings it has.
    pub end: End,
    /// Its first link: that of this hop, counted from 0 at the sender.
    pub hop: usize,
}

impl Scenario {
    /// The host at one end of a flow.
    pub const fn host(&self, flow: &Flow, end: End) -> Host {
        let hop = match end {
            End::Sender => flow.hops.first,
            End::Receiver => flow.hops.last,
        };
        Host { end, hop }
    }

    /// What a host at this end takes for each packet that it sends or receives; `None` for no time.
    pub const fn packet_cost(&self, end: End) -> Option<Time> {
        match end {
            End::Sender => self.sender.packet_cost,
            End::Receiver => self.receiver.packet_cost,
        }
    }

    /// The share of a host's time that datagrams and echoes take, if none is lost.
    pub fn steady_load(&self, host: Host) -> f64 {
        let Some(cost) = self.packet_cost(host.end) else {
            return 0.0;
        };
        let here = self.flows.iter().filter(|flow| self.host(flow, host.end) == host);
        let packets_per_second = here.filter_map(|flow| {
            // An echo's host sends the request and receives the answer, or the other way round.
            let packets = if matches!(flow.kind, FlowKind::Ping { .. }) { 2.0 } else { 1.0 };
            Some(packets / flow.kind.interval_s()?)
        });
        packets_per_second.sum::<f64>() * cost.as_secs_f64()
    }
}

/// What waits for a host waits without limit, so it must keep up with what does not wait for it: datagrams
/// and echoes.
pub(super) fn check_hosts_keep_up(scenario: &Scenario) -> Result<(), Problem> {
    for flow in &scenario.flows {
        for end in [End::Sender, End::Receiver] {
            let load = scenario.steady_load(scenario.host(flow, end));
            let Some(cost) = scenario.packet_cost(end).filter(|_| load >= 1.0) else {
                continue;
            };
            let key = match end {
                End::Sender => "sender.packet_cost",
                End::Receiver => "receiver.packet_cost",
            };
            let what = format!(
                "a host that takes {cost} for a packet cannot keep up: datagrams and echoes alone are {load:.3} \
                 times what it has time for"
            );
            return Err(problem(key, what, "make it smaller, or let flows send less often"));
        }
    }
    Ok(())
}
