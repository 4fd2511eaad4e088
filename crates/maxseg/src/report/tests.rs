//! Tables of rows made by hand.

mod lab;

use maxseg_core::engine::Caveat;
use maxseg_core::outcome::Outcome;
use maxseg_core::results::{Row, groups};
use maxseg_core::scenario::Scenario;
use maxseg_testkit::rows::{doubtful, model, scenario, sim};
use serde_json::json;

use super::{results, text};
use crate::printer::Printer;
use maxseg_workbench::report::Swept;

#[test]
fn a_matrix_has_a_unit_a_column_and_marks_the_best_of_what_can_be_chosen() {
    let at = |mss: u64, rate: f64| json!({ "sender.mss": mss, "hop.0.errors.rate": rate });
    let rows = [
        sim(&at(536, 0.0), 1.59e6),
        sim(&at(1460, 0.0), 1.89e6),
        sim(&at(536, 0.05), 8040.0),
        doubtful(sim(&at(1460, 0.05), 483.0)),
    ];
    let want = "\
Goodput by sim: segment size (bytes) down, error rate on hop 0 across
            0%      5%
        Mbit/s  kbit/s
──────────────────────
   536    1.59   *8.04
  1460   *1.89  ~0.483
* best of its column, ~ outside the formula's range
";
    assert_eq!(results(&rows, Printer::silent()), want);
}

#[test]
fn of_an_interrupted_sweep_nothing_is_the_best() {
    let at = |mss: u64, rate: f64| json!({ "sender.mss": mss, "hop.0.errors.rate": rate });
    // The size of 1460 at 5%, which may be better, was not run.
    let rows = [sim(&at(536, 0.0), 1.59e6), sim(&at(1460, 0.0), 1.89e6), sim(&at(536, 0.05), 8e3)];
    let scenario = scenario();
    let shown = |is_complete: bool| {
        let swept = Swept { is_complete, ..Swept::complete(&scenario) };
        text(&rows, swept, &[], Printer::silent())
    };
    assert!(shown(true).contains("*1.89") && shown(true).contains("* best of its column"));
    let interrupted = shown(false);
    assert!(interrupted.contains(" 1.89"), "{interrupted}");
    assert!(!interrupted.contains('*') && !interrupted.contains("best"), "{interrupted}");
}

#[test]
fn conditions_have_no_best() {
    let at = |rate: f64, delay: &str| json!({ "hop.0.errors.rate": rate, "hop.0.delay": delay });
    let rows = [(0.0, "1 ms"), (0.1, "1 ms"), (0.0, "9 ms"), (0.1, "9 ms")]
        .map(|(rate, delay)| sim(&at(rate, delay), 1e6 / (1.0 + rate)));
    let text = results(&rows, Printer::silent());
    assert!(!text.contains('*'), "{text}");
}

/// What one axis shows stands below the matrices of two: of the engine that knows it.
#[test]
fn below_matrices_each_point_has_a_line() {
    let at = |mss: u64, rate: f64| json!({ "sender.mss": mss, "hop.radio.errors.rate": rate });
    let of = |mss: u64, rate: f64| {
        let mut row = sim(&at(mss, rate), 1e6);
        row.outcome.rtt_mean_s = Some(0.08);
        row.outcome.timeouts = Some(mss / 500);
        [row, model(&at(mss, rate), 1.1e6)]
    };
    let shown =
        |rows: &[Row]| text(rows, Swept::complete(&scenario()), &[], Printer::silent().wide(true));
    let few: Vec<Row> =
        [536, 1460].into_iter().flat_map(|mss| [of(mss, 0.0), of(mss, 0.1)]).flatten().collect();
    let text = shown(&few);
    let (_, below) = text.split_once("\nEach point by sim\n").unwrap();
    let lines: Vec<&str> = below.lines().collect();
    assert!(lines[0].contains("RTT") && lines[0].contains("limited by"), "{text}");
    assert_eq!(lines.iter().filter(|line| line.contains("80.0 ms")).count(), 4, "{text}");
    let many: Vec<Row> = (0..25).flat_map(|n| of(500 + n / 5, 0.01 * (n % 5) as f64)).collect();
    let text = shown(&many);
    assert!(!text.contains("80.0 ms"), "{text}");
    assert!(text.contains("Round trips, losses and limits of 25 points: -v"), "{text}");
}

#[test]
fn doubt_is_marked_in_long_tables_and_of_single_points_too() {
    let rows = [doubtful(model(&json!({}), 716.0)), sim(&json!({}), 40.0)];
    let text = results(&rows, Printer::silent());
    assert!(
        text.contains(" ~716 bit/s ") && text.contains("~ outside the formula's range"),
        "{text}"
    );
}

#[test]
fn several_flows_are_shown_one_by_one() {
    let text_of = "[[hop]]\nrate = \"2 Mbit/s\"\ndelay = \"200 ms\"\n\
                   [[flow]]\nkind = \"bulk\"\n[[flow]]\nkind = \"ping\"\n";
    let scenario = Scenario::from_toml("test", text_of).unwrap();
    let mut row = sim(&json!({}), 1e6);
    let ping = Outcome { ping_mean_s: Some(0.4), ping_p99_s: Some(0.5), ..Outcome::default() };
    row.outcome.ping_mean_s = ping.ping_mean_s;
    row.outcome.ping_p99_s = ping.ping_p99_s;
    row.outcome.flows = vec![Outcome { goodput_bps: Some(1e6), ..Outcome::default() }, ping];
    let shown = text(&[row], Swept::complete(&scenario), &[], Printer::silent());
    for wanted in ["ping p99", "500 ms", "flow.0 bulk", "flow.1 ping"] {
        assert!(shown.contains(wanted), "no {wanted:?} in\n{shown}");
    }
}

