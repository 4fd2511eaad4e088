//! The report: one page that needs no network, and can be read without its script.

use std::collections::BTreeSet;

use maud::{Markup, html};
use maxseg_core::advise::{SegmentSizeAdvice, is_size_key};
use maxseg_core::engine::EngineName;
use maxseg_core::results::{Group, groups};
use maxseg_core::scenario::Scenario;
use serde_json::{Map, Value};

use super::as_netem::{WHY, shows_both};
use super::axes::{identity, keys, value_used};
use super::conclusion::conclusion;
use super::document::{AdviceEntry, Document};
use super::figures::{figures_of, figures_of_flows};
use super::flows::flow_lines;
use super::heat::heat_maps;
use super::lab_page::lab_section;
use super::marks::{goodput_title, invalid_lines, mark_notes};
use super::metrics::{METRICS, Metric};
use super::page::{facts, lead, prose, titled_list, whole_page};
use super::quantity::Quantity;
use super::table::{Cell, Column, Line, table};
use super::{Figures, Swept, caveat_lines, size_lines, words};
use crate::file_error::for_shell;

/// The page of a document.
pub fn page(
    document: &Document,
    text: &str,
    swept: Swept<'_>,
    advice: &[SegmentSizeAdvice],
) -> String {
    whole_page(name(document), &report(document, text, swept, advice))
}

/// What a scenario calls itself.
fn name(document: &Document) -> &str {
    match word(document, "name") {
        "" => "A scenario without a name",
        name => name,
    }
}

fn word<'a>(document: &'a Document, key: &str) -> &'a str {
    document.scenario.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// The report below its title.
pub(super) fn report(
    document: &Document,
    text: &str,
    swept: Swept<'_>,
    advice: &[SegmentSizeAdvice],
) -> Markup {
    let groups = groups(&document.rows);
    let about = word(document, "about").trim();
    let sizes = size_lines(&document.rows, advice, swept);
    html! {
        (lead(&conclusion(&groups, swept)))
        @if !swept.is_complete {
            p.prose { strong { "Interrupted: some runs are missing, so that nothing is marked as the best." } " The same command goes on from here." }
        }
        @if !about.is_empty() { p.about { (about) } }
        (titled_list("Best segment size", &sizes))
        (pictures("Goodput", Quantity::Goodput, &groups, swept))
        (pictures("Round trips under load", Quantity::Ping, &groups, swept))
        (results(&groups, document))
        (titled_list("Invalid runs", &invalid_lines(&document.rows)))
        @if shows_both(&groups) { h2 { "Loss as netem's and loss on a wire" } (prose(&WHY.join(" "))) }
        (flows(&groups, swept))
        (lab_section(&groups))
        (titled_list("Caveats", &caveat_lines(&document.rows)))
        (again(document, text))
    }
}

/// The charts and maps of a number.
fn pictures(title: &str, quantity: Quantity, groups: &[Group<'_>], swept: Swept<'_>) -> Markup {
    let figures = figures_of(quantity, groups, swept);
    let maps = heat_maps(quantity, groups, swept);
    html! {
        @if !figures.charts.is_empty() || !maps.is_empty() {
            h2 { (title) }
            (charts(&figures))
            @for map in &maps { (map.to_html()) }
        }
    }
}

fn charts(Figures { charts, left_out }: &Figures) -> Markup {
    html! {
        @if *left_out > 0 {
            p { "The first " (charts.len()) " of " (charts.len() + left_out) " pictures; the table below has everything." }
        }
        @for chart in charts { (chart.to_html()) }
    }
}

/// Every engine and point, with all that is known of it.
fn results(groups: &[Group<'_>], document: &Document) -> Markup {
    let axes = keys(groups);
    let is_known = |metric: &&Metric| groups.iter().any(|g| metric.mean(g).is_some());
    let metrics: Vec<&Metric> = METRICS.iter().filter(is_known).collect();
    let title = |metric: &Metric| {
        if metric.is_goodput() { goodput_title(groups) } else { metric.title.to_owned() }
    };
    let has_formula = groups.iter().any(|group| formula(group).is_some());
    let columns: Vec<Column> = axis_columns(groups, &axes)
        .chain([Column::word("engine"), Column::number("runs")])
        .chain(metrics.iter().map(|metric| Column::number(title(metric)).with_hint(metric.key)))
        .chain(has_formula.then(|| Column::word("formula")))
        .chain([Column::limit("limited by")])
        .collect();
    let best = best_points(document);
    let line = |group: &Group<'_>| {
        let numbers = metrics.iter().map(|metric| match metric.mean(group) {
            Some(mean) => Cell::number(metric.show(group), mean),
            None => "–".into(),
        });
        let cells: Vec<Cell> = axis_cells(group, &axes)
            .chain([group.engine.to_string().into(), group.rows.len().to_string().into()])
            .chain(numbers)
            .chain(has_formula.then(|| formula(group).unwrap_or("–").into()))
            .chain([group.limited_by().map_or("–", |limit| limit.word()).into()])
            .collect();
        if best.contains(&(group.engine, point_identity(group.point))) {
            Line::best(cells)
        } else {
            Line::from(cells)
        }
    };
    let notes = mark_notes(groups.iter()).join(", ");
    html! {
        h2 { "Results" }
        (table("Results", &columns, groups.iter().map(line)))
        @if !notes.is_empty() { p.note { (notes) } }
    }
}

fn formula<'a>(group: &'a Group<'_>) -> Option<&'a str> {
    group.rows.first()?.outcome.formula.as_deref()
}

/// The swept keys.
fn axis_columns<'a>(
    groups: &'a [Group<'_>],
    axes: &'a [&str],
) -> impl Iterator<Item = Column> + 'a {
    axes.iter().map(move |axis| {
        let mut values = groups.iter().filter_map(|group| group.point.get(*axis));
        let is_number = values.all(|value| words::quantity(axis, value).is_some());
        let column = if is_number { Column::number::<String> } else { Column::word::<String> };
        column(words::title(axis)).with_hint(*axis)
    })
}

