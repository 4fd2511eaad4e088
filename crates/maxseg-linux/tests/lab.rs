//! The lab against the simulator, the kernel's own rules, and what was asked of it.
//!
//! Counts are asserted always; what depends on time only of runs that call themselves valid. Needs root, or
//! user namespaces and `unshare` for an ordinary user: skipped aloud without.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "tests")]
#![expect(clippy::print_stdout, reason = "what is skipped is said")]

mod rights;
mod runs;

use maxseg_core::engine::{Engine, EngineError, Unwatched};
use maxseg_core::outcome::{LabProof, Outcome};
use maxseg_core::scenario::Scenario;
use maxseg_core::sim::Sim;
use maxseg_linux::lab::Lab;
use maxseg_testkit::is_its_turn;

use rights::has_rights;
use runs::{alone, lab, quiet, scenario};

fn proof(outcome: &Outcome) -> &LabProof {
    outcome.lab.as_deref().unwrap()
}

/// Says why a run's times prove nothing, if so.
fn kept_up(outcome: &Outcome) -> bool {
    let doubts = &proof(outcome).invalid_because;
    if !doubts.is_empty() {
        println!("times are not looked at: {}", doubts.join("; "));
    }
    doubts.is_empty()
}

/// 20 000 datagrams in two seconds, and time for the last to arrive.
const DATAGRAMS: &str = "
[[flow]]
kind = \"cbr\"
size = 972
rate = \"77.76 Mbit/s\"
stop = \"2 s\"
[until]
time = \"3 s\"
";

#[test]
fn the_same_packets_die_as_in_the_simulator() {
    if !is_its_turn(0) {
        return;
    }
    if !has_rights() {
        return;
    }
    let _alone = alone();
    let models = [
        "{ model = \"uniform\", per = \"packet\", rate = \"1%\" }",
        "{ model = \"uniform\", per = \"frame\", rate = \"0.2%\" }",
        "{ model = \"gilbert-elliott\", per = \"frame\", rate = \"1%\", burst = 20 }",
    ];
    for (seed, errors) in (1..).zip(models) {
        let text = format!(
            "seed = {seed}\n[[hop]]\nname = \"radio\"\nrate = \"200 Mbit/s\"\ndelay = \"2 ms\"\n\
             frame = 128\nqueue = \"100000 packets\"\nerrors = {errors}\n{DATAGRAMS}"
        );
        let simulated = Sim.run(&scenario(&text), &mut Unwatched).unwrap();
        let real = lab(&text);
        // The same number dead out of the same number, three times over: the same draws, one by one.
        assert_eq!(real.data_packets, simulated.data_packets, "{errors}");
        assert_eq!(real.segment_loss, simulated.segment_loss, "{errors}");
        assert_eq!(real.payload_bytes, simulated.payload_bytes, "{errors}");
        let link = &proof(&real).links[0];
        assert!(link.damaged > 100, "{link:?}");
        assert_eq!(proof(&real).kernel_drops, 0);
    }
}

/// What TCP hands down in super-packets dies packet by packet.
#[test]
fn losses_are_per_packet_of_the_wire_whatever_the_mtu() {
    if !is_its_turn(2) {
        return;
    }
    if !has_rights() {
        return;
    }
    let _alone = alone();
    for mtu in [1500, 9000] {
        let text = format!(
            "[[hop]]\nrate = \"5 Gbit/s\"\ndelay = \"0 ms\"\nqueue = \"4 MB\"\nmtu = {mtu}\n\
             errors = {{ model = \"uniform\", per = \"packet\", rate = \"1%\" }}\n\
             [sender]\nsack = true\n[receiver]\nsack = true\n[until]\ntime = \"2 s\"\n"
        );
        let outcome = lab(&text);
        let link = &proof(&outcome).links[0];
        let (n, lost) = (link.packets as f64, link.damaged as f64);
        // Four standard errors of a binomial share: one in 16 000 such tests would miss.
        let bound = 4.0 * (0.01 * 0.99 / n).sqrt();
        assert!((lost / n - 0.01).abs() < bound, "MTU {mtu}: {lost} of {n}");
        assert!((link.damaged_expected.unwrap() - 0.01).abs() < 1e-9);
        assert!(link.super_packets < link.packets, "offload is on: {link:?}");
        // Whole super-packets of many packets come through a loss of 1% as well as cut ones.
        assert!(n > 5000.0, "{n}");
    }
}

