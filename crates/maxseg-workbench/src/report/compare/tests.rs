use maxseg_core::engine::EngineName;
use maxseg_core::results::Row;
use maxseg_testkit::rows::row;
use serde_json::{Value, json};

use super::*;
use crate::compare::{Between, RunSet, matched};

fn runs(name: &str, mss: u64, goodputs: &[f64]) -> RunSet {
    let point = json!({"hop.0.errors.rate": 0.01});
    let rows: Vec<Row> = (1..)
        .zip(goodputs)
        .map(|(seed, goodput)| row(EngineName::Sim, Some(seed), &point, *goodput))
        .collect();
    let scenario = json!({"sender": {"mss": mss}});
    RunSet { scenario, ..RunSet::of_rows(name.to_owned(), rows) }
}

fn pairing(a: &[f64], b: &[f64]) -> RunPairing {
    let (a, b) = (runs("before", 536, a), runs("after", 1460, b));
    RunPairing {
        names: ["before".to_owned(), "after".to_owned()],
        matched: matched([&a, &b], None).unwrap(),
    }
}

pub(super) fn valid(compared: &Compared<'_>) -> Value {
    let json = CompareDocument::of(compared).to_json();
    let document: Value = serde_json::from_str(&json).unwrap();
    let schema = serde_json::to_value(schemars::schema_for!(CompareDocument<'_>)).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(&document).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    document
}

pub(super) fn is_well_formed(page: &str) {
    let body = page.split_once("</head>").unwrap().1.trim_end().strip_suffix("</html>").unwrap();
    roxmltree::Document::parse(body).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn pairs_of_seeds_show_a_difference() {
    let runs = pairing(&[1e6, 3e6, 2e6], &[1.1e6, 3.11e6, 2.09e6]);
    let line = &runs.lines(&runs.matched.points[0])[0];
    assert_eq!(line.means(), ["2.00 Mbit/s", "2.10 Mbit/s"]);
    assert_eq!(line.shown(), "+5.0% (+3.8% to +6.2%)");
    assert_eq!(runs.changes(), [("sender.mss", ["536".to_owned(), "1460".to_owned()])]);
    let compared = Compared::Runs(&runs);
    let document = valid(&compared);
    let number = &document["runs"]["points"][0]["numbers"][0];
    assert_eq!(
        (&number["name"], &number["pairs"], &number["verdict"]),
        (&json!("goodput_bps"), &json!(3), &json!("higher"))
    );
    is_well_formed(&page(&compared));
    let mut csv = Vec::new();
    write_csv(&mut csv, &compared).unwrap();
    let csv = String::from_utf8(csv).unwrap();
    assert!(csv.contains("sim,hop.0.errors.rate=0.01,goodput_bps,2000000,2100000,"), "{csv}");
}

/// Nothing falls by more than all of it, and every end of an interval is told in the words of the table.
#[test]
fn a_picture_of_differences_ends_where_they_do() {
    let a = runs("before", 536, &[1e6, 3e6]);
    let point = json!({"hop.0.errors.rate": 0.01});
    let mut b = runs("after", 1460, &[2e6, 12e6]);
    b.rows.push(row(EngineName::Model, None, &point, 2.2e6));
    let model = row(EngineName::Model, None, &point, 2e6);
    let a = RunSet { rows: [a.rows.clone(), vec![model]].concat(), ..a };
    let names = ["before".to_owned(), "after".to_owned()];
    let pairing = RunPairing { names, matched: matched([&a, &b], None).unwrap() };
    let table = pairing.lines(&pairing.matched.points[0])[0].cell();
    let picture = pairing.chart().unwrap().to_html().into_string();
    let ends = table.split_once('(').unwrap().1;
    assert!(ends.starts_with("-100% to x"), "{table}");
    assert!(picture.contains(&format!(" ({ends}")), "{table}: {picture}");
    assert!(picture.contains(", sim: ") && picture.contains(", model: +10%<"), "{picture}");
    assert!(!picture.contains("<title>,") && !picture.contains(">-200%<"), "{picture}");
    assert!(
        picture.contains("00%<") && !picture.contains(">x"),
        "ticks are percentages: {picture}"
    );
}

#[test]
fn what_seeds_cannot_show_is_not_said() {
    let runs = pairing(&[1e6, 3e6, 2e6], &[2e6, 2.5e6, 1.8e6]);
    assert!(
        runs.conclusion().contains("no difference that 3 seeds can show"),
        "{}",
        runs.conclusion()
    );
    let one = pairing(&[1e6], &[2e6]);
    assert!(one.conclusion().contains("too few seeds"), "{}", one.conclusion());
}

#[test]
fn a_closed_form_has_no_seeds_and_no_seeds_are_asked_for() {
    let sim = runs("both", 536, &[1e6, 3e6, 2e6]);
    let point = json!({"hop.0.errors.rate": 0.01});
    let model = vec![row(EngineName::Model, None, &point, 2.2e6)];
    let both = RunSet { rows: [sim.rows, model].concat(), ..sim };
    let between =
        Between { key: "engine".to_owned(), values: ["sim".to_owned(), "model".to_owned()] };
    let runs = RunPairing {
        names: ["engine=sim".to_owned(), "engine=model".to_owned()],
        matched: matched([&both, &both], Some(&between)).unwrap(),
    };
    assert_eq!(
        runs.conclusion(),
        "Goodput of engine=model against engine=sim: +10%, without an interval, as one side has no seeds."
    );
    assert!(runs.notes()[0].starts_with("a closed form and a measurement have no seeds"));
    let document = valid(&Compared::Runs(&runs));
    let number = &document["runs"]["points"][0]["numbers"][0];
    assert_eq!((&number["verdict"], &number["ci95"]), (&json!("no-seeds"), &Value::Null));
}

/// What is exact is no chance, and where no goodput is known there is none to count.
#[test]
fn exact_points_are_not_said_to_differ_by_chance() {
    let of_points = |goodputs: [Option<f64>; 2]| {
        let [a, b] = goodputs.map(|goodput| {
            let rows = (0..14).map(|x| {
                let mut row = row(EngineName::Model, None, &json!({"x": x}), 1e6);
                row.outcome.goodput_bps = goodput;
                row
            });
            RunSet { rows: rows.collect(), ..runs("set", 536, &[]) }
        });
        let names = ["a".to_owned(), "b".to_owned()];
        RunPairing { names, matched: matched([&a, &b], None).unwrap() }
    };
    let exact = of_points([Some(1e6), Some(2e6)]);
    assert_eq!(exact.notes(), Vec::<String>::new());
    assert_eq!(exact.conclusion(), "Goodput of b against a, of 14 points: higher at 14.");
    let unknown = of_points([None, None]);
    assert_eq!(unknown.conclusion(), "Goodput of b against a: no point has a goodput.");
}

/// Engines are no points: each is told by itself.
#[test]
fn the_conclusion_counts_points_of_each_engine() {
    let set = |name: &str, points: &[u64], rate: f64| {
        let of = |point: &u64| {
            let at = json!({"hop.radio.mtu": point});
            [row(EngineName::Model, None, &at, 1e6), row(EngineName::Lab, Some(1), &at, rate)]
        };
        let rows = points.iter().flat_map(of).collect();
        RunSet { rows, ..runs(name, 536, &[]) }
    };
    let conclusion = |points: &[u64]| {
        let (a, b) = (set("a", points, 1e6), set("b", points, 2e6));
        let names = ["a".to_owned(), "b".to_owned()];
        RunPairing { names, matched: matched([&a, &b], None).unwrap() }.conclusion()
    };
    let one = conclusion(&[1500]);
    assert!(one.starts_with("Goodput of b against a: by model equal; by lab x2.00"), "{one}");
    assert_eq!(
        conclusion(&[1500, 9000]),
        "Goodput of b against a, of 2 points: by model equal at 2; by lab with too few runs to tell at 2."
    );
}

#[test]
fn a_hop_that_differs_has_its_name() {
    let set = |hops: Value| RunSet {
        scenario: json!({"hop": hops, "flow": [{"kind": "bulk"}]}),
        ..runs("set", 536, &[1e6])
    };
    let changes = |a: Value, b: Value| {
        let sides = [set(a), set(b)];
        let matched = matched([&sides[0], &sides[1]], None).unwrap();
        matched.changed.into_iter().map(|(key, _)| key).collect::<Vec<_>>()
    };
    let hop = |name: &str, delay: &str| json!({"name": name, "delay": delay});
    assert_eq!(
        changes(
            json!([hop("wan", "1 ms"), hop("radio", "1 ms")]),
            json!([hop("wan", "1 ms"), hop("radio", "2 ms")])
        ),
        ["hop.radio.delay"]
    );
    assert_eq!(
        changes(json!([hop("wan", "1 ms")]), json!([hop("radio", "2 ms")])),
        ["hop.0.delay", "hop.0.name"]
    );
    assert_eq!(changes(json!([{"delay": "1 ms"}]), json!([{"delay": "2 ms"}])), ["hop.0.delay"]);
}

/// From nothing a share grows by points: a percentage would be one of nothing.
#[test]
fn a_loss_where_there_was_none_differs_by_points() {
    let set = |loss: f64| {
        let mut row = row(EngineName::Model, None, &json!({}), 1e6);
        row.outcome.segment_loss = Some(loss);
        RunSet { rows: vec![row], ..runs("set", 536, &[]) }
    };
    let (a, b) = (set(0.0), set(0.0369));
    let names = ["a".to_owned(), "b".to_owned()];
    let pairing = RunPairing { names, matched: matched([&a, &b], None).unwrap() };
    let lines = pairing.lines(&pairing.matched.points[0]);
    let loss = lines.iter().find(|line| line.key == "segment_loss").unwrap();
    assert_eq!(loss.cell(), "+3.69 points");
}

/// One seed of a scenario in which nothing is random says all; the MSS that ends agree on is no chance either.
#[test]
fn what_is_not_random_is_exact() {
    let random = pairing(&[1e6], &[2e6]);
    assert!(random.conclusion().contains("too few seeds"), "{}", random.conclusion());
    let [a, b] = [("before", 1e6), ("after", 2e6)].map(|(name, goodput)| {
        let mut set = runs(name, 536, &[goodput]);
        set.experiments.insert(set.rows[0].hash.clone(), false);
        set
    });
    let names = ["before".to_owned(), "after".to_owned()];
    let exact = RunPairing { names, matched: matched([&a, &b], None).unwrap() };
    assert_eq!(exact.conclusion(), "Goodput of after against before: x2.00.");
    let [a, b] = [536, 1460].map(|mss| {
        let mut set = runs("random", mss, &[1e6, 2e6]);
        set.rows.iter_mut().for_each(|row| row.outcome.mss_used_bytes = Some(mss));
        set
    });
    let names = ["before".to_owned(), "after".to_owned()];
    let chosen = RunPairing { names, matched: matched([&a, &b], None).unwrap() };
    let lines = chosen.lines(&chosen.matched.points[0]);
    let mss = lines.iter().find(|line| line.key == "mss_used_bytes").unwrap();
    assert!(!mss.shown().contains("too few"), "{}", mss.shown());
}

/// Rows behind those of the summary may be those that are meant.
#[test]
fn rows_of_a_run_that_did_not_finish_are_named_once() {
    let [mut a, b] = [("a", 1e6), ("b", 2e6)].map(|(name, goodput)| runs(name, 536, &[goodput; 2]));
    a.later_others = 3;
    let names = ["a", "b"].map(str::to_owned);
    let pairing = RunPairing { names, matched: matched([&a, &b], None).unwrap() };
    let document = valid(&Compared::Runs(&pairing));
    let said = document["runs"]["cautions"][0].as_str().unwrap();
    assert!(said.starts_with("a: 3 rows of another scenario or point"), "{said}");
    assert!(said.contains("did not finish"), "{said}");
    assert_eq!(matched([&a, &a], None).unwrap().unfinished, [("a".to_owned(), 3)]);
    assert_eq!(matched([&b, &b], None).unwrap().unfinished, []);
}
