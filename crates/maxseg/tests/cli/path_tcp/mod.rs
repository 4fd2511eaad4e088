//! `maxseg path` to hosts that answer TCP, between network namespaces of the test's own. They take root; without it, or without
//! `nft` or `setpriv`, the tests say what is skipped.

mod equal_cost;
mod far_end;
mod messages;
mod net;
mod ports;
mod silence;

use maxseg_testkit::{is_its_turn, sampled};
use serde_json::Value;

use super::kernel::wait_until;
use super::{stderr, stdout, unwrapped};
use net::{LIAR, Liar, Net, PORT, TO, in_background};

/// Of a sample, one in so many.
const SAMPLED: u64 = 2;

/// The target, with the port that is open.
fn target(to: &str) -> String {
    if to.contains(':') { format!("[{to}]:{PORT}") } else { format!("{to}:{PORT}") }
}

/// The codes of the findings.
fn findings(report: &Value) -> Vec<&str> {
    let findings = report["findings"].as_array().unwrap();
    findings.iter().map(|finding| finding["code"].as_str().unwrap()).collect()
}

/// MTU, method and confidence.
fn mtu(report: &Value) -> (u64, &str, &str) {
    let mtu = &report["path_mtu"];
    let number = mtu["forward_bytes"].as_u64().unwrap_or(0);
    (number, mtu["method"].as_str().unwrap_or("none"), mtu["confidence"].as_str().unwrap())
}

#[test]
fn old_bytes_find_the_mtu_and_teach_the_kernel_nothing() {
    let Some(net) = Net::with_mtu(1300).map(Net::listen) else { return };
    for (to, offered) in TO.into_iter().zip([1460, 1440]) {
        let (report, code) = net.report(&[&target(to), "--quiet-probes"]);
        assert_eq!((mtu(&report), code), ((1300, "tcp-dsack", "confirmed"), 0), "{report:#}");
        assert_eq!(report["path_mtu"]["taught_the_kernel"], Value::Null);
        assert_eq!(net.learnt(to), None, "no exception in the route cache");
        let flows = report["path_mtu"]["flows"].as_array().unwrap();
        assert!(flows.len() == 4 && flows.iter().all(|flow| flow["mtu_bytes"] == 1300));
        assert_eq!(report["mss"]["offered_bytes"], offered);
        assert_eq!(report["mss"]["ports"][1]["state"], "closed", "443");
        assert!(report["sent_bytes"].as_u64().unwrap() < 200_000, "{report:#}");
    }
}

#[test]
fn a_black_hole_has_its_place() {
    let Some(net) = Net::with_mtu(1300).map(Net::listen) else { return };
    let silent = ["icmp type destination-unreachable drop", "icmpv6 type packet-too-big drop"];
    if !net.router_rules("output", &silent) {
        return;
    }
    for to in TO {
        let (report, code) = net.report(&[&target(to), "--quiet-probes"]);
        assert_eq!((mtu(&report), code), ((1300, "tcp-dsack", "confirmed"), 3), "{report:#}");
        let hole = &report["path_mtu"]["black_hole"];
        assert_eq!((&hole["after_hop"], &hole["before_hop"]), (&1.into(), &2.into()), "{hole}");
        assert_eq!(findings(&report), ["black-hole"]);
    }
    // An ordinary user, to whom nothing but TCP answers.
    net.mute_b();
    let Some((report, code)) = net.report_to_nobody(&[&target(TO[0])]) else { return };
    assert_eq!((mtu(&report), code), ((1300, "tcp-segments", "confirmed"), 3), "{report:#}");
    let (report, _) = net.report_to_nobody(&[&target(TO[0]), "--no-payload"]).unwrap();
    assert_eq!(mtu(&report).2, "unknown", "{report:#}");
}

