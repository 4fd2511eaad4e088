//! The settings of Linux hosts that make a change on a path, as `maxseg tune` takes them.

use std::net::IpAddr;

use schemars::JsonSchema;
use serde::Serialize;

use super::ends::{Ends, HostEnd};
use crate::advise::Change;
use crate::advise::mss_caps::{MssCap, is_offered_by_route, mss_caps};
use crate::advise::remedy::linux::is_taken_by_tune;
use crate::scenario::Scenario;
use crate::units::{Bytes, Mss};
use crate::window::MEMORY_PER_PAYLOAD;

/// A setting of a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Setting {
    /// What is set, as `maxseg tune` writes it.
    pub target: String,
    /// Its value, in the kernel's own unit: of several numbers `-` stays as it is, and `>=` is before the least that one is to be.
    pub value: String,
    /// The host, by its address or role.
    pub on: String,
    /// Whether that is the host that this program runs on; null where that is unknown.
    pub here: Option<bool>,
}

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

/// Buffers of Linux: the limits of autotuning, and that of what a program may ask for.
const RECEIVE: [&str; 2] = ["net.ipv4.tcp_rmem", "net.core.rmem_max"];
const SEND: [&str; 2] = ["net.ipv4.tcp_wmem", "net.core.wmem_max"];

/// The settings of Linux hosts that make a change: on the routes between them where they have addresses. `headers` are those of
/// IP and TCP, where they are known.
pub(super) fn settings(
    change: Change,
    ends: &Ends,
    is_raise: bool,
    headers: Option<Bytes>,
) -> Vec<Setting> {
    let on = |host: &HostEnd, target: String, value: String| Setting {
        target,
        value,
        on: host.to_string(),
        here: host.is_here,
    };
    let route = |host: &HostEnd, peer: &HostEnd, attribute: &str, value: String| {
        on_route(host, peer, attribute, value).into_iter().collect::<Vec<_>>()
    };
    let Ends { sender, receiver } = ends;
    let sysctl = |host: &HostEnd, key: &str, value: &str| {
        on(host, format!("sysctl.{key}"), value.to_owned())
    };
    // The first two numbers of a buffer stay as the host has them, and a limit that is larger: other connections may need it.
    let buffers = |host: &HostEnd, [key, limit]: [&str; 2], bytes: u64| {
        vec![
            sysctl(host, key, &format!("- - >={bytes}")),
            sysctl(host, limit, &format!(">={bytes}")),
        ]
    };
    match change {
        Change::Window(window) if is_raise => {
            buffers(receiver, RECEIVE, MEMORY_PER_PAYLOAD * window.get())
        }
        // A route's `window` alone does not hold it: a rule of the firewall goes with it, which is no setting.
        Change::ReceiveBuffer(bytes) => buffers(receiver, RECEIVE, bytes.get()),
        Change::FirstReceiveBuffer(bytes) => {
            let least = bytes.get();
            vec![sysctl(receiver, RECEIVE[0], &format!("- >={least} >={least}"))]
        }
        Change::SendBuffer(bytes) => buffers(sender, SEND, MEMORY_PER_PAYLOAD * bytes.get()),
        Change::SegmentSize(mss) if is_raise => {
            route(receiver, sender, "advmss", mss.get().to_string())
        }
        Change::SegmentSize(mss) => headers.map_or_else(Vec::new, |headers| {
            route(sender, receiver, "mtu", (mss.bytes() + headers).get().to_string())
        }),
        Change::Mtu(mtu) => route(sender, receiver, "mtu", mtu.get().to_string()),
        Change::Congestion(name) => route(sender, receiver, "congctl", name.word().to_owned()),
        Change::InitialWindow(segments) => {
            route(sender, receiver, "initcwnd", segments.to_string())
        }
        Change::RtoMin(time) => route(sender, receiver, "rto_min", time.as_millis_up().to_string()),
        Change::MtuProbing => vec![sysctl(sender, "net.ipv4.tcp_mtu_probing", ">=1")],
        Change::NoSlowStartAfterIdle => {
            vec![sysctl(sender, "net.ipv4.tcp_slow_start_after_idle", "0")]
        }
        Change::ReorderingTolerance => vec![sysctl(sender, "net.ipv4.tcp_recovery", ">=1")],
        Change::Window(_)
        | Change::RtoInitial(_)
        | Change::Pacing(_)
        | Change::Clamp(_)
        | Change::ReadsAtOnce
        | Change::IcmpSent
        | Change::Queue(_)
        | Change::FairQueue
        | Change::Codel
        | Change::NoErrors => Vec::new(),
    }
}

/// An attribute of a host's route to its peer, where its address is known, and `maxseg tune` takes the value.
fn on_route(host: &HostEnd, peer: &HostEnd, attribute: &str, value: String) -> Option<Setting> {
    let to = peer.address?;
    let target = format!("route.{}.{attribute}", prefix(to));
    is_taken_by_tune(to.into(), &format!("{attribute} {value}")).then(|| Setting {
        target,
        value,
        on: host.to_string(),
        here: host.is_here,
    })
}

/// One address as a prefix.
fn prefix(address: IpAddr) -> String {
    format!("{address}/{}", if address.is_ipv6() { 128 } else { 32 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advise::CommandKind;
    use crate::advise::advice::commands::{Form, commands};
    use crate::advise::remedy::linux::tune_route;
    use crate::framing::IpVersion;
    use crate::tunables::tunable;
    use crate::units::Time;

    /// `maxseg tune` refuses it, so that advice would print a command that ends in an error.
    #[test]
    fn an_mtu_below_what_the_kernel_learns_is_set_by_ip_alone() {
        let path =
            "ip = 4\n[[hop]]\nrate = \"64 kbit/s\"\ndelay = \"80 ms\"\n[until]\ntime = \"10 s\"";
        let scenario = Scenario::from_toml("test", path).unwrap();
        let mut ends = Ends::default();
        ends.receiver.address = "10.31.0.9".parse().ok();
        for (mss, is_by_tune) in [(268, false), (511, false), (512, true)] {
            let change = Change::SegmentSize(Mss::new(mss).unwrap());
            assert_eq!(of(change, &ends, &scenario, false).len(), usize::from(is_by_tune), "{mss}");
            let commands = commands(change, &ends, &scenario, false);
            let mut shell = commands["linux"].iter().filter(|way| way.form == Form::Shell);
            let first = shell.find(|way| way.kind == CommandKind::Change).unwrap();
            assert_eq!(first.line.starts_with("maxseg tune"), is_by_tune, "{}", first.line);
            assert!(first.line.contains("mtu") && first.only_where.is_none(), "{first:?}");
        }
    }

    /// Of `ip route` the value has a unit.
    #[test]
    fn the_least_timeout_is_a_number_of_the_kernels_unit() {
        let mut ends = Ends::default();
        ends.sender.address = "10.31.0.1".parse().ok();
        ends.receiver.address = "10.31.0.9".parse().ok();
        let change = Change::RtoMin(Time::from_millis(3500));
        let set = settings(change, &ends, false, None).remove(0);
        assert_eq!(
            (set.target.as_str(), set.value.as_str()),
            ("route.10.31.0.9/32.rto_min", "3500")
        );
        assert_eq!(tunable(&set.target).unwrap().check(&set.value), Ok(()));
        let line = tune_route(IpVersion::V4, "10.31.0.9", "rto_min 3500ms");
        assert_eq!(line, "maxseg tune apply --set route.10.31.0.9/32.rto_min=3500");
    }
}
