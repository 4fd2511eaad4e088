//! What is said where a change gains nothing.

use crate::advise::gain::{Gain, NoGain, SMALL_GAIN};
use crate::advise::remedy::{Remedy, Subject, remedy};
use crate::advise::{Case, Change, Rerun};
use crate::outcome::LimitedBy;
use crate::units::approx;

/// What is said instead of a change with which the path carries no more: what follows from the limit, where the change was for something
/// else.
pub(super) fn instead_of(
    change: Option<Remedy>,
    subject: Option<Subject>,
    case: &Case<'_>,
) -> Option<Remedy> {
    let limit = case.diagnosis.limited_by;
    let of_limit = match subject {
        Some(Subject::Finding(_)) => remedy(Subject::Limit(limit), case, None),
        _ => None,
    };
    of_limit.or_else(|| change.map(not_worth_it))
}

/// The gain of a reader that does not stop, where runs of the path give none: they have no reader that stops again and again, and what
/// explains the goodput without one is another path than was seen.
pub(super) fn with_prompt_reader(
    case: &Case<'_>,
    file: &str,
    rerun: Rerun,
    gain: Result<Gain, NoGain>,
) -> (Option<Rerun>, Result<Gain, NoGain>) {
    let is_missing = match &gain {
        Ok(gain) => gain.missing().is_some(),
        Err(why) => matches!(why, NoGain::BaselineMisses { .. }),
    };
    match Rerun::of(case, file).ok().filter(|_| is_missing) {
        Some(seen) => {
            let gain =
                seen.gain_without_stall(case, LimitedBy::ReceiveWindow, &[Change::ReadsAtOnce]);
            (Some(seen), gain)
        }
        None => (Some(rerun), gain),
    }
}

/// A change without what it would do: the path carries no more with it.
fn not_worth_it(remedy: Remedy) -> Remedy {
    Remedy {
        change: format!(
            "no change: without this limit the runs predict {} more at most",
            approx::whole_percent(SMALL_GAIN)
        ),
        note: None,
        ..remedy.only_looks()
    }
}
