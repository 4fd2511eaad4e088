//! Routers' messages that do not lead to what arrives, and a route of this host that does not.

use super::super::{stdout, unwrapped};
use super::net::{Liar, Net, TO};
use super::{findings, mtu, target};

/// A tunnel whose overhead its router forgets: connections go by the message, and send what is refused again and again.
#[test]
fn a_message_that_states_more_than_passes_is_a_fault() {
    let Some(net) = Net::with_mtu(1500).map(Net::listen) else { return };
    if !net.router_rules("forward", &["ip length > 1400 drop"]) {
        return;
    }
    net.b.must("sysctl -qw net.ipv4.icmp_ratelimit=0");
    let _liar = Liar::stating(&net, 1400, 1408);
    let (report, code) = net.report(&[&target(TO[0])]);
    assert_eq!((mtu(&report), code), ((1400, "tcp-dsack", "confirmed"), 3), "{report:#}");
    assert_eq!(findings(&report), ["wrong-message"], "{report:#}");
    let text = report["findings"][0]["text"].as_str().unwrap();
    assert!(text.contains("1408 bytes, and states an MTU of 1408"), "{text}");
    let remedy = report["findings"][0]["remedy"].as_str().unwrap();
    assert!(remedy.contains("clamp the MSS to 1360"), "{remedy}");
    let Some((report, code)) = net.report_to_nobody(&[TO[0]]) else { return };
    assert_eq!((mtu(&report), code), ((1400, "udp", "confirmed"), 3), "{report:#}");
    assert_eq!(findings(&report), ["wrong-message"], "{report:#}");
}

/// A router from before RFC 1191: Linux goes down to the least that it learns, whatever passes.
#[test]
fn a_message_without_an_mtu_is_called_that() {
    let Some(net) = Net::with_mtu(1500) else { return };
    if !net.router_rules("forward", &["ip length > 1400 drop"]) {
        return;
    }
    net.b.must("sysctl -qw net.ipv4.icmp_ratelimit=0");
    let _liar = Liar::stating(&net, 1400, 0);
    let check = |to: &str, method: &str| {
        let (report, code) = net.report(&[to]);
        assert_eq!((mtu(&report), code), ((1400, method, "confirmed"), 3), "{report:#}");
        let told = report["findings"][0]["text"].as_str().unwrap();
        assert!(told.contains("without the MTU that fits (RFC 1191)"), "{told}");
        assert!(!report.to_string().contains("forge"), "{report:#}");
    };
    check(TO[0], "udp");
    net.open();
    check(&target(TO[0]), "tcp-dsack");
}

#[test]
fn a_route_with_a_smaller_mtu_than_the_path_is_told() {
    let Some(net) = Net::with_mtu(1500).map(Net::listen) else { return };
    net.a.must("ip route add 10.9.2.0/24 via 10.9.1.1 mtu 1300");
    let (report, code) = net.report(&[&target(TO[0])]);
    assert_eq!((mtu(&report), code), ((1500, "tcp-dsack", "confirmed"), 0), "{report:#}");
    assert_eq!(findings(&report), ["route-mtu"], "{report:#}");
    let text = stdout(&net.path(&[&target(TO[0])]));
    assert!(!text.contains("all that this host sends"), "{text}");
    assert!(unwrapped(&text).contains("has an MTU of 1300, and the path takes 1500"), "{text}");
}

/// An ordinary user's connections begin with `tcp_base_mss` where the host looks for path MTUs from the start: that is no offer of the far end,
/// and no smaller link.
#[test]
fn a_host_that_begins_with_small_segments_says_so() {
    let Some(net) = Net::with_mtu(1500).map(Net::listen) else { return };
    net.a.must("sysctl -qw net.ipv4.tcp_mtu_probing=2");
    let to = target(TO[0]);
    let Some((report, _)) = net.report_to_nobody(&[&to]) else { return };
    let port = &report["mss"]["ports"][0];
    assert_eq!(
        (&port["offered_bytes"], &port["is_at_least"]),
        (&1036.into(), &true.into()),
        "{report:#}"
    );
    assert!(report["mss"]["remark"].is_null(), "{report:#}");
    if !net.mute_b() {
        return;
    }
    let Some((report, _)) = net.report_to_nobody(&[&to]) else { return };
    let reason = report["path_mtu"]["reason"].as_str().unwrap_or_default();
    assert!(reason.contains("net.ipv4.tcp_mtu_probing = 2"), "{report:#}");
}
