//! Interfaces that have another name, or are gone, by the time of undoing.

use super::super::kernel::{runs, skipped, wait_until};
use super::guard::guards;
use super::host::Host;
use super::stacked::mtu;

#[test]
fn the_mtu_of_a_renamed_interface_is_restored_there() {
    let Some(host) = Host::new() else { return };
    host.apply(&["interface.va.mtu=1400"], &[]);
    host.namespace.must("ip link set va name wan");
    let (entries, code) = host.status(&[]);
    assert_eq!((entries[0]["state"].as_str(), code), (Some("set"), 0), "{entries:?}");
    assert_eq!(entries[0]["note"], "the interface is named wan now");
    // The old name is another's.
    host.namespace.must("ip link add va type veth peer name other");
    host.namespace.must("ip link set va mtu 1400");
    let told = host.tune_ends(&["undo"], 0);
    assert!(told.contains("1400 -> 1500 (the interface is named wan now)"), "{told}");
    assert_eq!(["wan", "va"].map(|name| mtu(&host, name)), [1500, 1400]);
}

#[test]
fn of_two_interfaces_of_one_name_each_is_restored() {
    let Some(host) = Host::new() else { return };
    host.apply(&["interface.va.mtu=1400"], &[]);
    for line in ["ip link set va name wan", "ip link add va type veth peer name other"] {
        host.namespace.must(line);
    }
    host.apply(&["interface.va.mtu=1300"], &[]);
    assert_eq!(host.states(), ["set", "set"], "the second does not supersede the first");
    host.tune_ends(&["undo", "1"], 0);
    assert_eq!(["wan", "va"].map(|name| mtu(&host, name)), [1500, 1300]);
    host.namespace.must("ip link del va");
    host.namespace.must("ip link add va mtu 1300 type veth peer name other");
    let told = host.tune_ends(&["undo"], 0);
    assert!(told.contains("is gone from this network namespace"), "{told}");
    assert_eq!(mtu(&host, "va"), 1300, "that is another interface");
}

/// A sysctl has the name of its interface in its own.
#[test]
fn a_sysctl_of_a_renamed_interface_is_restored_there() {
    let Some(host) = Host::new() else { return };
    host.namespace.must("sysctl -qw net.ipv4.conf.vb.rp_filter=0");
    host.apply(&["sysctl.net.ipv4.conf.vb.rp_filter=2"], &[]);
    host.namespace.must("ip link set vb name wan");
    let (entries, code) = host.status(&[]);
    assert_eq!((entries[0]["state"].as_str(), code), (Some("set"), 0), "{entries:?}");
    assert_eq!(entries[0]["note"], "the interface is named wan now");
    // The old name is another's.
    host.namespace.must("ip link add vb type veth peer name other");
    host.namespace.must("sysctl -qw net.ipv4.conf.vb.rp_filter=2");
    let told = host.tune_ends(&["undo"], 0);
    assert!(told.contains("2 -> 0 (the interface is named wan now)"), "{told}");
    let shown =
        ["wan", "vb"].map(|it| host.shows(&format!("sysctl -n net.ipv4.conf.{it}.rp_filter")));
    assert_eq!(shown, ["0\n", "2\n"]);
    host.apply(&["sysctl.net.ipv4.conf.vb.rp_filter=1"], &[]);
    host.namespace.must("ip link del vb");
    let (entries, code) = host.status(&[]);
    assert_eq!((&entries[1]["state"], code), (&"drifted".into(), 3));
    assert!(entries[1]["changed_by"].as_str().unwrap().starts_with("the interface is gone"));
    host.tune_ends(&["undo"], 0);
}

/// The journal of a version that knew interfaces by their names.
#[test]
fn a_change_without_an_index_is_undone_by_name() {
    let Some(host) = Host::new() else { return };
    host.apply(&["interface.va.mtu=1400"], &[]);
    let journal = std::fs::read_to_string(host.journal()).unwrap();
    let mut records: Vec<serde_json::Value> =
        journal.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for record in &mut records {
        record.as_object_mut().unwrap().remove("image");
    }
    let old: String = records.iter().map(|record| format!("{record}\n")).collect();
    assert!(old.len() < journal.len(), "the index was there: {journal}");
    std::fs::write(host.journal(), old).unwrap();
    assert_eq!(host.states(), ["set"]);
    host.tune_ends(&["undo"], 0);
    assert_eq!(mtu(&host, "va"), 1500);
}

