//! Interfaces above and below others.

use super::super::kernel::skipped;
use super::super::stderr;
use super::host::Host;

#[test]
fn interfaces_above_are_lowered_first_and_raised_again() {
    let Some(host) = Host::new() else { return };
    if !host.namespace.run("ip link add link va name over type macvlan").status.success() {
        return skipped("an interface above another: this kernel has no macvlan");
    }
    let mtus = || ["va", "over"].map(|name| mtu(&host, name));
    assert_eq!(mtus(), [1500, 1500]);
    let told = host.apply(&["interface.va.mtu=1400"], &[]);
    assert!(told.contains("interface.over.mtu: 1500 -> 1400 bytes"), "{told}");
    assert!(told.contains("the kernel lowers it with the interface below it"), "{told}");
    assert_eq!((mtus(), host.status(&[]).1), ([1400, 1400], 0));
    host.tune_ends(&["undo"], 0);
    assert_eq!(mtus(), [1500, 1500]);
    host.namespace.must("ip link set over mtu 1350");
    let told = host.apply(&["interface.va.mtu=1400"], &[]);
    assert!(!told.contains("interface.over"), "it is smaller: {told}");
    host.tune_ends(&["undo"], 0);
    assert_eq!(mtus(), [1500, 1350]);
}

/// The kernel raises a bridge with its ports, and nothing that stands on it.
#[test]
fn what_stands_on_a_bridge_is_raised_again_with_its_port() {
    let Some(host) = Host::new() else { return };
    for line in [
        "ip link add bridge type bridge",
        "ip link add part type veth peer name far",
        "ip link set part master bridge",
        "ip link add link bridge name over type macvlan",
    ] {
        if !host.namespace.run(line).status.success() {
            return skipped("an interface on a bridge: this kernel has none");
        }
    }
    let mtus = || ["part", "bridge", "over"].map(|name| mtu(&host, name));
    assert_eq!(mtus(), [1500; 3]);
    let told = host.apply(&["interface.part.mtu=1400"], &[]);
    assert!(told.contains("interface.over.mtu: 1500 -> 1400 bytes"), "{told}");
    assert_eq!((mtus(), host.status(&[]).1), ([1400; 3], 0));
    host.tune_ends(&["undo"], 0);
    assert_eq!(mtus(), [1500; 3]);
    host.namespace.must("ip link set bridge mtu 1450");
    host.namespace.must("ip link set over mtu 1450");
    let told = host.apply(&["interface.part.mtu=1400"], &[]);
    assert!(!told.contains("interface.over"), "the bridge stays as it was set: {told}");
    assert_eq!(mtus(), [1400, 1450, 1450]);
}

#[test]
fn both_of_two_interfaces_on_each_other_are_set_and_undone() {
    let Some(host) = Host::new() else { return };
    if !host.namespace.run("ip link add link va name over type macvlan").status.success() {
        return skipped("an interface above another: this kernel has no macvlan");
    }
    let mtus = || ["va", "over"].map(|name| mtu(&host, name));
    host.apply(&["interface.va.mtu=1400", "interface.over.mtu=1400"], &[]);
    assert_eq!((mtus(), host.status(&[]).1), ([1400, 1400], 0));
    host.tune_ends(&["undo"], 0);
    assert_eq!(mtus(), [1500, 1500]);
    host.apply(&["interface.over.mtu=2000", "interface.va.mtu=2000"], &[]);
    assert_eq!(mtus(), [2000, 2000]);
    host.tune_ends(&["undo"], 0);
    assert_eq!(mtus(), [1500, 1500]);
}

pub(super) fn mtu(host: &Host, name: &str) -> u32 {
    let shows = host.shows(&format!("ip -o link show {name}"));
    let (_, behind) = shows.split_once(" mtu ").unwrap();
    behind.split(' ').next().unwrap().parse().unwrap()
}

/// A session through a bridge, one part of which is a veth.
#[test]
fn what_is_below_the_interface_of_the_session_is_the_session_s() {
    let Some(host) = Host::new() else { return };
    for line in [
        "ip link add bridge type bridge",
        "ip link add part type veth peer name far",
        "ip link set part master bridge",
        "ip link set bridge up",
        "ip link set part up",
        "ip addr add 10.60.0.1/24 dev bridge",
    ] {
        if !host.namespace.run(line).status.success() {
            return skipped("a session through a bridge: this kernel has none");
        }
    }
    let apply = |target: &str, more: &[&str]| {
        let mut command = host.command(env!("CARGO_BIN_EXE_maxseg"));
        command.args(["tune", "apply", "--yes", "--set", target]).args(more);
        command.env("SSH_CONNECTION", "10.60.0.2 50123 10.60.0.1 22");
        command.output().unwrap()
    };
    for (target, why) in [
        ("interface.bridge.mtu=1400", "over which this session runs"),
        ("interface.part.mtu=1400", "over which this session runs"),
        ("sysctl.net.ipv4.conf.all.rp_filter=1", "over which this session runs is not known"),
    ] {
        let output = apply(target, &[]);
        let told = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{target}: {told}");
        assert!(told.contains(why) && told.contains("--confirm"), "{target}: {told}");
    }
    assert!(apply("interface.va.mtu=1400", &[]).status.success(), "that is elsewhere");
    assert!(apply("sysctl.net.ipv4.tcp_sack=0", &[]).status.success(), "that is known");
    let rp_filter = "sysctl.net.ipv4.conf.all.rp_filter=1";
    assert!(apply(rp_filter, &["--confirm", "60s"]).status.success());
    host.tune_ends(&["undo", "--all"], 0);
}

/// The kernel keeps that it was set, and tells nobody.
#[test]
fn a_bridge_that_stops_following_its_ports_is_told_of() {
    let Some(host) = Host::new() else { return };
    if !host.namespace.run("ip link add br0 type bridge").status.success() {
        return skipped("a bridge: this kernel has none");
    }
    let told = host.apply(&["interface.br0.mtu=1400"], &[]);
    assert!(told.contains("does not follow its ports any more"), "{told}");
    let told = host.apply(&["interface.va.mtu=1400"], &[]);
    assert!(!told.contains("follow its ports"), "{told}");
}
