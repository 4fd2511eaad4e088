//! The outcome of a run, from its counters.

use std::collections::BTreeMap;

use maxseg_core::engine::name_flows;
use maxseg_core::framing::{UDP_HEADER, ip_header};
use maxseg_core::outcome::{LabFlow, LabLink, LabProof, LimitShare, LimitedBy, Outcome, Usage};
use maxseg_core::path::{HopSpec, LinkSpec};
use maxseg_core::scenario::{End, Flow, FlowKind, Scenario};
use maxseg_core::stats::Histogram;
use maxseg_core::units::{Bytes, Time};

use super::flows::{FlowCounts, is_foreign};
use super::proof;
use super::relay::{FlowMeter, LatenessMeter, Report};
use super::run::{LinkReports, RunRecord};

/// A flow that starts as the run ends has no time; shares of less than this, in seconds, mean nothing.
const SHORTEST: f64 = 1e-6;

/// The outcome of a run.
pub(super) fn outcome(scenario: &Scenario, ran: &RunRecord) -> Outcome {
    let outcomes: Vec<Outcome> =
        (0..scenario.flows.len()).map(|flow| of_flow(scenario, ran, flow)).collect();
    let mut outcome = match outcomes.as_slice() {
        [one] => one.clone(),
        _ => Outcome::total(outcomes, of_run(ran)),
    };
    name_flows(&mut outcome, scenario);
    let gbit = outcome.payload_bytes.unwrap_or(0) as f64 * 8e-9;
    outcome.cpu_s_per_gbit = (gbit > 0.0).then(|| ran.cpu.as_secs_f64() / gbit);
    outcome.lab = Some(Box::new(proof_of(scenario, ran)));
    outcome
}

fn of_flow(scenario: &Scenario, ran: &RunRecord, index: usize) -> Outcome {
    let (flow, counted) = (&scenario.flows[index], &ran.flows[index]);
    let meters = meters_of(flow, index, ran);
    let of_wire = |number: fn(&FlowMeter) -> u64| {
        meters.as_ref().map(|(sent, back)| number(sent) + number(back))
    };
    let elapsed = counted.elapsed.unwrap_or(ran.elapsed).as_secs_f64();
    let is_tcp = flow.kind.is_tcp();
    let (tcp, asking) = (&counted.tcp, &counted.asking);
    let payload = match flow.kind {
        FlowKind::Bulk if counted.report_pending => None,
        FlowKind::Bulk if is_foreign(scenario, flow) => Some(counted.delivered),
        FlowKind::Bulk => Some(tcp.acknowledged),
        FlowKind::Cbr { .. } | FlowKind::Request(_) => Some(counted.delivered),
        FlowKind::Ping { .. } => None,
    };
    let data_packets = of_wire(|meter| meter.data_packets).map(|packets| packets + counted.unsent);
    let data_packets = data_packets.or(match flow.kind {
        FlowKind::Bulk => tcp.data_packets,
        FlowKind::Cbr { .. } => Some(counted.sent),
        FlowKind::Request(_) | FlowKind::Ping { .. } => None,
    });
    let share_lost = |lost: u64| Some(lost as f64 / data_packets.filter(|n| *n > 0)? as f64);
    let of_tcp = |value: u64| is_tcp.then_some(value);
    let mean = |sum: f64| (tcp.samples > 0).then(|| sum / tcp.samples as f64);
    let requests = Some(&counted.requests).filter(|_| matches!(flow.kind, FlowKind::Request(_)));
    let limits = limits(scenario, ran, index);
    let in_flight = (tcp.samples > 0 && tcp.connections > 0).then(|| mean_in_flight(counted));
    let segment_loss = match flow.kind {
        FlowKind::Ping { .. } => unanswered(std::iter::once(counted)),
        FlowKind::Bulk | FlowKind::Cbr { .. } | FlowKind::Request(_) => of_wire(|meter| meter.lost)
            .map(|lost| lost + counted.unsent + dropped_by_routers(scenario, ran, index))
            .and_then(share_lost),
    };
    Outcome {
        goodput_bps: payload.map(|bytes| bytes as f64 * 8.0 / elapsed),
        elapsed_s: Some(elapsed),
        payload_bytes: payload,
        data_packets: data_packets.filter(|_| !matches!(flow.kind, FlowKind::Ping { .. })),
        ack_packets: of_wire(|meter| meter.acks).filter(|_| is_tcp),
        packets: of_wire(|meter| meter.packets),
        wire_bytes: of_wire(|meter| meter.wire_bytes),
        retransmitted_packets: of_tcp(tcp.retransmitted_packets + asking.retransmitted_packets),
        retransmitted_bytes: of_tcp(tcp.retransmitted_bytes + asking.retransmitted_bytes)
            .filter(|_| tcp.connections > 0),
        timeouts: tcp
            .timeouts
            .map(|timeouts| timeouts + asking.timeouts.unwrap_or(0))
            .filter(|_| is_tcp),
        spurious_retransmissions: of_tcp(tcp.duplicates + asking.duplicates)
            .filter(|_| tcp.connections > 0),
        segment_loss,
        rtt_min_s: tcp.rtt_min.map(Time::as_secs_f64),
        rtt_mean_s: mean(tcp.rtt_sum),
        in_flight_mean_bytes: in_flight,
        queue_mean_s: queue(flow, ran),
        mss_used_bytes: tcp.mss.or(meters.and_then(|(sent, _)| of_tcp(sent.largest_segment))),
        limited_by: limits.first().map(|limit| limit.kind).or_else(|| {
            let length = largest_packet(scenario, flow).filter(|_| !is_tcp)?;
            let is_full = usage(scenario, ran, index).has_full_link();
            Some(LimitedBy::of_datagrams(scenario.is_too_big(flow, length), is_full))
        }),
        limits,
        ..Outcome::of_times(&counted.pings, requests)
    }
}

