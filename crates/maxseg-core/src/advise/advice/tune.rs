//! The settings of Linux hosts that make a change on a path, as `maxseg tune` takes them.

use super::ends::Ends;
use super::entry::{Setting, on_route, settings};
use crate::advise::Change;
use crate::advise::data_flow::data_hosts;
use crate::advise::mss_caps::{MssCap, mss_caps};
use crate::scenario::Scenario;
use crate::units::Mss;

pub(super) fn of(change: Change, ends: &Ends, scenario: &Scenario, is_raise: bool) -> Vec<Setting> {
    if let (Change::SegmentSize(mss), true) = (change, is_raise) {
        return larger_segments(mss, ends, scenario);
    }
    let Ends { sender, receiver } = ends;
    let scaling = [receiver, sender].into_iter().filter(|_| change.needs_scaling(scenario));
    let scaling = scaling.map(|host| Setting {
        target: "sysctl.net.ipv4.tcp_window_scaling".to_owned(),
        value: "1".to_owned(),
        on: host.to_string(),
        here: host.is_here,
    });
    scaling.chain(settings(change, ends, is_raise, Some(scenario.tcp_ip_headers()))).collect()
}

/// What lifts each of the limits: of a program's MSS and a gateway's rule nothing that a host sets.
fn larger_segments(mss: Mss, ends: &Ends, scenario: &Scenario) -> Vec<Setting> {
    let Ends { sender, receiver } = ends;
    let caps = mss_caps(scenario, mss);
    let mtu = (mss.bytes() + scenario.tcp_ip_headers()).get().to_string();
    let mut all: Vec<Setting> = Vec::new();
    if caps.contains(&MssCap::SenderRouteMtu) {
        all.extend(on_route(sender, receiver, "mtu", mtu.clone()));
    }
    if caps.contains(&MssCap::ReceiverRouteMtu) {
        all.extend(on_route(receiver, sender, "mtu", mtu));
    }
    if is_offered_by_route(&caps, scenario) {
        all.extend(settings(Change::SegmentSize(mss), ends, true, None));
    }
    all
}

/// Whether the receiver's route may have to offer more: nothing else is known to hold segments, or that is.
pub(super) fn is_offered_by_route(caps: &[MssCap], scenario: &Scenario) -> bool {
    let [_, receiving] = data_hosts(scenario);
    let is_asked = caps.contains(&MssCap::ReceiverMss) && receiving.linux.is_none();
    caps.is_empty() || caps.contains(&MssCap::ReceiverAdvmss) || is_asked
}
