//! Datagrams and echo requests in closed form.

use super::flow_path::FlowPath;
use super::shares::{Crossing, MUCH_OF_REQUESTS, Shares};
use super::{Estimate, Formula, whole};
use crate::engine::Caveat;
use crate::framing::IpPacket;
use crate::outcome::{LimitedBy, Outcome};
use crate::scenario::{Flow, Scenario};
use crate::units::{Bytes, Time, approx};

/// Datagrams at a constant rate.
pub(super) fn constant_rate(
    scenario: &Scenario,
    flow: &Flow,
    (size, header, interval): (Bytes, Bytes, f64),
    shares: &Shares<'_>,
) -> Estimate {
    let flow_path = FlowPath::of(scenario, flow);
    let packet = IpPacket::from(size + header);
    // More than the link carries waits until the queue is full, and then is refused.
    let carried = shares.carried(flow);
    let beyond = flow_path.fragments_beyond_queue(packet);
    let whole_ones = if beyond.is_some() { 0.0 } else { 1.0 };
    let delivery = whole_ones * carried * flow_path.loss(packet).complement();
    let until = scenario.until.time;
    let active = flow.stop.min(until).since(flow.start).as_secs_f64();
    let payload = active / interval * delivery * size.get() as f64;
    let full = carried < 1.0;
    let too_big = scenario.is_too_big(flow, packet.length());
    let mut caveats: Vec<Caveat> = flow_path.schedule_caveat().into_iter().collect();
    caveats.extend(beyond.map(fragments_caveat));
    if full {
        let alone = flow_path.bottleneck(packet).seconds / interval > 1.0;
        let text = if alone {
            "the flow offers more than its slowest link carries: the share of refused packets is exact, their order is not modelled"
        } else {
            "flows of datagrams together offer more than a link carries: the formulas let each lose the same share"
        };
        caveats.push(Caveat::new("overload", text));
    }
    let outcome = Outcome {
        goodput_bps: Some(payload * 8.0 / until.as_secs_f64()),
        elapsed_s: Some(until.as_secs_f64()),
        payload_bytes: Some(whole(payload)),
        data_packets: Some(whole(libm::ceil(active / interval))),
        segment_loss: Some(1.0 - delivery),
        limited_by: Some(LimitedBy::of_datagrams(too_big, full)),
        formula: Some(Formula::Datagrams.name().to_owned()),
        ..Outcome::default()
    };
    Estimate { outcome, caveats }
}

/// Echo requests behind queues that stand `queue` long.
pub(super) fn echo(
    scenario: &Scenario,
    flow: &Flow,
    packet: IpPacket,
    queue: Time,
    shares: &Shares<'_>,
) -> Estimate {
    let flow_path = FlowPath::of(scenario, flow);
    let back = FlowPath::of_replies(scenario, flow);
    let damaged = flow_path.loss(packet).or(back.loss(packet));
    // Full queues refuse echoes as they do datagrams.
    let passed = shares.carried(flow) * shares.carried(&flow.reversed());
    let beyond = [&flow_path, &back].into_iter().find_map(|way| way.fragments_beyond_queue(packet));
    let lost = if beyond.is_some() { 1.0 } else { 1.0 - passed * damaged.complement() };
    let mut caveats: Vec<Caveat> = flow_path.schedule_caveat().into_iter().collect();
    caveats.extend(beyond.map(fragments_caveat));
    if passed < 1.0 {
        let text = "datagrams offer more than a link carries: echoes wait in a full queue, and whether they find room there depends on when they come, \
                    which the formulas do not know";
        caveats.push(Caveat::new("outside-range", text));
    }
    caveats.extend(requests_caveat(flow, shares));
    let outcome = Outcome {
        elapsed_s: Some(scenario.until.time.as_secs_f64()),
        segment_loss: Some(lost),
        // Where none is answered there is no mean.
        ping_mean_s: (lost < 1.0 && flow.start < scenario.until.time)
            .then(|| (flow_path.echo_time(&back, packet) + queue).as_secs_f64()),
        queue_mean_s: Some(queue.as_secs_f64()),
        ..Outcome::default()
    };
    Estimate { outcome, caveats }
}

/// Echoes wait behind what requests and replies have in the queues, which no mean load tells.
fn requests_caveat(flow: &Flow, shares: &Shares<'_>) -> Option<Caveat> {
    let links = [*flow, flow.reversed()].into_iter().flat_map(|way| Crossing::all(&way));
    let most = links.map(|link| shares.of_requests(link)).fold(0.0, f64::max);
    (most >= MUCH_OF_REQUESTS).then(|| {
        let text = format!(
            "requests and replies take up to {} of a link: the formula ignores how long echoes wait for them",
            approx::percent(most.min(1.0))
        );
        Caveat::new("outside-range", text)
    })
}

/// No packet arrives whole of which a queue refuses a fragment each time.
fn fragments_caveat((fragments, room): (usize, f64)) -> Caveat {
    let text = format!(
        "the {fragments} fragments of a packet come at once before a link whose queue holds {} of them: no packet arrives whole",
        approx::digits(libm::floor(room))
    );
    Caveat::new("fragments", text)
}
