//! Linux's own TCP in the simulator: what the kernel in virtual time does on the same path, as far as the paths are
//! the same: here a packet takes its time on the wire, there an idle link passes the first at once.
#![expect(clippy::unwrap_used, reason = "helpers of tests, which may panic")]

use maxseg_core::engine::{Engine, Unwatched};
use maxseg_core::outcome::{LimitShare, LimitedBy, Outcome};
use maxseg_core::scenario::Scenario;
use maxseg_core::sim::Sim;

/// Rate and queue of the hop, and what else the file says.
fn run(rate: &str, queue: &str, rest: &str) -> Outcome {
    let text = format!(
        "[[hop]]\nrate = \"{rate}\"\ndelay = \"20 ms\"\nqueue = \"{queue}\"\nframing = \"ethernet\"\n{rest}\n\
         [sender]\nstack = \"linux\"\n[receiver]\nstack = \"linux\"\n[until]\ntime = \"30 s\"\n"
    );
    let scenario = Scenario::from_toml("test", &text).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    Sim.run(&scenario, &mut Unwatched).unwrap()
}

#[test]
fn cubic_fills_a_clean_path() {
    let outcome = run("10 Mbit/s", "33 packets", "");
    let share = outcome.goodput_bps.unwrap() / 10e6;
    assert!(share > 0.93 && share < 0.97, "{outcome:?}");
    assert_eq!(outcome.timeouts, Some(0));
}

#[test]
fn a_percent_of_losses_costs_cubic_two_thirds_and_no_timeout() {
    // The kernel has 3.04 ± 0.28 Mbit/s there, from eight seeds.
    let errors = "errors = { model = \"uniform\", per = \"packet\", rate = 0.01 }";
    let outcome = run("10 Mbit/s", "33 packets", errors);
    let goodput = outcome.goodput_bps.unwrap();
    assert!((2.0e6..4.5e6).contains(&goodput), "{outcome:?}");
}

#[test]
fn the_kernel_s_own_segments_are_sent_to_the_last_one() {
    // Linux 6.12 in virtual time, whose netem sends each packet in its time as a link does here. The rates are those of its
    // frames of 1514 bytes for packets of 1500.
    let kernel = [
        ("9907530 bit/s", "20 ms", 33, "cubic", 24_744, 15),
        ("49537649 bit/s", "50 ms", 413, "reno", 122_619, 829),
    ];
    for (rate, delay, queue, congestion, segments, again) in kernel {
        let buffers =
            "linux = { tcp_rmem = [4096, 131072, 67108864], tcp_wmem = [4096, 16384, 67108864] }";
        let text = format!(
            "[[hop]]\nrate = \"{rate}\"\ndelay = \"{delay}\"\nqueue = \"{queue} packets\"\nframing = \"ip\"\n\
             [hop.reverse]\nrate = \"100 Gbit/s\"\n[sender]\nstack = \"linux\"\ncongestion = \"{congestion}\"\n{buffers}\n\
             [receiver]\nstack = \"linux\"\n{buffers}\n[until]\ntime = \"30 s\"\n"
        );
        let scenario = Scenario::from_toml("test", &text).unwrap();
        let outcome = Sim.run(&scenario, &mut Unwatched).unwrap();
        assert_eq!(outcome.data_packets, Some(segments), "{congestion}");
        assert_eq!(outcome.retransmitted_packets, Some(again), "{congestion}");
    }
}

/// A burst waits until the peer's window has room for all of it: the window holds it back with room for a segment as well
/// (`tcp_tso_should_defer`, `net/ipv4/tcp_output.c`). Nothing is lost, and another window is another rate.
#[test]
fn a_window_near_the_product_is_the_limit_while_bursts_wait_for_it() {
    let of = |window: &str| {
        let text = format!(
            "[[hop]]\nrate = \"50 Mbit/s\"\ndelay = \"5 ms\"\n[receiver]\nwindow = \"{window}\"\n[until]\ntime = \"20 s\"\n"
        );
        let scenario = Scenario::from_toml("test", &text).unwrap();
        Sim.run(&scenario, &mut Unwatched).unwrap()
    };
    let (small, large) = (of("57980 B"), of("115960 B"));
    assert!(large.goodput_bps > small.goodput_bps.map(|goodput| 1.1 * goodput));
    assert_eq!(small.limited_by, Some(LimitedBy::ReceiveWindow), "{:?}", small.limits);
    assert_eq!(small.retransmitted_packets, Some(0));
}

