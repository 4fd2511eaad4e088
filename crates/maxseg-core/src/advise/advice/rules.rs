//! What the description of a path asks for and no run shows.

use super::{Advice, Request};
use crate::advise::Change;
use crate::advise::data_flow::{data_flow, link_from};
use crate::path::{HopSpec, IcmpPolicy};
use crate::scenario::Scenario;

/// What is advised by rule, without a gain.
pub(super) fn advice(request: &Request<'_>) -> Vec<Advice> {
    let by_rule = |(change, reason)| Advice::by_rule(change, reason, request);
    let advice = clamp(request.scenario).into_iter().map(by_rule);
    advice.filter(|advice| !request.ignored.contains(&advice.id)).collect()
}

/// A gateway's clamp, where packets are cut or vanish on a hop that neither host sees.
fn clamp(scenario: &Scenario) -> Option<(Change, String)> {
    let flow = data_flow(scenario)?;
    let decision = scenario.mss(&flow);
    let hops = &scenario.path.hops;
    let inner = hops.get(1..hops.len().saturating_sub(1))?;
    let mtu = |hop: &HopSpec| link_from(hop, flow.from).mtu;
    let narrow = inner.iter().min_by_key(|hop| mtu(hop))?;
    let own = [hops.first()?, hops.last()?].map(mtu);
    let is_silent = |hop: &HopSpec| link_from(hop, flow.from).icmp == IcmpPolicy::Drop;
    let is_asked = mtu(narrow) < own[0].min(own[1])
        && (decision.is_too_large() || decision.is_lowered_by_path() && is_silent(narrow));
    is_asked.then(|| {
        let reason = format!(
            "{} carries packets of at most {} bytes, fewer than the links of either host: a clamp at the gateway before it acts for \
             every host behind it, in the place of a change on each. No run shows that: a run has one connection",
            narrow.label(), mtu(narrow).get()
        );
        (Change::Clamp(decision.path_allows), reason)
    })
}
