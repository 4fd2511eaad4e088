//! Runs of two sides: every number with its difference and what the seeds show of it.

use maxseg_core::compare::{Difference, Pairing, Side, Verdict};
use maxseg_core::engine::EngineName;
use maxseg_core::outcome::{LimitedBy, Outcome};
use maxseg_core::results::{Group, Row};
use serde_json::Value;

use super::super::chart::{Axis, Chart, Legend, Line, Order, Point, Series, Spacing, Tick};
use super::super::metrics::{METRICS, Metric};
use super::super::words::{self, counted, gain, gain_interval, gain_within};
use super::captures::points;
use crate::compare::{Matched, MatchedPoint};

/// Categories of the picture.
const MOST_CATEGORIES: usize = 24;
/// From so many comparisons on, some differ by chance alone.
const MANY: usize = 10;
/// A share: from nothing on it differs by points.
const SEGMENT_LOSS: &str = "segment_loss";
/// What a 95% interval misses.
const MISSES: f64 = 0.05;

/// Two sets of runs that are compared.
#[derive(Debug)]
pub struct RunPairing {
    /// What each side is called.
    pub names: [String; 2],
    /// Their runs, point by point.
    pub matched: Matched,
}

/// A number of both sides at one point.
#[derive(Debug)]
pub struct NumberLine {
    /// Its key in JSON.
    pub key: &'static str,
    /// What it is.
    pub title: &'static str,
    /// Means and difference.
    pub difference: Difference,
    write: fn(f64) -> String,
}

impl NumberLine {
    /// The mean of each side, in words.
    pub fn means(&self) -> [String; 2] {
        let Difference { a, b, .. } = self.difference;
        [a, b].map(|mean| mean.map_or_else(|| "–".to_owned(), self.write))
    }

    /// What the runs show of the difference, in words.
    pub fn shown(&self) -> String {
        let by = self.by();
        match self.difference.verdict {
            Verdict::Higher | Verdict::Lower => by,
            Verdict::Same => "equal".to_owned(),
            Verdict::NotShown => format!("no difference that {} can show ({by})", self.seeds()),
            Verdict::OnePair => {
                format!(
                    "{by}; with too few {}, how much of it is chance is unknown",
                    self.repeats()
                )
            }
            Verdict::NoSeeds => format!("{by}, without an interval, as one side has no seeds"),
            Verdict::Unknown => "unknown".to_owned(),
        }
    }

    /// The same in few words, for a column.
    pub fn cell(&self) -> String {
        match self.difference.verdict {
            Verdict::NotShown => format!("none shown ({})", self.by()),
            Verdict::OnePair => format!("{} (too few {})", self.by(), self.repeats()),
            Verdict::NoSeeds => format!("{} (no interval)", self.by()),
            Verdict::Higher | Verdict::Lower | Verdict::Same | Verdict::Unknown => self.shown(),
        }
    }

    /// The difference with its interval, relative where that has a meaning.
    fn by(&self) -> String {
        let difference = &self.difference;
        let half = difference.relative_half().unwrap_or(0.0);
        match (difference.relative(), difference.difference()) {
            (Some(relative), _) if difference.verdict == Verdict::NotShown => {
                let [low, high] = gain_interval(relative, half);
                format!("{low} to {high}")
            }
            (Some(relative), _) => gain_within(relative, half),
            (None, Some(by)) if self.key == SEGMENT_LOSS => points(by),
            (None, Some(by)) => {
                format!("{}{}", if by < 0.0 { "-" } else { "+" }, (self.write)(by.abs()))
            }
            (None, None) => "unknown".to_owned(),
        }
    }

    fn seeds(&self) -> String {
        match self.difference.pairing {
            Pairing::Seeds(count) => counted(count as u64, "seed"),
            Pairing::Apart => "these seeds, of which the sides share no two,".to_owned(),
            Pairing::Unseeded => "so few measurements".to_owned(),
            Pairing::OneSided | Pairing::Exact => "these runs".to_owned(),
        }
    }

    /// What more of would show a smaller difference.
    fn repeats(&self) -> &'static str {
        match self.difference.pairing {
            Pairing::Unseeded => "measurements",
            Pairing::Seeds(_) | Pairing::Apart | Pairing::OneSided | Pairing::Exact => "seeds",
        }
    }
}

