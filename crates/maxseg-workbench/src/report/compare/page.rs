//! A comparison as a page that needs nothing else.

use maud::{Markup, html};

use super::super::page::{facts, lead, list, whole_page};
use super::super::table::{Cell, Column, table};
use super::super::words::counted;
use super::{CapturePairing, Compared, RunPairing};
use crate::compare::MatchedPoint;

/// Points with a table of their own.
const MOST_POINTS: usize = 60;

/// The page of a comparison.
pub fn page(compared: &Compared<'_>) -> String {
    let (names, body) = match compared {
        Compared::Runs(runs) => (runs.names.clone(), of_runs(runs)),
        Compared::Captures(captures) => (captures.names.map(str::to_owned), of_captures(captures)),
    };
    whole_page(&format!("{} against {}", names[1], names[0]), &body)
}

fn of_runs(runs: &RunPairing) -> Markup {
    let points = &runs.matched.points;
    let changes = runs.changes();
    let changes: Vec<Vec<Cell>> = changes
        .iter()
        .map(|(key, [a, b])| vec![(*key).into(), a.clone().into(), b.clone().into()])
        .collect();
    let columns = ["key", "A", "B"].map(Column::word);
    html! {
        (lead(&runs.conclusion()))
        @if !changes.is_empty() {
            h2 { "What differs in the scenario" }
            (table("What differs in the scenario", &columns, changes))
        }
        (list(&runs.notes()))
        @if let Some(chart) = runs.chart() { (chart.to_html()) }
        @for point in points.iter().take(MOST_POINTS) { (of_point(runs, point)) }
        @if points.len() > MOST_POINTS {
            p.note { "The first " (MOST_POINTS) " of " (points.len()) " tables, one for each point and engine; `maxseg compare --csv` has all." }
        }
    }
}

fn of_point(runs: &RunPairing, point: &MatchedPoint) -> Markup {
    let heading = RunPairing::heading(point);
    let heading = if heading.is_empty() { "All runs" } else { &heading };
    let word = |limit: Option<maxseg_core::outcome::LimitedBy>| {
        limit.map_or("–", |limit| limit.word()).to_owned()
    };
    let limits = RunPairing::limits(point).map(word);
    let change = if limits[0] == limits[1] { "the same" } else { "another" };
    let numbers = runs.lines(point).into_iter().map(|line| {
        let [a, b] = line.means();
        numbers(line.title, [(a, line.difference.a), (b, line.difference.b)], line.shown())
    });
    let lines = [word_line("limited by", limits, change)].into_iter().chain(numbers);
    html! {
        h2 { (heading) }
        p.note { (counted(point.rows[0].len() as u64, "run")) " of A, " (point.rows[1].len()) " of B." }
        (table(heading, &sides("B against A (95%)"), lines))
    }
}

fn of_captures(captures: &CapturePairing<'_>) -> Markup {
    let [a, b] = captures.ends();
    let lines = captures.lines().into_iter().map(|line| {
        let [a, b] = line.texts();
        numbers(line.title, [(a, None), (b, None)], line.change())
    });
    let limit = word_line("limited by", captures.limits(), captures.limit_change());
    let ending = word_line("ending", captures.endings(), captures.ending_change());
    html! {
        (lead(&conclusion(captures)))
        (facts(&[("A", a), ("B", b)]))
        (table("A and B", &sides("B against A"), [limit, ending].into_iter().chain(lines)))
        (list(&captures.cautions()))
    }
}

/// What became of goodput and limit.
fn conclusion(captures: &CapturePairing<'_>) -> String {
    let lines = captures.lines();
    let goodput = lines.iter().find(|line| line.title == "goodput").map(|line| {
        let [a, b] = line.texts();
        format!("Goodput of B against A: {} ({b} and {a})", line.change())
    });
    let [a, b] = captures.limits();
    let limits = format!("B is limited by {b}, A by {a}");
    goodput.into_iter().chain([limits]).collect::<Vec<_>>().join("; ") + "."
}

/// The columns of both sides.
fn sides(difference: &str) -> [Column; 4] {
    [Column::word("number"), Column::number("A"), Column::number("B"), Column::number(difference)]
}

fn numbers(title: &str, sides: [(String, Option<f64>); 2], difference: String) -> Vec<Cell> {
    let side = |(text, value): (String, Option<f64>)| match value {
        Some(value) => Cell::number(text, value),
        None => text.into(),
    };
    let [a, b] = sides.map(side);
    vec![title.into(), a, b, difference.into()]
}

fn word_line(title: &str, [a, b]: [String; 2], change: &str) -> Vec<Cell> {
    vec![title.into(), a.into(), b.into(), change.into()]
}
