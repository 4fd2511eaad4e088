//! The path as it is and with changes, one line each.

use std::fmt::Write as _;

use maxseg_core::advise::{Change, Trial, is_over_nothing};
use maxseg_core::outcome::LimitedBy;
use maxseg_core::stats::Summary;
use maxseg_workbench::report::words;

use super::super::{Column, Grid};

/// Characters of a line that has room for what formulas say and for the second limit.
const WIDE: usize = 110;

/// What a table of trials has beside goodput.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Shown {
    /// Round trips under load.
    pub(crate) pings: bool,
    /// The time of a request in the place of goodput.
    pub(crate) requests: bool,
}

/// The table of these trials, the first of which is the path as it is. In narrow lines without formulas, and with the longest limit
/// alone.
pub(crate) fn trial_table(
    trials: &[Trial],
    advised: &[Change],
    shown: Shown,
    width: usize,
) -> Grid {
    let is_wide = width >= WIDE;
    let with_pings = shown.pings;
    let with_formulas = is_wide && !shown.requests;
    let mut columns = vec![if shown.requests { "request" } else { "simulated" }, "gain"];
    if with_formulas {
        columns.insert(0, "by formula");
    }
    let with_others = trials.iter().any(|trial| trial.others.n > 0);
    if with_others {
        columns.push("others");
    }
    if with_pings {
        columns.push("ping");
    }
    let values = columns.into_iter().map(Column::number).chain([Column::word("then limited by")]);
    let mut table = Grid::new([Column::word("change")], values);
    for trial in trials {
        let mut cells = vec![describe(trial, advised)];
        if with_formulas {
            cells.push(trial.model_bps().map_or_else(|| "-".to_owned(), words::rate));
        }
        cells.push(if shown.requests {
            with_interval(trial.request, words::time)
        } else {
            with_interval(trial.goodput, words::rate)
        });
        cells.push(if trial.changes.is_empty() {
            String::new()
        } else {
            gain_in_words(&trials[0], trial, shown.requests)
        });
        if with_others {
            cells.push(with_interval(trial.others, words::rate));
        }
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

/// The gain of a trial over the path as it is: of goodput, or of the time of a request.
pub(super) fn gain_in_words(baseline: &Trial, trial: &Trial, of_requests: bool) -> String {
    let rate = |trial: &Trial| match (of_requests, trial.request.n) {
        (true, 0) => 0.0,
        (true, _) => 1.0 / trial.request.mean,
        (false, _) => trial.goodput.mean,
    };
    let (before, after) = (rate(baseline), rate(trial));
    if is_over_nothing(before, after) {
        return "from nothing".to_owned();
    }
    if before <= 0.0 {
        return words::gain(0.0);
    }
    words::gain(if of_requests { before / after } else { after / before } - 1.0)
}

fn with_interval(values: Summary, write: fn(f64) -> String) -> String {
    if values.n == 0 {
        return "-".to_owned();
    }
    let interval = 100.0 * values.ci95().unwrap_or(0.0) / values.mean.max(f64::MIN_POSITIVE);
    let mut text = write(values.mean);
    if interval > 0.0 {
        let _ = write!(text, " ±{interval:.0}%");
    }
    text
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
