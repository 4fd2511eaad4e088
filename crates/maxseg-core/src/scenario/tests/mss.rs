//! Segment sizes by options that are not the host's own, and by metrics of routes.

use super::super::*;
use crate::units::Mss;

/// Options of both ends as they reach the other, and the payload of a full segment.
fn sizes(ip: &str, keys: &str) -> ([Option<u16>; 2], u16) {
    let text = format!(
        "{ip}\n[[hop]]\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\nmtu = 1500\n{keys}\n[until]\ntime = \"1 s\"\n"
    );
    let scenario = Scenario::from_toml("test.toml", &text).unwrap();
    let mss = scenario.mss(&scenario.flows[0]);
    let options = [mss.offered_by_sender, mss.offered_by_receiver].map(|mss| mss.map(Mss::get));
    (options, mss.effective.get())
}

#[test]
fn a_peer_without_an_option_is_sent_what_any_host_takes() {
    let none = "[receiver]\nmss_option = false";
    // RFC 9293 §3.7.1: 536 bytes, or 1220 over IPv6; timestamps take 12.
    assert_eq!(sizes("ip = 4", none), ([Some(1460), None], 524));
    assert_eq!(sizes("ip = 6", none), ([Some(1440), None], 1208));
    assert_eq!(sizes("", "[receiver]\nmss_option = 1360"), ([Some(1460), Some(1360)], 1348));
}

#[test]
fn metrics_of_the_route_go_before_the_interface() {
    let mtu = "[sender.linux]\nroute_mtu = 1000";
    assert_eq!(sizes("", mtu), ([Some(960), Some(1460)], 948));
    // `advmss` is what the peer may send, not what the host does.
    let advmss = "[sender.linux]\nroute_advmss = 1200";
    assert_eq!(sizes("", advmss), ([Some(1200), Some(1460)], 1448));
    let of_receiver = "[receiver.linux]\nroute_advmss = 1200";
    assert_eq!(sizes("", of_receiver), ([Some(1460), Some(1200)], 1188));
    // A route's MTU above the interface's lets no larger packet out.
    assert_eq!(sizes("", "[sender.linux]\nroute_mtu = 9000"), ([Some(1460); 2], 1448));
}
