//! The demo's first part: a slow transfer through a tunnel, its limit, and the gain of each change.

use std::fmt::Write as _;

use maxseg_core::advise::{Change, Trial, limit_in_words, what_if};
use maxseg_core::engine::{Engine, Unwatched};
use maxseg_core::model::Model;
use maxseg_core::outcome::LimitedBy;
use maxseg_core::scenario::Scenario;
use maxseg_core::sim::Sim;
use maxseg_core::units::Time;

use crate::failure::Failure;
use crate::printer::Printer;
use crate::report::advise::{Shown, gain, trial_table};
use crate::wrap::{labelled, wrapped};
use maxseg_workbench::experiment::Experiment;
use maxseg_workbench::report::{TunnelPart, words};

/// How this table and that of advice differ.
const MORE: &str = "this table lifts each limit of the path in runs of its whole time; `maxseg advise slow-tunnel` searches all \
                    settings, the congestion control too, in runs of some seconds, and has other figures.";

/// What the first part found.
pub(super) struct Tunnel {
    scenario: Scenario,
    trials: Vec<Trial>,
}

impl Tunnel {
    pub(super) fn run(experiment: &Experiment) -> Result<Self, Failure> {
        let scenario = experiment.draft.scenario()?;
        let trials = what_if(&scenario, &mut Sim, experiment.seeds)
            .map_err(|error| Failure::new(error.to_string()))?;
        Ok(Self { scenario, trials })
    }

    pub(super) fn show(&self, printer: Printer) -> String {
        let width = printer.width();
        let mut text = printer.bold(&format!("1. {}\n", self.scenario.name));
        let _ = writeln!(text, "{}", wrapped(&path_in_words(&self.scenario), width, "   "));
        let table = trial_table(&self.trials, &[], Shown::default(), printer.table_width());
        let _ = writeln!(text, "{}", table.text(printer.table_width()));
        for (head, what) in self.said() {
            let head = format!("{head}:");
            let lines = labelled(&format!("   {head:<10}"), &what, width);
            text += &lines.replacen(&head, &printer.bold(&head), 1);
        }
        if let Some(command) = self.command() {
            let _ = writeln!(text, "   {}\n     {command}\n", printer.bold("Try it:"));
        }
        text
    }

    /// The part of the page.
    pub(super) fn part(&self) -> TunnelPart<'_> {
        let conclusion = self.best().map_or_else(String::new, |best| {
            format!(
                "{} gains {}; {}.",
                changes_in_words(&best.changes),
                gain_in_words(&self.trials[0], best),
                limit_in_words(&self.trials[0])
            )
        });
        let command = self.command().map(|command| ("Try it", command));
        TunnelPart {
            name: &self.scenario.name,
            path: path_in_words(&self.scenario),
            conclusion,
            trials: &self.trials,
            said: self.said().into_iter().chain(command).collect(),
        }
    }

    fn best(&self) -> Option<&Trial> {
        best_setting(&self.trials)
    }

    /// Headings, each with what is to be said.
    fn said(&self) -> Vec<(&'static str, String)> {
        let mut said = vec![("Limit", format!("{}.", limit_in_words(&self.trials[0])))];
        let Some(best) = self.best() else { return said };
        let gain = gain_in_words(&self.trials[0], best);
        said.push(("Change", format!("{} gains {gain}.", changes_in_words(&best.changes))));
        said.push(("Why", why_only_these(&self.scenario, &best.changes)));
        said.extend(what_remains(&self.trials, best).map(|then| ("Then", then)));
        said.push(("Start-up", start_up(&self.scenario, &self.trials)));
        said.push(("More", MORE.to_owned()));
        said
    }

    fn command(&self) -> Option<String> {
        let sets = self.best()?.changes.iter();
        let sets: Vec<String> =
            sets.map(|change| format!("--set '{}'", change.describe())).collect();
        Some(format!("maxseg run slow-tunnel {} --seeds 10", sets.join(" ")))
    }
}

fn path_in_words(scenario: &Scenario) -> String {
    let lost = Model
        .run(scenario, &mut Unwatched)
        .ok()
        .and_then(|outcome| outcome.segment_loss)
        .filter(|loss| *loss > 0.0)
        .map_or_else(String::new, |loss| {
            format!(", one packet in {} lost", words::digits(1.0 / loss))
        });
    format!(
        "{}, round trip {}, smallest MTU {}, window {}{lost}; each run lasts {}.",
        scenario.bottleneck_rate(),
        scenario.path.propagation_rtt(),
        scenario.path.smallest_mtu(),
        words::window(scenario.receiver.window),
        scenario.until.time,
    )
}