#[test]
fn a_super_packet_is_one_packet_as_netem() {
    if !has_rights() {
        return;
    }
    let _alone = alone();
    let text = "[[hop]]\nrate = \"5 Gbit/s\"\ndelay = \"0 ms\"\nqueue = \"4 MB\"\n\
                errors = { model = \"uniform\", per = \"packet\", rate = \"1%\" }\n\
                [sender]\nsack = true\n[receiver]\nsack = true\n[until]\ntime = \"2 s\"\n\
                [lab]\nas_netem = true\n";
    let outcome = lab(text);
    let link = &proof(&outcome).links[0];
    let (n, lost) = (link.super_packets as f64, link.damaged as f64);
    let bound = 4.0 * (0.01 * 0.99 / n).sqrt();
    assert!((lost / n - 0.01).abs() < bound, "{lost} of {n}");
    assert!(link.packets > 2 * link.super_packets, "{link:?}");
}

fn path_with_a_small_hop(more: &str) -> String {
    format!(
        "{more}\n[[hop]]\nname = \"lan\"\nrate = \"100 Mbit/s\"\ndelay = \"1 ms\"\nmtu = 1500\n\
         [[hop]]\nname = \"wan\"\nrate = \"50 Mbit/s\"\ndelay = \"2 ms\"\nmtu = 1400\n\
         [[hop]]\nname = \"far\"\nrate = \"100 Mbit/s\"\ndelay = \"1 ms\"\nmtu = 1500\n\
         [until]\ntime = \"1500 ms\"\n"
    )
}

#[test]
fn routers_tell_of_a_smaller_mtu_or_are_silent_or_cut() {
    if !is_its_turn(2) {
        return;
    }
    if !has_rights() {
        return;
    }
    let _quiet = quiet();
    // 1400 − 40; in IPv6 1400 − 60.
    let told = lab(&path_with_a_small_hop(""));
    assert_eq!(told.mss_used_bytes, Some(1360));
    let told = lab(&path_with_a_small_hop("ip = 6"));
    assert_eq!(told.mss_used_bytes, Some(1340));

    let silent = path_with_a_small_hop("").replace("mtu = 1400", "mtu = 1400\nicmp = \"drop\"");
    let silent = lab(&silent);
    assert_eq!(silent.payload_bytes, Some(0), "a black hole");
    let withheld: u64 = proof(&silent).links.iter().map(|link| link.withheld).sum();
    assert!(withheld > 0, "{:?}", proof(&silent).links);

    let cut = lab(&format!("{}[sender]\ndf = false\n", path_with_a_small_hop("")));
    assert_eq!(cut.mss_used_bytes, Some(1460));
    let links = &proof(&cut).links;
    assert!(links[2].packets > links[0].packets * 3 / 2, "fragments: {links:?}");
    assert!(cut.payload_bytes.unwrap() > 0);
}

/// A search for the path MTU from the start ends with the size that the simulator and the formula find, whatever size it begins with.
#[test]
fn a_search_from_the_start_finds_the_size_that_passes_a_silent_hop() {
    if !has_rights() {
        return;
    }
    let _quiet = quiet();
    let path = path_with_a_small_hop("").replace("mtu = 1400", "mtu = 1400\nicmp = \"drop\"");
    for (keys, found) in [("", 1347), ("linux = { tcp_base_mss = 500 }", 1343)] {
        let text = format!(
            "{path}[sender]\nstack = \"linux\"\nmtu_probing = \"always\"\n{keys}\n[receiver]\nstack = \"linux\"\n"
        );
        let scenario = scenario(&text);
        assert_eq!(scenario.mss(&scenario.flows[0]).effective.get(), found, "{keys}");
        let simulated = Sim.run(&scenario, &mut Unwatched).unwrap();
        let ran = lab(&text);
        assert_eq!(
            (simulated.mss_used_bytes, ran.mss_used_bytes),
            (Some(u64::from(found)), Some(u64::from(found))),
            "{keys}"
        );
        assert_eq!((simulated.timeouts, ran.timeouts), (Some(0), Some(0)), "{keys}");
    }
}

