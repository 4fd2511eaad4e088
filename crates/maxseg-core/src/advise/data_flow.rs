//! The way of the data that advice is about: which host sends it, which receives it, over which links.

use crate::outcome::Outcome;
use crate::path::{HopSpec, LinkSpec, PolicerSpec};
use crate::scenario::{End, Flow, FlowKind, Scenario};
use crate::settings::Settings;
use crate::units::BitsPerSec;

/// The flow that advice is about, turned to the way of its data: the first with bulk data, or else the first with requests; of a
/// request and its reply the way of the larger. `None` where nothing goes over TCP.
pub(super) fn data_flow(scenario: &Scenario) -> Option<Flow> {
    let bulk = |flow: &&Flow| flow.kind == FlowKind::Bulk;
    let flows = || scenario.flows.iter();
    flows().find(bulk).copied().or_else(|| flows().find_map(larger_way))
}

/// A request flow, turned to the larger of request and reply.
fn larger_way(flow: &Flow) -> Option<Flow> {
    match flow.kind {
        FlowKind::Request(plan) if plan.reply > plan.request => Some(flow.reversed()),
        FlowKind::Request(_) => Some(*flow),
        FlowKind::Bulk | FlowKind::Cbr { .. } | FlowKind::Ping { .. } => None,
    }
}

/// Whether the settings of the hosts that advice is about are those of this flow too, so that whatever changes there changes both:
/// it is [that flow](data_flow), or bulk data on the same way.
fn is_of_data(scenario: &Scenario, flow: &Flow) -> bool {
    let Some(data) = data_flow(scenario) else { return false };
    let is_itself = *flow == data || larger_way(flow) == Some(data);
    let is_beside = (flow.from, flow.hops) == (data.from, data.hops);
    is_itself || [data, *flow].iter().all(|it| it.kind == FlowKind::Bulk) && is_beside
}

/// The outcomes of the flows of the data, and of all others.
fn apart<'o>(scenario: &Scenario, outcome: &'o Outcome) -> (Vec<&'o Outcome>, Vec<&'o Outcome>) {
    let (mut of_data, mut others) = (Vec::new(), Vec::new());
    for (flow, outcome) in scenario.flows.iter().zip(&outcome.flows) {
        let side = if is_of_data(scenario, flow) { &mut of_data } else { &mut others };
        side.push(outcome);
    }
    (of_data, others)
}

fn goodputs(outcomes: &[&Outcome]) -> impl Iterator<Item = f64> {
    outcomes.iter().filter_map(|outcome| outcome.goodput_bps)
}

/// The goodput of each flow of the data, in bits per second: of [that which advice is about](data_flow) and of the bulk flows beside it
/// on the same way.
pub(super) fn data_goodputs(scenario: &Scenario, outcome: &Outcome) -> Vec<f64> {
    if outcome.flows.is_empty() {
        return outcome.goodput_bps.into_iter().collect();
    }
    goodputs(&apart(scenario, outcome).0).collect()
}

/// Their goodput together; `None` where it is unknown.
pub(super) fn data_goodput_bps(scenario: &Scenario, outcome: &Outcome) -> Option<f64> {
    data_goodputs(scenario, outcome).into_iter().reduce(|sum, one| sum + one)
}

/// The goodput of all other flows together, in bits per second; `None` where none carries data.
pub(super) fn others_goodput_bps(scenario: &Scenario, outcome: &Outcome) -> Option<f64> {
    goodputs(&apart(scenario, outcome).1).reduce(|sum, one| sum + one)
}

/// What each flow of the data has carried, in bits per second: payload that has arrived when the run ends, where that is known. What is
/// acknowledged lags behind it by as much as waits behind a hole then, seconds of a slow link's time: where a run ends would be a gain.
pub(super) fn data_carried(scenario: &Scenario, outcome: &Outcome) -> Vec<f64> {
    if outcome.flows.is_empty() {
        return carried_bps(outcome).into_iter().collect();
    }
    apart(scenario, outcome).0.into_iter().filter_map(carried_bps).collect()
}

/// The same of all other flows together; `None` where none carries data.
pub(super) fn others_carried_bps(scenario: &Scenario, outcome: &Outcome) -> Option<f64> {
    let others = apart(scenario, outcome).1;
    others.into_iter().filter_map(carried_bps).reduce(|sum, one| sum + one)
}

fn carried_bps(outcome: &Outcome) -> Option<f64> {
    let arrived = outcome.arrived_bytes.zip(outcome.elapsed_s.filter(|elapsed| *elapsed > 0.0));
    arrived.map(|(bytes, elapsed)| bytes as f64 * 8.0 / elapsed).or(outcome.goodput_bps)
}

