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

/// A larger share of lost segments, of at least so many, is what a policer drops that the sender exceeds, as often as not: of 150 transfers that lost
/// as many for no reason that shows, four fifths were policed, and of 173 with errors at lower rates none.
const MUCH_LOST: f64 = 0.05;
const LEAST_LOST: u64 = 10;

/// Where the capture does not show what drops packets, what a path without loss would carry is no gain of one with a policer.
pub(super) fn not_policed(case: &Case<'_>, changes: &[Change], gain: Gain) -> Result<Gain, NoGain> {
    let is_of_losses =
        changes.iter().any(|change| matches!(change, Change::NoErrors | Change::Queue(_)));
    let (data, cause) = (case.data(), case.diagnosis.loss.cause);
    if !is_of_losses || !matches!(cause, LossCause::Unknown | LossCause::Errors) {
        return Ok(gain);
    }
    if let Some(passed_bps) = rate_of_possible_policer(data).filter(|_| cause == LossCause::Unknown)
    {
        return Err(NoGain::MayBePoliced { passed_bps });
    }
    let lost = data.needed_retransmissions();
    let share = lost as f64 / data.segments().max(1) as f64;
    if lost >= LEAST_LOST && share > MUCH_LOST {
        return Err(NoGain::LosesMuch { share });
    }
    Ok(gain)
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
