//! What links do that no formula here knows.

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
            "the formulas take every queue for tail drop; CoDel keeps it near its target, so that the delay \
             is shorter, and drops before it is full",
        ),
        (
            any(|link| matches!(link.discipline, Discipline::Red(_))),
            "red",
            "the formulas take every queue for tail drop; RED drops by its average length before it is full",
        ),
        (
            any(|link| link.policer.is_some()),
            "policer",
            "a policer bounds the rate here like a link; its losses come in bursts, which no formula here \
             knows: a TCP flow may get far less",
        ),
        (
            any(|link| link.burst > Bytes::ZERO),
            "burst",
            "what a token bucket lets pass above the rate after idleness is left out",
        ),
        (
            any(|link| link.jitter > Time::ZERO),
            "jitter",
            "the formulas know the mean delay only: neither what jitter does to the timer, nor packets that \
             overtake",
        ),
        (
            any(|link| link.reorder > Probability::NEVER),
            "reorder",
            "packets that overtake are left out: to TCP three of them look like a loss",
        ),
        (
            any(|link| link.duplicate > Probability::NEVER),
            "duplicate",
            "copies are left out: the room that they take, and duplicate acknowledgements",
        ),
        (
            any(|link| link.arq.is_some() && has_bursts(link)),
            "arq-bursts",
            "the residual loss after repeats takes the frames of a packet to err independently; here errors \
             come in bursts",
        ),
        (
            any(|link| link.arq.is_some()),
            "arq",
            "repeats count with their mean delay; that they vary the round trip, and so raise the timer, and \
             hold up packets behind, is left out",
        ),
        (
            [End::Sender, End::Receiver].iter().all(|end| {
                scenario.flows.iter().any(|flow| flow.kind == FlowKind::Bulk && flow.from == *end)
            }),
            "two-way",
            "bulk flows from both ends: that acknowledgements of one wait behind data of the other is left out; \
             where the way back is slow, a flow may get far less (RFC 3449)",
        ),
        (
            !scenario.is_end_to_end(),
            "part-path",
            "flows over a part of the path: each bulk flow gets an equal share of its own slowest link, \
             whether the others can use theirs or not",
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
        let text = "fragments count at every hop one after the other; that they are on several hops at once is left out";
        caveats.push(Caveat::new("fragments", text));
    }
    caveats
}

fn has_bursts(link: &LinkSpec) -> bool {
    link.errors.entries().iter().any(|(_, model)| matches!(model, ErrorModel::GilbertElliott(_)))
}
