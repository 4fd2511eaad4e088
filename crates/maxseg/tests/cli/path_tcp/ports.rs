//! Ports that are dead, remedies that are applied, tunnels whose packets are too large: what the first lines say.

use serde_json::Value;

use super::super::{stdout, unwrapped};
use super::net::{Net, TO};
use super::{findings, mtu, target};

/// The first three lines.
fn first(text: &str) -> String {
    unwrapped(&text.lines().take(3).collect::<Vec<_>>().join("\n"))
}

#[test]
fn a_dead_port_is_no_fault_of_the_path_and_told_first() {
    let Some(net) = Net::with_mtu(1500).map(Net::listen) else { return };
    let refused = net.path(&["10.9.2.2:81"]);
    assert_eq!(refused.status.code(), Some(3));
    let text = stdout(&refused);
    assert!(first(&text).starts_with("10.9.2.2 refuses connections to port 81:"), "{text}");
    assert!(text.contains("path MTU: 1500 bytes (confirmed"), "{text}");
    let rules = ["tcp dport 82 drop", "tcp dport 83 reject with icmp type admin-prohibited"];
    if !net.b_rules("input", &rules) {
        return;
    }
    let (report, code) = net.report(&["10.9.2.2:82"]);
    assert_eq!((findings(&report), code), (vec!["port-silent"], 3), "{report:#}");
    let is_rejected = |report: &Value| {
        let text = report["findings"][0]["text"].to_string();
        report["mss"]["ports"][0]["state"] == "rejected" && text.contains("is rejected by ICMP")
    };
    let (report, code) = net.report(&["10.9.2.2:83"]);
    assert_eq!((findings(&report), code), (vec!["port-refused"], 3), "{report:#}");
    assert!(is_rejected(&report), "{report:#}");
    let Some((report, code)) = net.report_to_nobody(&["10.9.2.2:83"]) else { return };
    assert!(is_rejected(&report) && code == 3, "{report:#}");
}

#[test]
fn a_host_that_answers_nothing_is_a_fault() {
    let Some(net) = Net::with_mtu(1500) else { return };
    if !net.b_rules("input", &["drop"]) {
        return;
    }
    for (to, code) in [(TO[0], "host-silent"), ("10.9.2.2:80", "port-silent")] {
        let (report, exit) = net.report(&[to]);
        assert_eq!((findings(&report), exit), (vec![code], 3), "{report:#}");
        let text = report["findings"][0]["text"].as_str().unwrap();
        assert!(text.starts_with("10.9.2.2 answers nothing: no echo, no UDP datagram"), "{text}");
        assert!(text.ends_with("the last that answers on the way is 10.9.1.1 (hop 1)"), "{text}");
        let remedy = report["findings"][0]["remedy"].as_str().unwrap();
        assert!(remedy.contains("33434-33500 or tcp port (") && remedy.contains("80"), "{remedy}");
    }
    let Some((report, exit)) = net.report_to_nobody(&[TO[0]]) else { return };
    assert_eq!((findings(&report), exit), (vec!["host-silent"], 3), "{report:#}");
}

/// Nothing but address resolution tells a host that drops everything from one that is not there.
#[test]
fn a_silent_host_on_this_link_is_a_fault_as_one_behind_a_router_is() {
    let Some(net) = Net::with_mtu(1500) else { return };
    let rules = ["icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } accept", "drop"];
    if !net.router_rules("input", &rules) || !net.router_rules("forward", &["drop"]) {
        return;
    }
    for (to, how) in [("10.9.1.1", "ARP"), ("fd09:1::1", "neighbour discovery")] {
        let (report, exit) = net.report(&[to]);
        assert_eq!((findings(&report), exit), (vec!["host-silent"], 3), "{report:#}");
        let text = report["findings"][0]["text"].as_str().unwrap();
        let shown = format!("22; it answers {how} on va, as ");
        assert!(
            text.contains(&shown) && text.ends_with("it is up, and drops what comes"),
            "{text}"
        );
    }
    // Through it, where it says nothing either.
    if !net.router_rules("output", &["icmp type { time-exceeded, destination-unreachable } drop"]) {
        return;
    }
    let (report, exit) = net.report(&["10.9.2.2:80"]);
    assert_eq!((findings(&report), exit), (vec!["port-silent"], 3), "{report:#}");
    let text = report["findings"][0]["text"].as_str().unwrap();
    assert!(text.contains("the router 10.9.1.1 answers ARP on va, as "), "{text}");
    // A host that is not there is no silent one: the kernel says so.
    let output = net.path(&["10.9.1.77"]);
    assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
}