/// The best of those that a host's settings can bring about.
fn best_setting(trials: &[Trial]) -> Option<&Trial> {
    let settable = |trial: &&Trial| {
        !trial.changes.is_empty() && trial.changes.iter().all(|change| change.is_setting())
    };
    trials.iter().filter(settable).max_by(|a, b| a.goodput.mean.total_cmp(&b.goodput.mean))
}

/// The gain with its 95% interval, and how many runs it rests on.
fn gain_in_words(baseline: &Trial, trial: &Trial) -> String {
    let gain = gain(baseline, trial);
    // Of a ratio of two means; that both saw the same draws is left aside, which makes it wider.
    let relative = |trial: &Trial| trial.goodput.ci95().unwrap_or(0.0) / trial.goodput.mean;
    let half = (1.0 + gain) * relative(baseline).hypot(relative(trial));
    let runs = match trial.goodput.n {
        1 => "one run each".to_owned(),
        n => format!("95% confidence, {n} runs each"),
    };
    format!("{}, {runs}", words::gain_within(gain, half))
}

fn changes_in_words(changes: &[Change]) -> String {
    let changes: Vec<String> = changes.iter().map(|change| change.describe()).collect();
    changes.join(" and ")
}

/// Why these settings and no others: what the path holds, and what the rest already is.
fn why_only_these(scenario: &Scenario, changes: &[Change]) -> String {
    let rtt = scenario.path.propagation_rtt();
    let held = scenario.bottleneck_rate().bytes_in(rtt).get() as f64;
    let mut text = format!("the bandwidth-delay product is {:.2} MiB", held / f64::from(1 << 20));
    let changes_window = changes.iter().any(|change| matches!(change, Change::Window(_)));
    let changes_buffer = changes.iter().any(|change| matches!(change, Change::SendBuffer(_)));
    if changes_window {
        let _ = write!(text, ", the window {}", words::window(scenario.receiver.window));
    }
    match scenario.sender.send_buffer_as_asked() {
        _ if changes_buffer => {}
        Some(buffer) => {
            let covers = if buffer.get() as f64 >= held { " covers it" } else { " is less" };
            let _ = write!(text, "; the send buffer of {buffer} (SO_SNDBUF){covers}");
        }
        None => text += "; the send buffer is unlimited here",
    }
    if let Some(flow) = scenario.flows.first() {
        let mss = scenario.mss(flow);
        if mss.effective.bytes() + mss.options == mss.path_allows.bytes() {
            let _ = write!(
                text,
                "; the MSS, {}, is already the largest that an MTU of {} allows",
                mss.path_allows,
                scenario.path.smallest_mtu()
            );
        }
    }
    text + "; no setting prevents the losses of the path."
}

/// What is left when the settings are right: more than they gained.
fn what_remains(trials: &[Trial], best: &Trial) -> Option<String> {
    let baseline = &trials[0];
    let all = trials.last()?;
    if all.goodput.mean < 2.0 * best.goodput.mean {
        return None;
    }
    let path: Vec<String> = all
        .changes
        .iter()
        .filter(|change| !change.is_setting())
        .map(|change| change.describe())
        .collect();
    let alone: Vec<String> = trials
        .iter()
        .filter(|trial| trial.changes.len() == 1)
        .map(|trial| words::gain(gain(baseline, trial)))
        .collect();
    Some(format!(
        "the rest is the path: with {} as well, goodput is {} ({}); each alone gains {}.",
        path.join(" and "),
        words::rate(all.goodput.mean),
        words::gain(gain(baseline, all)),
        alone.join(" and ")
    ))
}

/// The share of a run that handshake and slow start take at most.
fn start_up(scenario: &Scenario, trials: &[Trial]) -> String {
    let share = |trial: &Trial| {
        let limits = trial.outcome.limits.iter();
        limits.filter(|limit| limit.kind == LimitedBy::StartUp).map(|limit| limit.share).sum()
    };
    let longest: f64 = trials.iter().map(share).fold(0.0, f64::max);
    let spent = Time::from_secs_f64(longest * scenario.until.time.as_secs_f64());
    format!(
        "handshake and slow start take at most {} of {}, {} of a run.",
        words::time(spent.as_secs_f64()),
        scenario.until.time,
        words::percent(longest)
    )
}
