//! The report: one page that needs nothing else, neither network nor scripts.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use maxseg_core::advise::{SegmentSizeAdvice, is_size_key};
use maxseg_core::engine::EngineName;
use maxseg_core::results::{Group, groups};
use maxseg_core::scenario::Scenario;
use serde_json::{Map, Value};

use super::as_netem::{WHY, shows_both};
use super::axes::{identity, keys, value_used};
use super::chart::HeatMap;
use super::document::{AdviceEntry, Document};
use super::escaped::Escaped;
use super::flows::{flow_heads, flow_lines};
use super::heat::heat_maps;
use super::lab_page::lab_section;
use super::marks::{goodput_title, invalid_lines, mark_notes};
use super::metrics::{METRICS, Metric};
use super::{Figures, Swept, caveat_lines, figures, size_lines, words};

/// The style sheet of every page.
pub(super) const STYLE: &str = include_str!("report.css");

/// A page of this body below its title.
pub(super) fn whole_page(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
         <title>{0}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{0}</h1>\n{body}</main>\n</body>\n</html>\n",
        Escaped(title)
    )
}

/// The page of a document.
pub fn page(
    document: &Document,
    text: &str,
    swept: Swept<'_>,
    advice: &[SegmentSizeAdvice],
) -> String {
    let groups = groups(&document.rows);
    let word = |key: &str| document.scenario.get(key).and_then(Value::as_str).unwrap_or_default();
    let name = match word("name") {
        "" => "A scenario without a name",
        name => name,
    };
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
         <title>{0}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{0}</h1>\n",
        Escaped(name)
    );
    if !word("about").is_empty() {
        let _ = writeln!(page, "<p class=\"about\">{}</p>", Escaped(word("about").trim()));
    }
    if !swept.is_complete {
        page += "<p><strong>Interrupted: some runs are missing, so that nothing is marked as the best.</strong> The same command goes on from here.</p>\n";
    }
    page += &list("Best segment size", &size_lines(&document.rows, advice, swept));
    page += &pictures(&figures(&document.rows, swept));
    page.extend(heat_maps(&document.rows, swept).iter().map(HeatMap::to_svg));
    page += &results(&groups, document);
    page += &list("Invalid runs", &invalid_lines(&document.rows));
    if shows_both(&groups) {
        let _ = writeln!(
            page,
            "<h2>Loss as netem's and loss on a wire</h2>\n<p class=\"prose\">{}</p>",
            Escaped(&WHY.join(" "))
        );
    }
    page += &flows(&groups, swept.scenario);
    page += &lab_section(&groups);
    page += &list("Caveats", &caveat_lines(&document.rows));
    page += &again(document, text);
    page += "</body>\n</html>\n";
    page
}

fn list(title: &str, lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let items: String = lines.iter().map(|line| format!("<li>{}</li>\n", Escaped(line))).collect();
    format!("<h2>{title}</h2>\n<ul>\n{items}</ul>\n")
}

fn pictures(Figures { charts, left_out }: &Figures) -> String {
    if charts.is_empty() {
        return String::new();
    }
    let mut text = String::from("<h2>Goodput</h2>\n");
    if *left_out > 0 {
        let all = charts.len() + left_out;
        let _ = writeln!(
            text,
            "<p>The first {} of {all} pictures; the table below has everything.</p>",
            charts.len()
        );
    }
    text.extend(charts.iter().map(|chart| chart.to_svg(false)));
    text
}