#[test]
fn hosts_that_name_no_stack_leave_the_kernel_as_it_is() {
    if !has_rights() {
        return;
    }
    let _quiet = quiet();
    let text = "[[hop]]\nrate = \"50 Mbit/s\"\ndelay = \"5 ms\"\n[until]\ntime = \"1 s\"\n";
    let today = Scenario::from_toml("test", text).unwrap();
    let codes: Vec<_> =
        Lab::default().caveats(&today).into_iter().map(|caveat| caveat.code).collect();
    assert_eq!(codes, Vec::<String>::new());
    let outcome = Lab::default().run(&today, &mut Unwatched).unwrap();
    let flow = &proof(&outcome).flows[0];
    // Whatever this machine's default is.
    assert_eq!(flow.congestion.as_deref(), Some("cubic"));
    // SYNs with timestamps, and a window that nobody clamps.
    assert_eq!((flow.mss_effective, flow.window_asked), (Some(1448), None));
    let advertised = flow.window_advertised.unwrap();
    assert!(advertised > 65_535, "{advertised}: not scaled, or not opened");
}

#[test]
fn asked_advertised_and_effective_sizes_are_told_with_their_reason() {
    if !has_rights() {
        return;
    }
    let _quiet = quiet();
    let outcome = lab("[[hop]]\nrate = \"100 Mbit/s\"\ndelay = \"1 ms\"\nmtu = 9000\n\
         [sender]\nmss = 9000\ntimestamps = true\n\
         [receiver]\ntimestamps = true\nwindow = \"100 kB\"\n[until]\ntime = \"1 s\"\n");
    let flow = &proof(&outcome).flows[0];
    assert_eq!(flow.mss_asked, Some(9000));
    assert_eq!(flow.mss_advertised_by_sender, Some(8960));
    assert_eq!(flow.mss_advertised_by_receiver, Some(8960));
    assert_eq!(flow.mss_effective, Some(8948));
    let reason = flow.mss_reason.as_deref().unwrap();
    assert!(reason.contains("9000 less 40") && reason.contains("timestamps take 12"), "{reason}");
    assert_eq!(flow.window_asked, Some(100_000));
    // Nothing goes beyond the window but what a receiver let in before its first segment.
    let window = flow.window_effective.unwrap();
    assert!((80_000..=100_000).contains(&window), "{window}");
}

#[test]
fn metrics_of_routes_are_those_of_the_scenario() {
    if !has_rights() {
        return;
    }
    let _quiet = quiet();
    let outcome = lab("[[hop]]\nrate = \"100 Mbit/s\"\ndelay = \"1 ms\"\nmtu = 1500\n\
         [sender]\nstack = \"linux\"\nlinux = { route_mtu = 1000 }\n[receiver]\nstack = \"linux\"\n\
         linux = { route_advmss = 1200 }\n[until]\ntime = \"1 s\"\n");
    let flow = &proof(&outcome).flows[0];
    assert_eq!(flow.mss_advertised_by_sender, Some(960));
    assert_eq!(flow.mss_advertised_by_receiver, Some(1200));
    assert_eq!(flow.mss_effective, Some(948));
}

#[test]
fn a_window_is_the_limit_as_long_as_the_link_is_not() {
    if !is_its_turn(1) {
        return;
    }
    if !has_rights() {
        return;
    }
    let _alone = alone();
    for (window, rtt_ms) in [(65_536, 40), (262_144, 40)] {
        let text = format!(
            "[[hop]]\nrate = \"100 Mbit/s\"\ndelay = \"{} ms\"\nmtu = 4352\nqueue = \"10000 packets\"\n\
             [sender]\ntimestamps = true\n[receiver]\ntimestamps = true\nwindow = \"{window} B\"\n\
             [until]\ntime = \"4 s\"\n",
            rtt_ms / 2
        );
        let outcome = lab(&text);
        let bound = f64::from(window) * 8.0 / (f64::from(rtt_ms) / 1000.0);
        let goodput = outcome.goodput_bps.unwrap();
        assert!(goodput < bound * 1.03, "{goodput} is above window ÷ round trip, {bound}");
        if kept_up(&outcome) {
            // Slow start takes up to 7 round trips of 100, a packet's own time 0.35 ms of 40.
            assert!(goodput > bound * 0.90, "{goodput} is far below window ÷ round trip, {bound}");
            assert_eq!(outcome.limited_by.unwrap().word(), "receive-window");
        }
    }
}

