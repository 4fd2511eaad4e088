//! Gains that `explain` promises on simulated runs, carried out: the same scenario with the changes that are advised, simulated.

use std::fmt::Write as _;

use anyhow::{Context, Result};
use maxseg_core::advise::changed;
use maxseg_core::engine::{Engine as _, Unwatched};
use maxseg_core::outcome::Outcome;
use maxseg_core::scenario::Scenario;
use maxseg_core::sim::Sim;

use super::promise::{Kept, Promise};
use super::score::Scored;
use super::stratum::Stratum;
use super::words::parameters;
use crate::parallel::in_parallel;

/// A promise that was carried out.
#[derive(Debug, Clone)]
pub(super) struct CarriedOut<'a> {
    run: &'a Scored,
    capture: String,
    promise: &'a Promise,
    /// The goodput with the changes, as a multiple of that without.
    measured: f64,
}

impl CarriedOut<'_> {
    fn kept(&self) -> Kept {
        self.promise.kept(self.measured)
    }

    /// Whether it brought less than was promised, or nothing.
    pub(super) fn is_broken(&self) -> bool {
        matches!(self.kept(), Kept::Less | Kept::NoFaster)
    }
}

/// Carries out every promise. One whose changes leave the scenario as it is, such as the end of errors where there are none, brings
/// nothing.
///
/// # Errors
/// A scenario cannot be run.
pub(super) fn carry_out(scored: &[Scored]) -> Result<Vec<CarriedOut<'_>>> {
    let runs: Vec<&Scored> = scored.iter().collect();
    let all = in_parallel(&runs, |one| {
        let scenario = Scenario::from_toml("drawn", &one.run.setup.to_toml())?;
        let before = goodput_bps(&one.run.outcome).context("the run has no goodput")?;
        let mut found = Vec::new();
        for (view, verdict) in one.run.setup.views.iter().zip(&one.verdicts) {
            let Some(promise) = &verdict.said.promise else { continue };
            let after = changed(&scenario, &promise.changes);
            let measured = if after == scenario {
                1.0
            } else {
                goodput_bps(&Sim.run(&after, &mut Unwatched)?).unwrap_or(0.0) / before
            };
            found.push(CarriedOut { run: one, capture: view.words(), promise, measured });
        }
        Ok(found)
    })?;
    Ok(all.into_iter().flatten().collect())
}

/// The goodput of the flow that is judged.
fn goodput_bps(outcome: &Outcome) -> Option<f64> {
    outcome.flows.first().unwrap_or(outcome).goodput_bps.filter(|bps| *bps > 0.0)
}

/// At least so many gains are to be within their interval, and none may bring nothing.
const LEAST_INSIDE: f64 = 0.8;

/// The bars that are missed, in words.
pub(super) fn missed(all: &[CarriedOut<'_>]) -> Vec<String> {
    let [inside, _, _, no_faster] = tally(all, None);
    let mut short = Vec::new();
    if (inside as f64) < LEAST_INSIDE * all.len() as f64 {
        short.push(format!("{inside} of {} gains inside their interval", all.len()));
    }
    if no_faster > 0 {
        short.push(format!("{no_faster} of {} gains brought nothing", all.len()));
    }
    short
}

/// How many came out how.
fn tally(all: &[CarriedOut<'_>], stratum: Option<Stratum>) -> [usize; 4] {
    let of = |one: &&CarriedOut<'_>| stratum.is_none_or(|it| one.run.run.setup.stratum == it);
    let count = |kept| all.iter().filter(of).filter(|one| one.kept() == kept).count();
    [Kept::Inside, Kept::More, Kept::Less, Kept::NoFaster].map(count)
}

/// Prints how often promises were kept.
#[expect(clippy::print_stdout, reason = "a command-line program")]
pub(super) fn say(all: &[CarriedOut<'_>]) {
    let [inside, more, less, no_faster] = tally(all, None);
    println!(
        "gains carried out: {} of {} inside, {more} more, {less} less, {no_faster} no faster",
        inside,
        all.len()
    );
}

/// The tables of the page.
pub(super) fn section(all: &[CarriedOut<'_>]) -> String {
    let mut text = "## Gains carried out\n\nWhere a gain is given, the changes are made to the scenario (`maxseg_core::advise::changed`) and it \
                    is simulated again; where the scenario has nothing of what is to be changed, such as errors, the gain is none. A lower \
                    bound has no upper end. Other traffic, and what else shares the link, is in the scenario and not in the rerun of \
                    `explain`. At least 80% inside are asked, and that none brings nothing.\n\n\
                    | stratum | gains | inside | more | less | no faster |\n|---|---|---|---|---|---|\n"
        .to_owned();
    for stratum in Stratum::ALL {
        let counts = tally(all, Some(stratum));
        row(&mut text, stratum.word(), counts);
    }
    row(&mut text, "**all**", tally(all, None));
    let short = missed(all);
    let verdict = if short.is_empty() {
        "reached".to_owned()
    } else {
        format!("**missed**: {}", short.join("; "))
    };
    let _ = writeln!(text, "\nBoth bars: {verdict}.");
    text.push_str("\nThose that brought less, or nothing:\n\n| run | capture | change | promised | measured | parameters |\n|---|---|---|---|---|---|\n");
    for one in all.iter().filter(|one| one.is_broken()) {
        let Promise { changes, expected, low, .. } = one.promise;
        let _ = writeln!(
            text,
            "| {} | {} | {changes:?} | x{expected:.2}, at least x{low:.2} | x{:.2} | {} |",
            one.run.run.name(),
            one.capture,
            one.measured,
            parameters(&one.run.run.setup)
        );
    }
    text.push('\n');
    text
}

fn row(text: &mut String, name: &str, [inside, more, less, no_faster]: [usize; 4]) {
    let all = inside + more + less + no_faster;
    if all > 0 {
        let share = 100.0 * inside as f64 / all as f64;
        let _ = writeln!(
            text,
            "| {name} | {all} | {inside} ({share:.0}%) | {more} | {less} | {no_faster} |"
        );
    }
}
