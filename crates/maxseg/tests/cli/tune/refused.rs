//! What must not be set is refused with a way that would do, and nothing is changed.

use super::host::{Far, Host};

#[test]
fn wrong_targets_and_values_are_refused() {
    let Some(host) = Host::new() else { return };
    host.shows("ip link add ve.5 type veth peer name ve6");
    for (assignment, why) in [
        // A larger one would be 65520 once the kernel has it.
        ("route.default.mtu=100", "100 is outside 552 to 65520 (net.ipv4.route.min_pmtu"),
        ("route.default.mtu=65530", "65530 is outside 552 to 65520"),
        ("route.default.mtuu=1400", "did you mean `mtu`?"),
        ("route.2001:db8::/32.mtu=1400", "there is no route to 2001:db8::/32"),
        ("sysctl.net.ipv4.tcp_rmme=1", "did you mean net.ipv4.tcp_rmem?"),
        ("sysctl.net.ipv4.tcp_low_latency=1", "no effect since Linux 4.14"),
        ("sysctl.net.ipv4.tcp_mtu_prober=1", "did you mean net.ipv4.tcp_mtu_probing?"),
        ("sysctl.net.ipv4.tcp_mem=1 2 3", "the machine's first network namespace alone has it"),
        ("sysctl.net.ipv4.conf.ve.5.rp_filter=1", "did you mean net.ipv4.conf.ve/5.rp_filter?"),
        ("sysctl.net.ipv4.no_such_name=1", "`sysctl -a --pattern ^net` lists"),
        ("sysctl.net.ipv4.tcp_rmem=1 2", "it takes 3 numbers"),
        ("sysctl.kernel.panic=1", "not a network sysctl"),
        ("interface.vx.mtu=1400", "the interface vx does not exist here"),
        ("interface.va.mtu=100", "100 is outside 1280 to 65535 (the least MTU of IPv6"),
        ("route.default.mtu", "is not TARGET=VALUE"),
        ("route.default.mtu=", "is not TARGET=VALUE"),
        ("gibberish=1", "is not a target that can be set"),
        ("route.default.congctl=renoo", "did you mean `reno`?"),
        ("sysctl.net.ipv4.tcp_congestion_control=nosuch", "no congestion control `nosuch`"),
    ] {
        let told = host.refused(&[assignment], &[]);
        assert!(told.contains(why), "{assignment}: {told}");
    }
    let told = host.refused(&["route.default.mtu=1400", "route.default.mtu=1300"], &[]);
    assert!(told.contains("route.default.mtu is set twice"), "{told}");
}

