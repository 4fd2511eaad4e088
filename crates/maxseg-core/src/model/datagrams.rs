//! Datagrams and echo requests in closed form.

use super::way::Way;
use super::{Estimate, Formula, whole};
use crate::engine::Caveat;
use crate::outcome::{LimitedBy, Outcome};
use crate::scenario::{Flow, FlowKind, Scenario};
use crate::units::{Bytes, Time};

/// Datagrams of `size` bytes and `header` bytes of headers, one each `interval`.
pub(super) fn constant_rate(
    scenario: &Scenario,
    flow: &Flow,
    size: Bytes,
    header: Bytes,
    interval: Time,
) -> Estimate {
    let way = Way::of(scenario, flow);
    let packet = size + header;
    let bottleneck = way.bottleneck(packet);
    let wire_time = bottleneck.rate.time_for(bottleneck.wire_bytes(packet)).as_secs_f64();
    let interval = interval.as_secs_f64();
    // More than the link carries waits until the queue is full, and then is refused.
    let carried = if interval > 0.0 { (interval / wire_time).min(1.0) } else { 0.0 };
    let damaged = way.loss(packet).get();
    let until = scenario.until.time;
    let active = flow.stop.min(until).since(flow.start).as_secs_f64();
    let delivered = active / interval * carried * (1.0 - damaged);
    let payload = delivered * size.get() as f64;
    let full = carried < 1.0;
    let mut caveats = Vec::new();
    if full {
        caveats.push(Caveat::new(
            "overload",
            "the flow offers more than its slowest link carries: the share that is refused is exact, the order of losses is not modelled",
        ));
    }
    let outcome = Outcome {
        goodput_bps: Some(payload * 8.0 / until.as_secs_f64()),
        elapsed_s: Some(until.as_secs_f64()),
        payload_bytes: Some(whole(payload)),
        data_packets: Some(whole(active / interval)),
        segment_loss: Some(1.0 - carried * (1.0 - damaged)),
        limited_by: Some(if full { LimitedBy::Bandwidth } else { LimitedBy::Application }),
        formula: Some(Formula::Datagrams.name().to_owned()),
        ..Outcome::default()
    };
    Estimate { outcome, caveats }
}

/// Echo requests of `packet` bytes behind queues that stand `queue` long.
pub(super) fn echo(scenario: &Scenario, flow: &Flow, packet: Bytes, queue: Time) -> Estimate {
    let way = Way::of(scenario, flow);
    let lost = way.loss(packet).or(way.loss_back(packet)).get();
    let outcome = Outcome {
        elapsed_s: Some(scenario.until.time.as_secs_f64()),
        segment_loss: Some(lost),
        ping_mean_s: Some((way.round_trip(packet, packet) + queue).as_secs_f64()),
        queue_mean_s: Some(queue.as_secs_f64()),
        ..Outcome::default()
    };
    Estimate { outcome, caveats: Vec::new() }
}

/// The share of its slowest link that a flow of datagrams takes; 0 for other flows.
pub(super) fn share_of_bottleneck(scenario: &Scenario, flow: &Flow) -> f64 {
    let FlowKind::Cbr { size, header, interval } = flow.kind else { return 0.0 };
    let way = Way::of(scenario, flow);
    let packet = size + header;
    let link = way.bottleneck(packet);
    let wire_time = link.rate.time_for(link.wire_bytes(packet)).as_secs_f64();
    (wire_time / interval.as_secs_f64()).min(1.0)
}
