//! Segment sizes by options that are not the host's own, and by metrics of routes.

use super::super::*;
use super::CELLULAR;
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

/// What the simulated Linux comes to, by the windows that its receiver offers.
#[test]
fn linux_puts_at_most_half_of_the_window_into_a_segment() {
    let effective = |mtu: u16, window: &str, stack: &str, timestamps: bool| {
        let host = format!("stack = \"{stack}\"\ntimestamps = {timestamps}");
        let text = format!(
            "[[hop]]\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\nmtu = {mtu}\n[sender]\n{host}\n[receiver]\n{host}\nwindow = \"{window}\"\n"
        );
        let scenario = Scenario::from_toml("test.toml", &text).unwrap();
        scenario.mss(&scenario.flows[0]).effective.get()
    };
    for (mtu, window, mss) in [
        (1500, "1460 B", 724),
        (1500, "1 segments", 724),
        (1500, "3000 B", 1448),
        (9000, "1460 B", 730),
        (9000, "3000 B", 1500),
        (9000, "16384 B", 6711),
        (9000, "20000 B", 8948),
        (9000, "auto", 8948),
    ] {
        assert_eq!(effective(mtu, window, "linux", true), mss, "{window} at {mtu}");
    }
    assert_eq!(effective(1500, "1460 B", "rfc", true), 1448);
    // 68 bytes less the header.
    assert_eq!([true, false].map(|stamps| effective(1500, "40 B", "linux", stamps)), [40, 48]);
}

#[test]
fn an_mss_that_no_socket_of_linux_takes_is_refused() {
    let read = |mss: u32, stack: &str| {
        let text = format!(
            "[[hop]]\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\n[sender]\nstack = \"{stack}\"\nmss = {mss}\n"
        );
        Scenario::from_toml("test.toml", &text).map_err(|error| error.to_string())
    };
    for mss in [87, 32_768] {
        let error = read(mss, "linux").unwrap_err();
        assert!(error.contains("TCP_MAXSEG takes 88 to 32767"), "{error}");
        assert!(read(mss, "rfc").is_ok());
    }
    assert!(read(88, "linux").is_ok() && read(32_767, "linux").is_ok());
}

#[test]
fn the_path_can_lower_the_segment_size() {
    let mut draft = Draft::parse("test.toml", CELLULAR).unwrap();
    for end in ["sender", "receiver"] {
        draft.set_argument(&format!("{end}.timestamps=false")).unwrap();
        // Linux offers no more than its own link takes.
        draft.set_argument(&format!("{end}.stack=rfc")).unwrap();
    }
    draft.set_argument("sender.mss=1460").unwrap();
    let scenario = draft.scenario().unwrap();
    let mss = scenario.mss(&scenario.flows[0]);
    let offered = [mss.offered_by_sender, mss.offered_by_receiver].map(|mss| mss.map(Mss::get));
    assert_eq!(offered, [Some(1460), Some(536)]);
    draft.set_argument("receiver.mss=1460").unwrap();
    let mss = draft.scenario().unwrap().mss(&scenario.flows[0]);
    assert!(mss.is_lowered_by_path());
    assert_eq!((mss.initial.get(), mss.effective.get()), (1460, 536));
    // Nobody tells where DF is clear, nor where the hop is silent.
    for set in ["sender.df=false", "hop.radio.icmp=drop"] {
        let mut draft = draft.clone();
        draft.set_argument(set).unwrap();
        let mss = draft.scenario().unwrap().mss(&scenario.flows[0]);
        assert!(mss.is_too_large() && mss.effective.get() == 1460, "{set}");
    }
    // But who probes finds 1024, and half of that, after three timeouts and one more.
    draft.set_argument("hop.radio.icmp=drop").unwrap();
    draft.set_argument("sender.mtu_probing=true").unwrap();
    let mss = draft.scenario().unwrap().mss(&scenario.flows[0]);
    assert_eq!((mss.effective.get(), mss.timeouts), (512, 4));
    // The peer's option bounds the first size that is halved.
    draft.set_argument("receiver.mss=900").unwrap();
    let mss = draft.scenario().unwrap().mss(&scenario.flows[0]);
    assert_eq!((mss.clamp.get(), mss.effective.get(), mss.timeouts), (900, 450, 4));
}

