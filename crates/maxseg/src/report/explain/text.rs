//! The text for the terminal.

use std::fmt::Write as _;

use maxseg_core::advise::{Advice, Case, CommandKind, Headline, Remedy};

use super::details::{directions, findings, hosts, labelled, limits};
use super::joined::{joined, left_out};
use super::list::list;
use super::parts::{Detail, problem_text, wrapped};
use crate::printer::Printer;
use maxseg_workbench::explain::Explanation;
use maxseg_workbench::report::explain::{
    FilesInOrder, connection_filter, headline_numbers, marks, no_connection, not_followed, numbers,
};
use maxseg_workbench::report::words::{self, capital, counted, size};

/// Most connections shown in full.
const MOST_IN_FULL: usize = 200;

/// The whole text. `headline` is of the connection of the highest impact, or of the selected one.
pub(crate) fn explain_text(
    explanation: &Explanation,
    headline: Option<&Headline<'_>>,
    detail: Detail,
    printer: Printer,
) -> String {
    let mut parts = vec![head(explanation, detail, printer)];
    match headline {
        Some(headline) => {
            // What limits it and what to change come first of all.
            parts.insert(0, conclusion(headline, detail, printer));
            parts.push(first_screen(headline, detail, printer));
            parts.push(joined(explanation, headline.case.evidence, detail, printer));
        }
        None if explanation.capture.file.packets > 0 => {
            let none = match explanation.filtered_connections {
                0 => no_connection(explanation),
                1 => "The only connection does not match the filter.".to_owned(),
                others => {
                    format!(
                        "None of the {} connections matches the filter.",
                        words::grouped(others)
                    )
                }
            };
            parts.push(wrapped(&none, detail.width, ""));
        }
        None => {}
    }
    if detail.one {
        parts.extend(headline.map(|headline| one(&headline.case, detail, printer)));
    } else if !explanation.connections.is_empty() {
        parts.push(list(explanation, detail, printer));
        if detail.verbosity > 0 {
            parts.push(every(explanation, headline, detail, printer));
        } else if let Some(headline) = headline {
            parts.push(more(headline, detail, printer));
        }
    }
    parts.extend(foot(explanation, detail, printer));
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

fn head(explanation: &Explanation, detail: Detail, printer: Printer) -> String {
    let file = &explanation.capture.file;
    let mut facts = vec![counted(file.packets, "packet"), size(file.bytes)];
    if let (Some(first), Some(last)) = (file.first, file.last) {
        facts.push(words::time(last.since(first).as_secs_f64()));
    }
    let followed = explanation.total_connections + explanation.filtered_connections;
    match explanation.capture.untracked_connections {
        0 => facts.push(counted(explanation.total_connections, "TCP connection")),
        untracked => facts.push(format!(
            "{} of {} followed",
            words::grouped(followed),
            counted(followed + untracked, "TCP connection")
        )),
    }
    if explanation.filtered_connections > 0 {
        facts.push(format!(
            "{} more filtered out",
            words::grouped(explanation.filtered_connections)
        ));
    }
    let encapsulations = file.encapsulation_names();
    if !encapsulations.is_empty() {
        facts.push(format!("in {}", encapsulations.join(", ")));
    }
    if let Some(pair) = &explanation.pair {
        let other = &pair.names[1 - pair.main];
        facts.push(format!("joined with {other} ({})", counted(pair.other.file.packets, "packet")));
    }
    let line = wrapped(&format!("{}: {}", explanation.name, facts.join(", ")), detail.width, "");
    printer.dim(line.trim_end()) + "\n"
}

fn conclusion(headline: &Headline<'_>, detail: Detail, printer: Printer) -> String {
    let sentence = format!("Connection {}. {}", headline.case.evidence.id, headline.text());
    let lines = wrapped(&sentence, detail.width, "");
    lines.lines().map(|line| format!("{}\n", printer.bold(line))).collect()
}

fn first_screen(headline: &Headline<'_>, detail: Detail, printer: Printer) -> String {
    let mut text = String::new();
    if let Some(remedy) = &headline.remedy {
        text += &commands(remedy, detail, printer);
        if let Some(why) = headline.no_command() {
            let text_of = format!("{why}. --json has the commands of each system.");
            let _ = write!(text, "\n{}", wrapped(&text_of, detail.width, "  "));
            if let Some(capture) = &remedy.wanted {
                text += &wrapped(&format!("{}.", capital(capture)), detail.width, "  ");
            }
        }
        if let Some(note) = &remedy.note {
            text.push('\n');
            text += &wrapped(note, detail.width, "  ");
        }
    }
    if let Some(why) = headline.no_gain_to_tell() {
        text.push('\n');
        text += &wrapped(&format!("{}.", capital(&why.to_string())), detail.width, "  ");
    }
    if let Some(advice) = Advice::of_headline(headline, 1) {
        let line = format!(
            "[{}] `maxseg advise` has its price and risk, and what goes with it.",
            advice.id
        );
        let _ = write!(text, "\n{}", wrapped(&line, detail.width, "  "));
    }
    let _ = writeln!(text, "\n{}", printer.bold("Evidence"));
    for (label, line) in headline_numbers(headline) {
        text += &labelled(label, &line, detail.width);
    }
    let marks = marks(&headline.case);
    if !marks.is_empty() {
        text += &labelled("capture", &marks.join(". "), detail.width);
    }
    if !detail.one {
        let findings = findings(&headline.case, detail.verbosity > 0, detail.width, printer);
        if !findings.is_empty() {
            let _ = write!(text, "\n{}\n{findings}", printer.bold("Findings"));
        }
    }
    // A filter is for copying: it stays on its line.
    let filter = connection_filter(headline.case.evidence);
    let _ = writeln!(text, "\n  its packets, in Wireshark:\n    {filter}");
    text.trim_start_matches('\n').to_owned()
}

/// The commands for the systems that the hosts probably run: those that only look, then those that change.
fn commands(remedy: &Remedy, detail: Detail, printer: Printer) -> String {
    let mut text = String::new();
    let mut has_looked = false;
    for command in remedy.for_hosts() {
        let lead = match command.kind {
            CommandKind::Look if has_looked => "look as well",
            CommandKind::Look => "look first",
            CommandKind::Change => "then change",
        };
        has_looked = true;
        let mut head = format!("{lead}, on {} ({})", command.on, command.system.word());
        if let Some(condition) = &command.only_where {
            let _ = write!(head, ", only if {condition}");
        }
        let _ = write!(text, "\n{}", wrapped(&(head + ":"), detail.width, "  "));
        let _ = writeln!(text, "    {}", printer.bold(&command.line));
        if let Some(undo) = &command.undo {
            let _ = writeln!(text, "  to take it back:\n    {undo}");
        }
    }
    text
}

fn one(case: &Case<'_>, detail: Detail, printer: Printer) -> String {
    let mut text = limits(case, detail.width, printer);
    let findings = findings(case, true, detail.width, printer);
    if !findings.is_empty() {
        let _ = write!(text, "\n{}\n{findings}", printer.bold("Findings"));
    }
    let _ = write!(text, "\n{}", hosts(case, detail.width, printer));
    let _ = write!(text, "\n{}", directions(case.evidence, detail.table_width, printer));
    text
}

/// Every other connection with its findings.
fn every(
    explanation: &Explanation,
    headline: Option<&Headline<'_>>,
    detail: Detail,
    printer: Printer,
) -> String {
    let shown = headline.map(|headline| headline.case.evidence.id);
    let mut text = String::new();
    let others = explanation.cases().filter(|case| shown != Some(case.evidence.id));
    let shown = u64::from(shown.is_some()) + MOST_IN_FULL as u64;
    let left_out = explanation.total_connections.saturating_sub(shown);
    for case in others.take(MOST_IN_FULL) {
        let evidence = case.evidence;
        let title =
            format!("Connection {}: {} → {}", evidence.id, evidence.client, evidence.server);
        if !text.is_empty() {
            text.push('\n');
        }
        let _ = writeln!(text, "{}", printer.bold(wrapped(&title, detail.width, "").trim_end()));
        for (label, line) in numbers(&case) {
            text += &labelled(label, &line, detail.width);
        }
        text += &findings(&case, detail.verbosity > 1, detail.width, printer);
    }
    if left_out > 0 {
        let _ = writeln!(
            text,
            "\nand {} more: --filter chooses, --json has all",
            words::grouped(left_out)
        );
    }
    text
}

/// The options for more detail.
fn more(headline: &Headline<'_>, detail: Detail, printer: Printer) -> String {
    let id = headline.case.evidence.id;
    let text = format!(
        "More: --connection {id} for full detail, --report FILE.html for graphs, --scenario FILE.toml for the path, -v for every connection"
    );
    let lines = wrapped(&text, detail.width, "");
    printer.dim(lines.trim_end()) + "\n"
}

/// Faults of the file, what was left out, and what belongs to no single connection.
fn foot(explanation: &Explanation, detail: Detail, printer: Printer) -> Option<String> {
    let mut text = String::new();
    if let Some(of_files) = FilesInOrder::of(&explanation.capture.file) {
        text += &labelled("files", &of_files.files, detail.width);
        text += &labelled("packets", &of_files.numbers, detail.width);
        // It is for copying, too.
        let _ = writeln!(text, "      {}", of_files.command);
    }
    let fragments = explanation.capture.fragments;
    if fragments.ipv4_fragments + fragments.ipv6_fragments > 0 {
        let line =
            format!("{} of IPv4, {} of IPv6", fragments.ipv4_fragments, fragments.ipv6_fragments);
        text += &labelled("fragments", &line, detail.width);
    }
    let reported = explanation.capture.path_mtu_events.len();
    if let Some(event) = explanation.capture.path_mtu_events.first() {
        let line = format!(
            "{} (fragmentation needed, packet too big); the first from {}, next-hop MTU {} (packet {})",
            counted(reported as u64, "ICMP message"),
            event.hop,
            event.mtu_bytes,
            event.frame
        );
        text += &labelled("path MTU", &line, detail.width);
    }
    if explanation.total_connections > 0 && !explanation.capture.not_followed.is_empty() {
        text += &labelled("not followed", &not_followed(explanation), detail.width);
    }
    let only = left_out(explanation);
    if !only.is_empty() {
        text += &labelled("not joined", &only, detail.width);
    }
    if explanation.capture.untracked_connections > 0 {
        let line = format!(
            "{} not followed: raise --most-connections",
            counted(explanation.capture.untracked_connections, "connection")
        );
        text += &labelled("left out", &line, detail.width);
    }
    for problem in &explanation.capture.problems {
        let place =
            problem.offset.map_or_else(String::new, |offset| format!(" (at byte {offset})"));
        let times = if problem.count > 1 {
            format!(", {} times", words::grouped(problem.count))
        } else {
            String::new()
        };
        let file = problem.file.as_ref().map_or_else(String::new, |file| format!("{file}: "));
        let line = format!("{file}{}{place}{times}", problem_text(problem));
        text += &labelled("problem", &line, detail.width);
    }
    (!text.is_empty()).then(|| format!("{}\n{text}", printer.bold("The capture")))
}
