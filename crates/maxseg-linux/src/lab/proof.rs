//! Whether a run is valid, and which settings its flows used.

use maxseg_core::framing::Headers;
use maxseg_core::outcome::LabFlow;
use maxseg_core::path::LinkSpec;
use maxseg_core::scenario::{Flow, FlowKind, Scenario};
use maxseg_core::settings::{MtuProbing, SocketMemory};
use maxseg_core::units::{Bytes, Probability, Time};

use super::flows::{TcpTotals, congestion_of};
use super::relay::FlowMeter;
use super::run::{LinkReports, RunRecord};
use super::topology::{DIRECTIONS, upstream};

/// Allowed lateness as a share of the round trip.
const SHARE_OF_ROUND_TRIP: f64 = 0.05;
/// Allowed lateness at least: an ordinary machine wakes a thread within this time.
const LEAST: Time = Time::from_millis(1);
/// The quantile of the lateness that is compared.
const LATE_SHARE: f64 = 0.99;

/// Why a run is invalid; empty where it is valid.
pub(super) fn doubts(scenario: &Scenario, ran: &RunRecord, kernel_drops: u64) -> Vec<String> {
    let mut doubts = Vec::new();
    if kernel_drops > 0 {
        let what = match ran.links {
            LinkReports::Relay(_) => {
                "at interfaces or sockets of the hosts: the relay or the applications were too slow"
            }
            LinkReports::Kernel(_) => "at a host's interface, outside the links of the scenario",
        };
        doubts.push(format!("the kernel dropped {kernel_drops} packets {what}"));
    }
    let allowed = allowed_lateness(scenario);
    // By link: few packets of a slow link would not show among the many of a fast one.
    let late =
        ran.relayed().iter().flatten().map(|link| (link.lateness.quantile(LATE_SHARE), link));
    if let Some((late, link)) =
        late.max_by_key(|(late, _)| *late).filter(|(late, _)| *late > allowed)
    {
        doubts.push(format!(
            "{}: p99 lateness {} exceeds the limit of {}: the machine was busy",
            link.name,
            in_ms(late),
            in_ms(allowed)
        ));
    }
    doubts.extend(senders_behind(scenario, ran));
    doubts.extend(bunched(scenario, ran));
    let too_big: u64 = ran.relayed().iter().flatten().map(|link| link.meter.too_big).sum();
    if too_big > 0 {
        doubts.push(format!("{too_big} packets were larger than the MTU of their link"));
    }
    doubts
}

/// A link that refused packets though they come from one no faster: those do not queue unless the relay was late.
fn bunched(scenario: &Scenario, ran: &RunRecord) -> Option<String> {
    let hops = scenario.path.hops.iter().zip(ran.relayed()).enumerate();
    let mut links = hops.flat_map(|(index, (spec, reports))| {
        let links = spec.links().into_iter().zip(reports).zip(DIRECTIONS);
        links.map(move |((spec, report), to)| (spec, report, upstream(scenario, index, to)))
    });
    links.find_map(|(spec, report, upstream)| {
        let refused = report.link.refused;
        (refused > 0 && upstream.is_some_and(|upstream| never_fills(spec, upstream))).then(|| {
            format!(
                "{} refused {refused} packets that come no faster than it sends: the machine was busy, or the queue is \
                 too short for this rate",
                report.name
            )
        })
    })
}

/// Whether no queue forms on `link` behind `upstream`: the same bytes take no longer on it.
fn never_fills(link: &LinkSpec, upstream: &LinkSpec) -> bool {
    /// A packet comes as the one before it leaves; another for rounded nanoseconds.
    const ROOM: u8 = 2;
    let wraps = |link: &LinkSpec| (link.tunnel, link.framing, link.frame, link.pad);
    let room = Bytes::new(u64::from(ROOM) * link.wire_bytes(link.mtu.bytes()).get());
    link.rate >= upstream.rate
        && upstream.arq.is_none()
        && wraps(link) == wraps(upstream)
        && link.mtu >= upstream.mtu
        && link.queue.holds(ROOM.into(), room)
        && link.arq.is_none()
        && link.duplicate == Probability::NEVER
}

/// In milliseconds with one decimal.
fn in_ms(time: Time) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1e3)
}

/// Flows whose sender sent less than it should have, or did not report.
fn senders_behind(scenario: &Scenario, ran: &RunRecord) -> Vec<String> {
    /// The least share of its rate that a sender must offer.
    const ENOUGH: f64 = 0.99;
    let flows = scenario.flows.iter().zip(&ran.flows).enumerate();
    flows
        .filter_map(|(index, (flow, counted))| {
            if counted.report_pending {
                return Some(format!("flow {index}: no report from iperf3 in time"));
            }
            let FlowKind::Cbr { .. } = flow.kind else { return None };
            // The run may last longer, until another program reports.
            let end = flow.stop.min(scenario.until.time).min(ran.elapsed);
            let lasted = end.since(flow.start).as_secs_f64();
            let due = (lasted / flow.kind.interval_s()?).floor();
            ((counted.sent as f64) < due * ENOUGH).then(|| {
                format!(
                    "flow {index}: {} of {due:.0} datagrams were sent: the machine was busy",
                    counted.sent
                )
            })
        })
        .collect()
}

/// The lateness up to which a run is valid: a share of the round trip of a full
/// packet and its acknowledgement over idle links.
fn allowed_lateness(scenario: &Scenario) -> Time {
    let full = scenario.path.hops.iter().map(|hop| hop.forward.airtime(hop.forward.mtu.bytes()));
    let airtime = full.fold(Time::ZERO, |sum, airtime| sum + airtime);
    let round_trip = (scenario.path.propagation_rtt() + airtime).as_secs_f64();
    Time::from_secs_f64(round_trip * SHARE_OF_ROUND_TRIP).max(LEAST)
}

