//! Rows of the lab beside the others: marks, proof.

use maxseg_testkit::rows::{invalid, lab};

use super::*;
use maxseg_workbench::report::marks::invalid_lines;

#[test]
fn all_engines_stand_side_by_side() {
    let at = |mss: u64| json!({ "sender.mss": mss });
    let of = |mss| [model(&at(mss), 1e6), sim(&at(mss), 2e6), lab(&at(mss), 3e6)];
    let shown = results(&[of(536), of(1460)].concat(), Printer::silent().wide(true));
    let header = shown.lines().next().unwrap();
    let order = ["goodput by model", "goodput by sim", "goodput by lab", "model/sim", "lab/sim"];
    let places: Vec<_> = order.iter().map(|title| header.find(title)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{header}");
    for wanted in ["0.50", "1.50", "100 ms", "CPU per Gbit", "columns without an engine"] {
        assert!(shown.contains(wanted), "no {wanted:?} in\n{shown}");
    }
    let two = [model(&at(536), 1e6), lab(&at(536), 2e6)];
    assert!(results(&two, Printer::silent()).contains("model/lab"));
    let without = [model(&at(536), 1e6), sim(&at(536), 2e6)];
    let without = results(&without, Printer::silent());
    assert!(!without.contains("lab") && !without.contains("CPU"), "{without}");
}

#[test]
fn a_point_beyond_the_lab_has_dashes_and_the_details_of_who_knows() {
    let mut rows = [sim(&json!({}), 2e6), lab(&json!({}), 1.0)];
    rows[0].outcome.segment_loss = Some(0.02);
    rows[1].outcome = Outcome::default();
    rows[1].caveats = vec![Caveat::new("beyond-the-lab", "no numbers from the lab: why")];
    let shown = text(&rows, Swept::complete(&scenario()), &[], Printer::silent());
    let line = shown.lines().nth(2).unwrap();
    let fields: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(fields[..4], ["2.00", "Mbit/s", "-", "-"], "{shown}");
    assert!(line.contains("2.00%") && shown.contains("lab, beyond-the-lab: no numbers"), "{shown}");
    assert!(!shown.contains('!') && invalid_lines(&rows).is_empty());
}

#[test]
fn an_invalid_run_is_marked_and_its_reason_told() {
    let at = |mss: u64| json!({ "sender.mss": mss });
    let rows = vec![lab(&at(536), 1e6), invalid(lab(&at(1460), 2e6))];
    let shown = text(&rows, Swept::complete(&scenario()), &[], Printer::silent());
    let reason = "  ! segment size (bytes) 1460, seed 1: the kernel dropped 7 packets before the\n    relay saw them\n";
    for wanted in ["!2.00 Mbit/s", " 1.00 Mbit/s", "! an invalid run of the lab", reason] {
        assert!(shown.contains(wanted), "no {wanted:?} in\n{shown}");
    }
}

#[test]
fn many_points_are_told_when_asked() {
    let rows: Vec<Row> = (0..5).map(|n| lab(&json!({ "sender.mss": 500 + n }), 1e6)).collect();
    let shown = text(&rows, Swept::complete(&scenario()), &[], Printer::silent());
    assert!(
        shown.contains("5 points: -v prints them") && !shown.contains("super-packets"),
        "{shown}"
    );
}

#[test]
fn why_netem_differs_is_told_where_both_are_there() {
    let at = |as_netem: bool| json!({ "lab.as_netem": as_netem });
    let words = "netem draws once";
    let both = vec![lab(&at(false), 1e6), lab(&at(true), 2e6)];
    let one = vec![lab(&at(false), 1e6), sim(&at(true), 2e6)];
    let shown = |rows: &[Row]| {
        let text = text(rows, Swept::complete(&scenario()), &[], Printer::silent());
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert!(shown(&both).contains(words) && !shown(&one).contains(words));
}

#[test]
fn an_invalid_run_is_the_best_of_nothing() {
    let at = |mss: u64, rate: f64| json!({ "sender.mss": mss, "hop.0.errors.rate": rate });
    let rows: Vec<Row> = (0..8)
        .flat_map(|n| {
            let rate = f64::from(n) / 100.0;
            [lab(&at(536, rate), 1e6), invalid(lab(&at(1460, rate), 2e6))]
        })
        .collect();
    // 16 points are a matrix.
    let shown = results(&rows, Printer::silent());
    assert!(shown.contains("*1.00") && shown.contains("!2.00") && !shown.contains("*!"), "{shown}");
}
