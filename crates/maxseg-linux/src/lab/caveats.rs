//! Caveats of lab runs: approximations, and what Linux cannot do.

use maxseg_core::engine::Caveat;
use maxseg_core::framing::{ICMP_ECHO_HEADER, UDP_HEADER, ip_header};
use maxseg_core::mss::linux::MAXSEG;
use maxseg_core::scenario::{Flow, FlowKind, LabBackend, Scenario};
use maxseg_core::settings::{CongestionName, WindowSize};

use super::flows::{congestion_of, is_foreign};
use super::host_setup::{bounded_by_the_kernel, is_one_segment, left_to_the_kernel};
use super::kernel_links;

/// The caveats of a lab run.
pub(super) fn of(scenario: &Scenario) -> Vec<Caveat> {
    let mut caveats = Vec::new();
    caveats.extend(beyond(scenario));
    caveats.extend(kernel(scenario));
    caveats.extend(bounds(scenario));
    caveats.extend(headers(scenario));
    caveats.extend(bytes_of_iperf3(scenario));
    if scenario.lab.backend == LabBackend::Netem {
        caveats.extend(kernel_links::caveats(scenario));
        caveats.extend(unbounded_window(scenario));
    }
    if scenario.lab.as_netem {
        let text = "losses take whole super-packets, as netem does on a host with segmentation offload: bursts of \
                    losses where a wire has single ones";
        caveats.push(Caveat::new("as-netem", text));
    }
    caveats
}

/// Why Linux cannot run the scenario; its row then has no numbers, rather than wrong ones.
pub(super) fn beyond(scenario: &Scenario) -> Option<Caveat> {
    let of_flows =
        || {
            scenario.flows.iter().filter(|flow| flow.kind.is_tcp()).find_map(|flow| {
                flow.ways_of_data().iter().find_map(|way| beyond_for(scenario, way))
            })
        };
    let of_links = match scenario.lab.backend {
        LabBackend::Relay => None,
        LabBackend::Netem => kernel_links::beyond(scenario),
    };
    let reason = of_links.or_else(of_flows)?;
    Some(Caveat::new("beyond-the-lab", format!("no numbers from the lab: {reason}")))
}

fn beyond_for(scenario: &Scenario, way: &Flow) -> Option<String> {
    let (sender, receiver) = scenario.endpoints(way);
    if is_foreign(scenario, way) && receiver.read_rate.is_some() {
        return Some("`read_rate`: iperf3 reads as fast as data comes".to_owned());
    }
    for settings in [sender, receiver] {
        if settings.mss_option.is_some() {
            return Some(
                "`mss_option`: Linux sends an MSS option of its own with every SYN".to_owned(),
            );
        }
        if let Some(mss) = settings.mss.map(|mss| mss.bytes().get())
            && !MAXSEG.contains(&mss)
        {
            let (least, most) = (MAXSEG.start(), MAXSEG.end());
            return Some(format!(
                "Linux's TCP_MAXSEG takes {least} to {most} bytes, and {mss} is asked for"
            ));
        }
    }
    let mss = scenario.mss(way).unbound.bytes();
    is_one_segment(receiver, mss).then(|| {
        format!(
            "Linux does not run with a window of one segment of {mss}: its receiver closes a window below two segments, \
             and its sender then waits for a timer"
        )
    })
}

/// What `until.bytes` is for iperf3.
fn bytes_of_iperf3(scenario: &Scenario) -> Option<Caveat> {
    scenario.until.bytes?;
    scenario.flows.iter().any(|flow| is_foreign(scenario, flow)).then(|| {
        let text = "iperf3 ends a transfer of `until.bytes` when it has written the last of them: what is on its way \
                    then does not arrive, and `until.time` ends nothing";
        Caveat::new("iperf3-bytes", text)
    })
}

/// Headers of datagrams and echo requests that are not those of a real host.
fn headers(scenario: &Scenario) -> Option<Caveat> {
    scenario.flows.iter().find_map(|flow| {
        let (header, inner) = match flow.kind {
            FlowKind::Cbr { header, .. } => (header, UDP_HEADER),
            FlowKind::Ping { header, .. } => (header, ICMP_ECHO_HEADER),
            FlowKind::Bulk | FlowKind::Request(_) => return None,
        };
        let real = ip_header(scenario.ip) + inner;
        (header != real).then(|| {
            let kind = flow.kind.word();
            let text = format!(
                "`header` of a flow of kind `{kind}` is {header}: here its packets have the real headers of {real}; \
                 only the rate of a cbr flow counts by `header`"
            );
            Caveat::new("lab-header", text)
        })
    })
}

/// Values that the hosts' kernels bound.
fn bounds(scenario: &Scenario) -> Vec<Caveat> {
    let has_tcp = scenario.flows.iter().any(|flow| flow.kind.is_tcp());
    let ends = [("sender", &scenario.sender), ("receiver", &scenario.receiver)];
    let of_end = |(end, settings)| {
        let caveat = move |what| Caveat::new("kernel", format!("{end}: {what}"));
        bounded_by_the_kernel(settings).into_iter().map(caveat)
    };
    ends.into_iter().filter(|_| has_tcp).flat_map(of_end).collect()
}

/// Nobody but the relay bounds the window of another program, and on netem links there is none.
fn unbounded_window(scenario: &Scenario) -> Option<Caveat> {
    let is_unbounded = |flow: &Flow| {
        let (_, receiver) = scenario.endpoints(flow);
        is_foreign(scenario, flow) && !matches!(receiver.window, WindowSize::Auto { .. })
    };
    scenario.flows.iter().any(is_unbounded).then(|| {
        let text = "`window` bounds iperf3's connections up to the first segment only: a route's window lasts no longer, \
                    and netem links do not bound it as the relay does";
        Caveat::new("kernel", text)
    })
}

/// Settings that hosts approximate, and those that this kernel's TCP decides itself.
fn kernel(scenario: &Scenario) -> Option<Caveat> {
    let (sender, receiver) = (&scenario.sender, &scenario.receiver);
    if !scenario.flows.iter().any(|flow| flow.kind.is_tcp()) {
        // Of the settings that are left to the kernel, this one is of every packet.
        let asks = sender.packet_cost.is_some() || receiver.packet_cost.is_some();
        let text = "keys without effect on this kernel: packet_cost";
        return asks.then(|| Caveat::new("kernel", text));
    }
    let mut left = left_to_the_kernel(sender);
    left.extend(left_to_the_kernel(receiver));
    left.sort_unstable();
    left.dedup();
    let on = |both: bool| if both { "on" } else { "off" };
    let stands_in = match (sender.congestion, receiver.congestion) {
        (CongestionName::Ns2Reno, _) | (_, CongestionName::Ns2Reno) => {
            " (the kernel's in place of ns-2's)"
        }
        (CongestionName::Reno | CongestionName::Cubic | CongestionName::Bbr, _) => "",
    };
    if sender.linux.is_some() && receiver.linux.is_some() {
        let text = format!("keys without effect on this kernel's TCP: {}", left.join(", "));
        return (!left.is_empty()).then(|| Caveat::new("kernel", text));
    }
    let text = format!(
        "both hosts run this kernel's TCP with the scenario's {}{stands_in}, SACK {}, timestamps {}, minimum RTO {}. \
         Loss recovery is the kernel's, mostly faster than the simulator's. Keys without effect on the kernel: {}",
        congestion_of(sender),
        on(sender.sack && receiver.sack),
        on(sender.timestamps && receiver.timestamps),
        sender.rto.min,
        left.join(", ")
    );
    Some(Caveat::new("kernel", text))
}
