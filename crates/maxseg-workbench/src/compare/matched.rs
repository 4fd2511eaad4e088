//! Which runs of one stand beside which runs of the other.

use std::collections::{BTreeMap, BTreeSet};

use maxseg_core::compare::twins;
use maxseg_core::engine::EngineName;
use maxseg_core::results::Row;
use serde_json::{Map, Value};

use super::RunSet;
use super::values::{changed, in_base, is_written_as};
use crate::error::{CompareError, Error};

/// A key of the sweep, or `engine`, with a value for each side: two engines, or two stacks, of the same results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Between {
    /// The key.
    pub key: String,
    /// Its value on each side, as text.
    pub values: [String; 2],
}

/// Two sets of runs, point by point.
#[derive(Debug, Clone)]
pub struct Matched {
    /// The points that both have, in the order of A.
    pub points: Vec<MatchedPoint>,
    /// Runs of each side without a counterpart.
    pub left_out: [usize; 2],
    /// Runs of each side that the lab calls invalid, which are left out.
    pub invalid: [usize; 2],
    /// Keys of the scenario whose values differ, with both; null for a key that a side does not have.
    pub changed: Vec<(String, [Value; 2])>,
    /// Folders with rows behind those that their summary names, by name, and how many.
    pub unfinished: Vec<(String, usize)>,
    /// Equal scenarios that are other experiments, as of programs that give other results: version and commit of each side's program, as
    /// far as is known.
    pub other_program: Option<[Option<String>; 2]>,
}

/// The runs of both sides at one point of a sweep.
#[derive(Debug, Clone)]
pub struct MatchedPoint {
    /// The engine; `None` where the engines are what is compared.
    pub engine: Option<EngineName>,
    /// The swept keys with their values, but for the one that is compared.
    pub point: Map<String, Value>,
    /// The runs of each side, by seed.
    pub rows: [Vec<Row>; 2],
    /// Whether anything in the scenario of each side is random, as far as is known.
    pub is_random: [bool; 2],
}

/// Lays the runs of two sides beside each other: those of equal engine and point.
///
/// # Errors
/// None of one side has a counterpart on the other.
pub fn matched(sides: [&RunSet; 2], between: Option<&Between>) -> Result<Matched, Error> {
    let [a, b] = [0, 1].map(|side| by_point(sides[side], side, between));
    let invalid = [a.invalid, b.invalid];
    let has_invalid_only = [&a, &b].iter().any(|side| side.invalid > 0 && side.points.is_empty());
    let mut rows_of_b = b.points;
    let mut left_out = [0, 0];
    let mut points = Vec::new();
    let mut is_other_hash = false;
    for (key, (engine, point, rows)) in ordered(a.points, &a.order) {
        match rows_of_b.remove(&key) {
            Some((_, _, others)) => {
                is_other_hash |= rows[0].hash != others[0].hash;
                let rows = keep_twins([rows, others], &mut left_out);
                let is_random = [0, 1].map(|side| sides[side].is_random(&rows[side]));
                points.push(MatchedPoint { engine, point, rows, is_random });
            }
            None => left_out[0] += rows.len(),
        }
    }
    left_out[1] += rows_of_b.values().map(|(_, _, rows)| rows.len()).sum::<usize>();
    if points.is_empty() {
        let invalid = has_invalid_only.then_some(invalid);
        return Err(no_pair(sides, between, invalid).into());
    }
    let changed = changed(&sides[0].scenario, &sides[1].scenario);
    // What is swept is the same at a point that both have, and a seed is none of the experiment.
    let is_other_scenario = sides.iter().any(|side| side.scenario.is_null())
        || changed.iter().any(|(key, _)| key != "seed" && !key.starts_with("sweep."))
        || between.is_some_and(|between| between.key != "engine");
    let other_program =
        (is_other_hash && !is_other_scenario).then(|| sides.map(|side| side.version.clone()));
    Ok(Matched { points, left_out, invalid, changed, unfinished: unfinished(sides), other_program })
}

/// Folders with rows behind those that their summary names.
fn unfinished(sides: [&RunSet; 2]) -> Vec<(String, usize)> {
    let with_rows = sides.iter().filter(|side| side.later_others > 0);
    let mut folders: Vec<_> =
        with_rows.map(|side| (side.name.clone(), side.later_others)).collect();
    folders.dedup();
    folders
}

