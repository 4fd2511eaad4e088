//! The cases of the documents: what is advised for their paths.
#![expect(clippy::wildcard_enum_match_arm, reason = "each test looks for few kinds of changes")]

use maxseg_core::advise::{Advised, Change, Ends, Goal, Request, advise, as_run, changed};
use maxseg_core::engine::{Engine as _, Unwatched};
use maxseg_core::outcome::Outcome;
use maxseg_core::scenario::{Draft, Scenario};
use maxseg_core::sim::Sim;
use maxseg_core::units::Bytes;

fn shipped(name: &str, set: &[&str]) -> Scenario {
    let text = match name {
        "open-transport-modem" => include_str!("../../../../scenarios/open-transport-modem.toml"),
        "cable-modem" => include_str!("../../../../scenarios/cable-modem.toml"),
        "fddi-long-delay" => include_str!("../../../../scenarios/fddi-long-delay.toml"),
        "stcp-ftp" => include_str!("../../../../scenarios/stcp-ftp.toml"),
        other => panic!("{other}"),
    };
    let mut draft = Draft::parse(name, text).unwrap();
    for assignment in set {
        draft.set_argument(assignment).unwrap();
    }
    draft.scenario().unwrap()
}

fn asked(scenario: &Scenario, goal: Goal) -> Advised {
    let ends = Ends::default();
    let advised = advise(&Request::new(scenario, goal, &ends)).unwrap();
    assert!(advised.runs <= 60, "{} runs", advised.runs);
    advised
}

fn changes(advised: &Advised) -> Vec<Change> {
    advised.advice.iter().map(|advice| advice.change).collect()
}

/// The run of a scenario with these changes, as advice runs it.
fn run(scenario: &Scenario, changes: &[Change]) -> Outcome {
    Sim.run(&changed(&as_run(scenario).0, changes), &mut Unwatched).unwrap()
}

/// The power of an outcome: goodput over round trip under load.
fn power(outcome: &Outcome) -> f64 {
    outcome.headline_goodput_bps().unwrap() / outcome.ping_mean_s.unwrap()
}

/// Tuning Open Transport, the table: the author chose 536 × 6 of its rows.
#[test]
fn the_modem_table_leads_to_his_choice_or_better_by_each_goal() {
    let largest = ["sender.mss=1460", "receiver.window=\"12 segments\""];
    let scenario = shipped("open-transport-modem", &largest);
    let chosen = run(
        &shipped("open-transport-modem", &["sender.mss=536", "receiver.window=\"6 segments\""]),
        &[],
    );
    let balanced = run(&scenario, &changes(&asked(&scenario, Goal::Balanced)));
    assert!(power(&balanced) >= power(&chosen), "{balanced:?}");
    let quick = run(&scenario, &changes(&asked(&scenario, Goal::Latency)));
    assert!(quick.ping_mean_s <= chosen.ping_mean_s, "{quick:?}");
    let fast = run(&scenario, &changes(&asked(&scenario, Goal::Throughput)));
    // His row has nine tenths of the line's rate, the largest window all of it.
    assert!(fast.headline_goodput_bps() >= chosen.headline_goodput_bps(), "{fast:?}");
}

/// The same: 10 Mbit/s and 80 ms ask for 100 KB, which no field without scaling carries.
#[test]
fn the_cable_modem_needs_a_window_that_only_scaling_carries() {
    let set = ["receiver.window=\"44 segments\"", "receiver.window_scale=\"off\""];
    let scenario = shipped("cable-modem", &set);
    let advised = asked(&scenario, Goal::Throughput);
    let [only] = advised.advice.as_slice() else { panic!("{:?}", changes(&advised)) };
    let Change::Window(window) = only.change else { panic!("{:?}", only.change) };
    assert!(window > Bytes::new(95_000), "{window}");
    assert!(only.text.contains("window scaling"), "{}", only.text);
    let best = advised.best().unwrap();
    assert!(best.goodput.mean > 0.95 * 9.3e6, "{}", best.goodput.mean);
}

/// FreeBSD's kern/6032: 100 Mbit/s and 70 ms hold 875 kB.
#[test]
fn the_long_fddi_path_gets_at_least_what_it_holds() {
    let scenario = shipped("fddi-long-delay", &["receiver.window=\"16 KiB\""]);
    let advised = asked(&scenario, Goal::Throughput);
    let window = changes(&advised).into_iter().find_map(|change| match change {
        Change::Window(window) => Some(window),
        _ => None,
    });
    assert!(window.unwrap() >= Bytes::new(875_000), "{window:?}");
}

/// The note on STCP: segments of 536 bytes (a `default_min_mtu` of 556) on Ethernet become 1460 (1480).
#[test]
fn stcp_gets_full_segments() {
    let advised = asked(&shipped("stcp-ftp", &[]), Goal::Throughput);
    let of_size = advised.advice.iter().find(|advice| advice.change.kind() == "mss").unwrap();
    assert_eq!(of_size.proposed, "1460");
    let lines = &of_size.commands["stcp"];
    assert!(lines.iter().any(|how| how.line.contains("1480")), "{lines:?}");
}

/// Matching the MTU: an ISDN router between two Ethernets takes smaller packets and says nothing.
#[test]
fn a_router_that_says_nothing_gets_packets_that_fit() {
    let text = "[[hop]]\nrate = \"10 Mbit/s\"\ndelay = \"1 ms\"\n[[hop]]\nname = \"isdn\"\nrate = \"128 kbit/s\"\ndelay = \"20 ms\"\n\
                mtu = 1024\nicmp = \"drop\"\n[[hop]]\nrate = \"10 Mbit/s\"\ndelay = \"1 ms\"\n[sender]\ndf = true\n[until]\ntime = \"120 s\"";
    let scenario = Scenario::from_toml("isdn", text).unwrap();
    let advised = asked(&scenario, Goal::Throughput);
    let all = changes(&advised);
    let fits = all.iter().any(|change| match change {
        Change::Mtu(mtu) => mtu.get() == 1024,
        Change::SegmentSize(mss) => mss.get() <= 984,
        _ => false,
    });
    assert!(fits, "{all:?}");
}

