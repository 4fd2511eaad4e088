//! Datagrams and echo requests in closed form.

use super::flow_path::FlowPath;
use super::{Estimate, Formula, whole};
use crate::engine::Caveat;
use crate::framing::IpPacket;
use crate::outcome::{LimitedBy, Outcome};
use crate::scenario::{Flow, FlowKind, Scenario};
use crate::units::{Bytes, Time};

/// Datagrams at a constant rate.
pub(super) fn constant_rate(
    scenario: &Scenario,
    flow: &Flow,
    size: Bytes,
    header: Bytes,
    interval: f64,
) -> Estimate {
    let flow_path = FlowPath::of(scenario, flow);
    let packet = IpPacket::from(size + header);
    // More than the link carries waits until the queue is full, and then is refused.
    let carried = (1.0 / load(&flow_path, packet, interval)).min(1.0);
    let delivery = carried * flow_path.loss(packet).complement();
    let until = scenario.until.time;
    let active = flow.stop.min(until).since(flow.start).as_secs_f64();
    let payload = active / interval * delivery * size.get() as f64;
    let full = carried < 1.0;
    let too_big = scenario.is_too_big(flow, packet.length());
    let mut caveats: Vec<Caveat> = flow_path.schedule_caveat().into_iter().collect();
    if full {
        caveats.push(Caveat::new(
            "overload",
            "the flow offers more than its slowest link carries: the share of refused packets is exact, their order is not modelled",
        ));
    }
    let outcome = Outcome {
        goodput_bps: Some(payload * 8.0 / until.as_secs_f64()),
        elapsed_s: Some(until.as_secs_f64()),
        payload_bytes: Some(whole(payload)),
        data_packets: Some(whole(libm::ceil(active / interval))),
        segment_loss: Some(1.0 - delivery),
        limited_by: Some(if too_big {
            LimitedBy::PathMtu
        } else if full {
            LimitedBy::Bandwidth
        } else {
            LimitedBy::Application
        }),
        formula: Some(Formula::Datagrams.name().to_owned()),
        ..Outcome::default()
    };
    Estimate { outcome, caveats }
}

/// The share of its slowest link that packets each `interval` seconds take; more than 1 where they do
/// not fit.
fn load(flow_path: &FlowPath<'_>, packet: IpPacket, interval: f64) -> f64 {
    flow_path.bottleneck(packet).seconds / interval
}

/// Echo requests behind queues that stand `queue` long.
pub(super) fn echo(scenario: &Scenario, flow: &Flow, packet: IpPacket, queue: Time) -> Estimate {
    let flow_path = FlowPath::of(scenario, flow);
    let lost = flow_path.loss(packet).or(flow_path.loss_back(packet)).get();
    let outcome = Outcome {
        elapsed_s: Some(scenario.until.time.as_secs_f64()),
        segment_loss: Some(lost),
        ping_mean_s: Some((flow_path.round_trip(packet, packet) + queue).as_secs_f64()),
        queue_mean_s: Some(queue.as_secs_f64()),
        ..Outcome::default()
    };
    Estimate { outcome, caveats: flow_path.schedule_caveat().into_iter().collect() }
}

/// The share of its slowest link that a flow of datagrams takes, at most all; 0 for other flows.
pub(super) fn share_of_bottleneck(scenario: &Scenario, flow: &Flow) -> f64 {
    match (flow.kind, flow.kind.interval_s()) {
        (FlowKind::Cbr { size, header, .. }, Some(interval)) => {
            load(&FlowPath::of(scenario, flow), IpPacket::from(size + header), interval).min(1.0)
        }
        _ => 0.0,
    }
}
