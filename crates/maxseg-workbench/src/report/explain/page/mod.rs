//! The report: one self-contained page. Without its script the graphs are static.

use std::fmt::Write as _;

use maxseg_core::advise::{Case, CommandKind, Headline, Remedy, remedies};
use maxseg_core::evidence::Evidence;

use super::super::escaped::Escaped;
use super::super::html::STYLE;
use super::super::words::{self, counted, size, whole_percent};
use super::colors::limit_color;
use super::graphs::graphs;
use super::joined::between_captures;
use super::look::{finding_place, places};
use super::numbers::{headline_numbers, host_systems, marks, no_connection, packets};
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

/// What stands above the graphs.
const TIME_LINE: &str = "<h2>Time line</h2>\n<p class=\"note\">Seconds since the first packet. Point at a time to see the values and \
    the packets there; a click keeps it. Drag a box to zoom, a double click shows all. With the keyboard, in a graph: \
    <kbd>←</kbd> <kbd>→</kbd> move the time, with Shift the view; <kbd>+</kbd> <kbd>-</kbd> zoom, <kbd>↑</kbd> <kbd>↓</kbd> move \
    a zoomed graph, <kbd>0</kbd> shows all; <kbd>,</kbd> <kbd>.</kbd> previous and next packet, <kbd>p</kbd> <kbd>n</kbd> \
    retransmission; <kbd>Enter</kbd> keeps a time, <kbd>Esc</kbd> lets go. The address of the page holds the view.</p>\n";

/// Rows of the table of connections.
const MOST_CONNECTIONS: usize = 100;

/// The page of a capture.
pub fn page(explanation: &Explanation, headline: Option<&Headline<'_>>) -> String {
    let file = &explanation.capture.file;
    let title = format!("Analysis of {}", explanation.name);
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
         <title>{0}</title>\n<style>{1}{GRAPHS_STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{0}</h1>\n\
         <p class=\"about\">{2}, {3}, {4}.</p>\n",
        Escaped(&title),
        STYLE,
        counted(file.packets, "packet"),
        size(file.bytes),
        counted(explanation.total_connections, "TCP connection")
    );
    for problem in &explanation.capture.problems {
        let place = problem.offset.map_or_else(String::new, |at| format!(" (at byte {at})"));
        let _ =
            writeln!(page, "<p><strong>{}</strong>{place}</p>", Escaped(&problem.kind.to_string()));
    }
    match headline {
        Some(headline) => {
            page += &conclusion(headline, &numbered_in(explanation, headline.case.evidence));
            page += &joined(explanation, headline.case.evidence);
        }
        None => {
            let _ = writeln!(page, "<p>{}</p>", Escaped(&no_connection(explanation)));
        }
    }
    page += &connections(explanation);
    let _ = write!(
        page,
        "</main>\n<script>\n//<![CDATA[\n{}//]]>\n</script>\n</body>\n</html>\n",
        SCRIPT.concat()
    );
    page
}

/// The name of the capture that the packets of a connection are numbered in.
fn numbered_in(explanation: &Explanation, evidence: &Evidence) -> String {
    match (&explanation.pair, &evidence.joined) {
        (Some(pair), Some(joined)) => pair.names[joined.judged_in].clone(),
        _ => explanation.name.clone(),
    }
}

fn conclusion(headline: &Headline<'_>, file: &str) -> String {
    let case = &headline.case;
    let mut text = format!(
        "<h2>Connection {}</h2>\n<p class=\"lead\">{}</p>\n",
        case.evidence.id,
        Escaped(&headline.text())
    );
    if let Some(remedy) = &headline.remedy {
        text += &commands(remedy);
        if let Some(why) = headline.no_command() {
            let _ = writeln!(text, "<p class=\"prose\">{}.</p>", Escaped(&why));
        }
        if let Some(note) = &remedy.note {
            let _ = writeln!(text, "<p class=\"prose\">{}</p>", Escaped(note));
        }
    }
    if let Some(why) = headline.no_gain_to_tell() {
        let _ = writeln!(text, "<p class=\"prose\">{}</p>", Escaped(&why.to_string()));
    }
    text += &places(case, file);
    text += &limits(case);
    text += "<h2>Evidence</h2>\n<dl>\n";
    for (label, line) in headline_numbers(headline) {
        let _ = writeln!(text, "<dt>{label}</dt><dd>{}</dd>", Escaped(&line));
    }
    for (label, line) in host_systems(case) {
        let _ = writeln!(text, "<dt>{label}</dt><dd>{}</dd>", Escaped(&line));
    }
    for mark in marks(case) {
        let _ = writeln!(text, "<dt>capture</dt><dd>{}</dd>", Escaped(&mark));
    }
    text += "</dl>\n";
    text += TIME_LINE;
    text += &graphs(headline).to_html();
    text += &findings(case);
    text
}

/// What two captures show of a connection; nothing where there is one.
fn joined(explanation: &Explanation, evidence: &Evidence) -> String {
    let Some(between) = between_captures(explanation.pair.as_ref(), evidence) else {
        return String::new();
    };
    let mut text = String::from("<h2>Between the two captures</h2>\n<dl>\n");
    for (label, line) in &between.lines {
        let _ = writeln!(text, "<dt>{label}</dt><dd>{}</dd>", Escaped(line));
    }
    text += "</dl>\n<div class=\"wide\"><table>\n<thead><tr><th></th>";
    for direction in between.directions {
        let (from, to) = (evidence.sender(direction), evidence.receiver(direction));
        let _ = write!(text, "<th>{from} → {to}</th>");
    }
    text += "</tr></thead>\n<tbody>\n";
    for (label, there, back) in &between.rows {
        let _ = writeln!(
            text,
            "<tr><td class=\"word\">{}</td><td>{}</td><td>{}</td></tr>",
            Escaped(label.trim_start()),
            Escaped(there),
            Escaped(back)
        );
    }
    text + "</tbody>\n</table></div>\n"
}

