//! Undoing: exactly what was there, in the right order, and nothing that somebody else has set.

use super::host::Host;

#[test]
fn undone_twice_is_undone_once() {
    let Some(host) = Host::new() else { return };
    let before = host.kernel();
    host.apply(&["route.default.mtu=1400"], &[]);
    host.apply(&["sysctl.net.ipv4.tcp_sack=0"], &[]);
    let told = host.tune_ends(&["undo"], 0);
    assert!(told.contains("tcp_sack: 0 -> 1") && !told.contains("mtu"), "the last plan: {told}");
    host.tune_ends(&["undo", "1"], 0);
    assert_eq!(host.kernel(), before);
    for again in [&["undo"][..], &["undo", "--all"]] {
        assert!(host.tune_ends(again, 0).contains("nothing to undo"));
    }
    assert!(host.tune_ends(&["undo", "1"], 0).contains("was undone before"));
    assert!(host.tune_ends(&["undo", "7"], 1).contains("there is no change 7"));
}

#[test]
fn what_another_program_has_changed_is_left_alone() {
    let Some(host) = Host::new() else { return };
    let wanted =
        ["sysctl.net.ipv4.tcp_sack=0", "route.default.mtu=1400", "route.10.7.0.0/16.mtu=1300"];
    host.apply(&wanted, &[]);
    host.namespace.must("sysctl -qw net.ipv4.tcp_sack=1");
    host.namespace.must("ip route replace default via 10.9.0.9 proto dhcp mtu 1444");
    host.namespace.must("ip route replace 10.7.0.0/16 via 10.9.0.9 proto bird");
    let (entries, code) = host.status(&[]);
    assert_eq!(code, 3);
    assert!(entries.iter().all(|entry| entry["state"] == "drifted"), "{entries:?}");
    assert_eq!(entries[1]["changed_by"], "the route is of a DHCP client");
    assert_eq!(entries[1]["now"], "1444");
    let told = host.tune_ends(&["undo", "--all"], 3);
    assert!(told.contains("is 1444, not 1400: another program has changed it"), "{told}");
    assert!(host.shows("ip route show default").contains("mtu 1444"));
    assert_eq!(host.states(), ["undone", "drifted", "drifted"], "sack was 1 before as well");
    host.tune_ends(&["undo", "--all", "--force"], 0);
    let shows = host.shows("ip route");
    assert!(shows.contains("default via 10.9.0.9 dev va proto dhcp"), "not the metric: {shows}");
    assert!(!shows.contains("mtu") && !shows.contains("10.7.0.0/16"), "{shows}");
    assert_eq!(host.status(&[]).1, 0);
}

#[test]
fn a_later_change_is_undone_first() {
    let Some(host) = Host::new() else { return };
    let before = host.kernel();
    host.apply(&["route.10.7.0.0/16.mtu=1400"], &[]);
    host.apply(&["route.10.7.0.0/16.mtu=1300"], &[]);
    host.apply(&["route.10.7.0.0/16.initcwnd=20"], &[]);
    assert_eq!(host.states(), ["superseded", "set", "set"]);
    let told = host.tune_ends(&["undo", "1"], 1);
    assert!(told.contains("hint: maxseg tune undo 2 1"), "{told}");
    host.tune_ends(&["undo", "2"], 0);
    assert_eq!(host.states(), ["set", "undone", "set"]);
    let told = host.tune_ends(&["undo", "1"], 1);
    assert!(told.contains("before change 3"), "its route carries another metric: {told}");
    host.tune_ends(&["undo", "1", "3"], 0);
    assert_eq!(host.kernel(), before);
}

#[test]
fn what_is_gone_needs_no_undoing() {
    let Some(host) = Host::new() else { return };
    host.apply(&["interface.va.mtu=1400", "route.default.mtu=1300"], &[]);
    host.namespace.must("ip link del va");
    assert_eq!(host.states(), ["drifted", "drifted"]);
    let told = host.tune_ends(&["undo", "--all"], 0);
    assert!(told.contains("interface.va.mtu: is gone"), "{told}");
    assert_eq!(host.states(), ["undone", "undone"]);
}

#[test]
fn another_boot_and_another_namespace_are_told() {
    let (Some(host), Some(other)) = (Host::new(), Host::new()) else { return };
    host.apply(&["route.default.mtu=1400"], &[]);
    let journal = std::fs::read_to_string(host.journal()).unwrap();
    std::fs::create_dir_all(other.folder()).unwrap();
    set_mode(&other.folder(), 0o700);
    std::fs::write(other.journal(), &journal).unwrap();
    set_mode(&other.journal(), 0o600);
    assert!(other.status(&[]).0.is_empty(), "it holds elsewhere");
    let (entries, code) = other.status(&["--all"]);
    assert_eq!((&entries[0]["state"], code), (&"unknown".into(), 0));
    assert_eq!(entries[0]["note"], "in another network namespace");
    assert!(other.tune_ends(&["undo", "--all"], 0).contains("nothing to undo"));
    let told = other.tune_ends(&["undo", "1"], 1);
    assert!(told.contains("change 1 holds in another network namespace, and stays"), "{told}");
    host.apply(&["sysctl.net.ipv4.tcp_sack=0"], &["--for", "1h"]);
    std::fs::copy(host.journal(), other.journal()).unwrap();
    let note = other.status(&["--all"]).0[1]["note"].as_str().unwrap().to_owned();
    assert!(note.contains("which stays, with its interfaces, as long as process"), "{note}");
    host.tune_ends(&["undo", "2"], 0);
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    std::fs::write(host.journal(), journal.replace(boot.trim(), "another-boot")).unwrap();
    let (entries, _) = host.status(&["--all"]);
    assert_eq!(entries[0]["state"], "undone");
    assert!(entries[0]["note"].as_str().unwrap().contains("booted"), "{entries:?}");
    assert!(host.tune_ends(&["undo", "1"], 0).contains("has gone when the machine was booted"));
}

fn set_mode(path: &std::path::Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}