#[test]
fn a_link_keeps_its_rate_and_delay() {
    if !is_its_turn(1) {
        return;
    }
    if !has_rights() {
        return;
    }
    let _alone = alone();
    // Twice as much as the link carries, over a second and a half; then the queue drains.
    for (rate, size) in [("1 Mbit/s", 100), ("20 Mbit/s", 1000), ("300 Mbit/s", 1400)] {
        let rate_bps = scenario(&format!("[[hop]]\nrate = \"{rate}\"\ndelay = \"1 ms\"\n"))
            .bottleneck_rate()
            .get();
        let packet = size + 28;
        let queue = rate_bps / 8 / packet; // a second's worth
        let text = format!(
            "[[hop]]\nrate = \"{rate}\"\ndelay = \"1 ms\"\nqueue = \"{queue} packets\"\n\
             [[flow]]\nkind = \"cbr\"\nsize = {size}\nrate = \"{} bit/s\"\nrate_counts = \"packet\"\n\
             [until]\ntime = \"1500 ms\"\n",
            2 * rate_bps
        );
        let outcome = lab(&text);
        let carried = outcome.payload_bytes.unwrap() as f64 * packet as f64 / size as f64 * 8.0;
        let seconds = outcome.elapsed_s.unwrap() - 0.001;
        let ratio = carried / seconds / rate_bps as f64;
        assert!(ratio < 1.005, "{rate}: {ratio} of the rate");
        if kept_up(&outcome) {
            // The first packet's way, and one on the wire at the end.
            assert!(ratio > 0.99, "{rate}: {ratio} of the rate");
        }
    }
}

#[test]
fn echoes_take_the_round_trip() {
    if !has_rights() {
        return;
    }
    let _alone = alone();
    let outcome = lab("[[hop]]\nrate = \"1 Gbit/s\"\ndelay = \"20 ms\"\n\
         [[flow]]\nkind = \"ping\"\ninterval = \"20 ms\"\n[until]\ntime = \"2 s\"\n");
    let mean = outcome.ping_mean_s.unwrap();
    assert!(mean > 0.0399, "faster than light: {mean}");
    if kept_up(&outcome) {
        assert!(mean < 0.042, "{mean}");
    }
}

#[test]
fn requests_are_answered_on_kept_and_new_connections() {
    if !has_rights() {
        return;
    }
    let _quiet = quiet();
    for connection in ["kept", "new"] {
        let outcome = lab(&format!(
            "[[hop]]\nrate = \"100 Mbit/s\"\ndelay = \"5 ms\"\n\
             [[flow]]\nkind = \"request\"\nrequest = \"200 B\"\nreply = \"20 kB\"\ncount = 20\n\
             connection = \"{connection}\"\n[until]\ntime = \"20 s\"\n"
        ));
        assert_eq!(outcome.requests, Some(20));
        assert_eq!(outcome.payload_bytes, Some(400_000));
        let least = if connection == "kept" { 0.010 } else { 0.020 };
        assert!(outcome.request_p50_s.unwrap() >= least, "{outcome:?}");
    }
}

#[test]
fn what_cannot_be_run_is_said_before() {
    if !has_rights() {
        return;
    }
    let _quiet = quiet();
    let hop = "[[hop]]\nrate = \"100 Mbit/s\"\ndelay = \"1 ms\"\n";
    let refused = |text: &str| match Lab::default().run(&scenario(text), &mut Unwatched) {
        Err(EngineError::Unable { source, hint }) => {
            format!("{source} | {}", hint.unwrap_or_default())
        }
        other => panic!("{text}: {other:?}"),
    };
    let told = refused("[[hop]]\nrate = \"9000 Gbit/s\"\ndelay = \"1 ms\"\n");
    assert!(told.contains("this machine carries about") && told.contains("9000.0"), "{told}");

    // A row without numbers, and the reason beside it.
    for (settings, reason) in [
        ("[receiver]\nwindow = \"1 segments\"\n", "a window of one segment"),
        ("[sender]\nstack = \"rfc\"\nmss = 60\n", "TCP_MAXSEG takes 88 to 32767"),
    ] {
        let scenario = scenario(&format!("{hop}{settings}"));
        let outcome = Lab::default().run(&scenario, &mut Unwatched).unwrap();
        assert_eq!(outcome, Outcome::default());
        let caveats = Lab::default().caveats(&scenario);
        assert!(caveats.iter().any(|caveat| caveat.text.contains(reason)), "{caveats:?}");
    }
}
