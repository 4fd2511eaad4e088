//! What packet sizes, and the memory for them, do that a scenario may not expect.

use super::Caveat;
use crate::framing::Framing;
use crate::mss::black_hole::LEAST_PROBING_WINDOW;
use crate::path::{Discipline, HopSpec, IcmpPolicy, LinkSpec, smallest_mtu};
use crate::scenario::{End, Flow, FlowKind, MssDecision, MssSearch, NoProbe, Scenario};
use crate::units::Bytes;

/// What becomes of packets that are not what was asked for, or too large for a hop, where every sender that probes for a
/// smaller path MTU finds it.
pub fn size_caveats(scenario: &Scenario) -> Vec<Caveat> {
    let mut caveats: Vec<Caveat> = scenario
        .flows
        .iter()
        .flat_map(|flow| match flow.kind {
            FlowKind::Bulk | FlowKind::Request(_) => flow
                .ways_of_data()
                .iter()
                .filter_map(|way| mss_caveat(scenario, way, &scenario.mss(way)))
                .collect(),
            FlowKind::Cbr { size, header, .. } => {
                packet_caveat(scenario, flow, size + header).into_iter().collect::<Vec<_>>()
            }
            FlowKind::Ping { size, header, .. } => {
                let request = packet_caveat(scenario, flow, size + header);
                let arrives = !scenario.is_too_big(flow, size + header);
                let reply = arrives.then(|| reply_caveat(scenario, flow, size + header)).flatten();
                request.into_iter().chain(reply).collect()
            }
        })
        .collect();
    for flow in scenario.flows.iter().filter(|flow| flow.kind.is_tcp()) {
        caveats.extend(buffer_caveats(scenario, flow));
    }
    if scenario.sender.ns2.is_some() != scenario.receiver.ns2.is_some() {
        let text = format!(
            "one end uses an ns-2 stack ({}), the other does not ({}): ns-2 counts windows and ACKs in packets",
            scenario.sender.stack, scenario.receiver.stack
        );
        caveats.push(Caveat::new("mixed-stacks", text));
    }
    let marks = scenario.path.hops.iter().flat_map(HopSpec::links).any(|link| link.ecn);
    if marks && !(scenario.sender.ecn && scenario.receiver.ecn) {
        let text = "the hosts do not both negotiate ECN: packets are dropped instead of marked";
        caveats.push(Caveat::new("ecn", text));
    }
    let is_blind = |link: &LinkSpec| {
        link.ecn && link.discipline == Discipline::TailDrop && link.policer.is_none()
    };
    for hop in &scenario.path.hops {
        if hop.links().into_iter().any(is_blind) {
            let text = format!(
                "hop `{}` marks nothing with ecn = true: a tail-drop queue only drops; a queue discipline or a policer marks",
                hop.label()
            );
            caveats.push(Caveat::new("ecn", text));
        }
    }
    let compresses_and_damages =
        |link: &LinkSpec| link.framing == Framing::SerialVj && link.errors.is_random();
    if scenario.path.hops.iter().flat_map(HopSpec::links).any(compresses_and_damages) {
        let text = "after a damaged packet, a receiver of compressed headers discards packets up to the next \
                    retransmission (RFC 1144 section 4); here only the damaged packet is lost";
        caveats.push(Caveat::new("header-compression", text));
    }
    caveats.dedup();
    caveats
}

/// Buffers that the rules of a host's stack have made others than what was asked for.
fn buffer_caveats(scenario: &Scenario, flow: &Flow) -> Vec<Caveat> {
    let ((sender, receiver), in_use) = (scenario.endpoints(flow), scenario.settings_in_use(flow));
    let mss = scenario.mss(flow).initial.bytes();
    let of_sender = sender.freebsd.and_then(|rules| {
        let buffers = [sender.send_buffer?, in_use.0.send_buffer?];
        resized("the sender's send buffer", buffers, "sendpipe", rules.sendpipe)
    });
    let of_receiver = receiver.freebsd.and_then(|rules| {
        let windows = [receiver.window, in_use.1.window].map(|window| window.bytes(mss));
        resized("the receiver's window", windows, "recvpipe", rules.recvpipe)
    });
    of_sender.into_iter().chain(of_receiver).collect()
}

/// What has become of a buffer of FreeBSD, and by what; `None` where it is as asked for.
fn resized(
    what: &str,
    [asked, in_use]: [Bytes; 2],
    pipe: &str,
    on_route: Option<Bytes>,
) -> Option<Caveat> {
    let why = match on_route {
        Some(size) if in_use < asked => format!("the route's {pipe} of {size} replaces it"),
        Some(size) if size > asked => format!("the route's {pipe} is {size}"),
        Some(_) | None => "whole segments, and at most sb_max".to_owned(),
    };
    (asked != in_use).then(|| {
        Caveat::new("freebsd-buffers", format!("{what} of {asked} becomes {in_use}: {why}"))
    })
}

/// What becomes of packets larger than some link on their way.
fn packet_caveat(scenario: &Scenario, flow: &Flow, packet: Bytes) -> Option<Caveat> {
    let df = scenario.forbids_fragments_of(flow, flow.from);
    above_mtu(scenario, flow, df, ("packets", packet))
}

