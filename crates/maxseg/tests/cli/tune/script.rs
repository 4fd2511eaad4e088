//! `--script` does what `apply` does, and its comment what `undo` does.

use super::super::kernel::skipped;
use super::host::Host;

/// The commands behind the plan's, which undo it.
pub(super) fn way_back(script: &str) -> String {
    let lines = script.lines().filter_map(|line| line.strip_prefix("#   "));
    lines.map(|line| format!("{line}\n")).collect()
}

pub(super) fn run(host: &Host, script: &str) {
    let output = host.command("sh").args(["-ec", script]).output().unwrap();
    assert!(output.status.success(), "{script}\n{}", super::super::stderr(&output));
}

#[test]
fn a_script_does_the_same_and_has_the_way_back() {
    let Some(host) = Host::new() else { return };
    let before = host.kernel();
    let wanted = [
        "route.10.5.0.0/16.mtu=1300",
        "route.10.7.0.0/16.mtu=1280",
        "route.default.rto_min=300",
        "route.default.initcwnd=20",
        "interface.va.mtu=1450",
        "sysctl.net.ipv4.tcp_rmem=4096 131072 3000000",
    ];
    let sets = wanted.iter().flat_map(|assignment| ["--set", assignment]);
    let arguments: Vec<&str> = ["apply", "--script"].into_iter().chain(sets).collect();
    let script = host.tune_ends(&arguments, 0);
    assert_eq!(host.kernel(), before, "it is only printed");
    run(&host, &script);
    let by_script = host.kernel();
    run(&host, &way_back(&script));
    assert_eq!(host.kernel(), before);
    host.apply(&wanted, &[]);
    assert_eq!(host.kernel(), by_script);
}

/// What `ip` tells of a route and does not take: how long it lives, and the next hops of an object.
#[test]
fn a_script_copies_routes_of_router_advertisements_and_of_next_hop_objects() {
    let Some(host) = Host::new() else { return };
    for line in [
        "ip nexthop add id 7 via 10.9.0.8 dev va",
        "ip nexthop add id 8 via 10.9.0.9 dev va",
        "ip nexthop add id 9 group 7/8",
        "ip route add 10.6.0.0/16 nhid 7 mtu 1450",
        "ip route add 10.8.0.0/16 nhid 9 mtu 1450",
        "ip -6 route add default via fe80::1 dev va proto ra expires 1800",
    ] {
        if !host.namespace.run(line).status.success() {
            return skipped("routes that expire, or have next-hop objects: this kernel has none");
        }
    }
    // How long the route has yet to live differs from one look to the next.
    let kernel = || host.kernel().replace(char::is_numeric, "");
    let before = kernel();
    let wanted = [
        "route.2001:db8::/32.mtu=1300",
        "route.10.6.1.0/24.mtu=1300",
        "route.10.6.0.0/16.mtu=1400",
        "route.10.8.0.0/16.mtu=1400",
    ];
    let sets = wanted.iter().flat_map(|assignment| ["--set", assignment]);
    let arguments: Vec<&str> = ["apply", "--script"].into_iter().chain(sets).collect();
    let script = host.tune_ends(&arguments, 0);
    run(&host, &script);
    for (prefix, want) in [("10.6.0.0/16", "nhid 7 "), ("10.8.0.0/16", "nhid 9 ")] {
        let shown = host.shows(&format!("ip route show exact {prefix}"));
        assert!(shown.contains(want) && shown.contains("mtu 1400"), "{shown}");
    }
    let shown = host.shows("ip -6 route show 2001:db8::/32");
    assert!(
        shown.contains("via fe80::1 dev va proto 109") && shown.contains("mtu 1300"),
        "{shown}"
    );
    assert!(!shown.contains("expires"), "{shown}");
    assert!(host.shows("ip route show 10.6.1.0/24").contains("mtu 1300"));
    run(&host, &way_back(&script));
    assert_eq!(kernel(), before);
    for (prefix, want) in [("10.6.0.0/16", "nhid 7 "), ("10.8.0.0/16", "nhid 9 ")] {
        let shown = host.shows(&format!("ip route show exact {prefix}"));
        assert!(shown.contains(want) && shown.contains("mtu 1450"), "{shown}");
    }
}

/// Routes that a lookup of one address finds, and a plan does not mean: narrower ones, those of other tables, and of a service.
#[test]
fn a_script_copies_the_route_that_apply_copies() {
    let Some(host) = Host::new() else { return };
    let must = |line: &str| host.namespace.must(line);
    for line in [
        "ip link add vc type veth peer name vd",
        "ip addr add 10.0.0.1/24 dev vc",
        "ip link set vc up",
        "ip route add 10.40.0.0/14 via 10.0.0.254",
        "ip route add 10.40.0.0/24 via 10.9.0.7",
        "ip route add 198.51.100.0/24 via 10.0.0.254 table 100",
        "ip rule add to 198.51.100.0/24 lookup 100",
        "ip route add 10.6.0.0/16 via 10.9.0.3 initcwnd 14",
        "ip route add 10.6.0.0/16 via 10.9.0.4 tos 0x10",
        "ip route add 10.6.0.0/16 via 10.9.0.5 metric 50",
    ] {
        must(line);
    }
    let kernel = || host.kernel() + &host.shows("ip route show table 100");
    let before = kernel();
    let wanted = [
        "route.10.0.0.0/8.mtu=1280",
        "route.10.40.0.0/16.mtu=1300",
        "route.198.51.100.7.mtu=1280",
        "route.10.6.0.0/16.mtu=1300",
    ];
    let sets = wanted.iter().flat_map(|assignment| ["--set", assignment]);
    let arguments: Vec<&str> = ["apply", "--script"].into_iter().chain(sets).collect();
    let script = host.tune_ends(&arguments, 0);
    run(&host, &script);
    let by_script = kernel();
    let shown = host.shows("ip route show exact 10.0.0.0/8");
    assert!(shown.contains("via 10.9.0.2 dev va proto 109"), "{shown}");
    run(&host, &way_back(&script));
    assert_eq!(kernel(), before);
    host.apply(&wanted, &[]);
    assert_eq!(kernel(), by_script);
}

/// The header of a tunnel has a type of service too, which is none of the route.
#[test]
fn a_script_copies_a_route_with_a_tunnel() {
    let Some(host) = Host::new() else { return };
    let line = "ip route add 10.77.0.0/16 encap ip id 5 dst 10.9.0.2 via 10.9.0.9 dev va";
    if !host.namespace.run(line).status.success() {
        return skipped("a route with a tunnel: this kernel has none");
    }
    let before = host.kernel();
    let wanted = "route.10.77.0.0/16.mtu=1400";
    let script = host.tune_ends(&["apply", "--script", "--set", wanted], 0);
    run(&host, &script);
    let by_script = host.kernel();
    run(&host, &way_back(&script));
    assert_eq!(host.kernel(), before);
    host.apply(&[wanted], &[]);
    assert_eq!(host.kernel(), by_script);
}
