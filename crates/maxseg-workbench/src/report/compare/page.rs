//! A comparison as a page that needs nothing else.

use std::fmt::Write as _;

use super::super::escaped::Escaped;
use super::super::html::whole_page;
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
    let title = format!("{} against {}", names[1], names[0]);
    whole_page(&title, &body)
}

fn of_runs(runs: &RunPairing) -> String {
    let mut text =
        format!("<p class=\"prose\"><strong>{}</strong></p>\n", Escaped(&runs.conclusion()));
    text += &changes(runs);
    text += &list(&runs.notes());
    text.extend(runs.chart().map(|chart| chart.to_svg(false)));
    let points = &runs.matched.points;
    text.extend(points.iter().take(MOST_POINTS).map(|point| of_point(runs, point)));
    if points.len() > MOST_POINTS {
        let _ = writeln!(
            text,
            "<p class=\"note\">The first {MOST_POINTS} of {} points; `maxseg compare --csv` has all.</p>",
            points.len()
        );
    }
    text
}

fn changes(runs: &RunPairing) -> String {
    let changes = runs.changes();
    if changes.is_empty() {
        return String::new();
    }
    let rows = changes.iter().map(|(key, [a, b])| [(*key).to_owned(), a.clone(), b.clone()]);
    format!("<h2>What differs in the scenario</h2>\n{}", table(&["key", "A", "B"], rows))
}

fn of_point(runs: &RunPairing, point: &MatchedPoint) -> String {
    let heading = RunPairing::heading(point);
    let heading = if heading.is_empty() { "All runs" } else { &heading };
    let word = |limit: Option<maxseg_core::outcome::LimitedBy>| {
        limit.map_or("–", |limit| limit.word()).to_owned()
    };
    let [a, b] = RunPairing::limits(point).map(word);
    let change = if a == b { "the same" } else { "another" };
    let numbers = runs.lines(point).into_iter().map(|line| {
        let [a, b] = line.means();
        [line.title.to_owned(), a, b, line.shown()]
    });
    let limit = ["limited by".to_owned(), a, b, change.to_owned()];
    format!(
        "<h2>{}</h2>\n<p class=\"note\">{} runs of A, {} of B.</p>\n{}",
        Escaped(heading),
        point.rows[0].len(),
        point.rows[1].len(),
        table(&["", "A", "B", "B against A (95%)"], numbers.chain([limit]))
    )
}

fn of_captures(captures: &CapturePairing<'_>) -> String {
    let [a, b] = captures.ends();
    let mut text =
        format!("<dl><dt>A</dt><dd>{}</dd><dt>B</dt><dd>{}</dd></dl>\n", Escaped(&a), Escaped(&b));
    let [limit_a, limit_b] = captures.limits();
    let limit = ["limited by".to_owned(), limit_a, limit_b, captures.limit_change().to_owned()];
    let numbers = captures.lines().into_iter().map(|line| {
        let [a, b] = line.texts();
        [line.title.to_owned(), a, b, line.change()]
    });
    text += &table(&["", "A", "B", "B against A"], [limit].into_iter().chain(numbers));
    text + &list(&captures.cautions())
}

/// A table whose first column is words.
fn table<const N: usize>(heads: &[&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let class = |index: usize| if index == 0 { " class=\"word\"" } else { "" };
    let cells = |tag: &str, cells: &[String]| -> String {
        let cell = |(index, cell): (usize, &String)| {
            format!("<{tag}{}>{}</{tag}>", class(index), Escaped(cell))
        };
        cells.iter().enumerate().map(cell).collect()
    };
    let heads: Vec<String> = heads.iter().map(|head| (*head).to_owned()).collect();
    let body: String = rows.map(|row| format!("<tr>{}</tr>\n", cells("td", &row))).collect();
    format!(
        "<div class=\"wide\"><table>\n<thead><tr>{}</tr></thead>\n<tbody>\n{body}</tbody>\n</table></div>\n",
        cells("th", &heads)
    )
}

fn list(lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let items: String = lines.iter().map(|line| format!("<li>{}</li>\n", Escaped(line))).collect();
    format!("<ul>\n{items}</ul>\n")
}
