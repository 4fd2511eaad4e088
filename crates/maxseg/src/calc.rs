//! Formulas and their answers on a terminal.

use std::fmt::Write as _;

use maxseg_workbench::calc::{Answer, Described, ENTRIES, Entry, Group, Presence};

use crate::printer::Printer;
use crate::wrap::{hanging, labelled, wrapped};

/// Every formula, a line each, by group.
pub(crate) fn list(printer: Printer) -> String {
    let width = printer.width();
    let mut text = String::new();
    for group in Group::ALL {
        let _ = writeln!(text, "{}:", group.title());
        for entry in ENTRIES.iter().filter(|entry| entry.group == group) {
            let line = labelled(&format!("  {:17} ", entry.name), entry.about, width);
            text += &line.replacen(entry.name, &printer.bold(entry.name), 1);
        }
    }
    text.push_str(
        "\n`maxseg calc NAME` prints a formula, its parameters, its range and an example.\n",
    );
    text
}

/// A formula with its parameters, source and range.
pub(crate) fn described(entry: &Entry, printer: Printer) -> String {
    let width = printer.width();
    let about = wrapped(&format!("{}: {}", entry.name, entry.about), width, "");
    let mut text = format!("{}\n", about.replacen(entry.name, &printer.bold(entry.name), 1));
    let usage = format!("  maxseg calc {} {}", entry.name, usage(entry));
    let _ = writeln!(text, "Usage:\n{}\nParameters:", hanging(&usage, width, "    "));
    for parameter in entry.parameters {
        let label = format!("  {:14} ", parameter.name);
        text += &labelled(&label, &kind(parameter), width);
        text += &wrapped(parameter.meaning, width, &" ".repeat(label.len()));
    }
    let sections =
        [("Formula", entry.formula), ("Source", entry.source), ("Range", &entry.range())];
    for (title, words) in sections {
        let _ = write!(text, "\n{title}:\n{}", wrapped(words, width, "  "));
    }
    let _ = writeln!(text, "\nExample:\n  maxseg calc {} {}", entry.name, entry.example);
    text
}

/// `rate=… rtt=… [mss=1460] [window=…]`
fn usage(entry: &Entry) -> String {
    let words = entry.parameters.iter().map(|parameter| match parameter.presence {
        Presence::Required => format!("{}=…", parameter.name),
        Presence::Default(value) => format!("[{}={value}]", parameter.name),
        Presence::Without(_) => format!("[{}=…]", parameter.name),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// `a share above 0 and below 1, required`
fn kind(parameter: &Described) -> String {
    let bounds = parameter.bounds_in_words();
    let space = if bounds.is_empty() { "" } else { " " };
    let absent = match parameter.presence {
        Presence::Required => "required".to_owned(),
        Presence::Default(value) => format!("default {value}"),
        Presence::Without(meaning) => format!("without it {meaning}"),
    };
    format!("{}{space}{bounds}, {absent}", parameter.kind)
}

/// What came out, for people.
pub(crate) fn answered(entry: &Entry, answer: &Answer, printer: Printer) -> String {
    let mut text = String::new();
    let names = answer.figures.iter().map(|figure| figure.name.len());
    let width = names.max().unwrap_or(0);
    for figure in &answer.figures {
        let name = figure.name.replace('_', " ");
        let label = format!("{name:width$}  ");
        let lines = labelled(&label, &figure.text(), printer.width());
        let (name, value) = lines.split_at(label.len());
        let _ = writeln!(text, "{name}{}", printer.bold(value.trim_end()));
    }
    for warning in &answer.warnings {
        text += &hanging(&format!("warning: {warning}"), printer.width(), "  ");
    }
    let source = format!("{}. Range: `maxseg calc {}`.", entry.source, entry.name);
    for line in wrapped(&source, printer.width(), "").lines() {
        let _ = writeln!(text, "{}", printer.dim(line));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_is_listed_and_every_parameter_described() {
        let list = list(Printer::silent());
        let list = list.split_whitespace().collect::<Vec<_>>().join(" ");
        for entry in ENTRIES {
            assert!(list.contains(entry.about), "{list}");
            let page = described(entry, Printer::silent());
            for parameter in entry.parameters {
                assert!(page.contains(&format!("\n  {} ", parameter.name)), "{page}");
            }
        }
    }
}
