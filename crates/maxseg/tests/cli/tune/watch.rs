//! `tune watch`: a route of ours goes when the one that it was made from moves.

use std::process::{Child, Stdio};

use super::super::kernel::wait_until;
use super::host::Host;

struct Watch(Child);

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn watch(host: &Host) -> Watch {
    watch_to(host, Stdio::null())
}

fn watch_to(host: &Host, output: impl Into<Stdio>) -> Watch {
    let mut command = host.command(env!("CARGO_BIN_EXE_maxseg"));
    command.args(["tune", "watch"]).stdout(output).stderr(Stdio::null());
    Watch(command.spawn().unwrap())
}

#[test]
fn it_goes_on_when_nobody_reads_what_it_tells() {
    let Some(host) = Host::new() else { return };
    host.namespace.must("ip route add 10.0.0.0/8 via 10.9.0.3");
    host.namespace.must("ip route add 11.0.0.0/8 via 10.9.0.3");
    host.apply(&["route.10.1.0.0/16.mtu=1400"], &[]);
    host.apply(&["route.11.1.0.0/16.mtu=1400"], &[]);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let _watch = watch_to(&host, writer);
    let withdrawn = |route: &str| !host.shows("ip route show proto 109").contains(route);
    host.namespace.must("ip route replace 10.0.0.0/8 via 10.9.0.4");
    wait_until("the first route is withdrawn", || withdrawn("10.1.0.0"));
    host.namespace.must("ip route replace 11.0.0.0/8 via 10.9.0.4");
    wait_until("and the second", || withdrawn("11.1.0.0"));
}

#[test]
fn a_route_goes_when_its_parent_moves() {
    let Some(host) = Host::new() else { return };
    host.namespace.must("ip route add 10.0.0.0/8 via 10.9.0.3");
    host.apply(&["route.10.1.0.0/16.mtu=1400", "route.10.1.0.0/16.initcwnd=20"], &[]);
    let told = host.apply(&["route.default.mtu=1300"], &[]);
    assert!(!told.contains("until this is undone"), "it is no copy: {told}");
    let _watch = watch(&host);
    host.namespace.must("ip route replace 10.0.0.0/8 via 10.9.0.4");
    wait_until("the route is withdrawn", || host.shows("ip route show proto 109").is_empty());
    wait_until("and that is noted", || host.states() == ["undone", "undone", "set"]);
    let (entries, _) = host.status(&[]);
    assert!(entries[0]["note"].as_str().unwrap().contains("moved"), "{entries:?}");
    assert!(host.shows("ip route show default").contains("mtu 1300"), "that is no copy");
}

#[test]
fn a_route_stays_while_its_parent_does() {
    let Some(host) = Host::new() else { return };
    host.namespace.must("ip route add 10.0.0.0/8 via 10.9.0.3");
    let told = host.apply(&["route.10.1.0.0/16.mtu=1400"], &[]);
    let pinned = "10.1.0.0/16 goes via 10.9.0.3 dev va until this is undone";
    assert_eq!(told.matches(pinned).count(), 2, "in the plan and behind it: {told}");
    let words: Vec<&str> = told.split_whitespace().collect();
    assert!(words.join(" ").contains("while `maxseg tune watch` runs"), "{told}");
    host.namespace.must("ip route replace 10.0.0.0/8 via 10.9.0.3 initcwnd 15");
    host.namespace.must("ip route add 10.2.0.0/16 via 10.9.0.4");
    host.tune_ends(&["watch", "--once"], 0);
    assert_eq!(host.states(), ["set"]);
    host.namespace.must("ip route del 10.0.0.0/8");
    let told = host.tune_ends(&["watch", "--once"], 0);
    assert!(told.contains("leads via 10.9.0.2 dev va now, and led via 10.9.0.3"), "{told}");
    assert_eq!(host.states(), ["undone"]);
}
