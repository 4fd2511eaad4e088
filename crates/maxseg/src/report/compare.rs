//! A comparison on a terminal: a table for each point, and a picture of the intervals.

use std::fmt::Write as _;

use maxseg_core::outcome::LimitedBy;
use maxseg_workbench::compare::MatchedPoint;
use maxseg_workbench::report::compare::{CapturePairing, Compared, RunPairing};
use maxseg_workbench::report::words;

use super::grid::{Column, Grid};
use crate::printer::Printer;
use crate::wrap::{hanging, wrapped};

/// Points with a table of their own; more have a line each.
const FEW_POINTS: usize = 4;
/// Width of the picture, without names and numbers.
const PICTURE: usize = 41;
/// The relative difference at which the picture's axis ends at the latest.
const FARTHEST: f64 = 1.0;
/// Rows of the picture.
const MOST_BARS: usize = 30;

/// What a comparison says.
pub(crate) fn compared_text(compared: &Compared<'_>, printer: Printer) -> String {
    match compared {
        Compared::Runs(runs) => of_runs(runs, printer),
        Compared::Captures(captures) => of_captures(captures, printer),
    }
}

fn of_runs(runs: &RunPairing, printer: Printer) -> String {
    let [a, b] = &runs.names;
    let mut text = wrapped(&runs.conclusion(), printer.width(), "");
    let _ = writeln!(text, "\nA: {a}\nB: {b}");
    for (key, [a, b]) in runs.changes() {
        let _ = writeln!(text, "   {key}: {a} → {b}");
    }
    let points = &runs.matched.points;
    if points.len() <= FEW_POINTS || printer.is_verbose() {
        for point in points {
            text += &of_point(runs, point, printer);
        }
    } else {
        text += &goodputs(runs, printer);
    }
    text += &picture(runs);
    for note in runs.notes() {
        text += &hanging(&format!("note: {note}"), printer.width(), "      ");
    }
    text
}

/// A line for each number of a point.
fn of_point(runs: &RunPairing, point: &MatchedPoint, printer: Printer) -> String {
    let heading = RunPairing::heading(point);
    let mut grid = Grid::new(
        [Column::word(if heading.is_empty() { "all runs".to_owned() } else { heading })],
        [Column::number("A"), Column::number("B"), Column::word("B against A (95%)")],
    );
    for line in runs.lines(point) {
        let [a, b] = line.means();
        grid.push([line.title.to_owned(), a, b, line.cell()]);
    }
    let word = |limit: Option<LimitedBy>| limit.map_or("–", LimitedBy::word).to_owned();
    let [a, b] = RunPairing::limits(point).map(word);
    let change = if a == b { "the same" } else { "another" };
    grid.push(["limited by".to_owned(), a, b, change.to_owned()]);
    format!("\n{}", grid.text(printer.table_width()))
}

/// A line for the goodput of each point.
fn goodputs(runs: &RunPairing, printer: Printer) -> String {
    let mut grid = Grid::new(
        [Column::word("goodput")],
        [Column::number("A"), Column::number("B"), Column::word("B against A (95%)")],
    );
    for point in &runs.matched.points {
        let lines = runs.lines(point);
        let Some(line) = lines.iter().find(|line| line.key == "goodput_bps") else { continue };
        let [a, b] = line.means();
        grid.push([RunPairing::heading(point), a, b, line.cell()]);
    }
    format!("\n{}", grid.text(printer.table_width()))
}

/// The relative differences with their intervals, around a line at zero. The axis ends at the doubling at the latest, as nothing
/// is less than -100%: one number that is many times the other would leave all others at zero.
fn picture(runs: &RunPairing) -> String {
    let bars = runs.bars();
    let reach =
        bars.iter().map(|(_, relative, half)| relative.abs() + half).fold(0.0_f64, f64::max);
    let reach = reach.min(FARTHEST);
    if bars.is_empty() || bars.len() > MOST_BARS || !reach.is_finite() || reach <= 0.0 {
        return String::new();
    }
    let width = bars.iter().map(|(name, ..)| name.chars().count()).max().unwrap_or(0);
    let has_interval = bars.iter().any(|(_, _, half)| *half > 0.0);
    let mut text = String::from("\nB against A");
    text += if has_interval { ", with the 95% interval:\n" } else { ":\n" };
    for (name, relative, half) in &bars {
        let line = bar(*relative, *half, reach);
        let _ = writeln!(text, "  {name:width$}  {line}  {}", words::gain(*relative));
    }
    let side = words::percent(reach);
    let _ = writeln!(text, "  {:width$}  -{side:<19} 0 {:>18}", "", format!("+{side}"));
    text
}

/// One interval: `├──●──┤`, with `│` at zero; `◀` and `▶` where it goes on beyond the axis, or the difference is there.
fn bar(relative: f64, half: f64, reach: f64) -> String {
    let place = |value: f64| {
        let share = (value / reach).clamp(-1.0, 1.0);
        column(f64::midpoint(share, 1.0) * (PICTURE - 1) as f64)
    };
    let mut line = vec![' '; PICTURE];
    let (from, to) = (place(relative - half), place(relative + half));
    line[place(0.0)] = '│';
    if to > from {
        line[from..=to].fill('─');
        line[from] = if relative - half < -reach { '◀' } else { '├' };
        line[to] = if relative + half > reach { '▶' } else { '┤' };
    }
    line[place(relative)] = if relative > reach { '▶' } else { '●' };
    line.into_iter().collect()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a column of the picture, from 0 to its width"
)]
fn column(place: f64) -> usize {
    (place.round() as usize).min(PICTURE - 1)
}

fn of_captures(captures: &CapturePairing<'_>, printer: Printer) -> String {
    let [a, b] = captures.ends();
    let mut text = format!("A: {a}\nB: {b}\n\n");
    let mut grid = Grid::new(
        [Column::word("")],
        [Column::number("A"), Column::number("B"), Column::word("B against A")],
    );
    let [limit_a, limit_b] = captures.limits();
    grid.push(["limited by".to_owned(), limit_a, limit_b, captures.limit_change().to_owned()]);
    let [ending_a, ending_b] = captures.endings();
    grid.push(["ending".to_owned(), ending_a, ending_b, captures.ending_change().to_owned()]);
    for line in captures.lines() {
        let [a, b] = line.texts();
        grid.push([line.title.to_owned(), a, b, line.change()]);
    }
    text += &grid.text(printer.table_width());
    text.push('\n');
    for caution in captures.cautions() {
        text += &hanging(&format!("note: {caution}"), printer.width(), "      ");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_that_goes_on_is_not_closed() {
        let ends = |relative: f64, half: f64| {
            let bar = bar(relative, half, 1.0);
            let bar = bar.trim();
            (bar.chars().next().unwrap(), bar.chars().last().unwrap())
        };
        let cases = [
            (0.0, 0.5, ('├', '┤')),
            (0.4, 0.8, ('├', '▶')),
            (0.0, 3.0, ('◀', '▶')),
            (1.5, 0.1, ('│', '▶')),
        ];
        for (relative, half, want) in cases {
            assert_eq!(ends(relative, half), want, "{relative} ± {half}");
        }
    }
}