/// The link of this host is not known to be the one: between it and the destination is a router that says nothing at all.
#[test]
fn a_black_hole_among_silent_routers_is_not_this_host_s_link() {
    let Some(net) = Net::with_mtu(1400).map(Net::listen) else { return };
    if !net.router_rules("output", &["icmp type { destination-unreachable, time-exceeded } drop"]) {
        return;
    }
    let (report, code) = net.report(&[&target(TO[0])]);
    assert_eq!((mtu(&report), code), ((1400, "tcp-dsack", "confirmed"), 3), "{report:#}");
    let hole = &report["path_mtu"]["black_hole"];
    assert_eq!((hole["after_hop"].as_u64(), hole["before_hop"].as_u64()), (Some(0), Some(2)));
    let remedy = report["findings"][0]["remedy"].as_str().unwrap();
    assert!(remedy.contains("at both ends") && !remedy.contains("interface"), "{remedy}");
}

#[test]
fn a_link_that_takes_less_than_its_interface_is_found() {
    if !is_its_turn(2) {
        return;
    }
    let Some(net) = Net::with_mtu(1500) else { return };
    // The other end of the link: the kernel drops what is larger, and says so to the sockets of probes alone. It leaves room for the
    // four bytes of a VLAN (`__is_skb_forwardable`, `include/linux/netdevice.h`).
    net.router.must("ip link set ra mtu 1300");
    let is_found = |(report, code): (Value, i32)| {
        assert_eq!((mtu(&report).0, mtu(&report).2, code), (1304, "confirmed", 3), "{report:#}");
        let hole = &report["path_mtu"]["black_hole"];
        assert_eq!((&hole["after_hop"], &hole["before_hop"]), (&0.into(), &1.into()), "{hole}");
        let findings = report["findings"].as_array().unwrap().iter();
        let mut remedies = findings.filter_map(|finding| finding["remedy"].as_str());
        assert!(remedies.any(|it| it.contains("interface.va.mtu=1304")), "{report:#}");
    };
    for to in TO {
        is_found(net.report(&[to]));
    }
    let Some(of_nobody) = net.report_to_nobody(&[&target(TO[0])]) else { return };
    is_found(of_nobody);
}

#[test]
fn routers_that_send_packets_to_each_other_are_named() {
    if !is_its_turn(2) {
        return;
    }
    let Some(net) = Net::with_mtu(1500) else { return };
    net.b.must("sysctl -qw net.ipv4.ip_forward=1");
    net.router.must("ip route add 10.9.8.0/24 via 10.9.2.2");
    let (report, code) = net.report(&["10.9.8.1"]);
    assert_eq!((findings(&report), code), (vec!["routing-loop"], 3), "{report:#}");
    let text = report["findings"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("routing loop between 10.9.1.1 and 10.9.2.2"), "{text}");
}

/// Packets leave by one link, and the router's messages come by another, where A's way to the router does not lead.
#[test]
fn the_reverse_path_filter_is_that_of_the_interface_by_which_messages_come() {
    let Some(net) = Net::with_mtu(1300).map(Net::listen) else { return };
    let id = net.router.0.id();
    let address = "02:00:00:00:03:02";
    net.a.must(&format!("ip link add vc.7 address {address} type veth peer name rc netns {id}"));
    net.a.must("ip link set vc.7 up");
    net.a.must("ip addr add 10.9.3.2/24 dev vc.7");
    net.a.must("sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.vc/7.rp_filter=1");
    for line in [
        "ip link set rc up",
        "ip addr add 10.9.3.1/24 dev rc",
        // The filter is for ARP as well.
        &format!("ip neigh replace 10.9.3.2 lladdr {address} dev rc nud permanent"),
        "sysctl -qw net.ipv4.icmp_errors_use_inbound_ifaddr=1",
        "ip route add 10.9.1.2 via 10.9.3.2 table 77",
        "ip rule add from 10.9.1.1 table 77",
    ] {
        net.router.must(line);
    }
    let (report, code) = net.report(&[&target(TO[0])]);
    assert_eq!((mtu(&report).0, code), (1300, 3), "{report:#}");
    let by = Value::from("reverse-path-filter");
    assert_eq!(dropped(&report), (&"10.9.1.1".into(), &1300.into(), &by), "{report:#}");
    let finding = &report["findings"][0];
    assert!(finding["text"].as_str().unwrap().contains("came to vc.7, none"), "{finding:#}");
    let remedy = finding["remedy"].as_str().unwrap();
    assert!(remedy.contains("sysctl.net.ipv4.conf.vc/7.rp_filter=2"), "{remedy}");
}