#[test]
fn bbr_keeps_its_rate_where_a_percent_is_lost() {
    // The kernel has 9.29 ± 0.01 Mbit/s there. Bulk data with BBR are paced by the socket itself.
    let errors = "errors = { model = \"uniform\", per = \"packet\", rate = 0.01 }";
    let text = format!(
        "[[hop]]\nrate = \"10 Mbit/s\"\ndelay = \"20 ms\"\nqueue = \"33 packets\"\nframing = \"ethernet\"\n{errors}\n\
         [sender]\nstack = \"linux\"\ncongestion = \"bbr\"\n[receiver]\nstack = \"linux\"\n[until]\ntime = \"30 s\"\n"
    );
    let scenario = Scenario::from_toml("test", &text).unwrap();
    let goodput = Sim.run(&scenario, &mut Unwatched).unwrap().goodput_bps.unwrap();
    assert!((8.8e6..9.4e6).contains(&goodput), "{goodput}");
}

#[test]
fn a_transfer_ends_when_all_is_acknowledged() {
    let outcome = run("10 Mbit/s", "100 packets", "[[flow]]\nkind = \"bulk\"");
    assert!(outcome.payload_bytes.unwrap() > 30_000_000);
    let text = "[[hop]]\nrate = \"10 Mbit/s\"\ndelay = \"20 ms\"\n[sender]\nstack = \"linux\"\n[receiver]\nstack = \
                \"linux\"\n[until]\nbytes = \"1 MiB\"\n";
    let outcome = Sim.run(&Scenario::from_toml("test", text).unwrap(), &mut Unwatched).unwrap();
    assert_eq!(outcome.payload_bytes, Some(1 << 20));
    assert!(outcome.elapsed_s.unwrap() < 2.0);
}

/// A percentile of requests, in milliseconds, over a path of 10 Mbit/s and 40 ms.
fn requests(request: &str, reply: &str, rest: &str) -> Outcome {
    let text = format!(
        "[[hop]]\nrate = \"10 Mbit/s\"\ndelay = \"20 ms\"\nqueue = \"132 packets\"\nframing = \"ethernet\"\n\
         [sender]\nstack = \"linux\"\n[receiver]\nstack = \"linux\"\n\
         [[flow]]\nkind = \"request\"\nrequest = \"{request}\"\nreply = \"{reply}\"\n{rest}\n[until]\ntime = \"30 s\"\n"
    );
    let scenario = Scenario::from_toml("test", &text).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    Sim.run(&scenario, &mut Unwatched).unwrap()
}

#[test]
fn a_request_of_fourteen_segments_takes_a_round_trip_once_the_window_has_grown() {
    // 20,000 bytes are 14 packets, 13 of which wait for the one before: 1.21 ms each.
    let outcome = requests("20000 B", "100 B", "pause = \"60 ms\"");
    let median = outcome.request_p50_s.unwrap() * 1e3;
    assert!((56.0..58.5).contains(&median), "{median}");
    assert!(outcome.requests.unwrap() > 240, "{outcome:?}");
}

#[test]
fn each_request_with_a_connection_of_its_own_takes_two_round_trips() {
    let outcome = requests("200 B", "1000 B", "connection = \"new\"\npause = \"50 ms\"");
    let median = outcome.request_p50_s.unwrap() * 1e3;
    assert!((80.0..83.0).contains(&median), "{median}");
}

#[test]
fn a_slow_reader_gets_what_it_reads() {
    let text = "[[hop]]\nrate = \"50 Mbit/s\"\ndelay = \"10 ms\"\nqueue = \"200 packets\"\n[sender]\nstack = \"linux\"\n\
                [receiver]\nstack = \"linux\"\nread_rate = \"5 Mbit/s\"\n[until]\ntime = \"20 s\"\n";
    let outcome = Sim.run(&Scenario::from_toml("test", text).unwrap(), &mut Unwatched).unwrap();
    let goodput = outcome.goodput_bps.unwrap();
    // What is in the buffer when the run ends is acknowledged and not read.
    assert!((4.9e6..8.0e6).contains(&goodput), "{goodput}");
    assert_eq!(outcome.retransmitted_packets, Some(0));
}

#[test]
fn a_fast_reader_gets_what_it_reads_as_well() {
    let text = "[[hop]]\nrate = \"1 Gbit/s\"\ndelay = \"1 ms\"\nqueue = \"1000 packets\"\n[receiver]\nread_rate = \"300 Mbit/s\"\n\
                window = \"2 MiB\"\n[until]\ntime = \"10 s\"\n";
    let outcome = Sim.run(&Scenario::from_toml("test", text).unwrap(), &mut Unwatched).unwrap();
    let goodput = outcome.goodput_bps.unwrap();
    // Two megabytes that wait to be read are 1.7 Mbit/s.
    assert!((294e6..306e6).contains(&goodput), "{goodput}");
}

