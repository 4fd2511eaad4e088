//! The path as it is and with changes, one line each.

use std::fmt::Write as _;

use maxseg_core::advise::{Change, Trial};
use maxseg_core::outcome::LimitedBy;
use maxseg_workbench::report::words;

use super::super::{Column, Grid};

/// Characters of a line that has room for what formulas say and for the second limit.
const WIDE: usize = 110;

/// The table of these trials, the first of which is the path as it is; with round trips under load where they are asked for. In
/// narrow lines without formulas, and with the longest limit alone.
pub(crate) fn trial_table(
    trials: &[Trial],
    advised: &[Change],
    with_pings: bool,
    width: usize,
) -> Grid {
    let is_wide = width >= WIDE;
    let mut columns = vec!["simulated", "gain"];
    if is_wide {
        columns.insert(0, "by formula");
    }
    if with_pings {
        columns.push("ping");
    }
    let values = columns.into_iter().map(Column::number).chain([Column::word("then limited by")]);
    let mut table = Grid::new([Column::word("change")], values);
    for trial in trials {
        let mut cells = vec![describe(trial, advised)];
        if is_wide {
            cells.push(trial.model_bps().map_or_else(|| "-".to_owned(), words::rate));
        }
        cells.push(goodput(trial));
        cells.push(if trial.changes.is_empty() {
            String::new()
        } else {
            words::gain(gain(&trials[0], trial))
        });
        if with_pings {
            let ping = (trial.ping.n > 0).then(|| words::time(trial.ping.mean));
            cells.push(ping.unwrap_or_else(|| "-".to_owned()));
        }
        cells.push(shares(trial, if is_wide { 2 } else { 1 }));
        table.push(cells);
    }
    table
}

/// How much more goodput than another trial.
pub(crate) fn gain(baseline: &Trial, trial: &Trial) -> f64 {
    trial.goodput.mean / baseline.goodput.mean - 1.0
}

fn goodput(trial: &Trial) -> String {
    let interval = 100.0 * trial.goodput.ci95().unwrap_or(0.0) / trial.goodput.mean;
    let mut goodput = words::rate(trial.goodput.mean);
    if interval > 0.0 {
        let _ = write!(goodput, " ±{interval:.0}%");
    }
    goodput
}

/// The changes of a trial, beside all that are `advised`.
fn describe(trial: &Trial, advised: &[Change]) -> String {
    let changes = trial.changes.as_slice();
    let missing: Vec<&Change> = advised.iter().filter(|change| !changes.contains(change)).collect();
    let further: Vec<&Change> = changes.iter().filter(|change| !advised.contains(change)).collect();
    match (changes, missing.as_slice(), further.as_slice()) {
        ([], _, _) => "none".to_owned(),
        ([only], _, _) => only.describe_in(&trial.scenario),
        (_, [], []) => all(advised.len()).to_owned(),
        (_, [], [more]) => format!("and {}", more.kind()),
        (_, [one], []) => format!("all but {}", one.kind()),
        (_, _, _) => all(changes.len()).to_owned(),
    }
}

const fn all(count: usize) -> &'static str {
    if count == 2 { "both" } else { "all of these" }
}

/// The limits that held longest, at most so many, with their shares of the time.
fn shares(trial: &Trial, most: usize) -> String {
    if trial.limited_by == LimitedBy::Bandwidth {
        return "bandwidth".to_owned();
    }
    let shares = trial.outcome.limits.iter().take(most).filter(|limit| limit.share >= 0.005);
    let shares: Vec<String> =
        shares.map(|limit| format!("{} {:.0}%", limit.kind, 100.0 * limit.share)).collect();
    shares.join(", ")
}
