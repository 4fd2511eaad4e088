//! Formulas and their answers on a terminal.

use std::fmt::Write as _;

use maxseg_workbench::calc::{Answer, Described, ENTRIES, Entry, Group, Presence};

use crate::printer::Printer;

/// Columns of text.
const WIDTH: usize = 96;

/// Every formula, a line each, by group.
pub(crate) fn list(printer: Printer) -> String {
    let mut text = String::new();
    for group in Group::ALL {
        let _ = writeln!(text, "{}:", group.title());
        for entry in ENTRIES.iter().filter(|entry| entry.group == group) {
            let name = printer.bold(&format!("{:17}", entry.name));
            let _ = writeln!(text, "  {name} {}", entry.about);
        }
    }
    text.push_str(
        "\n`maxseg calc NAME` says what a formula needs, where it holds, and gives an example.\n",
    );
    text
}

/// What a formula is, needs and holds for.
pub(crate) fn described(entry: &Entry, printer: Printer) -> String {
    let mut text = format!("{}: {}\n\n", printer.bold(entry.name), entry.about);
    let usage = format!("maxseg calc {} {}", entry.name, usage(entry));
    let _ = writeln!(text, "Usage:\n{}\nParameters:", wrapped(&usage, 2));
    for parameter in entry.parameters {
        let _ = writeln!(text, "  {:14} {}", parameter.name, kind(parameter));
        text.push_str(&wrapped(parameter.meaning, 17));
    }
    let sections =
        [("Formula", entry.formula), ("Source", entry.source), ("Range", &entry.range())];
    for (title, words) in sections {
        let _ = write!(text, "\n{title}:\n{}", wrapped(words, 2));
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
        let _ = writeln!(text, "{name:width$}  {}", printer.bold(&figure.text()));
    }
    for warning in &answer.warnings {
        let _ = write!(text, "warning:\n{}", wrapped(warning, 2));
    }
    let source = format!("{}. `maxseg calc {}` says where it holds.", entry.source, entry.name);
    for line in wrapped(&source, 0).lines() {
        let _ = writeln!(text, "{}", printer.dim(line));
    }
    text
}

/// Paragraphs of at most [`WIDTH`] columns, each line behind `indent` spaces.
fn wrapped(text: &str, indent: usize) -> String {
    let mut wrapped = String::new();
    for paragraph in text.lines() {
        let mut line = " ".repeat(indent);
        for word in paragraph.split_whitespace() {
            let is_first = line.len() == indent;
            if !is_first && line.chars().count() + 1 + word.chars().count() > WIDTH {
                let _ = writeln!(wrapped, "{line}");
                line = " ".repeat(indent);
            } else if !is_first {
                line.push(' ');
            }
            line.push_str(word);
        }
        let _ = writeln!(wrapped, "{line}");
    }
    wrapped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_in_time_and_lose_no_word() {
        let text = "a long word and another ".repeat(40);
        let lines = wrapped(&text, 4);
        assert!(lines.lines().all(|line| line.len() <= WIDTH && line.starts_with("    ")));
        assert_eq!(lines.split_whitespace().count(), text.split_whitespace().count());
    }

    #[test]
    fn every_entry_is_listed_and_every_parameter_described() {
        let list = list(Printer::silent());
        for entry in ENTRIES {
            assert!(list.contains(entry.about), "{list}");
            let page = described(entry, Printer::silent());
            assert!(page.lines().all(|line| line.chars().count() <= 120), "{page}");
            for parameter in entry.parameters {
                assert!(page.contains(&format!("\n  {} ", parameter.name)), "{page}");
            }
        }
    }
}