/// Bytes in flight, mean over the whole run: none before a flow starts, and between its connections.
fn mean_in_flight(counted: &FlowCounts) -> f64 {
    (counted.tcp.in_flight_sum + counted.asking.in_flight_sum) / counted.looks.max(1) as f64
}

/// The share of echo requests without an answer; of those behind the last answer nobody knows yet.
fn unanswered<'a>(flows: impl Iterator<Item = &'a FlowCounts>) -> Option<f64> {
    let known = |counted: &FlowCounts| match counted.settled {
        0 => counted.sent,
        settled => settled,
    };
    let (sent, answered) = flows.fold((0, 0), |(sent, answered), counted| {
        (sent + known(counted), answered + counted.pings.count())
    });
    (sent > 0).then(|| sent.saturating_sub(answered) as f64 / sent as f64)
}

/// What only the samples of all flows tell, and the run.
fn of_run(ran: &RunRecord) -> Outcome {
    let (mut pings, mut requests) = (Histogram::default(), Histogram::default());
    let (mut samples, mut rtt) = (0_u64, 0.0);
    for counted in &ran.flows {
        pings.merge(&counted.pings);
        requests.merge(&counted.requests);
        samples += counted.tcp.samples;
        rtt += counted.tcp.rtt_sum;
    }
    let ends = ran.flows.iter().map(|counted| counted.elapsed.unwrap_or(ran.elapsed));
    Outcome {
        elapsed_s: Some(ends.max().unwrap_or(ran.elapsed).as_secs_f64()),
        segment_loss: unanswered(ran.flows.iter()),
        rtt_mean_s: (samples > 0).then(|| rtt / samples as f64),
        ..Outcome::of_times(&pings, Some(&requests))
    }
}

/// The relay's counters of a flow: of its data's direction, and of the other; `None` over the kernel's links.
fn meters_of(flow: &Flow, index: usize, ran: &RunRecord) -> Option<(FlowMeter, FlowMeter)> {
    let LinkReports::Relay(links) = &ran.links else { return None };
    // Losses are summed over the hops; everything else is counted where the packets enter the path.
    let lost_towards = |side: usize| {
        let hops = flow.hops.first..=flow.hops.last;
        hops.map(|hop| links[hop][side].meter.flow(index).lost).sum()
    };
    let (first, last) = (&links[flow.hops.first], &links[flow.hops.last]);
    let forward = FlowMeter { lost: lost_towards(0), ..first[0].meter.flow(index) };
    let reverse = FlowMeter { lost: lost_towards(1), ..last[1].meter.flow(index) };
    Some(match flow.from {
        End::Sender => (forward, reverse),
        End::Receiver => (reverse, forward),
    })
}

