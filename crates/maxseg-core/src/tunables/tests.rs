use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

#[test]
fn every_tunable_is_described_whole() {
    let names: BTreeSet<_> = tunables().iter().map(|tunable| tunable.name.as_str()).collect();
    assert_eq!(names.len(), tunables().len(), "each name once");
    for tunable in tunables() {
        let name = &tunable.name;
        assert!(!tunable.meaning.is_empty() && !tunable.risk.is_empty(), "{name}");
        assert!(!tunable.source.is_empty(), "{name} has no source");
        assert!(
            tunable.default.is_some() || tunable.default_note.is_some(),
            "{name} has no default"
        );
        for other in &tunable.coupled_with {
            assert!(
                names.contains(other.as_str()),
                "{name} is coupled with {other}, which is not there"
            );
            assert_ne!(other, name);
        }
        assert!(tunable.range.min.is_some() == tunable.range.max.is_some(), "{name}");
        assert!(!tunable.range.to_string().is_empty(), "{name} takes nothing");
        assert!(tunable.sysctl().is_some() || !tunable.enforced, "{name}: only sysctls are tried");
    }
}

#[test]
fn defaults_are_inside_their_ranges() {
    for tunable in tunables() {
        if let Some(default) = &tunable.default {
            tunable.check(default).unwrap_or_else(|error| panic!("{}: {error}", tunable.name));
            assert_eq!(tunable.is_default(default), Some(true), "{}", tunable.name);
        }
    }
}

#[test]
fn a_tunable_is_found_by_each_of_its_names() {
    for (asked, want) in [
        ("sysctl.net.ipv4.tcp_rmem", "sysctl.net.ipv4.tcp_rmem"),
        ("net.ipv4.tcp_rmem", "sysctl.net.ipv4.tcp_rmem"),
        ("net/ipv4/tcp_rmem", "sysctl.net.ipv4.tcp_rmem"),
        ("tcp_rmem", "sysctl.net.ipv4.tcp_rmem"),
        ("rmem_max", "sysctl.net.core.rmem_max"),
        ("route.mtu", "route.mtu"),
        ("route.10.0.0.0/8.mtu", "route.mtu"),
        ("route.2001:db8::/32.advmss", "route.advmss"),
        ("route.default.rto_min", "route.rto_min"),
        ("interface.eth0.100.mtu", "interface.mtu"),
        ("socket.192.0.2.1:80-192.0.2.2:4000.rcvbuf", "socket.rcvbuf"),
        ("clamp.wg0", "clamp"),
        ("net.ipv6.route.mtu_expires", "sysctl.net.ipv6.route.mtu_expires"),
        ("route.mtu_expires", "sysctl.net.ipv4.route.mtu_expires"),
    ] {
        assert_eq!(tunable(asked).map(|found| found.name.as_str()), Ok(want), "{asked}");
    }
}

#[test]
fn a_name_that_is_not_there_suggests_the_nearest() {
    for (asked, want) in [
        ("tcp_rmen", Some("sysctl.net.ipv4.tcp_rmem")),
        ("net.ipv4.tcp_congestion_contol", Some("sysctl.net.ipv4.tcp_congestion_control")),
        ("route.mut", Some("route.mtu")),
        ("route.10.0.0.0/8.adv_mss", Some("route.advmss")),
        ("colour", None),
    ] {
        let error = tunable(asked).unwrap_err();
        assert_eq!((error.asked.as_str(), error.similar), (asked, want));
        assert!(error.hint().contains("maxseg tune list"));
    }
}

#[test]
fn values_are_checked() {
    let said = |name: &str, value: &str| {
        tunable(name)
            .unwrap()
            .check(value)
            .map_or_else(|error| error.to_string(), |()| "fine".to_owned())
    };
    for (name, value, want) in [
        ("tcp_rmem", "4096 131072 6291456", "fine"),
        ("tcp_rmem", "4096\t131072\t6291456", "fine"),
        ("tcp_rmem", "4096", "it takes 3 numbers (min, initial, max), not 1"),
        (
            "tcp_rmem",
            "4096 9 6291456",
            "the numbers 4096 9 6291456 go down: min ≤ initial ≤ max in this order",
        ),
        ("tcp_rmem", "0 1 2", "0 is not in the range 1 to 2147483647"),
        ("tcp_sack", "yes", "`yes` is not 0 or 1"),
        ("tcp_sack", "", "it takes one value, not 0"),
        ("route.mtu", "67", "67 is not in the range 68 to 65520"),
        (
            "route.mtu",
            "99999999999999999999",
            "99999999999999999999 is not in the range 68 to 65520",
        ),
        ("route.congctl", "cubic", "fine"),
        ("route.congctl", "cubic; rm", "it takes one value, not 2"),
        ("route.congctl", "$x", "`$x` is not a name of net.ipv4.tcp_available_congestion_control"),
        ("clamp", "rt mtu", "fine"),
        ("clamp", "1360", "fine"),
        ("clamp", "47", "47 is not in the range 48 to 65495 or `rt mtu`"),
        ("socket.rcvbuf", "auto", "fine"),
        ("socket.pacing_rate", "unlimited", "fine"),
        ("socket.pacing_rate", "-1", "-1 is not in the range 1 or more or `unlimited`"),
        ("socket.pacing_rate", "-", "`-` is not 1 or more or `unlimited`"),
    ] {
        assert_eq!(said(name, value), want, "{name} = {value}");
    }
}

proptest! {
    #[test]
    fn any_text_has_an_answer(name in "\\PC{0,80}", value in "\\PC{0,80}") {
        let _ = tunable(&name);
        for tunable in tunables().iter().step_by(7) {
            let _ = tunable.check(&value);
        }
    }
}

#[test]
fn another_value_than_a_default_that_varies_is_no_known_change() {
    for (name, value, is_default) in [
        ("tcp_rmem", "4096 131072 33554432", Some(true)),
        ("tcp_rmem", "4096 131072 6291456", None), // older kernels, or less memory
        ("rmem_max", "212992", None),
        ("tcp_limit_output_bytes", "1048576", None),
        ("tcp_sack", "0", Some(false)),
        ("tcp_mem", "1 2 3", None),
    ] {
        assert_eq!(tunable(name).unwrap().is_default(value), is_default, "{name} {value}");
    }
}
