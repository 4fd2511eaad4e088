//! Behaviour of links that the formulas ignore.

use super::flow_path::FlowPath;
use crate::engine::Caveat;
use crate::errors::ErrorModel;
use crate::framing::IpPacket;
use crate::path::{Discipline, HopSpec, LinkSpec};
use crate::scenario::{End, FlowKind, Scenario};
use crate::units::{Bytes, Probability, Time};

/// One caveat for each thing that some link of the path does, and that the formulas leave out.
pub(super) fn of_links(scenario: &Scenario) -> Vec<Caveat> {
    let links: Vec<&LinkSpec> = scenario.path.hops.iter().flat_map(HopSpec::links).collect();
    let any = |does: fn(&LinkSpec) -> bool| links.iter().any(|link| does(link));
    let known = [
        (
            any(|link| matches!(link.discipline, Discipline::Codel(_))),
            "codel",
            "the formulas assume drop-tail queues; CoDel drops before the queue is full and keeps the delay near its \
             target",
        ),
        (
            any(|link| matches!(link.discipline, Discipline::Red(_))),
            "red",
            "the formulas assume drop-tail queues; RED drops by the average queue length, before the queue is full",
        ),
        (
            any(|link| link.policer.is_some()),
            "policer",
            "the formulas treat a policer as a link of its rate; its losses come in bursts, so a TCP flow may get \
             far less",
        ),
        (
            any(|link| link.burst > Bytes::ZERO),
            "burst",
            "the formulas ignore the bursts that a token bucket passes above its rate after idle time",
        ),
        (
            any(|link| link.jitter > Time::ZERO),
            "jitter",
            "the formulas use the mean delay; they ignore reordering and the effect of jitter on the retransmission \
             timer",
        ),
        (
            any(|link| link.reorder > Probability::NEVER),
            "reorder",
            "the formulas ignore reordering; TCP takes three duplicate ACKs for a loss",
        ),
        (
            any(|link| link.duplicate > Probability::NEVER),
            "duplicate",
            "the formulas ignore duplicated packets: their bandwidth and their duplicate ACKs",
        ),
        (
            any(|link| link.arq.is_some() && has_bursts(link)),
            "arq-bursts",
            "the residual loss after link retransmissions assumes independent frame errors; here errors come in \
             bursts",
        ),
        (
            any(|link| link.arq.is_some()),
            "arq",
            "link retransmissions count with their mean delay; the formulas ignore that they vary the round trip, \
             raise the RTO and delay later packets",
        ),
        (
            [End::Sender, End::Receiver].iter().all(|end| {
                scenario.flows.iter().any(|flow| flow.kind == FlowKind::Bulk && flow.from == *end)
            }),
            "two-way",
            "bulk flows from both ends: the formulas ignore ACKs of one that queue behind data of the other; on a \
             slow reverse path a flow may get far less (RFC 3449)",
        ),
        (
            !scenario.is_end_to_end(),
            "part-path",
            "flows over part of the path: each bulk flow gets an equal share of its own slowest link, even if other \
             flows cannot use theirs",
        ),
    ];
    let mut caveats: Vec<Caveat> = known
        .iter()
        .filter(|(holds, ..)| *holds)
        .map(|(_, code, text)| Caveat::new(code, *text))
        .collect();
    if scenario.flows.iter().any(|flow| match flow.kind {
        FlowKind::Bulk | FlowKind::Request(_) => false,
        FlowKind::Cbr { size, header, .. } | FlowKind::Ping { size, header, .. } => {
            FlowPath::of(scenario, flow).is_cut(IpPacket::from(size + header))
        }
    }) {
        let text = "fragments count at each hop in turn; the formulas ignore that they cross several hops at once";
        caveats.push(Caveat::new("fragments", text));
    }
    caveats
}

fn has_bursts(link: &LinkSpec) -> bool {
    link.errors.entries().iter().any(|(_, model)| matches!(model, ErrorModel::GilbertElliott(_)))
}
