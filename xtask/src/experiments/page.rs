//! The table of an experiment, in its page.

use std::fmt::Write as _;

use anyhow::{Context, Result};

use super::engines::{Computed, Numbers};
use super::list::{Experiment, Measure};
use super::stored::{LabPoint, LabRuns, Stored};

const BEGIN: &str = "<!-- engines -->\n";
const END: &str = "<!-- end of engines -->\n";

/// The page with its table made anew.
pub(super) fn with_table(text: &str, experiment: &Experiment, stored: &Stored) -> Result<String> {
    let missing = || format!("docs/{}.md has no `{}`", experiment.page, BEGIN.trim());
    let (before, rest) = text.split_once(BEGIN).with_context(missing)?;
    let (_, after) = rest.split_once(END).with_context(missing)?;
    let lab = experiment.without_linux.is_none().then(|| stored.of(experiment)).transpose()?;
    Ok(format!("{before}{BEGIN}{}{END}{after}", table(experiment, lab)?))
}

fn table(experiment: &Experiment, lab: Option<&LabRuns>) -> Result<String> {
    let computed = experiment.compute()?;
    let has_linux = computed.iter().any(|point| point.linux.is_some());
    let columns: Vec<Column> = experiment
        .measures
        .iter()
        .flat_map(|measure| Column::of(measure, has_linux || lab.is_none()))
        .collect();
    let mut text = String::from("\n");
    let heads = experiment.keys()?.into_iter().chain(columns.iter().map(Column::heading));
    line(&mut text, heads);
    line(&mut text, (0..experiment.keys()?.len() + columns.len()).map(|_| "---".to_owned()));
    for (index, point) in computed.iter().enumerate() {
        let in_lab = lab.and_then(|runs| runs.points.get(index));
        let cells = columns.iter().map(|column| column.cell(experiment, index, point, in_lab));
        line(&mut text, point.point.iter().cloned().chain(cells));
    }
    text.push('\n');
    text += &notes(experiment, &computed, lab);
    Ok(text)
}

fn line(text: &mut String, cells: impl Iterator<Item = String>) {
    let cells: Vec<String> = cells.collect();
    let line = if cells.iter().all(|cell| cell == "---") {
        format!("|{}|", cells.join("|"))
    } else {
        format!("| {} |", cells.join(" | "))
    };
    let _ = writeln!(text, "{line}");
}

/// A number by one source.
struct Column {
    measure: &'static Measure,
    source: Source,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Document,
    Model,
    Sim,
    Linux,
    Lab,
}

impl Column {
    fn of(measure: &'static Measure, has_linux: bool) -> Vec<Self> {
        let sources = [Source::Document, Source::Model, Source::Sim, Source::Linux, Source::Lab];
        let is_there = |source: &Source| match source {
            Source::Document => !measure.document.is_empty(),
            Source::Linux => has_linux,
            Source::Model | Source::Sim | Source::Lab => true,
        };
        sources.into_iter().filter(is_there).map(|source| Self { measure, source }).collect()
    }

    fn heading(&self) -> String {
        let source = match self.source {
            Source::Document => "document",
            Source::Model => "model",
            Source::Sim => "sim",
            Source::Linux => "sim, `linux`",
            Source::Lab => "lab",
        };
        format!("{}: {source}", self.measure.title)
    }

    fn cell(
        &self,
        experiment: &Experiment,
        index: usize,
        point: &Computed,
        lab: Option<&LabPoint>,
    ) -> String {
        let at = experiment.measures.iter().position(|one| std::ptr::eq(one, self.measure));
        let number = |numbers: &Numbers| at.and_then(|at| *numbers.get(at)?);
        let known = match self.source {
            Source::Document => self.measure.document.get(index).copied(),
            Source::Model => number(&point.model),
            Source::Sim => number(&point.sim),
            Source::Linux => point.linux.as_ref().and_then(number),
            Source::Lab => lab.and_then(|point| number(&point.numbers)),
        };
        let invalid =
            self.source == Source::Lab && lab.is_some_and(|point| point.invalid.is_some());
        let mark = if invalid { "!" } else { "" };
        match known {
            // The document's digits are its own.
            Some(number) if self.source == Source::Document => number.to_string(),
            Some(number) => format!("{mark}{}", digits(number)),
            None => "—".to_owned(),
        }
    }
}

/// Three digits, at most three of them behind the point; counts are whole.
fn digits(number: f64) -> String {
    if number.fract().abs() < 1e-9 && number < 1e6 {
        return format!("{number:.0}");
    }
    let places = if number.abs() >= 99.95 {
        0
    } else if number.abs() >= 9.995 {
        1
    } else if number.abs() >= 0.9995 {
        2
    } else {
        3
    };
    format!("{number:.places$}")
}

/// Whose the columns are, and why some have no number.
fn notes(experiment: &Experiment, computed: &[Computed], lab: Option<&LabRuns>) -> String {
    let has_linux = computed.iter().any(|point| point.linux.is_some());
    let mut options: Vec<String> = Vec::new();
    options.extend(experiment.set.iter().map(|set| format!("--set \"{set}\"")));
    options.extend(experiment.axes.iter().map(|axis| format!("--axis \"{axis}\"")));
    let mut text = format!(
        "Points: `{}`.",
        [&["maxseg run".to_owned(), experiment.scenario.to_owned()], &options[..]]
            .concat()
            .join(" ")
    );
    if has_linux {
        text += " `linux`: the simulator with `--stack linux`.";
    }
    if let Some(runs) = lab {
        let stack = if has_linux { "the same settings" } else { "the same" };
        let _ =
            write!(text, " Lab: {stack} by Linux {}, {}, one run a point.", runs.kernel, runs.date);
        let mut reasons: Vec<&str> = Vec::new();
        let refused = runs.points.iter().filter_map(|point| point.why.as_deref());
        // They differ by the segment size alone.
        let beyond = computed.iter().find_map(|point| point.beyond_the_lab.as_deref());
        for why in refused.chain(beyond) {
            if !reasons.contains(&why) {
                reasons.push(why);
            }
        }
        for why in reasons {
            let _ = write!(text, " `—`: {why}.");
        }
        if runs.points.iter().any(|point| point.invalid.is_some()) {
            let _ = write!(text, " `!`: an invalid run; testdata/experiments/lab.json says why.");
        }
    }
    if let Some(why) = experiment.without_linux {
        let _ = write!(text, " `—`: {why}.");
    }
    text += " One seed.\n";
    text
}