/// What `path_mtu` says of messages that A drops: who sent them, the MTU that they state, and what drops them.
fn dropped(report: &Value) -> (&Value, &Value, &Value) {
    let dropped = &report["path_mtu"]["dropped_here"];
    (&dropped["router"], &dropped["stated_mtu_bytes"], &dropped["by"])
}

#[test]
fn messages_that_this_host_drops_are_no_silence_of_a_router() {
    const DROPS: [&str; 2] =
        ["icmp type destination-unreachable drop", "icmpv6 type packet-too-big drop"];
    let Some(net) = Net::with_mtu(1300).map(Net::listen) else { return };
    if !net.a_rules("input", &DROPS) {
        return;
    }
    let by = Value::from("firewall");
    let both = TO.into_iter().zip(["10.9.1.1", "fd09:1::1"]).collect();
    let ends = sampled("IP versions", both, SAMPLED);
    for &(to, router) in &ends {
        let (report, code) = net.report(&[&target(to)]);
        assert_eq!((mtu(&report), code), ((1300, "tcp-dsack", "confirmed"), 3), "{report:#}");
        assert_eq!(findings(&report)[0], "message-dropped-here");
        assert_eq!(dropped(&report), (&router.into(), &1300.into(), &by), "{report:#}");
        assert_eq!(report["path_mtu"]["black_hole"], Value::Null);
    }
    // By UDP: the socket's silence is no black hole behind the router.
    let Some(deaf) = Net::with_mtu(1300) else { return };
    deaf.a_rules("input", &["icmp code frag-needed drop", DROPS[1]]);
    for (to, router) in ends {
        let (report, code) = deaf.report(&[to]);
        // Echoes, once the answers to UDP are limited.
        assert_eq!((mtu(&report).0, code), (1300, 3), "{report:#}");
        assert_eq!(dropped(&report), (&router.into(), &1300.into(), &by), "{report:#}");
        assert_eq!(report["path_mtu"]["black_hole"], Value::Null);
    }
    // An ordinary user hears none: counters tell that something is dropped.
    let Some((report, code)) = deaf.report_to_nobody(&[TO[0]]) else { return };
    assert_eq!((mtu(&report).0, code), (1300, 3), "{report:#}");
    assert_eq!(findings(&report)[..2], ["message-dropped-here", "black-hole"], "{report:#}");
    assert_eq!(report["path_mtu"]["dropped_here"]["is_certain"], false);
}

#[test]
fn messages_of_which_some_are_received_are_not_dropped() {
    let Some(net) = Net::with_mtu(1300).map(Net::listen) else { return };
    // A firewall that lets one a second pass, and a router that sends one a second.
    let limited = [
        "icmp type destination-unreachable limit rate over 1/second burst 1 packets drop",
        "icmpv6 type packet-too-big limit rate over 1/second burst 1 packets drop",
    ];
    if !net.a_rules("input", &limited) {
        return;
    }
    net.router.must("sysctl -qw net.ipv6.icmp.ratemask=0-127");
    for to in TO {
        let (report, code) = net.report(&[&target(to)]);
        assert_eq!((mtu(&report), code), ((1300, "tcp-dsack", "confirmed"), 0), "{report:#}");
        assert_eq!(findings(&report), ["small-mtu"]);
    }
}

