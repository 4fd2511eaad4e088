//! What has to be said of a step before it is made.

use super::facts::{Facts, Session};
use super::guards::clamp_for;
use super::hazards::{is_of_unknown_reach, may_cut_off};
use super::plan::Step;
use super::target::{RouteMetricName, Target};
use crate::units::Mtu;

/// What has to be said of a step that may be made.
pub fn warnings(step: &Step, facts: &Facts) -> Vec<String> {
    let mut warnings = Vec::new();
    if let Some((to, table)) = facts.other_table {
        warnings.push(format!(
            "a rule (`ip rule`) has packets to {to} go by table {table}: this changes the route of table main, which they do not take"
        ));
    }
    warnings.extend(of_neighbours(step));
    warnings.extend(of_advmss(step, facts));
    if facts.is_bridge {
        // `BROPT_MTU_SET_BY_USER` in `net/bridge/br_device.c`, which nothing clears.
        warnings.push(
            "a bridge whose MTU was set does not follow its ports any more, also once this is undone".to_owned(),
        );
    }
    if let Some((bridge, mtu)) = &facts.bridge {
        warnings.push(format!(
            "the kernel sets the MTU of {bridge}, of which it is a port, to {mtu} with it, and back when this is undone, unless that one's \
             was set by hand"
        ));
    }
    if !facts.lowered_besides.is_empty() {
        warnings.push(format!(
            "the kernel lowers the MTU of routes of IPv6 with it, and undoing does not raise it again: {}",
            facts.lowered_besides.join(", ")
        ));
    }
    if !facts.locked_routes.is_empty() {
        warnings.push(format!(
            "the kernel does not lower the locked MTU of routes of IPv6 by it, and larger segments would not be sent: {}",
            facts.locked_routes.join(", ")
        ));
    }
    if let Target::Route { prefix, metric: RouteMetricName::Mtu } = step.target
        && step.after.is_locked()
    {
        // IPv6 has no DF, and its kernel takes Packet Too Big whatever is locked (`__ip6_rt_update_pmtu`).
        let lock = if prefix.is_v6() {
            "the lock keeps it from following the MTU of the interface: where that is lowered, larger packets are not sent"
        } else {
            "the lock clears DF: packets may be fragmented on the way, and routers' messages are ignored"
        };
        warnings.push(lock.to_owned());
    }
    if step.target.decides_segment_size() {
        if let (Some(before), Some(after)) = (step.before.size(), step.after.size())
            && after > before
        {
            warnings.push(
                "a congestion window counts segments: with larger ones, running connections send a burst"
                    .to_owned(),
            );
        }
        if facts.forwards && is_lowered(step) {
            warnings.push("other hosts' connections through this host shrink too".to_owned());
        }
    }
    if is_of_unknown_reach(&step.target) {
        warnings.push(
            "whether it is of this network namespace alone or of the whole machine is not known"
                .to_owned(),
        );
    }
    if let Some(stays) = step.target.tunable().and_then(|tunable| tunable.leaves_behind.as_ref()) {
        warnings.push(format!("what stays after it is undone: {stays}"));
    }
    if facts.session != Session::None && may_cut_off(&step.target) {
        warnings.push("whether it cuts off this session is not known here".to_owned());
    }
    if facts.session == Session::Reached {
        warnings.push("this session runs over a connection that it reaches".to_owned());
    }
    warnings
}

/// Whether the value goes down: of a route that has none, the interface's is the larger one.
fn is_lowered(step: &Step) -> bool {
    match (step.before.size(), step.after.size()) {
        (_, None) => false,
        (None, Some(_)) => true,
        (Some(before), Some(after)) => after < before,
    }
}

/// What a route announces by its own metric does not follow its MTU (`ipv4_default_advmss` is for routes without one).
fn of_advmss(step: &Step, facts: &Facts) -> Option<String> {
    let Target::Route { prefix, metric: RouteMetricName::Mtu } = step.target else { return None };
    let (announced, fits) = (facts.advmss?, clamp_for(step)?);
    let other = Target::Route { prefix, metric: RouteMetricName::Advmss };
    (u64::from(announced) > fits).then(|| {
        format!(
            "the route announces an MSS of {announced} (advmss) whatever its MTU: what arrives stays as large; as well: --set {other}={fits}"
        )
    })
}