#[test]
fn a_remedy_that_is_applied_is_not_repeated() {
    let Some(net) = Net::with_mtu(1300).map(Net::listen) else { return };
    if !net.router_rules("output", &["icmp type destination-unreachable drop"]) {
        return;
    }
    let before = stdout(&net.path(&[&target(TO[0])]));
    assert!(unwrapped(&before).contains("use an MTU of 1300 at both ends"), "{before}");
    net.a.must("ip route replace default via 10.9.1.1 mtu 1300");
    let (report, _) = net.report(&[&target(TO[0])]);
    let remedy = report["findings"][0]["remedy"].as_str().unwrap();
    assert!(remedy.starts_with("this host's route has an MTU of 1300"), "{report:#}");
    // The first link: nobody is there that could send a message.
    let Some(net) = Net::with_mtu(1500).map(Net::listen) else { return };
    if net.router_rules("prerouting", &["iifname ra meta length > 1300 drop"]) {
        let (report, _) = net.report(&[&target(TO[0])]);
        assert_eq!(report["path_mtu"]["black_hole"]["after_hop"], 0, "{report:#}");
        let remedy = report["findings"][0]["remedy"].as_str().unwrap();
        assert!(remedy.starts_with("give this host's interface the MTU"), "{remedy}");
    }
}

#[test]
fn a_firewall_of_this_host_is_a_note() {
    let Some(net) = Net::with_mtu(1300).map(Net::listen) else { return };
    if !net.a_rules("output", &["udp dport 33434-33534 drop"]) {
        return;
    }
    let (report, code) = net.report(&["10.9.2.2"]);
    assert_eq!((mtu(&report).0, code), (1300, 0), "by TCP or echoes: {report:#}");
    assert!(report["notes"].to_string().contains("EPERM"), "{report:#}");
}

/// By the size: they never leave, and the link is not to blame.
#[test]
fn packets_that_a_firewall_of_this_host_refuses_do_not_vanish() {
    let Some(net) = Net::with_mtu(1500) else { return };
    if !net.a_rules("output", &["meta length > 1200 drop"]) {
        return;
    }
    for to in TO {
        let (report, code) = net.report(&[to]);
        assert_eq!((mtu(&report).0, mtu(&report).2, code), (1200, "at-least", 0), "{report:#}");
        assert_eq!(findings(&report), [""; 0], "{report:#}");
        assert!(report["path_mtu"]["reason"].to_string().contains("EPERM"), "{report:#}");
    }
}

#[test]
fn the_fifty_bytes_of_a_tunnel_are_named() {
    let Some(net) = Net::with_mtu(1500).map(Net::listen) else { return };
    if !net.has_firewall() || !net.tunnel() {
        return;
    }
    // A network of 1400 bytes, and a tunnel over it whose interfaces have the same; fragments are dropped on the way.
    for (host, link) in [(&net.router, "rb"), (&net.b, "vb")] {
        host.must("ip link set vx mtu 1400");
        host.must(&format!("ip link set {link} mtu 1400"));
    }
    net.b.must("nft add table inet f");
    net.b.must("nft add chain inet f f { type filter hook prerouting priority -450 ; }");
    net.b.must("nft add rule inet f f ip frag-off & 0x3fff != 0 drop");
    let output = net.path(&[&target("10.9.7.2")]);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(first(&text).contains("Packets of 1400 bytes vanish"), "{text}");
    let lines = unwrapped(&text.lines().take(4).collect::<Vec<_>>().join("\n"));
    assert!(lines.contains("1350 bytes pass") && lines.contains("VXLAN"), "{text}");
}