#[test]
fn a_forged_message_is_shown_up_or_called_what_it_is() {
    let Some(net) = Net::with_mtu(1500).map(Net::listen) else { return };
    let _liar = Liar::new(&net, 552);
    let (report, code) = net.report(&[&target(TO[0])]);
    assert_eq!((mtu(&report), code), ((1500, "tcp-dsack", "confirmed"), 3), "{report:#}");
    assert_eq!(findings(&report), ["wrong-message"]);
    assert!(report["findings"][0]["text"].as_str().unwrap().contains(&LIAR.to_string()));
    assert_eq!(net.learnt(TO[0]), None, "the message is about old bytes");
    if !net.mute_b() {
        return;
    }
    let Some((report, _)) = net.report_to_nobody(&[&target(TO[0])]) else { return };
    assert_eq!((mtu(&report).0, mtu(&report).2), (552, "icmp-only"), "{report:#}");
    assert_eq!(report["path_mtu"]["taught_the_kernel"]["mtu_bytes"], 552);
}

/// The packet is answered, and the message about it is wrong all the same: the kernel goes by it.
#[test]
fn a_forged_message_is_found_although_the_packet_arrives() {
    let Some(net) = Net::with_mtu(1500) else { return };
    let _liar = Liar::new(&net, 600);
    let (report, code) = net.report(&[TO[0]]);
    assert_eq!((mtu(&report).0, mtu(&report).2, code), (1500, "confirmed", 3), "{report:#}");
    assert_eq!(findings(&report)[0], "wrong-message", "{report:#}");
    assert_eq!(report["path_mtu"]["taught_the_kernel"]["mtu_bytes"], 600, "{report:#}");
}

#[test]
fn an_option_that_is_lowered_on_the_way_shows() {
    let Some(net) = Net::with_mtu(1500).map(Net::listen) else { return };
    if !net.router_rules("forward", &["tcp flags syn tcp option maxseg size set 1200"]) {
        return;
    }
    let (report, code) = net.report(&[&target(TO[0])]);
    assert_eq!((mtu(&report), code), ((1500, "tcp-dsack", "confirmed"), 0), "{report:#}");
    let mss = &report["mss"];
    assert_eq!((&mss["sent_bytes"], &mss["offered_bytes"]), (&1460.into(), &1200.into()));
    assert!(mss["remark"].as_str().unwrap().contains("either"), "{mss}");
    let Some((report, _)) = net.report_to_nobody(&[&target(TO[0])]) else { return };
    let port = &report["mss"]["ports"][0];
    assert_eq!((&port["offered_bytes"], &port["is_at_least"]), (&1200.into(), &false.into()));
}

#[test]
fn paths_of_equal_cost_may_differ() {
    let Some(net) = Net::with_mtu(1500).map(Net::listen) else { return };
    // Two links more between the router and B, one of them narrow; each connection takes one, by its ports.
    let id = net.router.0.id();
    for (number, mtu) in [(3, 1500), (4, 1400)] {
        net.b.must(&format!("ip link add x{number} type veth peer name y{number} netns {id}"));
        net.b.must(&format!("ip link set x{number} up"));
        net.b.must(&format!("ip addr add 10.9.{number}.2/24 dev x{number}"));
        net.router.must(&format!("ip link set y{number} mtu {mtu} up"));
        net.router.must(&format!("ip addr add 10.9.{number}.1/24 dev y{number}"));
    }
    net.router.must("sysctl -qw net.ipv4.fib_multipath_hash_policy=1");
    net.router.must("ip route add 10.9.2.2/32 nexthop via 10.9.3.2 nexthop via 10.9.4.2");
    net.b.must("sysctl -qw net.ipv4.conf.all.rp_filter=0");
    // That all of sixteen take the same link has a chance of 2⁻¹⁵.
    let (report, code) = net.report(&[&target(TO[0]), "--flows", "16"]);
    assert_eq!((mtu(&report), code), ((1400, "tcp-dsack", "confirmed"), 3), "{report:#}");
    assert!(findings(&report).contains(&"unequal-flows"), "{report:#}");
    let flows = report["path_mtu"]["flows"].as_array().unwrap();
    let sizes: std::collections::BTreeSet<u64> =
        flows.iter().filter_map(|flow| flow["mtu_bytes"].as_u64()).collect();
    assert_eq!(sizes.into_iter().collect::<Vec<_>>(), [1400, 1500]);
}