impl RunPairing {
    /// The numbers that a side knows at a point.
    pub fn lines(&self, point: &MatchedPoint) -> Vec<NumberLine> {
        let rows = [0, 1].map(|side| point.rows[side].iter().collect::<Vec<&Row>>());
        let line = |metric: &Metric| {
            let number = |outcome: &Outcome| outcome.headline(metric.of);
            let is_chosen = metric.is_chosen() && rows.iter().all(|rows| are_equal(rows, number));
            let sides = [0, 1].map(|side| Side {
                rows: &rows[side],
                is_random: point.is_random[side] && !is_chosen,
            });
            let difference = Difference::of(sides, number);
            (difference.a.is_some() || difference.b.is_some()).then_some(NumberLine {
                key: metric.key,
                title: metric.title,
                difference,
                write: metric.write,
            })
        };
        METRICS.iter().filter_map(line).collect()
    }

    /// The limit of most runs of each side.
    pub fn limits(point: &MatchedPoint) -> [Option<LimitedBy>; 2] {
        [0, 1].map(|side| {
            let rows: Vec<&Row> = point.rows[side].iter().collect();
            let engine = rows.first()?.engine;
            Group { engine, point: &point.point, rows }.limited_by()
        })
    }

    /// Engine and swept values of a point, in words; empty where there is nothing to tell it by.
    pub fn heading(point: &MatchedPoint) -> String {
        let engine = point.engine.map(|engine| engine.to_string());
        let keys = point.point.iter();
        let keys =
            keys.map(|(key, value)| format!("{} {}", words::title(key), words::value(key, value)));
        engine.into_iter().chain(keys).collect::<Vec<_>>().join(", ")
    }

    /// What to know before relying on it.
    pub fn notes(&self) -> Vec<String> {
        let Matched { left_out, invalid, unfinished, other_program, .. } = &self.matched;
        let mut notes: Vec<String> = unfinished.iter().map(unfinished_note).collect();
        notes.extend(other_program.as_ref().map(program_note));
        for (side, name) in self.names.iter().enumerate() {
            if left_out[side] > 0 {
                notes.push(format!(
                    "{} of {name} without a counterpart: left out",
                    counted(left_out[side] as u64, "run")
                ));
            }
            if invalid[side] > 0 {
                notes.push(format!(
                    "{} of {name} invalid: left out",
                    counted(invalid[side] as u64, "run")
                ));
            }
        }
        if self.goodputs().any(|(_, line)| line.difference.verdict == Verdict::NoSeeds) {
            notes.push(
                "a closed form and a measurement have no seeds: a difference to them stands as it is, and what of it is chance \
                 cannot be told"
                    .to_owned(),
            );
        }
        // What is exact is no chance.
        let is_judged = |line: &NumberLine| line.difference.half.is_some_and(|half| half > 0.0);
        let judged = self.goodputs().filter(|(_, line)| is_judged(line)).count();
        if judged >= MANY {
            notes.push(format!(
                "of {judged} goodputs with an interval about {} would show a difference at 95% by chance alone",
                words::digits(MISSES * judged as f64)
            ));
        }
        notes
    }

    /// The goodput at each point.
    pub(super) fn goodputs(&self) -> impl Iterator<Item = (&MatchedPoint, NumberLine)> {
        let points = self.matched.points.iter();
        points.filter_map(|point| {
            let lines = self.lines(point).into_iter();
            Some((point, lines.into_iter().find(|line| line.key == "goodput_bps")?))
        })
    }

    /// What a picture shows: the goodput of each point, or every number of the only one; a name, the relative difference and
    /// half its interval.
    pub fn bars(&self) -> Vec<(String, f64, f64)> {
        self.bars_of_points().into_iter().map(|bar| (bar.name, bar.relative, bar.half)).collect()
    }

