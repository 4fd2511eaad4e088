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

/// The kernel says of each next hop how its link is doing, and that is not where the route leads.
#[test]
fn a_route_stays_while_a_link_of_its_parent_is_down() {
    let Some(host) = Host::new() else { return };
    for line in [
        "ip link add vc type veth peer name vd",
        "ip addr add 10.8.0.1/24 dev vc",
        "ip link set vc up",
        "ip link set vd up",
    ] {
        host.namespace.must(line);
    }
    wait_until("the second link", || {
        host.shows("ip -o link show type veth").matches("state UP").count() == 4
    });
    host.namespace.must(
        "ip route add 10.0.0.0/12 nexthop via 10.9.0.3 dev va nexthop via 10.8.0.3 dev vc weight 2",
    );
    host.apply(&["route.10.1.0.0/16.mtu=1400"], &[]);
    host.namespace.must("ip link set vd down");
    wait_until("the kernel tells of the link", || {
        host.shows("ip route show 10.0.0.0/12").contains("linkdown")
    });
    assert_eq!(host.states(), ["set"]);
    assert_eq!(host.tune_ends(&["watch", "--once"], 0), "");
    host.namespace.must("ip route replace 10.0.0.0/12 via 10.9.0.4");
    let told = host.tune_ends(&["watch", "--once"], 0);
    let led = "and led via 10.9.0.3 dev va weight 1 or via 10.8.0.3 dev vc weight 2";
    assert!(told.contains(led), "{told}");
}

/// Whichever is named first, and after one was away for a while.
#[test]
fn a_route_stays_while_its_parent_has_the_same_next_hops() {
    let Some(host) = Host::new() else { return };
    let replace = |hops: [&str; 2]| {
        let [one, other] = hops.map(|hop| format!("nexthop via {hop}"));
        host.namespace.must(&format!("ip route replace 10.0.0.0/12 {one} {other}"));
    };
    replace(["10.9.0.3", "10.9.0.4 weight 2"]);
    host.apply(&["route.10.1.0.0/16.mtu=1400"], &[]);
    replace(["10.9.0.4 weight 2", "10.9.0.3"]);
    assert_eq!(host.states(), ["set"]);
    assert_eq!(host.tune_ends(&["watch", "--once"], 0), "");
    replace(["10.9.0.4", "10.9.0.3 weight 2"]);
    let told = host.tune_ends(&["watch", "--once"], 0);
    assert!(told.contains("leads via 10.9.0.4 dev va weight 1 or via"), "{told}");
}

/// What somebody wants held back is not let out by a route from before.
#[test]
fn a_route_goes_when_its_destinations_are_held_back() {
    let Some(host) = Host::new() else { return };
    host.apply(&["route.198.51.100.0/24.mtu=1280"], &[]);
    host.namespace.must("ip route add blackhole 198.51.0.0/16");
    let (entries, code) = host.status(&[]);
    assert_eq!((entries[0]["state"].as_str(), code), (Some("drifted"), 3), "{entries:?}");
    let told = host.tune_ends(&["watch", "--once"], 0);
    assert!(told.contains("`blackhole 198.51.0.0/16` is to keep these packets"), "{told}");
    assert!(host.shows("ip route show proto 109").is_empty());
    let told = host.refused(&["route.198.51.100.0/24.mtu=1280"], &[]);
    assert!(told.contains("keeps these packets from leaving"), "{told}");
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