/// Where seeds pair the runs, one of another seed has no counterpart.
fn keep_twins(rows: [Vec<Row>; 2], left_out: &mut [usize; 2]) -> [Vec<Row>; 2] {
    let [a, b] = [0, 1].map(|side| rows[side].iter().collect::<Vec<&Row>>());
    let twins = twins(&a, &b);
    if twins.len() < 2 {
        return rows;
    }
    let places = [0, 1]
        .map(|side| -> BTreeSet<usize> { twins.iter().map(|(a, b)| [*a, *b][side]).collect() });
    let mut side = 0;
    rows.map(|rows| {
        let all = rows.len();
        let is_twin = |(place, _): &(usize, Row)| places[side].contains(place);
        let kept: Vec<Row> =
            rows.into_iter().enumerate().filter(is_twin).map(|(_, row)| row).collect();
        left_out[side] += all - kept.len();
        side += 1;
        kept
    })
}

type Place = (Option<EngineName>, Map<String, Value>, Vec<Row>);

/// The valid runs of a side by point, and the order of the points.
struct ByPoint {
    points: BTreeMap<String, Place>,
    order: Vec<String>,
    invalid: usize,
}

fn by_point(side: &RunSet, index: usize, between: Option<&Between>) -> ByPoint {
    let mut by_point = ByPoint { points: BTreeMap::new(), order: Vec::new(), invalid: 0 };
    for row in &side.rows {
        let Some((engine, point)) = placed(row, index, between) else { continue };
        if !row.outcome.is_valid() {
            by_point.invalid += 1;
            continue;
        }
        let mut sorted: Vec<_> = point.iter().map(|(key, value)| in_base(key, value)).collect();
        sorted.sort_unstable();
        let key = format!("{engine:?} {sorted:?}");
        let place = by_point.points.entry(key.clone()).or_insert_with(|| {
            by_point.order.push(key);
            (engine, point, Vec::new())
        });
        place.2.push(row.clone());
    }
    for (_, _, rows) in by_point.points.values_mut() {
        rows.sort_by_key(|row| row.seed);
    }
    by_point
}

/// Engine and point of a run without what is compared; `None` for a run of neither value.
fn placed(
    row: &Row,
    side: usize,
    between: Option<&Between>,
) -> Option<(Option<EngineName>, Map<String, Value>)> {
    let mut point = row.point.clone();
    let Some(Between { key, values }) = between else { return Some((Some(row.engine), point)) };
    if key == "engine" {
        return (row.engine.word() == values[side]).then_some((None, point));
    }
    let value = point.remove(key)?;
    is_written_as(key, &value, &values[side]).then_some((Some(row.engine), point))
}

fn ordered(mut points: BTreeMap<String, Place>, order: &[String]) -> Vec<(String, Place)> {
    order.iter().filter_map(|key| points.remove_entry(key)).collect()
}

/// Why nothing stands beside anything; `invalid` are the invalid runs of each side, where one has no other.
fn no_pair(
    sides: [&RunSet; 2],
    between: Option<&Between>,
    invalid: Option<[usize; 2]>,
) -> CompareError {
    let [a, b] = sides.map(|side| side.name.clone());
    if let Some([of_a, of_b]) = invalid {
        return CompareError::NoPair {
            a,
            b,
            why: format!(
                "runs that the lab calls invalid are left out: {of_a} on one side, {of_b} on the other"
            ),
            hint: "run the lab again while the machine is idle; maxseg doctor shows how late its timers are"
                .to_owned(),
        };
    }
    let engines = sides.map(|side| words(side.rows.iter().map(|row| row.engine.word().to_owned())));
    let keys = sides.map(|side| words(side.rows.iter().flat_map(|row| row.point.keys().cloned())));
    let (why, hint) = match between {
        Some(Between { key, values }) => (
            format!("there is no run with {key} {} on one side and {} on the other", values[0], values[1]),
            if key == "engine" {
                format!("the engines are {}", of_both(&engines))
            } else {
                format!("the swept keys are {}", of_both(&keys))
            },
        ),
        None if engines[0] != engines[1] => (
            format!("the engines are {} and {}", engines[0], engines[1]),
            format!(
                "--between engine={},{} compares engines",
                first(&engines[0]),
                first(&engines[1])
            ),
        ),
        None => (
            format!("they have no point of a sweep in common; the swept keys are {}", of_both(&keys)),
            "run both with the same --axis, or compare two values of a key: --between sender.stack=linux,rfc"
                .to_owned(),
        ),
    };
    CompareError::NoPair { a, b, why, hint }
}

