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

/// A link that loses every other large packet: what arrives once is the path MTU, and no connection is fast.
#[test]
fn large_packets_of_which_half_are_lost_are_a_fault() {
    let Some(net) = Net::with_mtu(1500).map(Net::listen) else { return };
    if !net.router_rules(
        "forward",
        &["ip saddr 10.9.1.2 meta length > 1300 numgen inc mod 2 == 0 drop"],
    ) {
        return;
    }
    for (to, is_both_ways) in [(target(TO[0]), false), (TO[0].to_owned(), true)] {
        if is_both_ways {
            // Echoes: no port is open.
            net.b.must("nft add table inet t");
            net.b.must("nft add chain inet t input { type filter hook input priority 0 ; }");
            net.b.must("nft add rule inet t input tcp dport 80 reject with tcp reset");
        }
        let (report, code) = net.report(&[&to]);
        let loss = &report["path_mtu"]["large_loss"];
        assert_eq!(
            (&loss["size_bytes"], &loss["small_lost"]),
            (&1500.into(), &0.into()),
            "{report:#}"
        );
        assert_eq!(loss["is_both_ways"], is_both_ways, "{report:#}");
        let [of, missing] = ["sent", "lost"].map(|key| loss[key].as_u64().unwrap());
        assert!(of >= 24 && missing * 3 > of && missing * 3 < of * 2, "{loss}");
        assert!(findings(&report).contains(&"large-loss") && code == 3, "{report:#}");
        let [none, some] =
            ["none_lost_bytes", "some_lost_bytes"].map(|key| loss["boundary"][key].as_u64());
        assert!(none <= Some(1300) && none >= Some(1300 - 40), "{loss}");
        assert!(some > Some(1300) && some <= Some(1300 + 40), "{loss}");
        let remedies = report["findings"].to_string();
        assert!(remedies.contains(&format!("mtu={}", none.unwrap())), "{report:#}");
    }
    let Some(whole) = Net::with_mtu(1500) else { return };
    let (report, code) = whole.report(&[TO[0]]);
    assert_eq!((&report["path_mtu"]["large_loss"]["lost"], code), (&0.into(), 0), "{report:#}");
    assert_eq!(findings(&report), [""; 0], "{report:#}");
}

/// Of a host that answers neither echoes nor datagrams: by what the kernel of an ordinary user sends again.
#[test]
fn an_ordinary_user_learns_that_large_segments_alone_are_lost() {
    let Some(net) = Net::with_mtu(1500).map(Net::listen) else { return };
    if !net.mute_b() {
        return;
    }
    let counts = |report: &Value| {
        let loss = &report["path_mtu"]["large_loss"];
        ["sent", "lost", "small_sent", "small_lost"].map(|key| loss[key].as_u64().unwrap())
    };
    let Some((report, code)) = net.report_to_nobody(&[&target(TO[0])]) else { return };
    assert_eq!((counts(&report), code), ([20, 0, 45, 0], 0), "{report:#}");
    assert_eq!(findings(&report), [""; 0], "{report:#}");
    let every_other = "ip saddr 10.9.1.2 meta length > 1300 numgen inc mod 2 == 0 drop";
    net.router_rules("forward", &[every_other]);
    let Some((report, code)) = net.report_to_nobody(&[&target(TO[0])]) else { return };
    assert_eq!((mtu(&report).0, mtu(&report).2, code), (1500, "confirmed", 3), "{report:#}");
    assert_eq!(findings(&report), ["large-loss"], "{report:#}");
    let [all, lost, _, small_lost] = counts(&report);
    assert!(lost * 3 > all && lost * 3 < all * 2 && small_lost == 0, "{report:#}");
    assert_eq!(report["path_mtu"]["large_loss"]["is_both_ways"], false, "{report:#}");
    // Who sends the service nothing is told what is not known.
    let arguments = [&target(TO[0]), "--no-payload"];
    let Some((report, _)) = net.report_to_nobody(&arguments) else { return };
    assert_eq!(report["path_mtu"]["large_loss"], Value::Null, "{report:#}");
}

/// A firewall that says so, and no MTU: no host learns of it what passes.
#[test]
fn large_packets_that_a_rule_rejects_do_not_vanish_without_a_message() {
    let Some(net) = Net::with_mtu(1500) else { return };
    let rule = "ip saddr 10.9.1.2 meta length > 1300 reject with icmp type admin-prohibited";
    if !net.router_rules("forward", &[rule]) {
        return;
    }
    let (report, code) = net.report(&[TO[0]]);
    assert_eq!((findings(&report), code), (vec!["black-hole"], 3), "{report:#}");
    let said = "10.9.1.1 says of them: administratively prohibited (ICMP type 3, code 13)";
    assert_eq!(report["path_mtu"]["black_hole"]["said"], said, "{report:#}");
    assert!(report["findings"][0]["text"].as_str().unwrap().contains(said), "{report:#}");
    assert!(!report["path_mtu"]["hops"].to_string().contains("without a message"), "{report:#}");
    let remedy = report["findings"][0]["remedy"].as_str().unwrap();
    assert!(remedy.starts_with("have packets of 1500 bytes pass the rule"), "{remedy}");
}
