//! The report: one page that needs nothing else, neither network nor scripts.

use std::fmt::Write as _;

use maxseg_core::advise::SegmentSizeAdvice;
use maxseg_core::outcome::Outcome;
use maxseg_core::results::{Group, groups};
use serde_json::{Map, Value};

use super::chart::{LineChart, escape};
use super::document::Document;
use super::{advice_lines, caveat_lines, words};

const STYLE: &str = include_str!("report.css");

/// The page of a document.
pub(crate) fn page(
    document: &Document,
    text: &str,
    figures: &[LineChart],
    advice: &[SegmentSizeAdvice],
) -> String {
    let word = |key: &str| document.scenario.get(key).and_then(Value::as_str).unwrap_or_default();
    let name = match word("name") {
        "" => "A scenario without a name",
        name => name,
    };
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
         <title>{0}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{0}</h1>\n",
        escape(name)
    );
    if !word("about").is_empty() {
        let _ = writeln!(page, "<p class=\"about\">{}</p>", escape(word("about").trim()));
    }
    if !document.complete {
        page += "<p><strong>Interrupted: some runs are missing.</strong> The same command goes on from here.</p>\n";
    }
    page += &list("Best segment size", &advice_lines(advice));
    if !figures.is_empty() {
        page += "<h2>Goodput</h2>\n";
        page.extend(figures.iter().map(|figure| figure.to_svg(false)));
    }
    page += &results(document);
    page += &list("Caveats", &caveat_lines(&document.rows));
    page += &again(document, text);
    page += "</body>\n</html>\n";
    page
}

fn list(title: &str, lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let items: String = lines.iter().map(|line| format!("<li>{}</li>\n", escape(line))).collect();
    format!("<h2>{title}</h2>\n<ul>\n{items}</ul>\n")
}

/// Every engine and point, with all that is known of it.
fn results(document: &Document) -> String {
    let groups = groups(&document.rows);
    let axes: Vec<&String> =
        groups.first().map(|group| group.point.keys().collect()).unwrap_or_default();
    let metrics: Vec<&Metric> = METRICS
        .iter()
        .filter(|metric| groups.iter().any(|g| g.summary(metric.of).is_some()))
        .collect();
    let mut table = String::from("<h2>Results</h2>\n<div class=\"wide\"><table>\n<thead><tr>");
    for axis in &axes {
        let _ =
            write!(table, "<th title=\"{}\">{}</th>", escape(axis), escape(&words::title(axis)));
    }
    table += "<th class=\"word\">engine</th><th>runs</th>";
    for metric in &metrics {
        let _ = write!(table, "<th title=\"{}\">{}</th>", metric.key, metric.title);
    }
    table +=
        "<th class=\"word\">limited by</th><th class=\"word\">formula</th></tr></thead>\n<tbody>\n";
    for group in &groups {
        let class = if is_best(group, document) { " class=\"best\"" } else { "" };
        let _ = write!(table, "<tr{class}>");
        for axis in &axes {
            let value = group.point.get(*axis).map_or(String::new(), |v| words::value(axis, v));
            let _ = write!(table, "<td>{}</td>", escape(&value));
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
            escape(&formula.unwrap_or_default())
        );
    }
    table += "</tbody>\n</table></div>\n";
    table
}

/// Whether the advice is to use this point.
fn is_best(group: &Group<'_>, document: &Document) -> bool {
    document.advice.iter().any(|advice| {
        let mut rest: Map<String, Value> = group.point.clone();
        let size = rest.iter().find(|(key, _)| maxseg_core::advise::is_size_key(key));
        let Some((key, size)) = size.map(|(key, size)| (key.clone(), size.as_u64())) else {
            return false;
        };
        rest.remove(&key);
        advice.engine == group.engine && size == Some(advice.best_bytes) && rest == advice.condition
    })
}

struct Metric {
    key: &'static str,
    title: &'static str,
    of: fn(&Outcome) -> Option<f64>,
    write: fn(f64) -> String,
}

const METRICS: [Metric; 13] = [
    Metric { key: "goodput_bps", title: "goodput", of: |o| o.goodput_bps, write: words::rate },
    Metric {
        key: "segment_loss",
        title: "segments lost",
        of: |o| o.segment_loss,
        write: words::percent,
    },
    Metric { key: "rtt_min_s", title: "RTT least", of: |o| o.rtt_min_s, write: words::time },
    Metric { key: "rtt_mean_s", title: "RTT mean", of: |o| o.rtt_mean_s, write: words::time },
    Metric { key: "rtt_p99_s", title: "RTT p99", of: |o| o.rtt_p99_s, write: words::time },
    Metric { key: "ping_mean_s", title: "ping mean", of: |o| o.ping_mean_s, write: words::time },
    Metric { key: "queue_mean_s", title: "queue", of: |o| o.queue_mean_s, write: words::time },
    Metric {
        key: "data_packets",
        title: "data packets",
        of: |o| count(o.data_packets),
        write: words::digits,
    },
    Metric {
        key: "retransmitted_packets",
        title: "resent",
        of: |o| count(o.retransmitted_packets),
        write: words::digits,
    },
    Metric {
        key: "spurious_retransmissions",
        title: "without need",
        of: |o| count(o.spurious_retransmissions),
        write: words::digits,
    },
    Metric { key: "timeouts", title: "timeouts", of: |o| count(o.timeouts), write: words::digits },
    Metric {
        key: "fast_retransmits",
        title: "fast retransmits",
        of: |o| count(o.fast_retransmits),
        write: words::digits,
    },
    Metric {
        key: "mss_used_bytes",
        title: "MSS used",
        of: |o| count(o.mss_used_bytes),
        write: words::digits_whole,
    },
];

fn count(count: Option<u64>) -> Option<f64> {
    count.map(|n| n as f64)
}

impl Metric {
    /// The mean, with its confidence interval where it is a goodput.
    fn show(&self, group: &Group<'_>) -> String {
        let Some(summary) = group.summary(self.of) else { return "–".to_owned() };
        let mean = (self.write)(summary.mean);
        match summary.ci95() {
            Some(half) if half > 0.0 && self.key == "goodput_bps" => {
                format!("{mean} ± {}", (self.write)(half))
            }
            Some(_) | None => mean,
        }
    }
}

/// All that is needed to do it again.
fn again(document: &Document, text: &str) -> String {
    let environment = &document.environment;
    let unknown = || "unknown".to_owned();
    let facts = [
        ("maxseg", format!("{} ({})", environment.maxseg, environment.commit)),
        ("command", environment.command.join(" ")),
        ("system", environment.system.clone()),
        ("kernel", environment.kernel.clone().unwrap_or_else(unknown)),
        ("processor", environment.cpu.clone().unwrap_or_else(unknown)),
        ("cores", environment.cores.to_string()),
        ("started", format!("{} seconds after 1970-01-01 UTC", environment.started_unix_s)),
    ];
    let facts: String = facts
        .iter()
        .map(|(term, fact)| format!("<dt>{term}</dt><dd>{}</dd>\n", escape(fact)))
        .collect();
    format!(
        "<h2>Run it again</h2>\n<dl>\n{facts}</dl>\n<p>The scenario, before what the command line changed:</p>\n\
         <pre><code>{}</code></pre>\n",
        escape(text)
    )
}