/// `goodput` is over the whole run, so that flows sum up.
#[test]
fn a_flow_that_begins_late_has_its_goodput_while_active_beside_that_of_the_run() {
    let text_of = "[[hop]]\nrate = \"2 Mbit/s\"\ndelay = \"200 ms\"\n[[flow]]\nkind = \"bulk\"\n\
                   [[flow]]\nkind = \"bulk\"\nstart = \"45 s\"\n";
    let scenario = Scenario::from_toml("test", text_of).unwrap();
    let flow =
        |bps| Outcome { goodput_bps: Some(bps), elapsed_s: Some(60.0), ..Outcome::default() };
    let mut row = sim(&json!({}), 1.5e6);
    row.outcome.flows = vec![flow(1.25e6), flow(0.25e6)];
    let shown = text(&[row.clone()], Swept::complete(&scenario), &[], Printer::silent());
    let cells = |name: &str| {
        let line = shown.lines().find(|line| line.contains(name)).unwrap();
        line.split_whitespace().skip(3).collect::<Vec<_>>().join(" ")
    };
    assert!(cells("flow.0").starts_with("1.25 Mbit/s 1.25 Mbit/s"), "{shown}");
    assert!(cells("flow.1").starts_with("250 kbit/s 1.00 Mbit/s"), "{shown}");
    row.point.insert("flow.1.start".to_owned(), json!("45 s"));
    let swept = text(&[row], Swept::complete(&scenario), &[], Printer::silent());
    assert!(
        !swept.contains("1.00 Mbit/s"),
        "the scenario has another start than the point: {swept}"
    );
}

#[test]
fn request_times_stand_beside_goodput_and_the_shortest_is_best() {
    let asked = |mut row: Row, seconds: f64| {
        row.outcome.request_mean_s = Some(seconds);
        row.outcome.requests = Some(10);
        row
    };
    let rows = [asked(model(&json!({}), 1e6), 0.4), asked(sim(&json!({}), 1e6), 0.5)];
    let text = results(&rows, Printer::silent().wide(true));
    for wanted in ["request by model", "request by sim", "400 ms", "500 ms"] {
        assert!(text.contains(wanted), "no {wanted:?} in\n{text}");
    }
    let at = |mss: u64, rate: f64| json!({ "sender.mss": mss, "hop.radio.errors.rate": rate });
    let rows =
        [(88, 0.3), (536, 0.2), (1460, 0.25)].map(|(mss, s)| asked(sim(&at(mss, 0.1), 1e6), s));
    let text = results(&rows, Printer::silent());
    assert!(text.contains("Mean request time by sim") && text.contains("*200 ms"), "{text}");
    assert!(!text.contains("*250 ms") && !text.contains("*300 ms"), "{text}");
}

#[test]
fn groups_of_a_large_sweep_are_told_apart_by_value() {
    let rows: Vec<Row> = (0..3000_u64)
        .map(|n| sim(&json!({ "sender.mss": 1 + n % 100, "hop.0.mtu": 1000 + n / 100 }), n as f64))
        .collect();
    assert_eq!(groups(&rows).len(), 3000);
    let text = results(&rows, Printer::silent().wide(true));
    assert_eq!(text.lines().count(), 1 + 3 + 100 + 1, "a line a size");
    assert_eq!(text.matches('*').count(), 30 + 1, "the best of each of 30 columns, and the note");
}

#[test]
fn the_best_of_a_column_goes_by_the_goodput_of_tcp_and_names_the_segment_size_in_use() {
    let run = |mss: u64, used: u64, (tcp, cbr): (f64, f64)| {
        let mut row = sim(&json!({ "sender.mss": mss, "hop.0.delay": "1 ms" }), tcp + cbr);
        let goodput_bps = Some(tcp);
        let bulk = Outcome { goodput_bps, mss_used_bytes: Some(used), ..Outcome::default() };
        let cross = Outcome { goodput_bps: Some(cbr), ..Outcome::default() };
        row.outcome.mss_used_bytes = Some(used);
        row.outcome.flows = vec![bulk, cross];
        row
    };
    let rows = [run(536, 536, (1e6, 8e6)), run(1460, 1440, (2e6, 3e6))];
    let text = results(&rows, Printer::silent());
    for wanted in ["*2.00", " 1.00", "1460 (1440 used)", "limit are of flow.0, which shares"] {
        assert!(text.contains(wanted), "no {wanted:?} in\n{text}");
    }
    let mut alone = run(1460, 1440, (2e6, 3e6));
    alone.point.remove("hop.0.delay");
    let text = results(&[alone], Printer::silent());
    assert!(text.contains("1460 (1440 used)") && text.contains(" 2.00 Mbit/s"), "{text}");
}