/// The same of the replies to the echo requests of `flow`.
fn reply_caveat(scenario: &Scenario, flow: &Flow, packet: Bytes) -> Option<Caveat> {
    let df = scenario.forbids_fragments_of(flow, flow.from.other());
    above_mtu(scenario, &flow.reversed(), df, ("echo replies", packet))
}

fn above_mtu(
    scenario: &Scenario,
    flow: &Flow,
    df: bool,
    (what, packet): (&str, Bytes),
) -> Option<Caveat> {
    let links = scenario.links_from_sender_of(flow);
    let index = links.iter().position(|link| packet > link.mtu.bytes())?;
    let link = links[index];
    let hops = scenario.hops(flow);
    let hop = match flow.from {
        End::Sender => &hops[index],
        End::Receiver => &hops[hops.len() - 1 - index],
    };
    let fate = match (df, link.icmp) {
        (false, _) => "is fragmented there; fragments are queued and lost one by one",
        (true, IcmpPolicy::Send) => {
            "is dropped there because of DF; the sender gets an ICMP message, but its packet size is fixed"
        }
        (true, IcmpPolicy::Drop) => {
            "is dropped there because of DF, without an ICMP message: a black hole"
        }
    };
    let text = format!(
        "{what} of {packet} exceed the MTU of hop `{}`, {}: each {fate}",
        hop.label(),
        link.mtu
    );
    Some(Caveat::new("packet-above-mtu", text))
}

/// How a sender that probes from the start comes to its segment size.
fn search_words(mss: &MssDecision, search: MssSearch) -> String {
    let begins = format!(
        "mtu_probing = \"always\" (tcp_mtu_probing = 2) begins with {} (tcp_base_mss)",
        search.first
    );
    let halved = if mss.timeouts > 0 {
        ", which is halved at each timeout from 3 s after the first retransmission on, until it passes"
    } else {
        ""
    };
    begins + halved + &probe_words(mss, search)
}

/// What probes make of the size that passes.
fn probe_words(mss: &MssDecision, search: MssSearch) -> String {
    match search.held {
        Some(NoProbe::Window) => {
            format!("; no larger size is probed: that needs a receive window of {}", search.needed)
        }
        Some(NoProbe::Data) => {
            format!("; no larger size is probed: that needs {} to be sent at a time", search.needed)
        }
        None => format!(
            "; probes find {} while the congestion window has {LEAST_PROBING_WINDOW} segments or more and {} or more wait to be \
             sent, and else segments stay as they are",
            mss.effective, search.needed
        ),
    }
}

fn mss_caveat(scenario: &Scenario, flow: &Flow, mss: &MssDecision) -> Option<Caveat> {
    let asked = mss.asked.map_or("the interface's MTU".to_owned(), |mss| mss.to_string());
    let offered = mss.offered().map_or_else(|| "none".to_owned(), |mss| mss.to_string());
    let options = format!("MSS asked {asked}, advertised {offered}");
    let decision = format!("{options}, effective {}", mss.effective);
    let mtu = smallest_mtu(scenario.hops(flow));
    if mss.is_too_large() {
        let fate = if mss.clears_df {
            "Linux, which takes no router's word for less than 552 bytes (net.ipv4.route.min_pmtu), sends that much without DF: \
             full segments are fragmented; fragments are queued and lost one by one"
        } else if scenario.forbids_fragments(flow.from) {
            "full segments are dropped without an ICMP message: a black hole"
        } else {
            "full segments are fragmented; fragments are queued and lost one by one"
        };
        let text = format!("{decision}: the path's smallest MTU is {mtu}, so {fate}");
        return Some(Caveat::new("mss-above-mtu", text));
    }
    if let Some(search) = mss.search.filter(|search| search.is_from_start) {
        return Some(Caveat::new(
            "mtu-search",
            format!("{decision}: {}", search_words(mss, search)),
        ));
    }
    if mss.is_lowered_by_path() {
        let how = match mss.timeouts {
            0 => "which the sender learns by ICMP; it sends its first segments twice".to_owned(),
            n => match mss.search {
                Some(search) => format!(
                    "without an ICMP message; Linux finds {} at the first timeout that comes 3 s or more after the first \
                     retransmission (tcp_retries1), and nothing arrives until then{}",
                    search.first,
                    probe_words(mss, search)
                ),
                None => format!(
                    "without an ICMP message; the sender finds a smaller size after {n} consecutive timeouts, and \
                 nothing arrives until then"
                ),
            },
        };
        let text = format!("{decision}: the path's smallest MTU is {mtu}, {how}");
        return Some(Caveat::new("mss-lowered", text));
    }
    if mss.is_lowered_by_window() {
        let text = format!(
            "{decision}: Linux puts at most half of the receiver's window into a segment (tcp_bound_to_half_wnd)"
        );
        return Some(Caveat::new("mss-lowered", text));
    }
    let asked = mss.asked.filter(|asked| mss.effective < *asked)?;
    let reason = if mss.offered_by_receiver.is_none() {
        "the receiver sends no MSS option".to_owned()
    } else if mss.offered_by_receiver.is_some_and(|offered| offered < asked) {
        "the receiver's MSS option is smaller".to_owned()
    } else if mss.effective.bytes() + mss.options == asked.bytes() {
        format!("options take {} of every segment", mss.options)
    } else {
        "the first link's MTU is smaller".to_owned()
    };
    Some(Caveat::new("mss-lowered", format!("{decision}: {reason}")))
}
