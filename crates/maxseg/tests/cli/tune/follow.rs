//! Routes that were made from another one: they follow what is undone there, and where they lead is told.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use super::super::kernel::{runs, wait_until};
use super::guard::guards;
use super::host::Host;

#[test]
fn undoing_a_metric_takes_it_off_the_routes_that_were_made_from_it() {
    let Some(host) = Host::new() else { return };
    let before = host.kernel();
    host.apply(&["route.default.mtu=1400", "route.default.initcwnd=20"], &[]);
    host.apply(&["route.10.1.0.0/16.quickack=1"], &[]);
    host.apply(&["route.10.1.2.0/24.initrwnd=30"], &[]);
    for prefix in ["10.1.0.0/16", "10.1.2.0/24"] {
        let shows = host.shows(&format!("ip route show {prefix}"));
        assert!(shows.contains("mtu 1400") && shows.contains("initcwnd 20"), "{shows}");
    }
    host.tune_ends(&["undo", "1", "2"], 0);
    for prefix in ["10.1.0.0/16", "10.1.2.0/24"] {
        let shows = host.shows(&format!("ip route show {prefix}"));
        assert!(!shows.contains("mtu") && shows.contains("initcwnd 12"), "{shows}");
    }
    assert_eq!(host.states(), ["undone", "undone", "set", "set"]);
    // The route that 10.1.2.0/24 was made from.
    host.tune_ends(&["undo", "3"], 0);
    assert!(!host.shows("ip route show 10.1.2.0/24").contains("quickack"));
    host.tune_ends(&["undo", "--all"], 0);
    assert_eq!(host.kernel(), before);
}

#[test]
fn a_metric_that_was_changed_after_copying_is_undone_first() {
    let Some(host) = Host::new() else { return };
    let before = host.kernel();
    host.apply(&["route.default.mtu=1400"], &[]);
    host.apply(&["route.10.1.0.0/16.quickack=1"], &[]);
    host.apply(&["route.10.1.0.0/16.mtu=1300"], &[]);
    let told = host.tune_ends(&["undo", "1"], 1);
    assert!(told.contains("hint: maxseg tune undo 3 1"), "{told}");
    host.tune_ends(&["undo", "3", "1"], 0);
    assert!(!host.shows("ip route show 10.1.0.0/16").contains("mtu"));
    host.tune_ends(&["undo"], 0);
    assert_eq!(host.kernel(), before);
}

#[test]
fn status_tells_that_the_parent_has_moved() {
    let Some(host) = Host::new() else { return };
    host.apply(&["route.10.1.0.0/16.mtu=1400"], &[]);
    assert_eq!(host.status(&[]).1, 0);
    host.namespace.must("ip route replace default via 10.9.0.9");
    let (entries, code) = host.status(&[]);
    assert_eq!((&entries[0]["state"], code), (&"drifted".into(), 3));
    let by = entries[0]["changed_by"].as_str().unwrap();
    assert!(by.contains("default leads via 10.9.0.9 dev va now, and led via 10.9.0.2"), "{by}");
    host.tune_ends(&["undo"], 0);
    assert_eq!(host.shows("ip route show proto 109"), "");
}

#[test]
fn what_cannot_be_undone_is_told_once() {
    let Some(host) = Host::new() else { return };
    host.apply(&["sysctl.net.ipv4.tcp_sack=0", "route.default.mtu=1400"], &["--for", "1h"]);
    let guard = guards(&host)[0];
    assert!(Command::new("kill").args(["-9", &guard.to_string()]).status().unwrap().success());
    wait_until("its guard ends", || !runs(guard));
    host.namespace.must("ip route replace default via 10.9.0.2 mtu 1444");
    // Its time was over long ago.
    let journal = std::fs::read_to_string(host.journal()).unwrap();
    let (before, behind) = journal.split_once("\"boot_s\":").unwrap();
    let (_, behind) = behind.split_once(',').unwrap();
    std::fs::write(host.journal(), format!("{before}\"boot_s\":1.0,{behind}")).unwrap();
    assert_eq!(host.states(), ["expired", "drifted"]);
    let mut command = host.command(env!("CARGO_BIN_EXE_maxseg"));
    command.args(["tune", "watch"]).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut watch = command.spawn().unwrap();
    let lines = BufReader::new(watch.stdout.take().unwrap()).lines().map(Result::unwrap);
    // Why it was done is on a line of its own.
    let mut lines = lines.filter(|line| !line.starts_with(' '));
    let mut next = || lines.next().unwrap();
    let first = next();
    assert!(first.contains("route.default.mtu: is 1444, not 1400"), "{first}");
    let second = next();
    assert!(second.contains("tcp_sack: 0 -> 1"), "{second}");
    // What comes next is something else: another change of the route.
    host.namespace.must("ip route replace default via 10.9.0.2 mtu 1445");
    let second = next();
    assert!(second.contains("is 1445, not 1400"), "{second}");
    watch.kill().unwrap();
    watch.wait().unwrap();
}
