//! The values that a target takes.

use super::super::facts::Facts;
use super::super::plan::{Step, Value};
use super::super::target::{RouteMetricName, Target};
use super::Refusal;
use crate::framing::{Headers, IpVersion};
use crate::units::Mtu;

/// What an MTU or an MSS can be at most.
const MOST_SIZE: u64 = 65_535;
/// The MTU that the loopback interface comes with.
const MOST_OF_LOOPBACK: u64 = 65_536;
/// The largest MTU of a route: the kernel lowers one above to it (`ip_metrics_convert`).
const MOST_OF_ROUTE: u64 = 65_520;

fn most_mtu(target: &Target) -> u64 {
    match target {
        Target::Route { .. } => MOST_OF_ROUTE,
        Target::InterfaceMtu(name) if name == "lo" => MOST_OF_LOOPBACK,
        Target::InterfaceMtu(_)
        | Target::Sysctl(_)
        | Target::Socket { .. }
        | Target::Clamp(_)
        | Target::File(_) => MOST_SIZE,
    }
}

/// Why a target does not take the value of a step, by its kind and range.
pub(super) fn of_value(step: &Step, facts: &Facts) -> Option<Refusal> {
    let (is_v6, metric) = match &step.target {
        Target::Route { prefix, metric } => (prefix.is_v6(), *metric),
        Target::InterfaceMtu(_) => (facts.has_v6, RouteMetricName::Mtu),
        Target::File(_) => return None,
        // What the catalogue does not have, the kernel judges alone.
        Target::Sysctl(_) | Target::Socket { .. } | Target::Clamp(_) => {
            let (tunable, text) = (step.target.tunable()?, step.after.text()?);
            return tunable.check(text).err().map(Refusal::NotTaken);
        }
    };
    if step.after == Value::Unset && matches!(step.target, Target::Route { .. }) {
        return None;
    }
    let wrong = |takes| Refusal::NotAValue { value: step.after.to_string(), takes };
    let named = |name: &str, value: u32| (u64::from(value), format!("{name} of this kernel"));
    let (least, most, source) = match metric {
        RouteMetricName::CongestionControl => {
            // Programs do not override one that is locked (`TCP_CONGESTION`).
            let name = step.after.text().map(|text| text.strip_prefix("lock ").unwrap_or(text));
            let is_name = name.is_some_and(|text| {
                let is_plain =
                    |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
                !text.is_empty() && text.len() < 16 && text.bytes().all(is_plain)
            });
            return (!is_name).then(|| wrong("the name of a congestion control"));
        }
        RouteMetricName::QuickAck => (0, 1, "0 is off, 1 is on".to_owned()),
        RouteMetricName::Mtu if is_v6 => (
            u64::from(Mtu::IPV6_MIN),
            most_mtu(&step.target),
            "the least MTU of IPv6, RFC 8200".to_owned(),
        ),
        RouteMetricName::Mtu => {
            let floor = facts
                .floors
                .min_pmtu
                .max(facts.floors.min_snd_mss + Headers::plain(IpVersion::V4).octets());
            let source =
                "net.ipv4.route.min_pmtu: the least path MTU that this kernel learns".to_owned();
            (u64::from(floor), most_mtu(&step.target), source)
        }
        RouteMetricName::Advmss => {
            let (least, source) = named("net.ipv4.route.min_adv_mss", facts.floors.min_adv_mss);
            (least, MOST_SIZE - Headers::plain(IpVersion::V4).bytes().get(), source)
        }
        RouteMetricName::Window => (
            u64::from(facts.floors.min_snd_mss),
            1 << 30,
            "the largest scaled window, RFC 7323".to_owned(),
        ),
        RouteMetricName::InitCwnd | RouteMetricName::InitRwnd => {
            (1, MOST_SIZE, "segments".to_owned())
        }
        RouteMetricName::RtoMin => (1, 120_000, "milliseconds; TCP_RTO_MAX is 120 s".to_owned()),
    };
    let Some(value) = step.after.size() else { return Some(wrong("a whole number")) };
    let is_lock_of_another = step.after.is_locked()
        && !matches!(step.target, Target::Route { metric: RouteMetricName::Mtu, .. });
    if is_lock_of_another {
        return Some(wrong("a whole number"));
    }
    let is_inside = (least..=most).contains(&value);
    (!is_inside).then_some(Refusal::OutOfRange { value, least, most, source })
}