#[test]
fn another_name_of_an_interface_is_its_own() {
    let Some(host) = Host::new() else { return };
    if !host.namespace.run("ip link property add dev va altname uplink").status.success() {
        return skipped("another name of an interface: this `ip` has none");
    }
    let told = host.refused(&["interface.va.mtu=1400", "interface.uplink.mtu=1300"], &[]);
    assert!(told.contains("interface.va.mtu is set twice"), "{told}");
    let told = host.refused(&["interface.uplink.mtu=1000"], &[]);
    assert!(told.contains("IPv6"), "it has addresses: {told}");
    let told = host.apply(&["interface.uplink.mtu=1400"], &[]);
    assert!(told.contains("interface.va.mtu: 1500 -> 1400"), "{told}");
    host.tune_ends(&["undo"], 0);
    assert_eq!(mtu(&host, "va"), 1500);
}

#[test]
fn a_clamp_of_an_interface_that_is_gone_is_undone() {
    let Some(host) = Host::new() else { return };
    if !host.namespace.run("nft add table inet probe").status.success() {
        return skipped("a clamp: there is no nft");
    }
    let told = host.refused(&["clamp.vx=1200"], &[]);
    assert!(told.contains("the interface vx does not exist here"), "{told}");
    host.apply(&["clamp.va=1200"], &["--for", "10m"]);
    host.apply(&["clamp.vb=1300"], &[]);
    host.namespace.must("ip link set vb name wan");
    let (entries, _) = host.status(&[]);
    let note = entries[1]["note"].as_str().unwrap_or_default();
    assert!(note.contains("no interface is named vb now"), "{entries:?}");
    host.namespace.must("ip link set wan name vb");
    host.namespace.must("ip link del va");
    host.namespace.must("nft delete table inet maxseg");
    let told = host.tune_ends(&["undo", "--all"], 0);
    assert_eq!(told.matches("is unset already").count(), 2, "{told}");
    let guard = guards(&host)[0];
    wait_until("its guard ends", || !runs(guard));
    assert_eq!(host.states(), ["undone", "undone"]);
}

/// The kernel lowers the MTU of IPv6's routes with the interface's, and raises those that equal IPv6's own MTU of it again.
#[test]
fn what_ipv6_has_of_an_mtu_is_restored() {
    let Some(host) = Host::new() else { return };
    let must = |line: &str| host.namespace.must(line);
    if !host.shows("ip -6 route").contains("fe80::/64") {
        return skipped("MTUs of IPv6: there is none");
    }
    for line in [
        "ip -6 addr add 2001:db8::1/64 dev va nodad",
        "ip -6 route add 2001:db8:1::/48 via 2001:db8::2 mtu 1400",
        "ip -6 route add 2001:db8:2::/48 via 2001:db8::2 mtu 1300",
        "ip -6 route add 2001:db8:3::/48 via 2001:db8::2 mtu lock 1400",
        "ip -6 route add 2001:db8:4::/48 via 2001:db8::2 mtu 1400 table 77",
        "sysctl -qw net.ipv6.conf.va.mtu=1480",
    ] {
        must(line);
    }
    let kernel = || host.kernel() + &host.shows("sysctl net.ipv6.conf.va.mtu");
    host.apply(&["route.2001:db8:1:2::/64.mtu=1350"], &[]);
    let before = kernel();
    let told = host.apply(&["interface.va.mtu=1300"], &[]);
    let words: Vec<&str> = told.split_whitespace().collect();
    assert!(words.join(" ").contains("raise it again: 2001:db8:4::/48 table 77"), "{told}");
    assert_eq!(host.shows("sysctl -n net.ipv6.conf.va.mtu"), "1300\n");
    host.tune_ends(&["undo"], 0);
    assert_eq!(kernel(), before);
    assert_eq!(host.states()[0], "set", "the route of before");
    host.tune_ends(&["undo"], 0);
}