    fn bars_of_points(&self) -> Vec<Bar<'_>> {
        let bar = |point, name: String, line: &NumberLine| {
            let (relative, half) = (line.difference.relative()?, line.difference.relative_half());
            Some(Bar { point, name, relative, half: half.unwrap_or(0.0) })
        };
        match self.matched.points.as_slice() {
            [only] => self
                .lines(only)
                .iter()
                .filter_map(|line| bar(only, line.title.to_owned(), line))
                .collect(),
            _ => self
                .goodputs()
                .filter_map(|(point, line)| bar(point, Self::heading(point), &line))
                .collect(),
        }
    }

    /// The keys that every point has, where a picture can name them once: its marks tell the engines.
    fn keys_of_all(&self) -> Option<Vec<&str>> {
        let [first, _, ..] = self.matched.points.as_slice() else { return None };
        let has_them = |point: &MatchedPoint| point.point.keys().eq(first.point.keys());
        let is_of_all = self.matched.points.iter().all(has_them);
        let of_first: Vec<&str> = first.point.keys().map(String::as_str).collect();
        (is_of_all && !of_first.is_empty()).then_some(of_first)
    }

    /// [`bars`](Self::bars) as a picture; `None` without any, or with more than can be told apart.
    pub fn chart(&self) -> Option<Chart> {
        let bars = self.bars_of_points();
        if bars.is_empty() || bars.len() > MOST_CATEGORIES {
            return None;
        }
        let of = |wanted: &[Option<EngineName>]| -> Line {
            let bars = bars.iter().enumerate();
            let bars = bars.filter(|(_, bar)| wanted.contains(&bar.point.engine));
            let point = |(index, bar): (usize, &Bar<'_>)| {
                vec![Point { x: index as f64, y: bar.relative, half: bar.half }]
            };
            bars.map(point).collect()
        };
        let series = Series {
            label: String::new(),
            solid: of(&[Some(EngineName::Sim), None]),
            dashed: of(&[Some(EngineName::Model)]),
            crosses: of(&[Some(EngineName::Lab)]),
        };
        let words_if = |line: &Line, words: &str| {
            if line.is_empty() { String::new() } else { words.to_owned() }
        };
        let has_engines = bars.iter().any(|bar| bar.point.engine.is_some());
        let legend = Legend {
            solid: words_if(&series.solid, if has_engines { "sim" } else { "mean" }),
            dashed: words_if(&series.dashed, "model"),
            crosses: words_if(&series.crosses, "lab"),
            band: "95% interval, paired by equal seeds".to_owned(),
        };
        let keys = self.keys_of_all();
        let label = |bar: &Bar<'_>| match keys {
            Some(_) => {
                words_of(bar.point.point.iter().map(|(key, value)| words::value(key, value)))
            }
            None => bar.name.clone(),
        };
        let ticks = bars.iter().enumerate();
        let ticks = ticks.map(|(index, bar)| Tick { at: index as f64, label: label(bar) });
        let what =
            if self.matched.points.len() == 1 { "Difference" } else { "Difference of goodput" };
        let [a, b] = &self.names;
        Some(Chart {
            title: format!("{what}, B ÷ A − 1"),
            subtitle: format!("A: {a}, B: {b}"),
            x: Axis {
                title: words_of(keys.iter().flatten().map(|key| words::title(key))),
                spacing: Spacing::Categories,
                ticks: ticks.collect(),
                write: words::digits,
            },
            y: Axis {
                title: "B against A, relative".to_owned(),
                spacing: Spacing::Gains,
                ticks: Vec::new(),
                write: gain,
            },
            series_title: String::new(),
            series: vec![series],
            order: Order::Engines,
            marks: Vec::new(),
            marks_title: String::new(),
            legend,
        })
    }
}

fn unfinished_note((folder, rows): &(String, usize)) -> String {
    format!(
        "{folder}: {} of another scenario or point behind those that run.json names: of a run that did not finish, or of one before \
         run.json's last; the command of `maxseg run` that is meant, once more with --out {folder}, decides it",
        counted(*rows as u64, "row")
    )
}

fn program_note(versions: &[Option<String>; 2]) -> String {
    let versions = match versions {
        [Some(a), Some(b)] => format!(" ({a}, {b})"),
        [..] => String::new(),
    };
    format!(
        "the scenarios are equal and the experiments are not: made by other versions of maxseg{versions}, or with another stack file; \
         what differs may be the program's"
    )
}

/// Whether a number is the same in all runs.
fn are_equal(rows: &[&Row], number: impl Fn(&Outcome) -> Option<f64>) -> bool {
    let bits = |row: &&Row| number(&row.outcome).map(f64::to_bits);
    rows.windows(2).all(|pair| bits(&pair[0]) == bits(&pair[1]))
}

/// Several words of an axis.
fn words_of(words: impl Iterator<Item = String>) -> String {
    words.collect::<Vec<_>>().join(", ")
}

/// A difference in a picture.
struct Bar<'a> {
    point: &'a MatchedPoint,
    name: String,
    relative: f64,
    half: f64,
}

/// A value of a scenario in words; `–` where a side does not have the key.
pub(super) fn setting(value: &Value) -> String {
    match value {
        Value::Null => "–".to_owned(),
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

impl RunPairing {
    /// The keys of the scenarios that differ, each with both values in words.
    pub fn changes(&self) -> Vec<(&str, [String; 2])> {
        let changed = self.matched.changed.iter();
        changed
            .map(|(key, values)| (key.as_str(), [setting(&values[0]), setting(&values[1])]))
            .collect()
    }
}
