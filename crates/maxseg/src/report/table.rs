//! Results on a terminal: a matrix for two axes, a long table otherwise.

use comfy_table::{Cell, CellAlignment, ContentLineStyle, LineStyle, Table, TableStyle};
use maxseg_core::advise::is_size_key;
use maxseg_core::engine::EngineName;
use maxseg_core::results::{Group, Row, groups};
use serde_json::{Map, Value};

use super::words;
use crate::printer::Printer;

/// What the rows say.
pub(crate) fn table(rows: &[Row], printer: Printer) -> String {
    let groups = groups(rows);
    let axes: Vec<String> =
        groups.first().map(|group| group.point.keys().cloned().collect()).unwrap_or_default();
    match axes.as_slice() {
        [a, b] if !printer.is_verbose() => {
            let (down, across) = if is_size_key(a) { (a, b) } else { (b, a) };
            let engines = engines(&groups);
            let matrices = engines.iter().map(|engine| {
                let heading = format!(
                    "Goodput by {engine}: {} down, {} across",
                    words::title(down),
                    words::title(across)
                );
                let heading = printer.bold(&heading);
                format!("{heading}\n{}\n", matrix(&groups, *engine, down, across))
            });
            let footnote = "* best of its column";
            let doubt =
                if rows.iter().any(is_doubtful) { ", ~ outside the formula's range" } else { "" };
            format!("{}{footnote}{doubt}\n", matrices.collect::<Vec<_>>().join("\n"))
        }
        _ => format!("{}\n", long(&groups, &axes)),
    }
}

fn engines(groups: &[Group<'_>]) -> Vec<EngineName> {
    let mut engines: Vec<EngineName> = groups.iter().map(|group| group.engine).collect();
    engines.sort_unstable();
    engines.dedup();
    engines
}

/// A table with a line below its header and no others.
pub(crate) fn plain() -> Table {
    const STYLE: TableStyle = TableStyle::new()
        .header_separator(LineStyle::new('─', '─', '─', '─'))
        .header_lines(ContentLineStyle::new(' ', ' ', ' '))
        .content_lines(ContentLineStyle::new(' ', ' ', ' '));
    let mut table = Table::new();
    table.load_style(STYLE);
    table
}

/// A cell for a number.
pub(crate) fn right(text: impl Into<String>) -> Cell {
    Cell::new(text.into()).set_alignment(CellAlignment::Right)
}

/// Whether a formula was used where it does not hold.
pub(super) fn is_doubtful(row: &Row) -> bool {
    row.caveats.iter().any(|caveat| caveat.code == "outside-range")
}

/// One engine's goodput: `down` the rows, `across` the columns, the best of each column marked.
fn matrix(groups: &[Group<'_>], engine: EngineName, down: &str, across: &str) -> Table {
    let of_engine: Vec<&Group<'_>> = groups.iter().filter(|group| group.engine == engine).collect();
    let values = |key: &str| {
        let mut values: Vec<&Value> = Vec::new();
        for value in of_engine.iter().filter_map(|group| group.point.get(key)) {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        values
    };
    let (rows, columns) = (values(down), values(across));
    let at = |row: &Value, column: &Value| {
        let here = |group: &&&Group<'_>| {
            group.point.get(down) == Some(row) && group.point.get(across) == Some(column)
        };
        let group = of_engine.iter().find(here)?;
        Some((group.goodput()?.mean, group.rows.iter().any(|row| is_doubtful(row))))
    };
    let mut table = plain();
    let titles = columns.iter().map(|column| right(words::value(across, column)));
    table.set_header(std::iter::once(Cell::new("")).chain(titles));
    for row in &rows {
        let cells = columns.iter().map(|column| {
            let means = rows.iter().filter_map(|other| at(other, column)).map(|(mean, _)| mean);
            let best = means.fold(0.0, f64::max);
            let Some((mean, doubtful)) = at(row, column) else { return right("-") };
            let star = if mean >= best { "*" } else { "" };
            let doubt = if doubtful { "~" } else { "" };
            right(format!("{star}{doubt}{}", words::rate(mean)))
        });
        table.add_row(std::iter::once(right(words::value(down, row))).chain(cells));
    }
    table
}

/// A line a point: all engines side by side.
fn long(groups: &[Group<'_>], axes: &[String]) -> Table {
    let engines = engines(groups);
    let mut points: Vec<&Map<String, Value>> = Vec::new();
    for group in groups {
        if !points.contains(&group.point) {
            points.push(group.point);
        }
    }
    let both = engines.contains(&EngineName::Model) && engines.contains(&EngineName::Sim);
    let mut header: Vec<Cell> = axes.iter().map(|axis| right(words::title(axis))).collect();
    header.extend(engines.iter().map(|engine| right(format!("goodput by {engine}"))));
    if both {
        header.push(right("model/sim"));
    }
    for title in ["RTT", "queue", "segments lost", "resent", "timeouts"] {
        header.push(right(title));
    }
    header.push(Cell::new("limited by"));
    let mut table = plain();
    table.set_header(header);
    for point in points {
        let here = |engine: EngineName| {
            groups.iter().find(|group| group.engine == engine && group.point == point)
        };
        let mut row: Vec<Cell> =
            point.iter().map(|(key, value)| right(words::value(key, value))).collect();
        row.extend(engines.iter().map(|engine| right(here(*engine).map_or_else(dash, goodput))));
        if both {
            row.push(right(ratio(here(EngineName::Model), here(EngineName::Sim))));
        }
        // Of the engine that knows most.
        row.extend(details(engines.last().and_then(|engine| here(*engine))));
        table.add_row(row);
    }
    table
}

fn dash() -> String {
    "-".to_owned()
}

/// The mean with its confidence interval, where there are several runs.
fn goodput(group: &Group<'_>) -> String {
    let Some(summary) = group.goodput() else { return dash() };
    match summary.ci95() {
        Some(half) if half > 0.0 => {
            format!("{} ±{}", words::rate(summary.mean), words::percent(half / summary.mean))
        }
        Some(_) | None => words::rate(summary.mean),
    }
}

fn ratio(model: Option<&Group<'_>>, sim: Option<&Group<'_>>) -> String {
    match (model.and_then(Group::goodput), sim.and_then(Group::goodput)) {
        (Some(model), Some(sim)) if sim.mean > 0.0 => format!("{:.2}", model.mean / sim.mean),
        _ => dash(),
    }
}

fn details(group: Option<&Group<'_>>) -> Vec<Cell> {
    let Some(group) = group else { return Vec::new() };
    let mean = |of: fn(&maxseg_core::outcome::Outcome) -> Option<f64>, show: fn(f64) -> String| {
        right(group.summary(of).map_or_else(dash, |summary| show(summary.mean)))
    };
    vec![
        mean(|o| o.rtt_mean_s.or(o.ping_mean_s), words::time),
        mean(|o| o.queue_mean_s, words::time),
        mean(|o| o.segment_loss, words::percent),
        mean(|o| o.retransmitted_packets.map(|n| n as f64), words::digits),
        mean(|o| o.timeouts.map(|n| n as f64), words::digits),
        Cell::new(group.limited_by().map_or("-", |limit| limit.word())),
    ]
}