/// Every engine and point, with all that is known of it.
fn results(groups: &[Group<'_>], document: &Document) -> String {
    let axes = keys(groups);
    let is_known = |metric: &&Metric| groups.iter().any(|g| g.summary(metric.of).is_some());
    let metrics: Vec<&Metric> = METRICS.iter().filter(is_known).collect();
    let mut table = String::from("<h2>Results</h2>\n<div class=\"wide\"><table>\n<thead><tr>");
    for axis in &axes {
        let _ =
            write!(table, "<th title=\"{}\">{}</th>", Escaped(axis), Escaped(&words::title(axis)));
    }
    table += "<th class=\"word\">engine</th><th>runs</th>";
    for metric in &metrics {
        let title = if metric.is_goodput() { goodput_title(groups) } else { metric.title };
        let _ = write!(table, "<th title=\"{}\">{title}</th>", metric.key);
    }
    table +=
        "<th class=\"word\">limited by</th><th class=\"word\">formula</th></tr></thead>\n<tbody>\n";
    let best = best_points(document);
    for group in groups {
        let is_best = best.contains(&(group.engine, point_identity(group.point)));
        table += if is_best { "<tr class=\"best\">" } else { "<tr>" };
        for axis in &axes {
            let value =
                group.point.get(*axis).map_or(String::new(), |v| value_used([group], axis, v));
            let _ = write!(table, "<td>{}</td>", Escaped(&value));
        }
        let _ =
            write!(table, "<td class=\"word\">{}</td><td>{}</td>", group.engine, group.rows.len());
        for metric in &metrics {
            let _ = write!(table, "<td>{}</td>", metric.show(group));
        }
        let formula = group.rows.first().and_then(|row| row.outcome.formula.clone());
        let _ = writeln!(
            table,
            "<td class=\"word\">{}</td><td class=\"word\">{}</td></tr>",
            group.limited_by().map_or("", |limit| limit.word()),
            Escaped(&formula.unwrap_or_default())
        );
    }
    table += "</tbody>\n</table></div>\n";
    let notes = mark_notes(groups.iter()).join(", ");
    if !notes.is_empty() {
        let _ = writeln!(table, "<p class=\"note\">{}</p>", Escaped(&notes));
    }
    table
}

/// Each flow of every engine and point, where there are several.
fn flows(groups: &[Group<'_>], scenario: &Scenario) -> String {
    let flows = flow_lines(groups, scenario);
    if flows.lines.is_empty() {
        return String::new();
    }
    let axes = keys(groups).len();
    // Engine and flow, after the axes, are words.
    let heads = |tag: &str, heads: &[String]| -> String {
        let class = |index: usize| if index < axes { "" } else { " class=\"word\"" };
        let cell = |(index, head): (usize, &String)| {
            format!("<{tag}{}>{}</{tag}>", class(index), Escaped(head))
        };
        heads.iter().enumerate().map(cell).collect()
    };
    let numbers = |tag: &str, numbers: &[String]| -> String {
        numbers.iter().map(|number| format!("<{tag}>{}</{tag}>", Escaped(number))).collect()
    };
    let mut table = format!(
        "<h2>Flow by flow</h2>\n<div class=\"wide\"><table>\n<thead><tr>{}{}<th class=\"word\">limited by</th></tr></thead>\n<tbody>\n",
        heads("th", &flow_heads(groups)),
        numbers("th", &flows.titles.iter().map(|title| (*title).to_owned()).collect::<Vec<_>>())
    );
    for line in &flows.lines {
        let _ = writeln!(
            table,
            "<tr>{}{}<td class=\"word\">{}</td></tr>",
            heads("td", &line.of),
            numbers("td", &line.numbers),
            line.limited_by
        );
    }
    table += "</tbody>\n</table></div>\n";
    table
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
fn again(document: &Document, text: &str) -> String {
    let environment = &document.environment;
    let unknown = || "unknown".to_owned();
    let mut facts = vec![
        ("maxseg", format!("{} ({})", environment.maxseg, environment.commit)),
        ("command", environment.command.join(" ")),
        ("system", environment.system.clone()),
        ("kernel", environment.kernel.clone().unwrap_or_else(unknown)),
        ("processor", environment.cpu.clone().unwrap_or_else(unknown)),
        ("cores", environment.cores.to_string()),
        ("started", environment.started.clone()),
    ];
    if let Some(lab) = &environment.lab {
        facts.push(("congestion control", lab.congestion.clone().unwrap_or_else(unknown)));
        facts.push(("clock source", lab.clock_source.clone().unwrap_or_else(unknown)));
    }
    let facts: String = facts
        .iter()
        .map(|(term, fact)| format!("<dt>{term}</dt><dd>{}</dd>\n", Escaped(fact)))
        .collect();
    format!(
        "<h2>Run it again</h2>\n<dl>\n{facts}</dl>\n<p>The scenario, before what the command line changed:</p>\n\
         <pre><code>{}</code></pre>\n",
        Escaped(text)
    )
}
