//! What the lab only approximates, and what it cannot do.

use maxseg_core::engine::Caveat;
use maxseg_core::scenario::{Flow, LabBackend, Scenario};
use maxseg_core::settings::{CongestionName, Settings};

use super::host_setup::{is_one_segment, left_to_the_kernel};
use super::kernel_links;

/// What to know before relying on a lab run.
pub(super) fn of(scenario: &Scenario) -> Vec<Caveat> {
    let mut caveats = Vec::new();
    caveats.extend(beyond(scenario));
    caveats.extend(kernel(scenario));
    if scenario.lab.backend == LabBackend::Netem {
        caveats.extend(kernel_links::caveats(scenario));
    }
    if scenario.lab.as_netem {
        let text = "losses take whole super-packets here, as netem's do on a host with segmentation offload: they \
                    come in bursts, and a wire's do not";
        caveats.push(Caveat::new("as-netem", text));
    }
    caveats
}

/// A scenario that Linux cannot run: a row without numbers is better than a wrong one.
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

/// `TCP_MIN_MSS` and `MAX_TCP_WINDOW` (include/net/tcp.h): what `TCP_MAXSEG` takes.
const MSS: std::ops::RangeInclusive<u64> = 88..=32_767;

fn beyond_for(scenario: &Scenario, way: &Flow) -> Option<String> {
    let (sender, receiver) = scenario.endpoints(way);
    for settings in [sender, receiver] {
        if let Some(mss) = settings.mss.map(|mss| mss.bytes().get())
            && !MSS.contains(&mss)
        {
            let (least, most) = (MSS.start(), MSS.end());
            return Some(format!(
                "Linux's TCP_MAXSEG takes {least} to {most} bytes, and {mss} is asked for"
            ));
        }
    }
    let mss = scenario.mss(way).effective.bytes();
    is_one_segment(receiver, mss).then(|| {
        format!(
            "a window of one segment of {mss} is beyond Linux: its receiver closes a window of less than two, and its \
             sender then waits for a timer"
        )
    })
}

/// What this kernel's TCP decides for itself.
fn kernel(scenario: &Scenario) -> Option<Caveat> {
    let of = |end: &str, settings: &Settings| -> Vec<String> {
        left_to_the_kernel(settings).into_iter().map(|key| format!("{end}.{key}")).collect()
    };
    if !scenario.flows.iter().any(|flow| flow.kind.is_tcp()) {
        return None;
    }
    let mut left = of("sender", &scenario.sender);
    left.extend(of("receiver", &scenario.receiver));
    left.dedup();
    let ns2 = |settings: &Settings| settings.congestion == CongestionName::Ns2Reno;
    let stands_in = if ns2(&scenario.sender) || ns2(&scenario.receiver) {
        "; the kernel's Reno stands in for ns-2's"
    } else {
        ""
    };
    let text = format!(
        "both hosts are this kernel's TCP, whatever `stack` says; it decides for itself: {}{stands_in}",
        left.join(", ")
    );
    Some(Caveat::new("kernel", text))
}
