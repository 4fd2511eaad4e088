use maxseg_core::outcome::LimitedBy;
use maxseg_core::results::groups;
use maxseg_testkit::rows::{doubtful, model, scenario, sim};
use serde_json::json;

use super::*;

fn of(rows: &[Row], is_complete: bool) -> String {
    let scenario = scenario();
    let swept = Swept { is_complete, is_random: false, ..Swept::complete(&scenario) };
    conclusion(&groups(rows), swept)
}

fn run(mss: u64, window: &str, goodput: f64) -> Row {
    let mut row = sim(&json!({ "sender.mss": mss, "receiver.window": window }), goodput);
    row.outcome.limited_by = Some(LimitedBy::Bandwidth);
    row
}

#[test]
fn the_fastest_is_named_with_its_limit_and_what_is_as_fast() {
    let mut rows = vec![
        run(536, "6 segments", 1e6),
        run(1460, "4 segments", 1.5e6),
        run(1460, "6 segments", 2e6),
    ];
    let sentence = of(&rows, true);
    assert_eq!(
        sentence,
        "1460 × 6 segments is fastest: 2.00 Mbit/s; limited by bandwidth (segment size in bytes × receive window, by sim)."
    );
    assert_eq!(of(&rows, false), "", "a missing run may be better");
    rows.push(run(536, "8 segments", 2e6));
    assert!(
        of(&rows, true).contains("is fastest (as fast: 536 × 8 segments)"),
        "{}",
        of(&rows, true)
    );
}

#[test]
fn of_what_is_left_out_nothing_is_the_fastest() {
    let at = |mss: u64, goodput: f64| model(&json!({ "sender.mss": mss }), goodput);
    let two = [at(24, 3.69e3), doubtful(at(1460, 21.2e3))];
    assert_eq!(
        of(&two, true),
        "Which choice has the highest goodput is unknown (segment size in bytes, by model; 1 point not counted)."
    );
    let three = [at(24, 3e3), at(536, 9e3), doubtful(at(1460, 21e3))];
    assert!(of(&three, true).contains("is unknown"), "{}", of(&three, true));
    let elsewhere = |mss: u64, delay: &str, goodput: f64| {
        model(&json!({ "sender.mss": mss, "hop.0.delay": delay }), goodput)
    };
    let mut rows = vec![elsewhere(536, "1 ms", 1e6), elsewhere(1460, "1 ms", 2e6)];
    rows.extend([elsewhere(536, "9 ms", 1e6), doubtful(elsewhere(1460, "9 ms", 3e6))]);
    let sentence = of(&rows, true);
    assert!(
        sentence.starts_with("The highest goodput by delay of hop 0 has 1460 at 1 ms ("),
        "{sentence}"
    );
}

/// However far apart their means are.
#[test]
fn what_seeds_cannot_tell_is_not_as_fast() {
    let scenario = scenario();
    let swept = Swept { is_random: true, ..Swept::complete(&scenario) };
    let seeds = |mss: u64, goodputs: &[f64]| -> Vec<Row> {
        let runs = (1..).zip(goodputs);
        runs.map(|(seed, goodput)| Row { seed: Some(seed), ..run(mss, "6 segments", *goodput) })
            .collect()
    };
    let sentence = |rows: &[Row]| conclusion(&groups(rows), swept);
    let apart = [seeds(536, &[3.0e6, 3.8e6]), seeds(1460, &[4.0e6, 13.8e6])].concat();
    let said = sentence(&apart);
    assert!(
        said.contains("1460 has the highest goodput (2 seeds cannot tell it from 536)"),
        "{said}"
    );
    // Both saw the same draws: each pair differs by about as much, and far less than seeds do.
    let paired = [seeds(536, &[1e6, 2e6, 3e6]), seeds(1460, &[1.1e6, 2.11e6, 3.1e6])].concat();
    let said = sentence(&paired);
    assert!(said.starts_with("1460 is fastest: "), "{said}");
    // Of so few equal differences the spread is unknown, unless nothing is random.
    let equal = [seeds(536, &[1e6, 2e6, 3e6]), seeds(1460, &[1.1e6, 2.1e6, 3.1e6])].concat();
    let said = sentence(&equal);
    assert!(said.contains("(3 seeds cannot tell it from 536)"), "{said}");
    let said = conclusion(&groups(&equal), Swept { is_random: false, ..swept });
    assert!(said.starts_with("1460 is fastest: "), "{said}");
}

#[test]
fn the_limit_is_that_of_most_seeds() {
    let scenario = scenario();
    let limited = |seed: u64, limit: LimitedBy| {
        let mut row = Row { seed: Some(seed), ..run(1460, "6 segments", 1e6) };
        let bulk = || Outcome {
            limited_by: Some(limit),
            mss_used_bytes: Some(1460),
            goodput_bps: Some(1e6),
            ..Outcome::default()
        };
        row.outcome.flows = vec![bulk(), bulk()];
        row
    };
    let (losses, link) = (LimitedBy::Congestion, LimitedBy::Bandwidth);
    let rows = [limited(1, losses), limited(2, link), limited(3, link)];
    let said = conclusion(&groups(&rows), Swept::complete(&scenario));
    assert!(said.contains("limited by bandwidth"), "{said}");
}

#[test]
fn under_several_conditions_each_has_its_best_unless_one_is_as_fast_everywhere() {
    let at = |mss: u64, delay: &str, goodput: f64| {
        sim(&json!({ "sender.mss": mss, "hop.0.delay": delay }), goodput)
    };
    let mut rows = vec![at(536, "1 ms", 1e6), at(1460, "1 ms", 2e6), at(536, "9 ms", 1.5e6)];
    rows.push(at(1460, "9 ms", 1e6));
    let sentence = of(&rows, true);
    let wanted = "The highest goodput by delay of hop 0 has 1460 at 1 ms, 536 at 9 ms (";
    assert!(sentence.starts_with(wanted), "{sentence}");
    rows[3].outcome.goodput_bps = Some(1.5e6);
    let sentence = of(&rows, true);
    assert!(sentence.starts_with("1460 is as fast as any under all 2"), "{sentence}");
}

#[test]
fn a_single_run_and_conditions_have_a_sentence_too() {
    let one = sim(&json!({}), 1e6);
    assert!(of(&[one], true).starts_with("Goodput is 1.00 Mbit/s by sim"));
    let at = |delay: &str, goodput: f64| sim(&json!({ "hop.0.delay": delay }), goodput);
    let sentence = of(&[at("1 ms", 2e6), at("10 ms", 1e6)], true);
    assert!(sentence.starts_with("Goodput by sim goes from 1.00 Mbit/s at 10 ms"), "{sentence}");
}