/// Linux 6.18 behind a hop of 1400 bytes that tells nobody, with `tcp_mtu_probing = 1`: 1024 after the timeout, then 1236, 1342 and 1347.
#[test]
fn a_search_in_a_black_hole_goes_on_by_probes() {
    let decide = |more: &str| {
        let hop = |more: &str| format!("{{ rate = \"20 Mbit/s\", delay = \"5 ms\"{more} }}");
        let silent = hop(", mtu = 1400, icmp = \"drop\"");
        let text = format!("{more}\nhop = [{}, {silent}, {}]", hop(""), hop(""));
        let scenario = Scenario::from_toml("test.toml", &text).unwrap();
        let mss = scenario.mss(&scenario.flows[0]);
        let caveats = crate::engine::size_caveats(&scenario);
        let lowered = caveats.into_iter().find(|caveat| caveat.code == "mss-lowered");
        (mss.effective.get(), mss.search, lowered.map(|caveat| caveat.text).unwrap_or_default())
    };
    let (size, search, text) = decide("sender.mtu_probing = true");
    assert_eq!((size, search.map(|search| search.first.get())), (1347, Some(1024)));
    assert!(text.contains("Linux finds 1024") && text.contains("probes find 1347"), "{text}");
    let small = "sender.mtu_probing = true\nreceiver.window = \"4 KiB\"";
    let (size, search, text) = decide(small);
    assert_eq!((size, search.and_then(|search| search.held)), (1024, Some(NoProbe::Window)));
    assert!(text.contains("needs a receive window of 5332 B"), "{text}");
    let short = "sender.mtu_probing = true\nuntil.bytes = \"3 kB\"";
    let (size, search, text) = decide(short);
    assert_eq!((size, search.and_then(|search| search.held)), (1024, Some(NoProbe::Data)));
    assert!(text.contains("needs 5332 B to be sent at a time"), "{text}");
    let other = "sender = { stack = \"rfc\", mtu_probing = true }\nreceiver.stack = \"rfc\"";
    let (size, search, _) = decide(other);
    assert_eq!((size, search), (1024, None), "only Linux goes on");
}

#[test]
fn linux_offers_no_less_than_its_sysctls_say() {
    // `net.ipv4.route.min_adv_mss` and `net.ipv6.route.min_adv_mss`; and `TCP_MIN_MSS` for what the route says.
    assert_eq!(sizes("", "[sender.linux]\nroute_mtu = 200"), ([Some(256), Some(1460)], 148));
    assert_eq!(sizes("", "[receiver.linux]\nroute_mtu = 200"), ([Some(1460), Some(256)], 244));
    assert_eq!(sizes("ip = 6", "[sender.linux]\nroute_mtu = 1280").0, [Some(1220), Some(1440)]);
    assert_eq!(sizes("", "[sender.linux]\nroute_advmss = 20").0, [Some(88), Some(1460)]);
}

#[test]
fn linux_takes_no_router_s_word_for_less_than_552_bytes() {
    let decide = |mtu: u16, stack: &str| {
        let hop = |mtu| format!("[[hop]]\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\nmtu = {mtu}\n");
        let hosts = format!("[sender]\nstack = \"{stack}\"\n[receiver]\nstack = \"{stack}\"\n");
        let text = format!("{}{}{}{hosts}", hop(1500), hop(mtu), hop(1500));
        let scenario = Scenario::from_toml("test.toml", &text).unwrap();
        let (flow, caveats) = (scenario.flows[0], crate::engine::size_caveats(&scenario));
        let mss = scenario.mss(&flow);
        let codes = caveats.iter().map(|caveat| caveat.code.clone()).collect::<Vec<_>>().join(" ");
        (mss.effective.get(), mss.clears_df, scenario.keeps_df(&flow), codes)
    };
    assert_eq!(decide(552, "linux"), (500, false, true, "mss-lowered".to_owned()));
    assert_eq!(decide(551, "linux"), (500, true, false, "mss-above-mtu".to_owned()));
    let rfc = decide(551, "rfc");
    assert!(rfc.0 < 512 && !rfc.1 && rfc.2 && rfc.3 == "mss-lowered", "{rfc:?}");
}