/// Their values at a point, sorted by what they measure.
fn axis_cells<'a>(group: &'a Group<'_>, axes: &'a [&str]) -> impl Iterator<Item = Cell> + 'a {
    axes.iter().map(move |axis| {
        let Some(value) = group.point.get(*axis) else { return Cell::from("") };
        let text = value_used([group], axis, value);
        match words::quantity(axis, value) {
            Some((_, number)) => Cell::number(text, number),
            None => text.into(),
        }
    })
}

/// Each flow of every engine and point, where there are several.
fn flows(groups: &[Group<'_>], swept: Swept<'_>) -> Markup {
    let scenario: &Scenario = swept.scenario;
    let flows = flow_lines(groups, scenario);
    let axes = keys(groups);
    let columns: Vec<Column> = axis_columns(groups, &axes)
        .chain([Column::word("engine"), Column::word("flow")])
        .chain(flows.titles.iter().map(|title| Column::number(*title)))
        .chain([Column::limit("limited by")])
        .collect();
    let lines = flows.lines.iter().map(|line| {
        let numbers = line.numbers.iter().zip(&line.values).map(|(text, value)| match value {
            Some(value) => Cell::number(text.clone(), *value),
            None => "–".into(),
        });
        let of = line.of.iter().map(|word| Cell::from(word.clone()));
        of.chain(numbers)
            .chain([if line.limited_by == "-" { "–" } else { line.limited_by }.into()])
            .collect::<Vec<Cell>>()
    });
    html! {
        @if !flows.lines.is_empty() {
            h2 { "Flow by flow" }
            (charts(&figures_of_flows(groups, swept)))
            (table("Flow by flow", &columns, lines))
        }
    }
}

/// The points that the advice is to use, with the engine that says so.
fn best_points(document: &Document) -> BTreeSet<(EngineName, String)> {
    let Some(row) = document.rows.first() else { return BTreeSet::new() };
    let Some(size_key) = row.point.keys().find(|key| is_size_key(key)) else {
        return BTreeSet::new();
    };
    let of = |advice: &AdviceEntry| {
        let mut point = advice.condition.clone();
        point.insert(size_key.clone(), Value::from(advice.best_bytes));
        (advice.engine, point_identity(&point))
    };
    document.advice.iter().map(of).collect()
}

/// A point's values whatever the order of its keys.
fn point_identity(point: &Map<String, Value>) -> String {
    let mut keys: Vec<&str> = point.keys().map(String::as_str).collect();
    keys.sort_unstable();
    identity(point, keys)
}

/// All that is needed to do it again.
fn again(document: &Document, text: &str) -> Markup {
    let environment = &document.environment;
    let unknown = || "unknown".to_owned();
    let command: Vec<String> = environment.command.iter().map(|word| for_shell(word)).collect();
    let mut known = vec![
        ("maxseg", format!("{} ({})", environment.maxseg, environment.commit)),
        ("command", command.join(" ")),
        ("system", environment.system.clone()),
        ("kernel", environment.kernel.clone().unwrap_or_else(unknown)),
        ("processor", environment.cpu.clone().unwrap_or_else(unknown)),
        ("cores", environment.cores.to_string()),
        ("started", environment.started.clone()),
    ];
    if let Some(lab) = &environment.lab {
        known.push(("congestion control", lab.congestion.clone().unwrap_or_else(unknown)));
        known.push(("clock source", lab.clock_source.clone().unwrap_or_else(unknown)));
    }
    html! {
        h2 { "Run it again" }
        (facts(&known))
        p { "The scenario, before what the command line changed:" }
        pre tabindex="0" { code { (text) } }
    }
}