/// Requested and used settings of a TCP flow, with the relay's counters of its data's direction (`sent`) and of the other
/// (`back`).
pub(super) fn settings(
    scenario: &Scenario,
    (index, flow): (usize, &Flow),
    tcp: &TcpTotals,
    (sent, back): (&FlowMeter, &FlowMeter),
) -> LabFlow {
    let (sender, receiver) = scenario.endpoints(flow);
    let asked = sender.mss.map(|mss| mss.bytes().get());
    let effective = tcp.mss.or(Some(sent.largest_segment).filter(|bytes| *bytes > 0));
    let segment = effective.unwrap_or_default();
    let window_asked = SocketMemory::of(receiver, Bytes::new(segment)).clamp.map(Bytes::get);
    let window_advertised = (back.window > 0).then_some(back.window);
    LabFlow {
        flow: index,
        congestion: Some(congestion_of(sender).to_owned()),
        mss_asked: asked,
        mss_advertised_by_sender: sent.mss.map(u64::from),
        mss_advertised_by_receiver: back.mss.map(u64::from),
        mss_effective: effective,
        mss_reason: mss_reason(scenario, flow, asked, effective, (sent, back)),
        window_asked,
        window_advertised,
        window_effective: (tcp.in_flight_most > 0).then_some(tcp.in_flight_most),
        window_reason: window_reason(window_asked, window_advertised, tcp.in_flight_most, back),
        busy_s: tcp.busy.map(Time::as_secs_f64),
        window_limited_s: tcp.window_limited.map(Time::as_secs_f64),
        buffer_limited_s: tcp.buffer_limited.map(Time::as_secs_f64),
    }
}

/// Why the segment size differs from the requested one, or from the SYN's.
fn mss_reason(
    scenario: &Scenario,
    flow: &Flow,
    asked: Option<u64>,
    effective: Option<u64>,
    (sent, back): (&FlowMeter, &FlowMeter),
) -> Option<String> {
    let effective = effective?;
    let headers = Headers::plain(scenario.ip).bytes().get();
    let (near, _) = scenario.first_links(flow);
    let (sender, receiver) = scenario.endpoints(flow);
    let mtu = sender.route_mtu(near.mtu);
    let whose = if mtu < near.mtu { "route" } else { "interface" };
    let fits = mtu.bytes().get().saturating_sub(headers);
    let mut reasons = Vec::new();
    let own = u64::from(sent.mss?);
    if let Some(asked) = asked.filter(|asked| *asked > own) {
        reasons.push(format!(
            "{asked} bytes of payload do not fit: the {whose}'s MTU of {mtu} less {headers} bytes of IP and TCP \
             headers leaves {fits}, so the SYN has {own}"
        ));
    }
    let peer = u64::from(back.mss?);
    if peer < own {
        reasons.push(format!("the receiver advertises {peer}"));
    }
    let agreed = own.min(peer);
    if effective < agreed {
        let options = if sender.timestamps && receiver.timestamps { 12 } else { 0 };
        if options > 0 {
            reasons.push(format!("timestamps take {options} bytes of every segment"));
        }
        if effective + options < agreed {
            reasons.push(if sender.mtu_probing == MtuProbing::Always {
                "the search for the path MTU (tcp_mtu_probing = 2) has found no more".to_owned()
            } else {
                "the path MTU is smaller (ICMP, or MTU probing after losses)".to_owned()
            });
        }
    }
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

/// Why the window differs from the requested one.
fn window_reason(
    asked: Option<u64>,
    advertised: Option<u64>,
    in_flight: u64,
    back: &FlowMeter,
) -> Option<String> {
    let (asked, advertised) = (asked?, advertised?);
    let unit = 1_u64 << back.shift.unwrap_or(0);
    let mut reasons = Vec::new();
    if advertised > asked + unit {
        reasons.push(
            "the kernel resets the window clamp at the first segment; this program sets it again, other programs \
             do not",
        );
    } else if advertised + unit < asked {
        reasons.push("the kernel's receiver opens its window as data arrives, by whole segments");
    }
    if in_flight > 0 && in_flight < advertised.min(asked) * 9 / 10 {
        reasons.push("congestion, the link or the application kept less in flight");
    }
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

#[cfg(test)]
mod tests {
    use maxseg_core::errors::Arq;
    use maxseg_core::path::QueueLimit;
    use maxseg_core::units::BitsPerSec;

    use super::*;

    #[test]
    fn a_queue_fills_only_behind_a_faster_link() {
        let link = |mbits: u64, packets: u32| LinkSpec {
            queue: QueueLimit::Packets(packets),
            ..LinkSpec::plain(BitsPerSec::new(mbits * 1_000_000).unwrap(), Time::ZERO)
        };
        assert!(never_fills(&link(100, 2), &link(100, 100)));
        assert!(never_fills(&link(200, 2), &link(100, 100)));
        assert!(!never_fills(&link(99, 2), &link(100, 100)));
        assert!(!never_fills(&link(100, 1), &link(100, 100)), "no room for rounding");
        let framed = LinkSpec { frame: Some(128), pad: true, ..link(100, 10) };
        assert!(!never_fills(&framed, &link(100, 100)), "the same packet is longer there");
        assert!(never_fills(&framed, &framed));
        let arq = Some(Arq { retries: 3, delay: Time::from_millis(20) });
        let radio = LinkSpec { arq, ..link(100, 100) };
        assert!(!never_fills(&link(100, 2), &radio), "what waited for a repeat comes at once");
    }
}
