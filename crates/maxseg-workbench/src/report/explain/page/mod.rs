//! The report: one self-contained page. Without its script the graphs are static.

use maud::{Markup, html};
use maxseg_core::advise::{Case, CommandKind, Headline, Remedy, remedies};
use maxseg_core::diagnose::Finding;
use maxseg_core::evidence::Evidence;
use maxseg_core::units::Time;

use super::super::page::{facts, lead, page_with, prose};
use super::super::table::{Cell, Column, table};
use super::super::words::{self, counted, size, whole_percent};
use super::colors::limit_color;
use super::files::{FilesInOrder, JOINED};
use super::graphs::graphs;
use super::joined::between_captures;
use super::look::{finding_place, places};
use super::numbers::{finding_text, headline_numbers, host_systems, marks, no_connection, packets};
use crate::environment::date_and_time;
use crate::explain::Explanation;

const GRAPHS_STYLE: &str = include_str!("page.css");
/// The script, in the order in which its parts need each other.
const SCRIPT: [&str; 8] = [
    include_str!("data.js"),
    include_str!("words.js"),
    include_str!("view.js"),
    include_str!("draw.js"),
    include_str!("readout.js"),
    include_str!("keys.js"),
    include_str!("graph.js"),
    include_str!("start.js"),
];

/// Rows of the table of connections.
const MOST_CONNECTIONS: usize = 100;

/// The page of a capture.
pub fn page(explanation: &Explanation, headline: Option<&Headline<'_>>) -> String {
    let file = &explanation.capture.file;
    let body = html! {
        p.about { (counted(file.packets, "packet")) ", " (size(file.bytes)) ", " (counted(explanation.total_connections, "TCP connection")) "." }
        @if let Some(FilesInOrder { files, numbers, command }) = FilesInOrder::of(file) {
            p.note { (files) ". Packets are " (numbers) "." }
            pre { code { (command) } }
        }
        @for problem in &explanation.capture.problems {
            p { @if let Some(file) = &problem.file { (file) ": " } strong { (problem.kind) } @if let Some(at) = problem.offset { " (at byte " (at) ")" } }
        }
        @match headline {
            Some(headline) => {
                (conclusion(headline, &numbered_in(explanation, headline.case.evidence)))
                (joined(explanation, headline.case.evidence))
            }
            None => p { (no_connection(explanation)) },
        }
        (connections(explanation))
    };
    page_with(&format!("Analysis of {}", explanation.name), &body, GRAPHS_STYLE, &SCRIPT.concat())
}

/// The name of the capture that the packets of a connection are numbered in.
fn numbered_in(explanation: &Explanation, evidence: &Evidence) -> String {
    match (&explanation.pair, &evidence.joined) {
        (Some(pair), Some(joined)) => pair.names[joined.judged_in].clone(),
        _ if explanation.capture.file.parts.len() > 1 => JOINED.to_owned(),
        _ => explanation.name.clone(),
    }
}

fn conclusion(headline: &Headline<'_>, file: &str) -> Markup {
    let case = &headline.case;
    let evidence: Vec<(&str, String)> = [("began", began(case.evidence.begin))]
        .into_iter()
        .chain(headline_numbers(headline))
        .chain(host_systems(case))
        .chain(marks(case).into_iter().map(|mark| ("capture", mark)))
        .collect();
    html! {
        h2 { "Connection " (case.evidence.id) }
        (lead(&headline.text()))
        @if let Some(remedy) = &headline.remedy {
            (commands(remedy))
            @if let Some(why) = headline.no_command() { p.prose { (why) "." } }
            @if let Some(note) = &remedy.note { (prose(note)) }
        }
        @if let Some(why) = headline.no_gain_to_tell() { p.prose { (why) } }
        (places(headline, file))
        (limits(case))
        h2 { "Evidence" }
        (facts(&evidence))
        (time_line())
        (graphs(headline).to_html())
        (findings(case))
    }
}

/// Date and time of day, as logs have them.
fn began(at: Time) -> String {
    format!("{} UTC", date_and_time(at.as_nanos() / 1_000_000_000))
}

/// What stands above the graphs.
fn time_line() -> Markup {
    html! {
        h2 { "Time line" }
        p.note {
            "Seconds since the first packet of the connection; Wireshark counts from that of the capture. Bytes count from 0, \
             Wireshark's relative numbers from 1. Point at a time to see the values and the packets there; a click keeps it. Drag \
             a box to zoom, a double click shows all. With the keyboard, in a graph: "
            kbd { "←" } " " kbd { "→" } " move the time, with Shift the view; " kbd { "+" } " " kbd { "-" } " zoom, "
            kbd { "↑" } " " kbd { "↓" } " move a zoomed graph, " kbd { "0" } " shows all; " kbd { "," } " " kbd { "." }
            " previous and next packet, " kbd { "p" } " " kbd { "n" } " retransmission; " kbd { "Enter" } " keeps a time, "
            kbd { "Esc" } " lets go. The address of the page holds the view."
        }
    }
}

/// What two captures show of a connection; nothing where there is one.
fn joined(explanation: &Explanation, evidence: &Evidence) -> Markup {
    let Some(between) = between_captures(explanation.pair.as_ref(), evidence) else {
        return Markup::default();
    };
    let direction = |direction| {
        Column::number(format!("{} → {}", evidence.sender(direction), evidence.receiver(direction)))
    };
    let columns: Vec<Column> =
        [Column::word("number")].into_iter().chain(between.directions.map(direction)).collect();
    let lines = between.rows.iter().map(|(label, there, back)| -> Vec<Cell> {
        vec![label.trim_start().into(), there.clone().into(), back.clone().into()]
    });
    html! {
        h2 { "Between the two captures" }
        (facts(&between.lines))
        (table("Between the two captures", &columns, lines))
    }
}

