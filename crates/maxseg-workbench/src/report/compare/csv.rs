//! A comparison as CSV: a row for each number of each point.

use std::io;

use super::super::csv::field;
use super::document::{pairs, verdict_word};
use super::{CaptureLine, Compared, NumberLine};

const HEADER: &str = "engine,point,name,a,b,difference,ci95,relative,pairs,verdict";

/// Writes a row for each number of each point; of captures the columns about points and seeds are empty.
///
/// # Errors
/// Writing fails.
pub fn write_csv(out: &mut dyn io::Write, compared: &Compared<'_>) -> io::Result<()> {
    writeln!(out, "{HEADER}")?;
    match compared {
        Compared::Runs(runs) => {
            for point in &runs.matched.points {
                let engine = point.engine.map_or("", |engine| engine.word());
                let keys = point.point.iter();
                let keys: Vec<String> = keys
                    .map(|(key, value)| format!("{key}={}", super::runs::setting(value)))
                    .collect();
                let place = field(&keys.join(" "));
                for line in runs.lines(point) {
                    writeln!(out, "{engine},{place},{}", of_runs(&line))?;
                }
            }
        }
        Compared::Captures(captures) => {
            for line in captures.lines() {
                writeln!(out, ",,{}", of_captures(&line))?;
            }
        }
    }
    Ok(())
}

fn of_runs(line: &NumberLine) -> String {
    let of = &line.difference;
    let fields = [
        line.key.to_owned(),
        number(of.a),
        number(of.b),
        number(of.difference()),
        number(of.half),
        number(of.relative()),
        pairs(of.pairing).map_or_else(String::new, |pairs| pairs.to_string()),
        verdict_word(of.verdict).to_owned(),
    ];
    fields.join(",")
}

fn of_captures(line: &CaptureLine) -> String {
    let [a, b] = line.values;
    let difference = a.zip(b).map(|(a, b)| b - a);
    let numbers = [a, b, difference, None, line.relative(), None].map(number);
    format!("{},{},", line.key, numbers.join(","))
}

/// The shortest digits that read back to the same number; empty where it is unknown.
fn number(number: Option<f64>) -> String {
    number.map_or_else(String::new, |number| number.to_string())
}