/// The slow-link tune-up: a first timer of a second on a link where a packet takes longer.
#[test]
fn on_a_slow_link_nothing_is_sent_again_without_need() {
    let text = "[[hop]]\nrate = \"4800 bit/s\"\ndelay = \"100 ms\"\nqueue = \"50 packets\"\n\
                [sender]\nstack = \"rfc\"\n[receiver]\nstack = \"rfc\"\nwindow = \"8 segments\"\n[until]\ntime = \"600 s\"";
    let scenario = Scenario::from_toml("slow", text).unwrap();
    let before = run(&scenario, &[]);
    assert!(before.spurious_retransmissions > Some(0), "{before:?}");
    let advised = asked(&scenario, Goal::Throughput);
    let after = run(&scenario, &changes(&advised));
    assert_eq!(after.spurious_retransmissions, Some(0), "{:?}", changes(&advised));
}

/// 1460 × 3 is good on one modem link and bad on another.
#[test]
fn different_links_get_different_advice() {
    let link = |rate: &str, delay: &str| {
        let text = format!(
            "[[hop]]\nrate = \"{rate}\"\ndelay = \"{delay}\"\nqueue = \"100 packets\"\n[sender]\nstack = \"rfc\"\nmss = 1460\n\
             [receiver]\nstack = \"rfc\"\nwindow = \"3 segments\"\n[until]\ntime = \"120 s\""
        );
        Scenario::from_toml("link", &text).unwrap()
    };
    // 4380 bytes are four seconds of one link, all that the second carries, and a third of what the third holds.
    let slow = asked(&link("9600 bit/s", "50 ms"), Goal::Latency);
    let modem = asked(&link("56 kbit/s", "50 ms"), Goal::Throughput);
    let fast = asked(&link("512 kbit/s", "100 ms"), Goal::Throughput);
    assert!(!slow.advice.is_empty() && !fast.advice.is_empty());
    assert_ne!(changes(&slow), changes(&fast));
    assert!(modem.advice.is_empty(), "{:?}", changes(&modem));
}

/// Story 5 (tailscale#20739): an MTU of 1180 ended IPv6. No advice for IPv6 goes below 1280.
#[test]
fn no_advice_ends_ipv6() {
    let text = "ip = 6\n[[hop]]\nrate = \"1 Mbit/s\"\ndelay = \"30 ms\"\nframe = 128\n\
                errors = { model = \"uniform\", per = \"frame\", rate = 0.02 }\n[until]\ntime = \"60 s\"";
    let scenario = Scenario::from_toml("ipv6", text).unwrap();
    for goal in [Goal::Throughput, Goal::Latency] {
        let advised = asked(&scenario, goal);
        for change in changes(&advised) {
            let packet = match change {
                Change::SegmentSize(mss) => u32::from(mss.get()) + 60,
                Change::Mtu(mtu) => u32::from(mtu.get()),
                _ => continue,
            };
            assert!(packet >= 1280, "{change:?}");
        }
    }
    // The same path without IPv6 gets smaller packets.
    let four = Scenario::from_toml("ipv4", &text.replace("ip = 6", "ip = 4")).unwrap();
    let all = changes(&asked(&four, Goal::Throughput));
    assert!(
        all.iter().any(|change| matches!(change, Change::SegmentSize(mss) if mss.get() < 1240)),
        "{all:?}"
    );
}

/// Story 6 (clawpatrol#790): a tunnel of 1420 in one of 1280 that says nothing.
#[test]
fn a_tunnel_in_a_tunnel_gets_packets_that_fit() {
    let text = "[[hop]]\nrate = \"100 Mbit/s\"\ndelay = \"1 ms\"\nmtu = 1420\n[[hop]]\nrate = \"50 Mbit/s\"\ndelay = \"15 ms\"\n\
                mtu = 1220\nicmp = \"drop\"\n[[hop]]\nrate = \"1 Gbit/s\"\ndelay = \"1 ms\"\n[sender]\ndf = true\n[until]\ntime = \"20 s\"";
    let scenario = Scenario::from_toml("tunnels", text).unwrap();
    let advised = asked(&scenario, Goal::Throughput);
    let all = changes(&advised);
    assert!(
        all.iter().any(|change| matches!(change, Change::Mtu(mtu) if mtu.get() == 1220)),
        "{all:?}"
    );
}

/// Story 10 (Ably): requests after pauses begin anew with ten segments each time.
#[test]
fn pauses_need_not_begin_anew() {
    let text = "[[hop]]\nrate = \"100 Mbit/s\"\ndelay = \"45 ms\"\nqueue = \"1000 packets\"\n\
                [[flow]]\nkind = \"request\"\nfrom = \"receiver\"\nrequest = \"400 B\"\nreply = \"400 kB\"\npause = \"2 s\"\n[until]\ntime = \"60 s\"";
    let scenario = Scenario::from_toml("requests", text).unwrap();
    let advised = asked(&scenario, Goal::Throughput);
    let all = changes(&advised);
    assert!(all.contains(&Change::NoSlowStartAfterIdle), "{all:?}");
    let gain = &advised
        .advice
        .iter()
        .find(|advice| advice.change == Change::NoSlowStartAfterIdle)
        .unwrap()
        .gain;
    assert!(gain.request_time_pct.unwrap() < -20.0, "{gain:?}");
}