/// A path whose second hop takes packets of `mtu` bytes.
fn narrow(mtu: u16, rest: &str) -> Scenario {
    let hop = |mtu: u16| {
        format!(
            "[[hop]]\nrate = \"10 Mbit/s\"\ndelay = \"100 ms\"\nmtu = {mtu}\nframing = \"ethernet\"\n"
        )
    };
    let text = format!("{}{}{}{rest}", hop(1500), hop(mtu), hop(1500));
    Scenario::from_toml("test", &text).unwrap_or_else(|e| panic!("{e:?}\n{text}"))
}

#[test]
fn waiting_for_news_of_a_small_mtu_is_no_timeout() {
    let outcome = Sim.run(&narrow(1400, "[until]\ntime = \"4 s\"\n"), &mut Unwatched).unwrap();
    assert_eq!(outcome.timeouts, Some(0));
    assert!(outcome.retransmitted_packets > Some(5), "{outcome:?}");
    let is_rto = |limit: &LimitShare| limit.kind == LimitedBy::Rto && limit.share > 0.0;
    assert!(!outcome.limits.iter().any(is_rto), "{:?}", outcome.limits);
}

/// `net.ipv4.route.min_pmtu`: nobody makes a host send less than 552 bytes; it clears DF, and routers fragment.
#[test]
fn below_the_least_path_mtu_packets_are_fragmented() {
    for mtu in [68, 400, 551] {
        let scenario = narrow(mtu, "[until]\ntime = \"20 s\"\n");
        let outcome = Sim.run(&scenario, &mut Unwatched).unwrap();
        assert!(outcome.goodput_bps > Some(1e5), "{mtu}: {outcome:?}");
        assert_eq!(outcome.mss_used_bytes, Some(500), "{mtu}");
        // Ten segments of the first window are refused, and none afterwards.
        let refused = outcome.links.iter().find(|link| link.link == "hop.1").unwrap().too_big;
        assert_eq!(refused, 10, "{mtu}");
    }
    let outcome = Sim.run(&narrow(552, "[until]\ntime = \"20 s\"\n"), &mut Unwatched).unwrap();
    assert_eq!(outcome.mss_used_bytes, Some(500));
}

/// A path MTU is the host's, not the connection's (`net.ipv4.route.mtu_expires`: ten minutes).
#[test]
fn a_path_mtu_is_learned_once_for_all_connections_of_ten_minutes() {
    let flow = "[[flow]]\nkind = \"request\"\nrequest = \"100 B\"\nreply = \"20000 B\"\nconnection = \"new\"\n";
    let too_big = |rest: &str| {
        let outcome = Sim.run(&narrow(1400, &format!("{flow}{rest}")), &mut Unwatched).unwrap();
        outcome.links.iter().map(|link| link.too_big).sum::<u64>()
    };
    let first = too_big("count = 1\n");
    assert!(first >= 10, "{first}");
    assert_eq!(too_big("count = 20\n[until]\ntime = \"300 s\"\n"), first);
    // The third begins after they have been forgotten.
    let late = "count = 3\npause = \"400 s\"\n[until]\ntime = \"1300 s\"\n";
    assert_eq!(too_big(late), 2 * first);
}

/// The kernel in virtual time, ten seeds: 227 retransmissions with a deviation of 102 (73 to 412), 162 of them told of as duplicates, and
/// 26.0 Mbit/s. A packet that RACK took for lost and that was not is not taken for lost a second time.
#[test]
fn what_overtakes_is_sent_again_no_more_often_than_by_the_kernel() {
    let (mut again, mut needless) = (0, 0);
    for seed in 1..=10 {
        let text = format!(
            "seed = {seed}\n[[hop]]\nrate = \"30 Mbit/s\"\ndelay = \"20 ms\"\nqueue = \"100 packets\"\nreorder = 0.01\n\
             [until]\ntime = \"20 s\"\n"
        );
        let scenario = Scenario::from_toml("test", &text).unwrap_or_else(|e| panic!("{e:?}"));
        let outcome = Sim.run(&scenario, &mut Unwatched).unwrap();
        again += outcome.retransmitted_packets.unwrap();
        needless += outcome.spurious_retransmissions.unwrap();
    }
    // The means of two samples of ten differ by less than three deviations of 102 ÷ √5.
    assert!((1000..3700).contains(&again), "{again}");
    assert!(2 * needless > again, "{needless} of {again}");
}

/// A hop that drops packets above 1400 bytes and says nothing, between two that take 1500.
fn black_hole(sender: &str) -> Outcome {
    let hop = |more: &str| format!("{{ rate = \"20 Mbit/s\", delay = \"5 ms\"{more} }}");
    let text = format!(
        "hop = [{}, {}, {}]\nsender = {{ {sender} }}\nuntil.time = \"20 s\"",
        hop(""),
        hop(", mtu = 1400, icmp = \"drop\""),
        hop("")
    );
    let scenario = Scenario::from_toml("test", &text).unwrap();
    Sim.run(&scenario, &mut Unwatched).unwrap()
}

