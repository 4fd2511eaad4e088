//! Changes that end by themselves, and what happens where nobody is left to end them.

use super::super::kernel::{runs, wait_until};
use super::host::Host;

/// The processes that are to undo the plans of a journal.
pub(super) fn guards(host: &Host) -> Vec<u64> {
    let journal = std::fs::read_to_string(host.journal()).unwrap();
    let records =
        journal.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    records
        .filter(|record| record["event"] == "guard")
        .filter_map(|record| record["pid"].as_u64())
        .collect()
}

fn default_route(host: &Host) -> String {
    host.shows("ip route show default")
}

#[test]
fn what_is_not_confirmed_is_undone() {
    let Some(host) = Host::new() else { return };
    let before = host.kernel();
    host.apply(&["route.default.mtu=1400", "sysctl.net.ipv4.tcp_sack=0"], &["--confirm", "1s"]);
    wait_until("it is undone", || host.kernel() == before);
    wait_until("its guard ends", || !guards(&host).into_iter().any(runs));
    assert_eq!(host.states(), ["undone", "undone"]);
    assert!(host.tune_ends(&["confirm"], 1).contains("nothing waits to be confirmed"));
}

#[test]
fn what_is_confirmed_is_kept() {
    let Some(host) = Host::new() else { return };
    host.apply(&["route.default.mtu=1400"], &["--confirm", "60s"]);
    let guards = guards(&host);
    assert!(guards.len() == 1 && runs(guards[0]), "{guards:?}");
    let (entries, _) = host.status(&[]);
    assert!(
        entries[0]["expires"].as_f64().unwrap() > entries[0]["set_at"].as_f64().unwrap() + 50.0
    );
    host.tune_ends(&["confirm"], 0);
    wait_until("its guard ends", || !runs(guards[0]));
    let (entries, _) = host.status(&[]);
    assert!(entries[0]["expires"].is_null() && entries[0]["state"] == "set", "{entries:?}");
    assert!(default_route(&host).contains("mtu 1400"));
}

#[test]
fn what_its_guard_did_not_undo_the_next_command_does() {
    for next in [
        &["undo"][..],
        &["watch", "--once"],
        &["apply", "--yes", "--set", "sysctl.net.ipv4.tcp_sack=0"],
    ] {
        let Some(host) = Host::new() else { return };
        host.apply(&["route.default.mtu=1400"], &["--for", "1s"]);
        let guard = guards(&host)[0];
        assert!(
            std::process::Command::new("kill")
                .args(["-9", &guard.to_string()])
                .status()
                .unwrap()
                .success()
        );
        wait_until("its guard ends", || !runs(guard));
        wait_until("its time is over", || host.status(&[]).1 == 3);
        assert_eq!(host.states(), ["expired"]);
        assert!(default_route(&host).contains("mtu 1400"), "still set");
        host.tune_ends(next, 0);
        assert!(!default_route(&host).contains("mtu"), "{next:?}");
    }
}

#[test]
fn undoing_before_the_time_ends_the_guard() {
    let Some(host) = Host::new() else { return };
    let told = host.apply(&["route.default.mtu=1400"], &["--for", "10m"]);
    assert!(told.contains("undone in 600 s; before: maxseg tune undo 1"), "{told}");
    let told = host.tune_ends(&["status"], 0);
    assert!(told.contains("set at 20") && told.contains("Z, until 20"), "{told}");
    let guard = guards(&host)[0];
    host.tune_ends(&["undo"], 0);
    wait_until("its guard ends", || !runs(guard));
}

/// The guard of the first change has ended, and the next command does its work.
#[test]
fn what_ends_leaves_its_route_to_what_was_set_there_since() {
    let Some(host) = Host::new() else { return };
    let route = || host.shows("ip route show 10.7.0.0/16");
    host.apply(&["route.10.7.0.0/16.mtu=1400"], &["--confirm", "1s"]);
    host.apply(&["route.10.7.0.0/16.initcwnd=20"], &[]);
    host.apply(&["route.10.7.0.0/16.window=50000"], &[]);
    wait_until("the first is undone", || host.states() == ["undone", "set", "set"]);
    assert!(
        route().contains("window 50000 initcwnd 20") && !route().contains("mtu"),
        "{}",
        route()
    );
    let told = host.tune_ends(&["undo", "2"], 1);
    assert!(told.contains("before change 3"), "the route is the second one's: {told}");
    let told = host.tune_ends(&["undo", "2", "3"], 0);
    assert!(told.contains("initcwnd: 20 -> absent"), "{told}");
    assert_eq!(route(), "");
    // What the route would have without the change that ends: the default route has 12.
    host.apply(&["route.10.7.0.0/16.initcwnd=30"], &["--for", "1s"]);
    host.apply(&["route.10.7.0.0/16.mtu=1400"], &[]);
    wait_until("the metric is undone", || host.states()[3..] == ["undone", "set"]);
    assert!(route().contains("mtu 1400 initcwnd 12"), "{}", route());
}