/// Packets with payload that a router's kernel drops, as they are too large for its next link and must not be fragmented: what the
/// link before has delivered, and this one was not given.
fn dropped_by_routers(scenario: &Scenario, ran: &RunRecord, index: usize) -> u64 {
    let (flow, LinkReports::Relay(links)) = (&scenario.flows[index], &ran.links) else { return 0 };
    let ways = if flow.kind.is_tcp() { flow.ways_of_data() } else { vec![*flow] };
    let of_way = |way: &Flow| {
        let Some(length) = largest_packet(scenario, way) else { return 0 };
        if !scenario.is_too_big(way, length) {
            return 0;
        }
        let mut hops: Vec<usize> = (way.hops.first..=way.hops.last).collect();
        if way.from == End::Receiver {
            hops.reverse();
        }
        let meter = |hop: usize| links[hop][side_towards_receiver(way)].meter.flow(index);
        let path = scenario.links_from_sender_of(way);
        // What is too large for the first link its sender's kernel refuses.
        let routers = hops.windows(2).zip(path.iter().skip(1));
        let too_small = routers.filter(|(_, link)| length > link.mtu.bytes());
        let dropped = too_small.map(|(hops, _)| {
            meter(hops[0]).delivered_packets.saturating_sub(meter(hops[1]).data_packets)
        });
        dropped.sum()
    };
    ways.iter().map(of_way).sum()
}

/// The length of the largest packets with payload that the flow's sender begins with; `None` for echo requests, whose losses
/// are not counted here.
fn largest_packet(scenario: &Scenario, way: &Flow) -> Option<Bytes> {
    match way.kind {
        FlowKind::Cbr { size, .. } => Some(size + ip_header(scenario.ip) + UDP_HEADER),
        FlowKind::Bulk | FlowKind::Request(_) => {
            let mss = scenario.mss(way);
            Some(mss.initial.bytes() + mss.options + scenario.tcp_ip_headers())
        }
        FlowKind::Ping { .. } => None,
    }
}

/// The way of what the flow is about, as a flow from its sender: the data, or the replies to requests.
fn way_of_most(flow: &Flow) -> Flow {
    flow.ways_of_data().last().copied().unwrap_or(*flow)
}

/// The index of a hop's link towards the receiver of what goes this way.
fn side_towards_receiver(way: &Flow) -> usize {
    usize::from(way.from == End::Receiver)
}

/// Mean queueing delay of the path in seconds: the sum of the hops' means.
fn queue(flow: &Flow, ran: &RunRecord) -> Option<f64> {
    let LinkReports::Relay(links) = &ran.links else { return None };
    let side = side_towards_receiver(&way_of_most(flow));
    let hops = &links[flow.hops.first..=flow.hops.last];
    // Of all that came to the wire's queue, also of what still waits there: so far.
    let came = hops.iter().map(|hop| &hop[side]).map(|hop| (hop.link, hop.link.sent + hop.waiting));
    let means = came.filter(|(_, packets)| *packets > 0);
    Some(means.map(|(link, packets)| link.waited.as_secs_f64() / packets as f64).sum())
}

/// How busy the links of a flow were in its time. What its own packets take of them only the relay counts.
fn usage(scenario: &Scenario, ran: &RunRecord, index: usize) -> Usage {
    let way = way_of_most(&scenario.flows[index]);
    let (ended, busy) =
        ran.busy_at_limit.clone().unwrap_or_else(|| (ran.elapsed, ran.links.busy()));
    let used = ended.since(way.start).as_secs_f64().max(SHORTEST);
    let before = ran.busy_before.iter().find(|(at, _)| *at == way.start);
    let busiest = |side: usize| {
        let of_hop = |hop: usize| {
            let earlier = before.map_or(Time::ZERO, |(_, links)| links[hop][side]);
            busy[hop][side].since(earlier)
        };
        let hops = (way.hops.first..=way.hops.last).map(|hop| (hop, of_hop(hop)));
        let (hop, busy) = hops.max_by_key(|(_, busy)| *busy).unwrap_or_default();
        (hop, busy.as_secs_f64() / used)
    };
    let side = side_towards_receiver(&way);
    let (_, first_back) = scenario.first_links(&way);
    let own = meters_of(&way, index, ran);
    let share_of = |link: &LinkSpec, meter: FlowMeter| {
        meter.wire_bytes as f64 * 8.0 / link.rate.get() as f64 / used
    };
    let ((busiest_hop, link), (_, way_back)) = (busiest(side), busiest(1 - side));
    let busiest_link = &scenario.path.hops[busiest_hop].links()[side];
    Usage {
        link,
        // Unknown, it is the flow's.
        own_link: own.map_or(link, |(there, _)| share_of(busiest_link, there)),
        way_back,
        own_way_back: own.map_or(0.0, |(_, back)| share_of(first_back, back)),
        ..Usage::default()
    }
}