/// Linux 6.18 has four timeouts there as well, sends the first smaller segment 3.64 s after the first of all, and probes 1236,
/// 1342, 1395, 1368, 1354 and 1347 bytes, of which 1348 pass; its goodput was 14.3 and 14.6 Mbit/s.
#[test]
fn a_black_hole_is_left_by_probing() {
    let outcome = black_hole("mtu_probing = true");
    assert_eq!(outcome.timeouts, Some(4), "{outcome:?}");
    let goodput = outcome.goodput_bps.unwrap();
    assert!((14.0e6..15.0e6).contains(&goodput), "{outcome:?}");
    assert_eq!(black_hole("mtu_probing = false").goodput_bps, Some(0.0));
}

/// What a search from the start begins with and ends with, by the formula and simulated: over hops that tell of their MTU or are
/// silent, from sizes that pass and that do not, and with IPv6.
#[test]
fn a_search_from_the_start_ends_where_the_formula_says() {
    let hop = |more: &str| format!("{{ rate = \"20 Mbit/s\", delay = \"5 ms\"{more} }}");
    let narrow = [
        ("", ""),
        (", mtu = 1400, icmp = \"drop\"", ""),
        (", mtu = 1400, icmp = \"send\"", ""),
        (", mtu = 900, icmp = \"drop\"", ""),
        (", mtu = 900, icmp = \"send\"", ""),
        (", mtu = 1400, icmp = \"drop\"", "ip = 6\n"),
        (", mtu = 1400", "sender.df = false\n"),
    ];
    let mut found = Vec::new();
    for (middle, more) in narrow {
        for base in [1024, 300, 1400, 1460] {
            let text = format!(
                "{more}hop = [{}, {}, {}]\nsender.mtu_probing = \"always\"\nsender.linux.tcp_base_mss = {base}\n\
                 until.time = \"20 s\"",
                hop(""),
                hop(middle),
                hop("")
            );
            let scenario = Scenario::from_toml("test", &text).unwrap();
            let decision = scenario.mss(&scenario.flows[0]);
            let outcome = Sim.run(&scenario, &mut Unwatched).unwrap();
            let used = outcome.mss_used_bytes;
            assert_eq!(used, Some(u64::from(decision.effective.get())), "{base}{middle} {more}");
            assert_eq!(outcome.timeouts > Some(0), decision.timeouts > 0, "{base}{middle} {more}");
            found.push(decision.effective.get());
        }
    }
    assert_eq!(found[..4], [1441, 1443, 1442, 1448], "Ethernet");
}

/// A receive window that a probe does not fit leaves segments as they begin.
#[test]
fn a_small_window_holds_a_search_from_the_start() {
    let text = |window: u32| {
        format!(
            "hop = [{{ rate = \"20 Mbit/s\", delay = \"5 ms\" }}]\nsender.mtu_probing = \"always\"\n\
             receiver.window = \"{window} B\"\nuntil.time = \"10 s\""
        )
    };
    // 1236 and four segments of 1024 behind it.
    for (window, used) in [(5300, 1024), (8000, 1441)] {
        let scenario = Scenario::from_toml("test", &text(window)).unwrap();
        let decision = scenario.mss(&scenario.flows[0]);
        assert_eq!(decision.effective.get(), used, "{window}");
        let outcome = Sim.run(&scenario, &mut Unwatched).unwrap();
        assert_eq!(outcome.mss_used_bytes, Some(u64::from(used)), "{window}");
    }
}

#[test]
fn what_is_marked_is_not_lost() {
    let codel = |ecn: bool| {
        let text = format!(
            "hop = [{{ rate = \"20 Mbit/s\", delay = \"15 ms\", queue = {{ limit = \"1000 packets\", discipline = \"codel\" }}, ecn = true }}]\n\
             sender.ecn = {ecn}\nreceiver.ecn = true\nuntil.time = \"20 s\""
        );
        let scenario = Scenario::from_toml("test", &text).unwrap();
        Sim.run(&scenario, &mut Unwatched).unwrap()
    };
    let [marked, dropped] = [true, false].map(codel);
    assert_eq!(marked.retransmitted_packets, Some(0), "{marked:?}");
    assert!(dropped.retransmitted_packets.unwrap() > 0, "{dropped:?}");
    // The window is cut as often.
    let ratio = marked.goodput_bps.unwrap() / dropped.goodput_bps.unwrap();
    assert!((0.9..1.1).contains(&ratio), "{marked:?} {dropped:?}");
}