/// The commands for the systems that the hosts probably run.
fn commands(remedy: &Remedy) -> Markup {
    html! {
        @for (index, command) in remedy.for_hosts().enumerate() {
            p.note {
                @match (command.kind, index) {
                    (CommandKind::Look, 0) => "Look first",
                    (CommandKind::Look, _) => "Look as well",
                    (CommandKind::Change, _) => "Then change",
                }
                ", on " (command.on) " (" (command.system.word()) ")"
                @if let Some(condition) = &command.only_where { ", only if " (condition) }
                ":"
            }
            pre tabindex="0" { code { (command.line) } }
            @if let Some(undo) = &command.undo { p.note { "To take it back: " code { (undo) } } }
        }
    }
}

/// The limits as one bar, with the words beside it.
fn limits(case: &Case<'_>) -> Markup {
    let limits = &case.diagnosis.limits;
    let columns = [Column::word("limit"), Column::number("share"), Column::number("time")];
    let lines = limits.iter().map(|limit| -> Vec<Cell> {
        let time = limit.share * case.data_seconds();
        vec![
            Cell::sampled(limit.kind.word(), limit_color(limit.kind)),
            Cell::number(whole_percent(limit.share), limit.share),
            Cell::number(words::time(time), time),
        ]
    });
    let mut end = 0.0;
    let places = limits.iter().map(|limit| {
        let from = end;
        end += 100.0 * limit.share;
        (limit, from)
    });
    html! {
        @if !limits.is_empty() {
            h2 { "Limits" }
            svg xmlns="http://www.w3.org/2000/svg" class="limits" width="100%" height="28" role="img" aria-label="Shares of the time" {
                @for (limit, from) in places {
                    rect style={ "fill:var(" (limit_color(limit.kind)) ")" } x=(format!("{from:.3}%"))
                        width=(format!("{:.3}%", 100.0 * limit.share)) height="28" {
                        title { (limit.kind) " " (whole_percent(limit.share)) }
                    }
                }
            }
            (table("Limits", &columns, lines))
        }
    }
}

fn findings(case: &Case<'_>) -> Markup {
    html! {
        @if !case.diagnosis.findings.is_empty() {
            h2 { "Findings" }
            @for (finding, remedy) in case.diagnosis.findings.iter().zip(remedies(case)) { (of_finding(case, finding, &remedy)) }
        }
    }
}

fn of_finding(case: &Case<'_>, finding: &Finding, remedy: &Remedy) -> Markup {
    let since = |time: Time| words::moment(time.since(case.evidence.begin).as_secs_f64());
    let mut said = vec![("when", format!("{} to {}", since(finding.from), since(finding.to)))];
    if !finding.frames.is_empty() {
        said.push(("packets", packets(&finding.frames)));
    }
    said.push(("why it matters", finding.why.to_owned()));
    said.push(("change", remedy.sentence()));
    said.push(("source", finding.source.to_owned()));
    html! {
        h3 { (finding.severity.word()) ": " (finding.kind.word()) }
        (prose(&finding_text(case, finding)))
        dl {
            @for (term, fact) in &said { dt { (term) } dd { (fact) } }
            (finding_place(case, finding))
        }
    }
}

fn connections(explanation: &Explanation) -> Markup {
    let cases = explanation.by_impact(MOST_CONNECTIONS);
    if cases.len() < 2 {
        return Markup::default();
    }
    let columns = [
        Column::number("number"),
        Column::word("from"),
        Column::word("to"),
        Column::number("data"),
        Column::number("time"),
        Column::number("goodput"),
        Column::number("retransmitted"),
        Column::word("findings"),
        Column::limit("limited by"),
    ];
    let more = explanation.total_connections.saturating_sub(cases.len() as u64);
    html! {
        h2 { "Connections, by impact" }
        (table("Connections, by impact", &columns, cases.iter().map(|case| of_connection(case))))
        @if more > 0 { p.note { "and " (words::grouped(more)) " more" } }
    }
}

fn of_connection(case: &Case<'_>) -> Vec<Cell> {
    let direction = case.diagnosis.direction;
    let data = case.data();
    let kinds: Vec<&str> =
        case.diagnosis.findings.iter().map(|finding| finding.kind.word()).collect();
    let limit = case.limit().map_or_else(
        || "–".to_owned(),
        |limit| format!("{limit} {}", whole_percent(case.share(limit))),
    );
    let seconds = case.goodput_seconds();
    let again = case.diagnosis.retransmitted_packets(case.evidence, direction);
    vec![
        case.evidence.id.to_string().into(),
        case.evidence.sender(direction).to_string().into(),
        case.evidence.receiver(direction).to_string().into(),
        Cell::number(size(case.data_bytes()), case.data_bytes() as f64),
        Cell::number(words::time(seconds), seconds),
        Cell::known(data.goodput_bps, words::rate),
        Cell::known(again.map(|again| again as f64), words::digits_whole),
        kinds.join(", ").into(),
        limit.into(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_has_a_date() {
        assert_eq!(began(Time::from_millis(1_700_000_000_000)), "2023-11-14 22:13:20 UTC");
    }
}