/// What both sides have, once where it is the same.
fn of_both([a, b]: &[String; 2]) -> String {
    if a == b { a.clone() } else { format!("{a} and {b}") }
}

fn first(words: &str) -> &str {
    words.split(", ").next().unwrap_or(words)
}

/// Each word once, in order; `none` without any.
fn words(words: impl Iterator<Item = String>) -> String {
    let mut list: Vec<String> = words.collect();
    list.sort_unstable();
    list.dedup();
    if list.is_empty() { "none".to_owned() } else { list.join(", ") }
}

#[cfg(test)]
mod tests {
    use maxseg_core::outcome::LabProof;
    use maxseg_testkit::rows::{model, row, sim};
    use serde_json::json;

    use super::*;
    use crate::compare::Source;

    fn set(name: &str, scenario: Value, rows: Vec<Row>) -> RunSet {
        RunSet { scenario, ..RunSet::of_rows(name.to_owned(), rows) }
    }

    #[test]
    fn points_are_equal_whatever_the_order_of_their_keys() {
        let a = set(
            "a",
            json!({"sender": {"mss": 536}, "seed": 1}),
            vec![sim(&json!({"x": 1, "y": 2}), 10.0), sim(&json!({"x": 2, "y": 2}), 10.0)],
        );
        let b = set(
            "b",
            json!({"sender": {"mss": 1460}, "seed": 1}),
            vec![sim(&json!({"y": 2, "x": 1}), 20.0)],
        );
        let matched = matched([&a, &b], None).unwrap();
        assert_eq!((matched.points.len(), matched.left_out), (1, [1, 0]));
        assert_eq!(matched.changed, [("sender.mss".to_owned(), [json!(536), json!(1460)])]);
    }