/// Shares of the flow's own time, from its start to its end, for which each limit held: from the sender's `tcp_info`, largest first.
fn limits(scenario: &Scenario, ran: &RunRecord, index: usize) -> Vec<LimitShare> {
    let (flow, counted) = (&scenario.flows[index], &ran.flows[index]);
    let tcp = &counted.tcp;
    if !flow.kind.is_tcp() || tcp.connections == 0 {
        return Vec::new();
    }
    let last = counted.elapsed.unwrap_or(ran.elapsed);
    let ended = counted.ended.unwrap_or(last).min(last);
    let active = ended.since(flow.start).as_secs_f64().max(SHORTEST);
    let share = |time: Time| (time.as_secs_f64() / active).clamp(0.0, 1.0);
    let share_of = |time: Option<Time>| share(time.unwrap_or_default());
    // Without an acknowledgement only the timer repairs.
    let is_unanswered = tcp.retransmitted_packets > 0 && tcp.acknowledged == 0;
    let kind = |kind: LimitedBy| if is_unanswered { LimitedBy::Rto } else { kind };
    let busy = share_of(tcp.busy);
    let handshake = share(counted.opened.unwrap_or_default().since(flow.start)).min(1.0 - busy);
    let mut held = BTreeMap::from([
        (LimitedBy::ReceiveWindow, share_of(tcp.window_limited)),
        (LimitedBy::SendBuffer, share_of(tcp.buffer_limited)),
        (LimitedBy::Rto, share_of(tcp.timed_out)),
        (LimitedBy::StartUp, handshake),
        (LimitedBy::Application, 1.0 - busy - handshake),
    ]);
    for (limit, time) in &tcp.held {
        *held.entry(kind(*limit)).or_default() += share(*time);
    }
    let mut limits = LimitShare::of_times(held, &usage(scenario, ran, index));
    limits.retain(|limit| limit.share > LimitShare::LEAST);
    limits
}

fn proof_of(scenario: &Scenario, ran: &RunRecord) -> LabProof {
    let reports = || ran.relayed().iter().flatten();
    let mut lateness = LatenessMeter::default();
    reports().for_each(|report| lateness.merge(&report.lateness));
    let kernel_drops =
        ran.kernel_drops + reports().map(|report| report.meter.kernel_drops).sum::<u64>();
    let (links, is_relay) = match &ran.links {
        LinkReports::Relay(links) => {
            let specs = scenario.path.hops.iter().flat_map(HopSpec::links);
            let both = links.iter().flatten().zip(specs);
            (both.map(|(report, spec)| link(report, spec)).collect(), true)
        }
        LinkReports::Kernel(links) => {
            (links.iter().flatten().map(|report| report.link.clone()).collect(), false)
        }
    };
    LabProof {
        invalid_because: proof::doubts(scenario, ran, kernel_drops),
        links,
        lateness: is_relay.then(|| lateness.outcome()),
        kernel_drops,
        capture_drops: ran.capture_drops,
        cpu_s: ran.cpu.as_secs_f64(),
        relay_cpu_s: is_relay.then(|| reports().map(|report| report.cpu.as_secs_f64()).sum()),
        flows: (0..scenario.flows.len()).filter_map(|flow| settings(scenario, ran, flow)).collect(),
    }
}

/// The counters of a link.
pub(super) fn link(report: &Report, spec: &LinkSpec) -> LabLink {
    let (link, meter) = (&report.link, &report.meter);
    LabLink {
        link: report.name.clone(),
        packets: meter.packets,
        bytes: meter.bytes,
        super_packets: meter.super_packets,
        damaged: link.damaged,
        damaged_expected: meter.expected_loss(spec, report.at),
        refused: link.refused,
        policed: link.policed,
        early: link.early,
        marked: link.marked,
        doubled: link.doubled,
        too_big: meter.too_big,
        withheld: meter.withheld,
        sent_packets: Some(link.sent),
        waited_s: Some(link.waited.as_secs_f64()),
    }
}

/// Requested and used settings of a TCP flow.
fn settings(scenario: &Scenario, ran: &RunRecord, index: usize) -> Option<LabFlow> {
    let flow = &scenario.flows[index];
    // For requests, the direction of the replies.
    let way = way_of_most(flow);
    if !flow.kind.is_tcp() {
        return None;
    }
    let (sent, back) = meters_of(&way, index, ran).unwrap_or_default();
    let tcp = &ran.flows[index].tcp;
    Some(proof::settings(scenario, (index, &way), tcp, (&sent, &back)))
}
