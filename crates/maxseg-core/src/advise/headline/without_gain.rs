//! What is said where a change gains nothing.

use crate::advise::Case;
use crate::advise::gain::SMALL_GAIN;
use crate::advise::remedy::{Remedy, Subject, remedy};
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
