//! What the evidence says against a prediction: a gain that contradicts it is not given.

use super::stalls;
use crate::advise::gain::{CLOSE, Gain, NoGain};
use crate::advise::{Case, Change, Subject};
use crate::diagnose::{FULL_LINK, LossCause, rate_of_possible_policer};
use crate::outcome::LimitedBy;

/// While the link is full, losses cost at most the rest of its rate.
pub(super) fn within_full_link(
    case: &Case<'_>,
    changes: &[Change],
    gain: Gain,
) -> Result<Gain, NoGain> {
    let full = case.share(LimitedBy::Bandwidth);
    let is_full = case.diagnosis.limited_by == LimitedBy::Bandwidth;
    match gain.relative() {
        Some(relative)
            if is_full && mend_losses(changes) && FULL_LINK * full * (1.0 + relative) > 1.0 =>
        {
            Err(NoGain::BeyondFullLink)
        }
        _ => Ok(gain),
    }
}

/// Where the capture does not show what drops packets, what a path without loss would carry is no gain of one with a policer.
pub(super) fn not_policed(case: &Case<'_>, changes: &[Change], gain: Gain) -> Result<Gain, NoGain> {
    let is_open = mend_losses(changes) && case.diagnosis.loss.cause == LossCause::Unknown;
    match rate_of_possible_policer(case.data()).filter(|_| is_open) {
        Some(passed_bps) => Err(NoGain::MayBePoliced { passed_bps }),
        None => Ok(gain),
    }
}

/// A prediction below what removing the stalled time alone gives contradicts the evidence.
pub(super) fn at_least_the_stall(
    case: &Case<'_>,
    subject: Option<Subject>,
    gain: Gain,
) -> Result<Gain, NoGain> {
    let Some(limit) = subject.and_then(stalls) else { return Ok(gain) };
    let without_stall = gain.observed_whole_bps() / (1.0 - case.share(limit)).max(1e-6);
    match gain.expected() {
        Some(expected) if expected.goodput_bps < (1.0 - CLOSE) * without_stall => {
            Err(NoGain::BelowStalled)
        }
        _ => Ok(gain),
    }
}

/// Whether fewer losses are what some of these changes bring.
fn mend_losses(changes: &[Change]) -> bool {
    changes.iter().any(|change| matches!(change, Change::NoErrors | Change::Queue(_)))
}
