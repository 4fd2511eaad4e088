//! Paths of equal cost, of which one is narrow and silent: routers choose by the ports.

use serde_json::Value;

use super::super::namespace::Namespace;
use super::net::{Net, TO};
use super::{findings, mtu, target};

/// A net whose router reaches B by one of two more routers; the link of the second takes 1400 bytes, and it says nothing. `None` without
/// namespaces or a firewall.
fn two_ways() -> Option<(Net, [Namespace; 2])> {
    let net = Net::with_mtu(1500)?;
    if !net.has_firewall() {
        return None;
    }
    let between = [Namespace::new()?, Namespace::new()?];
    for ((number, middle), mtu) in (3..).zip(&between).zip([1500, 1400]) {
        let (id, far) = (middle.0.id(), number + 2);
        net.router.must(&format!("ip link add y{number} type veth peer name m{number} netns {id}"));
        net.b.must(&format!("ip link add x{number} type veth peer name n{number} netns {id}"));
        for (host, link, address, mtu) in [
            (&net.router, format!("y{number}"), format!("10.9.{number}.1"), 1500),
            (middle, format!("m{number}"), format!("10.9.{number}.2"), 1500),
            (middle, format!("n{number}"), format!("10.9.{far}.1"), mtu),
            (&net.b, format!("x{number}"), format!("10.9.{far}.2"), 1500),
        ] {
            host.must(&format!("ip link set {link} mtu {mtu} up"));
            host.must(&format!("ip addr add {address}/24 dev {link}"));
        }
        middle.must("sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0");
        middle.must(&format!("ip route add 10.9.1.0/24 via 10.9.{number}.1"));
        middle.must(&format!("ip route add 10.9.2.2/32 via 10.9.{far}.2"));
    }
    between[1].must("nft add table inet t");
    between[1].must("nft add chain inet t o { type filter hook output priority 0 ; }");
    between[1].must("nft add rule inet t o icmp type destination-unreachable drop");
    net.router
        .must("sysctl -qw net.ipv4.fib_multipath_hash_policy=1 net.ipv4.conf.all.rp_filter=0");
    net.b.must("sysctl -qw net.ipv4.conf.all.rp_filter=0");
    net.router.must("ip route add 10.9.2.2/32 nexthop via 10.9.3.2 nexthop via 10.9.4.2");
    Some((net, between))
}

/// Has the router send what is of a protocol by one of the two alone.
fn always_by(net: &Net, protocol: &str, number: u8) {
    net.router.must(&format!("ip route add default via 10.9.{number}.2 table 7{number}"));
    net.router.must(&format!("ip rule add ipproto {protocol} to 10.9.2.2 table 7{number}"));
}

/// Where the hole is, and who the hops are.
fn place(report: &Value) -> (&Value, &Value, &Value) {
    let hole = &report["path_mtu"]["black_hole"];
    (&hole["after_hop"], &hole["after_address"], &report["path_mtu"]["hops"][1]["address"])
}

#[test]
fn a_black_hole_is_behind_the_router_of_the_connections_that_meet_it() {
    let Some((net, _between)) = two_ways() else { return };
    let net = net.listen();
    // Datagrams, which find the hops first, go the good way.
    always_by(&net, "udp", 3);
    always_by(&net, "tcp", 4);
    let (report, code) = net.report(&[&target(TO[0])]);
    assert_eq!((mtu(&report), code), ((1400, "tcp-dsack", "confirmed"), 3), "{report:#}");
    let router = Value::from("10.9.4.2");
    assert_eq!(place(&report), (&2.into(), &router, &router), "{report:#}");
}

#[test]
fn no_router_is_named_of_connections_whose_way_is_not_known() {
    let Some((net, _between)) = two_ways() else { return };
    let net = net.listen();
    always_by(&net, "udp", 3);
    always_by(&net, "tcp", 4);
    // B answers no echo, and a datagram no more than a second: an ordinary user's connections find the size.
    net.mute_b();
    let Some((report, code)) = net.report_to_nobody(&[&target(TO[0])]) else { return };
    assert_eq!((mtu(&report), code), ((1400, "tcp-segments", "confirmed"), 3), "{report:#}");
    assert_eq!(findings(&report)[0], "black-hole", "{report:#}");
    let (hop, address, _) = place(&report);
    assert_eq!((hop, address), (&Value::Null, &Value::Null), "{report:#}");
    assert!(report["notes"].to_string().contains("where they vanish is not known"), "{report:#}");
}

#[test]
fn an_ordinary_user_is_told_of_no_path_mtu_that_some_connections_do_not_have() {
    let Some((net, _between)) = two_ways() else { return };
    let net = net.listen();
    net.mute_b();
    always_by(&net, "tcp", 3);
    // All but each eighth connection go the narrow way, then each second.
    net.router.must("ip route add default via 10.9.4.2 table 74");
    net.router.must("ip rule add fwmark 4 to 10.9.2.2 table 74 pref 10");
    for (narrow, is_proven) in [("mod 8 < 7", false), ("mod 2 < 1", true)] {
        net.router.must("nft add table ip t");
        net.router.must("nft delete table ip t");
        net.router.must("nft add table ip t");
        net.router.must("nft add chain ip t p { type filter hook prerouting priority -150 ; }");
        net.router.must(&format!(
            "nft add rule ip t p tcp dport 80 ct state new tcp flags syn numgen inc {narrow} ct mark set 4"
        ));
        net.router.must("nft add rule ip t p iifname ra ct mark 4 meta mark set 4");
        let Some((report, code)) = net.report_to_nobody(&[&target(TO[0])]) else { return };
        assert!(report["path_mtu"]["black_hole"].is_null(), "{narrow}: {report:#}");
        if is_proven {
            assert_eq!((findings(&report)[0], code), ("unequal-flows", 3), "{report:#}");
            let flows = report["path_mtu"]["flows"].as_array().unwrap();
            let vanishing = flows.iter().filter(|flow| !flow["vanishes_bytes"].is_null()).count();
            assert!(vanishing > 0 && vanishing < flows.len(), "{report:#}");
        } else {
            assert_ne!(mtu(&report).2, "confirmed", "{report:#}");
        }
    }
}

#[test]
fn flows_that_vanish_are_a_fault_although_the_first_is_none() {
    let Some((net, _between)) = two_ways() else { return };
    net.b.must("sysctl -qw net.ipv4.icmp_ratelimit=0");
    always_by(&net, "icmp", 3);
    net.router.must("ip route add default via 10.9.4.2 table 75");
    net.router.must("ip rule add ipproto udp dport 33435-33436 to 10.9.2.2 table 75");
    net.router.must("ip rule add ipproto udp dport 33434 to 10.9.2.2 table 73");
    let (report, code) = net.report(&[TO[0]]);
    assert_eq!(code, 3, "{report:#}");
    assert!(findings(&report).contains(&"unequal-flows"), "{report:#}");
}
