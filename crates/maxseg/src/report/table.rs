//! Results on a terminal: a matrix for two axes with a line a point below, a long table otherwise.

use std::collections::BTreeMap;

use maxseg_core::advise::is_size_key;
use maxseg_core::engine::EngineName;
use maxseg_core::results::Group;

use super::grid::{Column, Grid};
use super::matrix::{Matrix, Measure};
use crate::printer::Printer;
use crate::wrap::wrapped;
use maxseg_workbench::report::axes::{identity, keys, value_used};
use maxseg_workbench::report::marks::{mark, mark_notes};
use maxseg_workbench::report::{numbers_of_runs, words};

/// What the groups say; the best of a column is marked where they are all of their sweep.
pub(super) fn table(groups: &[Group<'_>], is_complete: bool, printer: Printer) -> String {
    let axes = keys(groups);
    let (mut text, has_star) = match axes.as_slice() {
        [a, b] if are_matrices(groups, &axes, printer) => {
            let (down, across) = if goes_down(a, b) { (a, b) } else { (b, a) };
            matrices(groups, (down, across), is_complete, printer)
        }
        _ => (long(groups, &axes).text(printer.table_width()), false),
    };
    let is_long = !are_matrices(groups, &axes, printer);
    let details = is_long.then(|| note_of_details(groups)).flatten();
    let star = has_star.then(|| "* best of its column".to_owned());
    let notes: Vec<String> =
        star.into_iter().chain(mark_notes(groups.iter())).chain(details).collect();
    if !notes.is_empty() {
        text += &wrapped(&notes.join(", "), printer.width(), "");
    }
    text
}

/// Whether two axes make matrices.
fn are_matrices(groups: &[Group<'_>], axes: &[&str], printer: Printer) -> bool {
    axes.len() == 2 && !printer.is_verbose() && !has_lines(groups)
}

/// Up to so many points of a lab have a line each: what they cost, and how they compare, stands beside them.
const FEW_POINTS: usize = 12;

/// Whether every point has a line, also where two axes could make a matrix: few of a lab, and what was measured, which
/// is to be seen beside the engines.
fn has_lines(groups: &[Group<'_>]) -> bool {
    let of = |engine| groups.iter().filter(|group| group.engine == engine).count();
    (1..=FEW_POINTS).contains(&of(EngineName::Lab)) || of(EngineName::Measured) > 0
}

/// A number and whose it is.
fn title_of(number: &str, engine: EngineName) -> String {
    match engine {
        EngineName::Measured => format!("{number} measured"),
        EngineName::Model | EngineName::Sim | EngineName::Lab => format!("{number} by {engine}"),
    }
}

/// Whether the first of two axes is the one to choose from: a size, or else a setting.
fn goes_down(a: &str, b: &str) -> bool {
    is_size_key(a) || (!is_size_key(b) && words::is_setting(a) && !words::is_setting(b))
}

/// A matrix for each measure and engine, and whether the best of their columns are marked.
fn matrices(
    groups: &[Group<'_>],
    (down, across): (&str, &str),
    is_complete: bool,
    printer: Printer,
) -> (String, bool) {
    let mut has_star = false;
    let mut texts = Vec::new();
    for measure in Measure::known(groups) {
        for engine in engines(groups) {
            let of_engine: Vec<_> = groups.iter().filter(|group| group.engine == engine).collect();
            let matrix = Matrix::new(measure, &of_engine, (down, across), is_complete);
            has_star |= matrix.marks_the_best();
            let (down, across) = (words::title(down), words::title(across));
            let heading = format!("{} by {engine}: {down} down, {across} across", measure.title());
            let heading = wrapped(&heading, printer.width(), "");
            let table = matrix.table().text(printer.table_width());
            texts.push(format!("{}\n{table}", printer.bold(heading.trim_end())));
        }
    }
    (texts.join("\n"), has_star)
}

/// Below matrices so many points have a line each with all else that is known of them.
const MOST_DETAILS: usize = 24;

/// What matrices leave out, below them: a line a point, by the engine that knows most. Empty where there are none.
pub(super) fn details(groups: &[Group<'_>], printer: Printer) -> String {
    let axes = keys(groups);
    if !are_matrices(groups, &axes, printer) {
        return String::new();
    }
    let known = [EngineName::Lab, EngineName::Sim, EngineName::Model];
    let engine = known.into_iter().find(|engine| groups.iter().any(|it| it.engine == *engine));
    let Some(engine) = engine else { return String::new() };
    let own: Vec<Group<'_>> = groups.iter().filter(|it| it.engine == engine).cloned().collect();
    if own.len() > MOST_DETAILS {
        let text = format!(
            "Round trips, losses and limits of {} points: -v has a line for each, and --json, --csv and the report of --out DIR",
            own.len()
        );
        return format!("\n{}", wrapped(&text, printer.width(), ""));
    }
    format!(
        "\n{}\n{}",
        printer.bold(&format!("Each point by {engine}")),
        long(&own, &axes).text(printer.table_width())
    )
}

fn engines(groups: &[Group<'_>]) -> Vec<EngineName> {
    let mut engines: Vec<EngineName> = groups.iter().map(|group| group.engine).collect();
    engines.sort_unstable();
    engines.dedup();
    engines
}

/// A line a point: all engines side by side.
fn long(groups: &[Group<'_>], axes: &[&str]) -> Grid {
    let engines = engines(groups);
    let mut order: Vec<String> = Vec::new();
    let mut points: BTreeMap<String, BTreeMap<EngineName, &Group<'_>>> = BTreeMap::new();
    for group in groups {
        let point = identity(group.point, axes.iter().copied());
        let here = points.entry(point.clone()).or_default();
        if here.is_empty() {
            order.push(point);
        }
        here.insert(group.engine, group);
    }
    let ratios = ratios(&engines);
    let details = numbers_of_runs(groups);
    let has_requests = groups.iter().any(|group| request_time(group) != dash());
    let asking: &[EngineName] = if has_requests { &engines } else { &[] };
    let goodputs = engines.iter().map(|engine| Column::number(title_of("goodput", *engine)));
    let held = ratios.iter().map(|(of, to)| Column::number(format!("{of}/{to}")));
    let requests = asking.iter().map(|engine| Column::number(title_of("request", *engine)));
    let known = details.iter().map(|detail| Column::number(detail.title));
    let values = goodputs.chain(held).chain(requests).chain(known);
    let keys = axes.iter().map(|axis| Column::number(words::title(axis)));
    let mut table = Grid::new(keys, values.chain([Column::word("limited by")]));
    for here in order.iter().filter_map(|point| points.get(point)) {
        let of = |engine: EngineName| here.get(&engine).copied();
        let Some(best) = knows_most(here) else { continue };
        let point = best.point.iter().map(|(key, value)| value_used([best], key, value));
        let goodputs = engines.iter().map(|engine| of(*engine).map_or_else(dash, goodput));
        let held = ratios.iter().map(|(a, b)| ratio(of(*a), of(*b)));
        let requests = asking.iter().map(|engine| of(*engine).map_or_else(dash, request_time));
        let known = details.iter().map(|detail| detail.mean(best).unwrap_or_else(dash));
        let limit = best.limited_by().map_or("-", |limit| limit.word());
        let values = goodputs.chain(held).chain(requests).chain(known);
        table.push(point.chain(values).chain([limit.to_owned()]));
    }
    table
}

/// Which goodputs are held against each other: the others' against the simulator's, or without it against the lab's.
fn ratios(engines: &[EngineName]) -> Vec<(EngineName, EngineName)> {
    use EngineName::{Lab, Measured, Model, Sim};
    let to = if engines.contains(&Sim) { Sim } else { Lab };
    let pairs = [Model, Lab, Measured].map(|of| (of, to));
    let both =
        |(a, b): &(EngineName, EngineName)| a != b && engines.contains(a) && engines.contains(b);
    pairs.into_iter().filter(both).collect()
}

/// Whose details stand behind the goodputs: the lab's where it has any, then the simulator's; what was measured on a path
/// is least.
fn knows_most<'a>(here: &BTreeMap<EngineName, &'a Group<'a>>) -> Option<&'a Group<'a>> {
    let knows = |group: &&&Group<'_>| group.summary(|outcome| outcome.elapsed_s).is_some();
    let run = |group: &&&Group<'_>| group.engine != EngineName::Measured;
    let runs = || here.values().rev().filter(run);
    runs().find(knows).or_else(|| runs().next()).or_else(|| here.values().next()).copied()
}

/// Whose these are has to be said where the lab stands beside others.
fn note_of_details(groups: &[Group<'_>]) -> Option<String> {
    let engines = engines(groups);
    let is_beside = |engine| engines.contains(&engine) && engines.len() > 1;
    let whose = if is_beside(EngineName::Lab) {
        "the lab where it has numbers"
    } else if is_beside(EngineName::Measured) && engines.contains(&EngineName::Sim) {
        "the simulator"
    } else {
        return None;
    };
    Some(format!("columns without an engine: {whose}"))
}

fn dash() -> String {
    "-".to_owned()
}

/// The mean with its confidence interval, where there are several runs.
fn goodput(group: &Group<'_>) -> String {
    let Some(summary) = group.goodput() else { return dash() };
    let mean = format!("{}{}", mark(group), words::rate(summary.mean));
    match summary.ci95() {
        Some(half) if half > 0.0 => format!("{mean} ±{}", words::percent(half / summary.mean)),
        Some(_) | None => mean,
    }
}

/// The mean time from request to reply.
fn request_time(group: &Group<'_>) -> String {
    let time = |mean: f64| format!("{}{}", mark(group), words::time(mean));
    let summary = group.summary(|outcome| outcome.request_mean_s);
    summary.map_or_else(dash, |summary| time(summary.mean))
}

fn ratio(of: Option<&Group<'_>>, to: Option<&Group<'_>>) -> String {
    match (of.and_then(Group::goodput), to.and_then(Group::goodput)) {
        (Some(of), Some(to)) if to.mean > 0.0 => format!("{:.2}", of.mean / to.mean),
        _ => dash(),
    }
}
