//! Requests and replies: how long they take to the nanosecond where nothing is lost, and that each is
//! answered once whatever is.
#![expect(clippy::unwrap_used, reason = "helpers of tests, which may panic")]

use maxseg_core::engine::{Engine, Unwatched};
use maxseg_core::outcome::Outcome;
use maxseg_core::scenario::Scenario;
use maxseg_core::sim::Sim;
use proptest::prelude::*;

/// 8 Mbit/s: a byte takes a microsecond. One way 50 ms.
const HOP: &str = "[[hop]]\nrate = \"8 Mbit/s\"\ndelay = \"50 ms\"\nqueue = \"1000 packets\"\n";
const DELAY_US: u64 = 50_000;
const HEADER: u64 = 40;
/// With the options MSS and window scale.
const SYN: u64 = 48;
const MSS: u64 = 1000;

fn run(text: &str) -> Outcome {
    let scenario =
        Scenario::from_toml_over("rfc", "test", text).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    Sim.run(&scenario, &mut Unwatched).unwrap()
}

/// A run of `count` requests with segments of [`MSS`].
fn requests(flow: &str, rest: &str) -> Outcome {
    run(&format!(
        "{HOP}[[flow]]\nkind = \"request\"\n{flow}\n[sender]\nmss = 1000\ndelayed_ack = false\n\
         [receiver]\nmss = 1000\ndelayed_ack = false\n{rest}"
    ))
}

/// From the first bit of a packet to its last at the other end.
const fn one_way(bytes: u64) -> u64 {
    bytes + DELAY_US
}

/// To the nanosecond, which the mean is rounded down to.
fn assert_takes(outcome: &Outcome, micros: u64) {
    let mean_nanos = micros * 1000 / outcome.requests.unwrap();
    let got = outcome.request_mean_s.unwrap() * 1e9;
    assert!((got - mean_nanos as f64).abs() < 0.1, "{got} ns is not {mean_nanos} ns: {outcome:?}");
}

#[test]
fn a_small_exchange_takes_the_arithmetic() {
    let there_and_back = one_way(HEADER + 200) + one_way(HEADER + 500);
    // The last packet of the handshake goes first.
    let first = HEADER + there_and_back;
    let opening = 2 * one_way(SYN);
    let small = "request = \"200 B\"\nreply = \"500 B\"\ncount = 10\n";
    let cases = [
        ("", first + 9 * there_and_back),
        ("think = \"70 ms\"", first + 9 * there_and_back + 10 * 70_000),
        ("pause = \"3 s\"", first + 9 * there_and_back),
        // Without a pause the next SYN waits for the last acknowledgement of the connection before.
        ("connection = \"new\"", 10 * (opening + first) + 9 * HEADER),
        ("connection = \"new\"\npause = \"1 s\"", 10 * (opening + first)),
        (
            "connection = \"new\"\nfrom = \"receiver\"\nthink = \"1 ms\"",
            10 * (opening + first + 1000) + 9 * HEADER,
        ),
    ];
    for (keys, micros) in cases {
        let outcome = requests(&format!("{small}{keys}"), "");
        assert_eq!(outcome.requests, Some(10), "{keys}");
        assert_takes(&outcome, micros);
    }
}

/// Slow start in rounds of 3, 6, 12 … segments: the first of a round goes when the first acknowledgement
/// of the round before has come, and what is sent in a round is in one piece.
#[test]
fn a_large_reply_takes_a_round_trip_for_each_round() {
    let round_trip = one_way(HEADER + MSS) + one_way(HEADER);
    for (segments, rounds, in_last) in
        [(3, 1, 3), (4, 2, 1), (9, 2, 6), (10, 3, 1), (21, 3, 12), (40, 4, 19)]
    {
        let reply = segments * MSS;
        let flow = format!("request = \"200 B\"\nreply = \"{reply} B\"\ncount = 1");
        let outcome = requests(&flow, "initial_window = \"3 segments\"");
        let last_round = in_last * (HEADER + MSS) + DELAY_US;
        assert_takes(
            &outcome,
            HEADER + one_way(HEADER + 200) + (rounds - 1) * round_trip + last_round,
        );
    }
}

/// The window is kept with the connection: it grows until a whole reply fits.
#[test]
fn a_kept_window_saves_rounds() {
    let mean = |connection: &str| {
        let flow = format!(
            "request = \"200 B\"\nreply = \"40 kB\"\ncount = 50\nconnection = \"{connection}\""
        );
        requests(&flow, "").request_mean_s.unwrap()
    };
    let (kept, new) = (mean("kept"), mean("new"));
    assert!(kept < 0.16 && new > 0.4, "kept {kept} s, new {new} s");
}