/// `tcp_set_default_congestion_control`: other namespaces than the first take what `tcp_allowed_congestion_control` has.
#[test]
fn a_namespace_has_the_congestion_controls_that_are_allowed() {
    let Some(host) = Host::new() else { return };
    let names = |which: &str| {
        let shown = host.shows(&format!("sysctl -n net.ipv4.tcp_{which}_congestion_control"));
        shown.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    let (available, allowed) = (names("available"), names("allowed"));
    let Some(other) = available.iter().find(|name| !allowed.contains(name)) else {
        return super::super::kernel::skipped("a congestion control that is not allowed");
    };
    let told = host.refused(&[&format!("sysctl.net.ipv4.tcp_congestion_control={other}")], &[]);
    assert!(told.contains("tcp_allowed_congestion_control has") && told.contains(other), "{told}");
    host.apply(&[&format!("route.default.congctl={other}")], &[]);
}

/// The kernel goes by the route's MTU, and the interface sends no packet of that size.
#[test]
fn a_route_takes_no_mtu_above_that_of_its_interfaces() {
    let Some(host) = Host::new() else { return };
    host.namespace.must("ip link set va mtu 1400");
    for target in ["route.default", "route.10.5.0.0/16", "route.10.7.0.0/16"] {
        let told = host.refused(&[&format!("{target}.mtu=1401")], &[]);
        assert!(told.contains("va, by which it leads, has an MTU of 1400"), "{told}");
        assert!(told.contains(&format!("--set {target}.mtu=1400; or raise")), "{told}");
    }
    host.apply(&["route.default.mtu=1450", "interface.va.mtu=1500"], &[]);
}

/// Neighbours of several links have addresses of one prefix, and the kernel tells their routes apart by nothing that is given.
#[test]
fn one_of_several_routes_of_one_priority_is_not_chosen() {
    let Some(host) = Host::new() else { return };
    if !host.shows("ip -6 route").contains("fe80::/64") {
        return super::super::kernel::skipped("routes of several links: no IPv6");
    }
    for (target, how) in [
        ("route.fe80::/64.mtu=1300", "--yes"),
        ("route.fe80::/64.mtu=1300", "--dry-run"),
        ("route.fe80::/64.mtu=1300", "--script"),
        ("route.fe80::7.mtu=1300", "--script"),
    ] {
        let told = host.tune_ends(&["apply", "--set", target, how], 1);
        assert!(told.contains("there are 2 routes of one priority"), "{told}");
        assert!(!told.contains("set -eu"), "{told}");
    }
}

#[test]
fn what_would_hurt_needs_an_option() {
    let Some(host) = Host::new() else { return };
    let told = host.refused(&["route.default.mtu=lock 1400"], &[]);
    assert!(told.contains("clears DF"), "{told}");
    let told = host.apply(&["route.default.mtu=lock 1400"], &["--lock"]);
    assert!(told.contains("warning: the lock clears DF"), "{told}");
    assert!(host.shows("ip route show default").contains("mtu lock 1400"));
    host.tune_ends(&["undo"], 0);
    host.namespace.must("sysctl -qw net.ipv4.ip_forward=1");
    let told = host.refused(&["route.default.mtu=1400"], &[]);
    assert!(told.contains("this host forwards") && told.contains("--i-am-router"), "{told}");
    host.apply(&["route.default.mtu=1400"], &["--i-am-router"]);
}

/// IPv4 forwards what arrives by an interface where that one forwards, whatever the setting of all says.
#[test]
fn a_host_that_forwards_by_one_interface_forwards() {
    let Some(host) = Host::new() else { return };
    host.namespace.must("ip link add wan.7 type veth peer name far");
    host.namespace.must("sysctl -qw net.ipv4.conf.wan/7.forwarding=1");
    assert_eq!(host.shows("sysctl -n net.ipv4.ip_forward"), "0\n");
    let told = host.refused(&["route.default.mtu=1400"], &[]);
    assert!(told.contains("this host forwards"), "{told}");
    host.namespace.must("sysctl -qw net.ipv4.conf.wan/7.forwarding=0");
    host.namespace.must("sysctl -qw net.ipv4.conf.default.forwarding=1");
    host.apply(&["route.default.mtu=1400"], &[]);
}

#[test]
fn what_undoing_would_not_restore_is_refused() {
    let Some(host) = Host::new() else { return };
    for (assignment, why) in [
        ("sysctl.net.ipv4.ip_forward=1", "overwrites accept_redirects and the forwarding of every"),
        ("sysctl.net.ipv4.conf.va.forwarding=1", "turns LRO off"),
        (
            "sysctl.net.ipv6.conf.all.forwarding=1",
            "overwrites the value of every interface, and a router",
        ),
        ("sysctl.net.ipv6.conf.va.disable_ipv6=1", "loses its IPv6 addresses and routes"),
        ("sysctl.net.ipv6.conf.all.disable_ipv6=1", "overwrites the value of every interface"),
    ] {
        let told = host.refused(&[assignment], &[]);
        assert!(
            told.contains(why) && told.contains("hint: without a way back: sysctl -w"),
            "{told}"
        );
    }
}

#[test]
fn the_session_itself_is_not_cut_off() {
    let Some(host) = Host::new() else { return };
    let apply = |target: &str| {
        let mut command = host.command(env!("CARGO_BIN_EXE_maxseg"));
        command.args(["tune", "apply", "--yes", "--set", target]);
        command.env("SSH_CONNECTION", "10.5.1.1 50123 10.9.0.1 22");
        command.output().unwrap()
    };
    for target in
        ["route.default.mtu=1400", "route.10.5.0.0/16.advmss=1000", "interface.va.mtu=1400"]
    {
        let output = apply(target);
        let told = super::super::stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{target}: {told}");
        assert!(
            told.contains("over which this session runs") && told.contains("--confirm"),
            "{told}"
        );
    }
    assert!(apply("route.10.6.0.0/16.mtu=1400").status.success(), "that is elsewhere");
}

#[test]
fn a_learnt_path_mtu_is_not_exceeded() {
    let Some(far) = Far::new() else { return };
    far.learn(1300);
    let host = &far.host;
    for (assignment, why) in [
        ("route.10.20.2.0/24.mtu=1400", "has learnt a path MTU of 1300 to 10.20.2.2"),
        ("route.10.20.2.0/24.initcwnd=20", "forgets it when the route is replaced"),
    ] {
        let told = host.refused(&[assignment], &[]);
        assert!(told.contains(why), "{assignment}: {told}");
    }
    assert!(host.shows("ip route get 10.20.2.2").contains("mtu 1300"), "it is still known");
    host.apply(&["route.10.20.2.0/24.mtu=1300", "route.10.20.2.0/24.initcwnd=20"], &[]);
    assert!(host.shows("ip route get 10.20.2.2").contains("mtu 1300"));
}

#[test]
fn a_route_that_could_not_be_restored_is_not_replaced() {
    let Some(host) = Host::new() else { return };
    if !host.namespace.run("ip nexthop add id 7 via 10.9.0.8 dev va").status.success() {
        super::super::kernel::skipped("routes by next-hop objects: this kernel has none");
        return;
    }
    host.namespace.must("ip route add 10.6.0.0/16 nhid 7");
    let told = host.refused(&["route.10.6.0.0/16.mtu=1400"], &[]);
    assert!(told.contains("its next hop is an object"), "{told}");
    let before = host.kernel();
    host.apply(&["route.10.6.1.0/24.mtu=1400", "route.10.6.1.0/24.initcwnd=20"], &[]);
    assert!(host.shows("ip route show 10.6.1.0/24").contains("nhid 7"));
    host.tune_ends(&["undo"], 0);
    assert_eq!(host.kernel(), before);
}

/// An address of one link alone has the link's interface behind it.
#[test]
fn a_session_over_a_link_local_address_is_that_of_its_zone() {
    let Some(host) = Host::new() else { return };
    if !host.shows("ip -6 route").contains("fe80::/64") {
        return super::super::kernel::skipped("a link-local session: no IPv6");
    }
    // Not `vb`: the ends of a pair are below each other.
    host.namespace.must("ip link add vc type veth peer name vd");
    for (zone, is_refused) in [("va", true), ("vc", false)] {
        let mut command = host.command(env!("CARGO_BIN_EXE_maxseg"));
        command.args(["tune", "apply", "--yes", "--set", "interface.va.mtu=1400"]);
        command.env("SSH_CONNECTION", format!("fe80::5%{zone} 50123 fe80::1%{zone} 22"));
        let output = command.output().unwrap();
        let told = super::super::stderr(&output);
        assert_eq!(output.status.code(), Some(i32::from(is_refused)), "{zone}: {told}");
        assert_eq!(told.contains("over which this session runs"), is_refused, "{told}");
    }
}