    /// A scenario means the same in any unit.
    #[test]
    fn points_are_equal_whatever_their_units() {
        let of = |scenario: Value, points: &[Value]| {
            set("set", scenario, points.iter().map(|point| sim(point, 10.0)).collect())
        };
        let shares = [
            json!({"hop.0.errors.rate": 0.01, "y": 1}),
            json!({"hop.0.errors.rate": 0.05, "y": 1}),
        ];
        let percents = [json!({"y": 1.0, "hop.0.errors.rate": "1%"})];
        let a = of(json!({"hop": [{"rate": "10 Mbit/s", "delay": "20 ms"}]}), &shares);
        let b = of(json!({"hop": [{"rate": "10000 kbit/s", "delay": "21 ms"}]}), &percents);
        let both = matched([&a, &b], None).unwrap();
        assert_eq!((both.points.len(), both.left_out), (1, [1, 0]));
        let keys: Vec<&str> = both.changed.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["hop.0.delay"]);
        let values = ["1%", "0.05"].map(str::to_owned);
        let between = Between { key: "hop.0.errors.rate".to_owned(), values };
        assert_eq!(matched([&a, &a], Some(&between)).unwrap().points.len(), 1);
    }

    #[test]
    fn engines_and_values_of_a_key_are_sides_too() {
        let point = |stack: &str| json!({"sender.stack": stack, "x": 1});
        let rows = vec![
            sim(&point("linux"), 10.0),
            row(EngineName::Sim, Some(1), &point("rfc"), 20.0),
            model(&point("linux"), 30.0),
        ];
        let both = set("both", Value::Null, rows);
        let between = |key: &str, a: &str, b: &str| Between {
            key: key.to_owned(),
            values: [a.to_owned(), b.to_owned()],
        };
        let stacks =
            matched([&both, &both], Some(&between("sender.stack", "linux", "rfc"))).unwrap();
        assert_eq!(stacks.points.len(), 1);
        assert_eq!(stacks.points[0].point, *json!({"x": 1}).as_object().unwrap());
        let engines = matched([&both, &both], Some(&between("engine", "sim", "model"))).unwrap();
        assert_eq!((engines.points.len(), engines.points[0].engine), (1, None));
        let error = matched([&both, &both], Some(&between("engine", "sim", "lab"))).unwrap_err();
        assert!(error.hint().unwrap().contains("model, sim"), "{error}");
    }

    /// Means are of the pairs, and so are the runs that are counted.
    #[test]
    fn a_run_whose_seed_the_other_side_lacks_is_left_out() {
        let runs = |name: &str, seeds: u64| {
            let rows = (1..=seeds).map(|seed| row(EngineName::Sim, Some(seed), &json!({}), 1.0));
            set(name, Value::Null, rows.collect())
        };
        let matched = matched([&runs("a", 10), &runs("b", 4)], None).unwrap();
        let rows = &matched.points[0].rows;
        assert_eq!(([rows[0].len(), rows[1].len()], matched.left_out), ([4, 4], [6, 0]));
    }

    /// The hash of an experiment has the version of the results in it.
    #[test]
    fn equal_scenarios_of_other_hashes_are_of_other_programs() {
        let of = |version: Option<&str>, hash: &str, mss: u64| {
            let mut run = sim(&json!({"x": 1}), 10.0);
            run.hash = hash.to_owned();
            let version = version.map(str::to_owned);
            RunSet { version, ..set("set", json!({"sender": {"mss": mss}, "seed": 1}), vec![run]) }
        };
        let programs = |a: &RunSet, b: &RunSet| matched([a, b], None).unwrap().other_program;
        let now = of(Some("0.2.0 abc"), "h", 536);
        assert_eq!(programs(&now, &of(None, "h", 536)), None);
        assert_eq!(programs(&now, &of(Some("0.1.0 def"), "i", 1460)), None, "another scenario");
        let versions = ["0.2.0 abc", "0.1.0 def"].map(|version| Some(version.to_owned()));
        assert_eq!(programs(&now, &of(Some("0.1.0 def"), "i", 536)), Some(versions));
        let named = |name: &str| json!({"name": name, "hop": [{"name": name}]});
        let [a, b] = ["h", "i"].map(|hop| RunSet { scenario: named(hop), ..of(None, hop, 536) });
        assert_eq!(programs(&a, &b), None, "the name of a hop is part of the experiment");
        let alone = RunSet { scenario: Value::Null, ..of(None, "i", 536) };
        assert_eq!(programs(&now, &alone), None, "nothing is known of its scenario");
    }

    #[test]
    fn that_all_runs_are_invalid_is_said() {
        let mut lab = row(EngineName::Lab, Some(1), &json!({}), 20.0);
        let invalid_because = vec!["late".to_owned()];
        lab.outcome.lab = Some(Box::new(LabProof { invalid_because, ..LabProof::default() }));
        let both = set("both", Value::Null, vec![sim(&json!({}), 10.0), lab]);
        let between =
            Between { key: "engine".to_owned(), values: ["sim".to_owned(), "lab".to_owned()] };
        let error = matched([&both, &both], Some(&between)).unwrap_err().to_string();
        assert!(error.contains("invalid are left out: 0 on one side, 1 on the other"), "{error}");
    }

    #[test]
    fn points_stand_in_the_order_of_the_sweep_and_not_in_which_they_were_done() {
        let folder = tempfile::tempdir().unwrap();
        let line = |errors: &str| {
            let mut row = sim(&json!({"errors": errors}), 1.0);
            errors.clone_into(&mut row.hash);
            serde_json::to_string(&row).unwrap() + "\n"
        };
        std::fs::write(folder.path().join("rows.jsonl"), ["1%", "0%", "10%"].map(line).concat())
            .unwrap();
        let of = |errors: &str| json!({"engine": "sim", "point": {"errors": errors}});
        let points = ["0%", "1%", "10%"].map(of);
        let summary = json!({"scenario": {}, "summary": points});
        std::fs::write(folder.path().join("run.json"), summary.to_string()).unwrap();
        let set = match Source::read(folder.path(), None).unwrap() {
            Source::Runs(set) => set,
            Source::Capture(_) => unreachable!("a folder of runs"),
        };
        let errors: Vec<_> = set.rows.iter().map(|row| row.point["errors"].clone()).collect();
        assert_eq!(errors, ["0%", "1%", "10%"]);
    }
}