/// The commands for the systems that the hosts probably run.
fn commands(remedy: &Remedy) -> String {
    let mut text = String::new();
    for command in remedy.for_hosts() {
        let lead = match command.kind {
            CommandKind::Look => "Look first",
            CommandKind::Change => "Then change",
        };
        let condition = command.only_where.as_ref();
        let condition =
            condition.map_or_else(String::new, |condition| format!(", only if {condition}"));
        let _ = writeln!(
            text,
            "<p class=\"note\">{lead}, on {} ({}){}:</p>\n<pre><code>{}</code></pre>",
            Escaped(&command.on),
            command.system.word(),
            Escaped(&condition),
            Escaped(&command.line)
        );
        if let Some(undo) = &command.undo {
            let _ = writeln!(
                text,
                "<p class=\"note\">To take it back: <code>{}</code></p>",
                Escaped(undo)
            );
        }
    }
    text
}

/// The limits as one bar, with the words beside it.
fn limits(case: &Case<'_>) -> String {
    let limits = &case.diagnosis.limits;
    if limits.is_empty() {
        return String::new();
    }
    let mut bar = String::new();
    let mut legend = String::new();
    let mut x = 0.0;
    for limit in limits {
        let (width, color) = (100.0 * limit.share, limit_color(limit.kind));
        let _ = write!(
            bar,
            "<rect style=\"fill:var({color})\" x=\"{x:.3}%\" width=\"{width:.3}%\" height=\"28\"><title>{} {}</title></rect>",
            limit.kind,
            whole_percent(limit.share)
        );
        let _ = writeln!(
            legend,
            "<tr><td class=\"word\"><span class=\"sample\" style=\"background:var({color})\"></span>{}</td><td>{}</td><td>{}</td></tr>",
            limit.kind,
            whole_percent(limit.share),
            Escaped(&words::time(limit.share * case.data_seconds()))
        );
        x += width;
    }
    format!(
        "<h2>Limits</h2>\n<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"limits\" width=\"100%\" height=\"28\" \
         role=\"img\" aria-label=\"Shares of the time\">{bar}</svg>\n\
         <table><thead><tr><th class=\"word\">limit</th><th>share</th><th>time</th></tr></thead>\n<tbody>{legend}</tbody></table>\n"
    )
}

fn findings(case: &Case<'_>) -> String {
    if case.diagnosis.findings.is_empty() {
        return String::new();
    }
    let mut text = String::from("<h2>Findings</h2>\n");
    for (finding, remedy) in case.diagnosis.findings.iter().zip(remedies(case)) {
        let since = |time: maxseg_core::units::Time| {
            words::time(time.since(case.evidence.begin).as_secs_f64())
        };
        let mut facts = vec![("when", format!("{} to {}", since(finding.from), since(finding.to)))];
        if !finding.frames.is_empty() {
            facts.push(("packets", packets(&finding.frames)));
        }
        facts.push(("why it matters", finding.why.to_owned()));
        facts.push(("change", remedy.sentence()));
        facts.push(("source", finding.source.to_owned()));
        let _ = writeln!(
            text,
            "<h3>{}: {}</h3>\n<p class=\"prose\">{}</p>\n<dl>",
            finding.severity.word(),
            finding.kind.word(),
            Escaped(&finding.text)
        );
        for (label, fact) in facts {
            let _ = writeln!(text, "<dt>{label}</dt><dd>{}</dd>", Escaped(&fact));
        }
        text += &finding_place(case, finding);
        text += "</dl>\n";
    }
    text
}

fn connections(explanation: &Explanation) -> String {
    let cases = explanation.by_impact(MOST_CONNECTIONS);
    if cases.len() < 2 {
        return String::new();
    }
    let mut table = String::from(
        "<h2>Connections, by impact</h2>\n<div class=\"wide\"><table>\n<thead><tr><th></th>\
         <th class=\"word\">from</th><th class=\"word\">to</th><th>data</th><th>time</th><th>goodput</th><th>retransmitted</th>\
         <th class=\"word\">limited by</th><th class=\"word\">findings</th></tr></thead>\n<tbody>\n",
    );
    for case in &cases {
        let direction = case.diagnosis.direction;
        let data = case.data();
        let kinds: Vec<&str> =
            case.diagnosis.findings.iter().map(|finding| finding.kind.word()).collect();
        let limit = case.limit();
        let _ = writeln!(
            table,
            "<tr><td>{}</td><td class=\"word\">{}</td><td class=\"word\">{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>\
             <td class=\"word\">{}</td><td class=\"word\">{}</td></tr>",
            case.evidence.id,
            case.evidence.sender(direction),
            case.evidence.receiver(direction),
            Escaped(&size(data.acked_bytes)),
            Escaped(&words::time(case.goodput_seconds())),
            Escaped(&data.goodput_bps.map_or_else(|| "–".to_owned(), words::rate)),
            words::grouped(data.retransmitted_packets),
            limit.map_or_else(
                || "–".to_owned(),
                |limit| format!("{limit} {}", whole_percent(case.share(limit)))
            ),
            kinds.join(", ")
        );
    }
    table += "</tbody>\n</table></div>\n";
    let more = explanation.total_connections.saturating_sub(cases.len() as u64);
    if more > 0 {
        let _ = writeln!(table, "<p class=\"note\">and {} more</p>", words::grouped(more));
    }
    table
}