/// A link carries what both of its ends take. Packets that a neighbour is not ready for are dropped, and no router is between them that
/// could say so: 1500 bytes are what every link of Ethernet carries (RFC 894), and hosts have it where nobody has set another.
fn of_neighbours(step: &Step) -> Option<String> {
    const USUAL: u64 = Mtu::ETHERNET.bytes().get();
    let Target::InterfaceMtu(name) = &step.target else { return None };
    let (before, after) = (step.before.size(), step.after.size()?);
    let is_raised = before.is_none_or(|before| after > before);
    (name != "lo" && is_raised && after > USUAL).then(|| {
        format!(
            "every neighbour on the link of {name}, and a switch between them, has to take {after} bytes as well: else larger packets \
             vanish without a message"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::Value;
    use super::*;

    fn of(target: &str, before: &str, after: &str, facts: &Facts) -> Vec<String> {
        let (before, after) = (Value::of(before), Value::of(after));
        warnings(&Step { target: target.parse().unwrap(), before, after, image: None }, facts)
    }

    #[test]
    fn an_interface_with_large_packets_needs_neighbours_that_take_them() {
        let of = |target, before, after| of(target, before, after, &Facts::default());
        let told = of("interface.eth0.mtu", "1500", "9000");
        assert!(told[0].starts_with("every neighbour on the link of eth0"), "{told:?}");
        for (target, before, after) in [
            ("interface.eth0.mtu", "9000", "1500"),
            ("interface.eth0.mtu", "9000", "8000"),
            ("interface.eth0.mtu", "1400", "1500"),
            ("interface.lo.mtu", "16384", "65535"),
            ("route.10.0.0.0/8.mtu", "1500", "9000"),
        ] {
            let told = of(target, before, after);
            assert!(!told.iter().any(|line| line.contains("neighbour")), "{target}: {told:?}");
        }
    }

    #[test]
    fn a_larger_advmss_makes_an_mtu_act_one_way() {
        let facts = Facts { advmss: Some(1460), ..Facts::default() };
        let told = |target, after| of(target, "unset", after, &facts).join("; ");
        assert!(
            told("route.10.0.0.0/8.mtu", "1280").ends_with("--set route.10.0.0.0/8.advmss=1240")
        );
        assert!(told("route.2001:db8::/32.mtu", "1280").ends_with("advmss=1220"));
        for (target, after) in [
            ("route.10.0.0.0/8.mtu", "1500"),
            ("route.10.0.0.0/8.mtu", "unset"),
            ("route.10.0.0.0/8.window", "1280"),
        ] {
            assert!(!told(target, after).contains("advmss"), "{target}");
        }
    }

    #[test]
    fn other_hosts_connections_shrink_with_a_lower_mtu_alone() {
        let facts = Facts { forwards: true, ..Facts::default() };
        for (target, before, after, shrink) in [
            ("route.10.0.0.0/8.mtu", "1500", "1400", true),
            ("route.10.0.0.0/8.mtu", "unset", "lock 1400", true),
            ("route.10.0.0.0/8.mtu", "1400", "1500", false),
            ("route.10.0.0.0/8.mtu", "1400", "unset", false),
            ("interface.eth0.mtu", "1500", "9000", false),
        ] {
            let told = of(target, before, after, &facts);
            let has = told.iter().any(|line| line.contains("other hosts' connections"));
            assert_eq!(has, shrink, "{target}: {before} -> {after}: {told:?}");
        }
    }

    #[test]
    fn a_lock_clears_df_of_ipv4_alone() {
        let told = |target| of(target, "unset", "lock 1400", &Facts::default()).join("; ");
        assert!(told("route.10.0.0.0/8.mtu").contains("clears DF"));
        let told = told("route.fd50::/64.mtu");
        assert!(told.contains("the MTU of the interface") && !told.contains("DF"), "{told}");
    }

    #[test]
    fn a_rule_that_leads_past_the_main_table_is_told() {
        let facts =
            Facts { other_table: Some(("10.50.2.1".parse().unwrap(), 77)), ..Facts::default() };
        let told = of("route.10.50.2.0/24.mtu", "1450", "1200", &facts);
        assert!(told[0].contains("10.50.2.1 go by table 77"), "{told:?}");
        let told = of("route.10.50.2.0/24.mtu", "1450", "1200", &Facts::default());
        assert!(!told.iter().any(|line| line.contains("ip rule")), "{told:?}");
    }
}
