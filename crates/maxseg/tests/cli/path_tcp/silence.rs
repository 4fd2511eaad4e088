//! Routers that seem silent: they limit what they say, or this host drops it.

use maxseg_testkit::is_its_turn;
use serde_json::Value;

use super::far_end::{SHORT, responder};
use super::net::{Net, TO};
use super::{findings, mtu, target};

/// What a router says, one message a second; the hops are found by such messages too.
const ONE_A_SECOND: [&str; 1] = [
    "icmp type { destination-unreachable, time-exceeded } limit rate over 1/second burst 1 packets drop",
];

#[test]
fn a_router_that_limits_its_messages_is_no_black_hole() {
    let Some(net) = Net::with_mtu(1300) else { return };
    if !net.router_rules("output", &ONE_A_SECOND) {
        return;
    }
    let (report, code) = net.report(&[TO[0]]);
    assert_eq!((mtu(&report).0, mtu(&report).2, code), (1300, "confirmed", 0), "{report:#}");
    assert_eq!(report["path_mtu"]["black_hole"], Value::Null, "{report:#}");
    assert_eq!(findings(&report), ["small-mtu"], "{report:#}");
    let net = net.listen();
    let (report, code) = net.report(&[&target(TO[0])]);
    assert_eq!((mtu(&report), code), ((1300, "tcp-dsack", "confirmed"), 0), "{report:#}");
    assert_eq!(findings(&report), ["small-mtu"], "{report:#}");
}

#[test]
fn limited_answers_are_no_losses() {
    if !is_its_turn(0) {
        return;
    }
    let Some(net) = Net::with_mtu(1500) else { return };
    let limited = ["icmp type echo-request limit rate over 5/second burst 5 packets drop"];
    if !net.b_rules("input", &limited) {
        return;
    }
    let (report, code) = net.report(&[TO[0]]);
    let rtt = &report["rtt"];
    assert_eq!((&rtt["lost"], &rtt["answers_limited"]), (&0.into(), &true.into()), "{report:#}");
    assert_eq!((findings(&report).len(), code), (0, 0), "{report:#}");
}

#[test]
fn what_this_host_drops_is_no_fault_of_a_router() {
    if !is_its_turn(1) {
        return;
    }
    let Some(net) = Net::with_mtu(1300) else { return };
    let mute = ["udp dport 33434-33534 drop", "icmp type echo-request drop"];
    let is_deaf = net.a_rules("input", &["icmp code frag-needed drop"]);
    if !is_deaf || !net.b_rules("input", &mute) {
        return;
    }
    let responder = responder(&net);
    // By what arrives at the far end.
    let (report, code) = net.report(&[&[TO[0]], &SHORT[..]].concat());
    drop(responder);
    assert_eq!((mtu(&report), code), ((1300, "far-end", "confirmed"), 3), "{report:#}");
    assert_eq!(findings(&report)[0], "message-dropped-here", "{report:#}");
    assert_eq!(report["path_mtu"]["black_hole"], Value::Null, "{report:#}");
    // By connections of an ordinary user, who hears no messages.
    let net = net.listen();
    let Some((report, code)) = net.report_to_nobody(&[&target(TO[0])]) else { return };
    assert_eq!((mtu(&report).0, code), (1300, 3), "{report:#}");
    assert_eq!(findings(&report)[0], "message-dropped-here", "{report:#}");
}

/// No port is open, and nothing but echoes and their answers come in.
#[test]
fn messages_about_echoes_that_this_host_drops_are_no_loss_on_the_way_back() {
    let Some(net) = Net::with_mtu(1300) else { return };
    let drops =
        ["icmp type destination-unreachable drop", "icmpv6 type { 1, packet-too-big } drop"];
    if !net.a_rules("input", &drops) {
        return;
    }
    for (to, router) in TO.into_iter().zip(["10.9.1.1", "fd09:1::1"]) {
        let (report, code) = net.report(&[to]);
        assert_eq!((mtu(&report), code), ((1300, "icmp-echo", "confirmed"), 3), "{report:#}");
        assert_eq!(findings(&report)[0], "message-dropped-here", "{report:#}");
        assert_eq!(report["path_mtu"]["dropped_here"]["router"], router, "{report:#}");
    }
}