#[test]
fn acknowledgements_ride_on_what_goes_anyway() {
    let flow = "request = \"200 B\"\nreply = \"500 B\"\ncount = 100";
    let outcome = requests(flow, "");
    // Only the last reply is followed by nothing.
    assert_eq!((outcome.data_packets, outcome.ack_packets), (Some(200), Some(1)));
    // SYN, SYN-ACK, and the acknowledgement that ends the handshake.
    assert_eq!(outcome.packets, Some(204));
    assert_eq!(outcome.payload_bytes, Some(50_000));
}

#[test]
fn a_count_ends_the_run_when_nothing_else_has_an_end() {
    let flow = "request = \"1 B\"\nreply = \"1 B\"\ncount = 3";
    let alone = requests(flow, "");
    assert!(alone.elapsed_s.unwrap() < 1.0, "{alone:?}");
    let with_ping = requests(flow, "[[flow]]\nkind = \"ping\"");
    assert!(with_ping.elapsed_s.unwrap() < 1.0, "{with_ping:?}");
    let with_bulk = requests(flow, "[[flow]]\nkind = \"bulk\"\n[until]\ntime = \"5 s\"");
    assert_eq!(with_bulk.elapsed_s, Some(5.0));
    assert_eq!((with_bulk.requests, with_bulk.flows[0].requests), (Some(3), Some(3)));
    let until_stop =
        requests("request = \"1 B\"\nreply = \"1 B\"\npause = \"1 s\"\nstop = \"5 s\"", "");
    assert_eq!((until_stop.requests, until_stop.elapsed_s), (Some(5), Some(60.0)));
}

/// What may befall packets on the way.
fn troubles() -> impl Strategy<Value = String> {
    prop_oneof![
        (0.0..0.3_f64).prop_map(|p| format!(
            "errors = {{ model = \"uniform\", rate = {p} }}\n\
            [hop.reverse]\nerrors = {{ model = \"uniform\", rate = {p} }}"
        )),
        (0.0..0.2_f64).prop_map(|p| format!(
            "errors = {{ model = \"gilbert-elliott\", rate = {p}, burst = 4 }}\n\
            [hop.reverse]\nerrors = {{ model = \"uniform\", rate = {p} }}"
        )),
        (0.0..0.3_f64).prop_map(|p| format!(
            "duplicate = {p}\n[hop.reverse]\nduplicate = {p}\n\
            errors = {{ model = \"uniform\", rate = {p} }}"
        )),
        (0.0..0.5_f64).prop_map(|p| format!("reorder = {p}\njitter = \"30 ms\"")),
        (1..6_u32).prop_map(|n| format!("queue = \"{n} packets\"")),
    ]
}

fn stacks() -> impl Strategy<Value = String> {
    let options = any::<[bool; 4]>().prop_map(|[sack, timestamps, ecn, delayed]| {
        let delayed = if delayed { "" } else { "delayed_ack = false\n" };
        format!("sack = {sack}\ntimestamps = {timestamps}\necn = {ecn}\nmss = 500\n{delayed}")
    });
    prop_oneof![
        3 => options,
        1 => prop::sample::select(vec!["ns2-tahoe", "ns2-reno", "ns2-newreno", "ns2-sack"])
            .prop_map(|stack| format!("stack = \"{stack}\"\nmss = 500\n")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn every_request_is_answered_once_whatever_is_lost(
        trouble in troubles(),
        stack in stacks(),
        seed in 1..1000_u64,
        request in 1..3000_u64,
        reply in 1..20_000_u64,
        count in 1..8_u64,
        connection in prop::sample::select(vec!["kept", "new"]),
        pause in prop::sample::select(vec!["0 s", "10 ms", "3 s"]),
        think in prop::sample::select(vec!["0 s", "250 ms"]),
    ) {
        let text = format!(
            "seed = {seed}\n[[hop]]\nrate = \"1 Mbit/s\"\ndelay = \"30 ms\"\n{trouble}\n\
             [[flow]]\nkind = \"request\"\nrequest = \"{request} B\"\nreply = \"{reply} B\"\ncount = {count}\n\
             connection = \"{connection}\"\npause = \"{pause}\"\nthink = \"{think}\"\n\
             [sender]\n{stack}[receiver]\n{stack}[until]\ntime = \"20 h\"\n"
        );
        let outcome = run(&text);
        prop_assert_eq!(outcome.requests, Some(count), "{}", text);
        prop_assert_eq!(outcome.payload_bytes, Some(count * reply), "{}", text);
        prop_assert!(outcome.data_packets >= Some(2 * count));
    }
}