/// The kernel lowers routes of IPv6 with their interface, and none of IPv4.
#[test]
fn an_interface_takes_no_mtu_below_that_of_its_routes() {
    let Some(host) = Host::new() else { return };
    host.apply(&["route.10.7.0.0/16.mtu=1450"], &[]);
    host.namespace.must("ip route add 10.8.0.0/16 via 10.9.0.2 mtu 1440 table 77");
    let told = host.refused(&["interface.va.mtu=1400"], &[]);
    assert!(told.contains("larger MTU, which the kernel does not lower"), "{told}");
    assert!(told.contains("1450 (10.7.0.0/16)") && told.contains("1440 (10.8.0.0/16 table 77)"));
    assert!(told.contains("`ip route change ROUTE mtu 1400`"), "no target names the one: {told}");
    host.namespace.must("ip route del 10.8.0.0/16 table 77");
    let told = host.refused(&["interface.va.mtu=1400"], &[]);
    assert!(told.contains("hint: lower them as well: --set route.10.7.0.0/16.mtu=1400"), "{told}");
    host.apply(&["interface.va.mtu=1400", "route.10.7.0.0/16.mtu=1400"], &[]);
    let (entries, _) = host.status(&[]);
    assert_eq!(entries[1]["tunable"], "route.10.7.0.0/16.mtu", "lowered first: {entries:?}");
    let told = host.tune_ends(&["undo", "2"], 1);
    assert!(told.contains("before change 3"), "the interface is lower by now: {told}");
    host.tune_ends(&["undo"], 0);
    assert_eq!(mtu(&host, "va"), 1500);
    host.apply(&["interface.va.mtu=1450"], &[]);
}

/// A route whose MTU an interface has made room for.
#[test]
fn a_larger_route_ends_before_its_interface() {
    let Some(host) = Host::new() else { return };
    let mtus = || (mtu(&host, "va"), host.shows("ip route show 10.7.0.0/16"));
    host.apply(&["route.10.7.0.0/16.mtu=9000", "interface.va.mtu=9000"], &[]);
    let told = host.tune_ends(&["undo", "1"], 1);
    assert!(told.contains("before change 2"), "the interface was raised first: {told}");
    host.tune_ends(&["undo"], 0);
    host.apply(&["interface.va.mtu=9000"], &["--for", "1s"]);
    host.apply(&["route.10.7.0.0/16.mtu=9000"], &[]);
    wait_until("both are undone", || host.states()[2..] == ["undone", "undone"]);
    assert_eq!(mtus(), (1500, String::new()));
    let (entries, _) = host.status(&["--all"]);
    let note = entries[3]["note"].as_str().unwrap();
    assert!(note.ends_with("change 3, on which it depends, ended"), "{note}");
}

/// IPv6 has no smaller MTU, and what goes with an interface is no reason of its own.
#[test]
fn an_interface_is_refused_in_its_own_name() {
    let Some(host) = Host::new() else { return };
    if !host.shows("ip -6 route").contains("fe80::/64") {
        return skipped("MTUs of IPv6: there is none");
    }
    host.namespace.must("ip -6 addr add 2001:db8::1/64 dev va nodad");
    host.namespace.must("ip -6 route add 2001:db8:1::/48 via 2001:db8::2 mtu 1400");
    let told = host.refused(&["interface.va.mtu=1200"], &[]);
    assert!(told.contains("interface.va.mtu = 1200 is refused: 1200 is outside 1280"), "{told}");
    assert!(told.contains("hint: for example --set interface.va.mtu=1280"), "{told}");
}

/// An administrator's own, which nothing renews.
#[test]
fn a_route_that_expires_is_refused_as_one() {
    let Some(host) = Host::new() else { return };
    if !host.shows("ip -6 route").contains("fe80::/64") {
        return skipped("routes that expire: there is no IPv6");
    }
    host.namespace.must("ip -6 addr add 2001:db8::1/64 dev va nodad");
    let line = "ip -6 route add 2001:db8:1::/48 via 2001:db8::2 expires 300 proto static";
    host.namespace.must(line);
    let told = host.refused(&["route.2001:db8:1::/48.mtu=1400"], &[]);
    assert!(told.contains("it ends by itself") && !told.contains("advertisement"), "{told}");
}

#[test]
fn an_interface_that_is_gone_is_told_as_gone() {
    let Some(host) = Host::new() else { return };
    host.namespace.must("ip link add vc type veth peer name vd");
    host.apply(&["interface.vc.mtu=1400"], &[]);
    host.namespace.must("ip link del vc");
    let (entries, code) = host.status(&[]);
    assert_eq!((&entries[0]["state"], code), (&"drifted".into(), 3));
    let by = entries[0]["changed_by"].as_str().unwrap();
    assert!(by.starts_with("the interface is gone"), "{by}");
}