/// The outcome with what limits the flows of the data, and with their timeouts and needless retransmissions: without that it has those of
/// the flow that carries most, and of all.
pub(super) fn of_data(scenario: &Scenario, outcome: Outcome) -> Outcome {
    let (of_data, _) = apart(scenario, &outcome);
    if of_data.is_empty() {
        return outcome;
    }
    let of_data = of_data.into_iter().cloned().collect();
    let Outcome { limited_by, limits, timeouts, spurious_retransmissions, mss_used_bytes, .. } =
        Outcome::total(of_data, Outcome::default());
    Outcome { timeouts, spurious_retransmissions, mss_used_bytes, limited_by, limits, ..outcome }
}

/// The end from which the data comes; the path's first one where there is none.
pub(super) fn data_from(scenario: &Scenario) -> End {
    data_flow(scenario).map_or(End::Sender, |flow| flow.from)
}

/// The settings of the host that sends the data, and of the one that receives it.
pub(super) fn data_hosts(scenario: &Scenario) -> [&Settings; 2] {
    match data_from(scenario) {
        End::Sender => [&scenario.sender, &scenario.receiver],
        End::Receiver => [&scenario.receiver, &scenario.sender],
    }
}

/// The same, to be changed.
pub(super) fn data_hosts_mut(scenario: &mut Scenario) -> [&mut Settings; 2] {
    match data_from(scenario) {
        End::Sender => [&mut scenario.sender, &mut scenario.receiver],
        End::Receiver => [&mut scenario.receiver, &mut scenario.sender],
    }
}

/// The link of a hop that leads away from this end.
pub(super) const fn link_from(hop: &HopSpec, from: End) -> &LinkSpec {
    match from {
        End::Sender => &hop.forward,
        End::Receiver => &hop.reverse,
    }
}

/// The links of the path that the data crosses.
pub(super) fn data_links(scenario: &Scenario) -> impl Iterator<Item = &LinkSpec> {
    let from = data_from(scenario);
    scenario.path.hops.iter().map(move |hop| link_from(hop, from))
}

/// The slowest link that the data crosses.
pub(super) fn data_rate(scenario: &Scenario) -> BitsPerSec {
    data_links(scenario).map(|link| link.rate).min().unwrap_or_else(|| scenario.bottleneck_rate())
}

/// The slowest policer on the way of the data, with its hop.
pub(super) fn policer(scenario: &Scenario) -> Option<(&HopSpec, PolicerSpec)> {
    let from = data_from(scenario);
    let hops = scenario.path.hops.iter();
    let policers = hops.filter_map(|hop| Some((hop, link_from(hop, from).policer?)));
    policers.min_by_key(|(_, policer)| policer.rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINK: &str = "[[hop]]\nrate = \"20 Mbit/s\"\ndelay = \"20 ms\"\nreverse.rate = \"5 Mbit/s\"\n[until]\ntime = \"5 s\"\n";

    fn from(flows: &str) -> End {
        data_from(&Scenario::from_toml("test", &format!("{LINK}{flows}")).unwrap())
    }

    #[test]
    fn the_data_of_requests_goes_where_there_is_more_of_it() {
        let request = |from: &str, request: &str, reply: &str| {
            format!(
                "[[flow]]\nkind = \"request\"\nfrom = \"{from}\"\nrequest = \"{request}\"\nreply = \"{reply}\"\n"
            )
        };
        assert_eq!(from(&request("receiver", "400 B", "100 KiB")), End::Sender);
        assert_eq!(from(&request("receiver", "100 KiB", "400 B")), End::Receiver);
        assert_eq!(from(&request("sender", "400 B", "100 KiB")), End::Receiver);
        let bulk = "[[flow]]\nkind = \"bulk\"\nfrom = \"receiver\"\n";
        assert_eq!(
            from(&format!("{}{bulk}", request("receiver", "400 B", "100 KiB"))),
            End::Receiver
        );
    }

    #[test]
    fn the_rate_is_that_of_the_way_of_the_data() {
        let rate = |flow: &str| {
            data_rate(&Scenario::from_toml("test", &format!("{LINK}{flow}")).unwrap()).get()
        };
        assert_eq!(rate("[[flow]]\nkind = \"bulk\"\nfrom = \"receiver\"\n"), 5_000_000);
        assert_eq!(rate("[[flow]]\nkind = \"bulk\"\n"), 20_000_000);
    }
}