#[test]
fn a_tunnel_has_its_name() {
    let Some(net) = Net::with_mtu(1500).map(Net::listen) else { return };
    if !net.tunnel() {
        return;
    }
    let (report, _) = net.report(&[&target("10.9.7.2")]);
    assert_eq!(mtu(&report), (1450, "tcp-dsack", "confirmed"), "{report:#}");
    let names = report["path_mtu"]["well_known"].as_array().unwrap();
    assert!(names.iter().any(|name| name.as_str().unwrap().contains("VXLAN")), "{names:?}");
}

#[test]
fn what_was_taught_is_forgotten_and_nothing_else() {
    let Some(net) = Net::with_mtu(1300) else { return };
    net.b.must("ip addr add 10.9.2.3/24 dev vb");
    // Without an open port, UDP finds the path MTU: routers' messages enter the cache.
    let other = tempfile::tempdir().unwrap();
    let taught = |state: &std::path::Path, to: &str| {
        in_background(&net, &[to, "--json"]).env("XDG_STATE_HOME", state).output().unwrap();
        assert_eq!(net.learnt(to), Some(1300), "{to}");
    };
    taught(other.path(), "10.9.2.3");
    for to in TO {
        taught(net.state.path(), to);
    }
    let said = stdout(&net.path(&["--forget", TO[1]]));
    assert!(said.contains("fd09:2::2: forgotten"), "{said}");
    assert_eq!((net.learnt(TO[0]), net.learnt(TO[1])), (Some(1300), None));
    let said = stdout(&net.path(&["--forget"]));
    assert!(said.contains("10.9.2.2: forgotten"), "{said}");
    assert_eq!((net.learnt(TO[0]), net.learnt("10.9.2.3")), (None, Some(1300)));
    let said = stdout(&net.path(&["--forget"]));
    assert!(said.contains("Nothing to remove"), "{said}");
    let expires = stdout(&net.a.run("sysctl -n net.ipv4.route.mtu_expires"));
    assert_eq!(expires.trim(), "600", "as it was");
}

/// Below 552 the kernel locks it (`net.ipv4.route.min_pmtu`).
#[test]
fn what_the_kernel_locks_is_said_to_stay() {
    let Some(net) = Net::with_mtu(508) else { return };
    let text = unwrapped(&stdout(&net.path(&[TO[0]])));
    assert_eq!(net.learnt(TO[0]), Some(552), "{text}");
    assert!(text.contains("the kernel has locked it") && !text.contains("--forget"), "{text}");
    let output = net.path(&["--forget"]);
    let said = unwrapped(&stderr(&output));
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("locks such a path MTU until it expires, in "), "{said}");
    assert!(said.contains("route flush cache") && !said.contains("as root"), "{said}");
    net.a.must("ip -4 route flush cache");
    assert_eq!(net.learnt(TO[0]), None);
}

#[test]
fn what_a_killed_test_has_taught_can_be_forgotten() {
    let Some(net) = Net::with_mtu(1300) else { return };
    let log = net.state.path().join("maxseg/path-learnt.jsonl");
    let mut child = in_background(&net, &[TO[0]]).spawn().unwrap();
    wait_until("a line of the log", || {
        std::fs::read_to_string(&log).is_ok_and(|text| !text.is_empty())
    });
    wait_until("an exception", || {
        net.learnt(TO[0]).is_some() || child.try_wait().unwrap().is_some()
    });
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(net.learnt(TO[0]), Some(1300));
    net.path(&["--forget"]);
    assert_eq!(net.learnt(TO[0]), None);
}
