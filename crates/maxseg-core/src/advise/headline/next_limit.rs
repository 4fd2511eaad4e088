//! What may limit a connection next, once its limit is removed, and is not seen before.

use super::Headline;
use crate::advise::{Case, Change};
use crate::diagnose::LossCause;

impl Headline<'_> {
    /// What may hold the goodput after the change below what is predicted, and the runs have none of it.
    pub fn unless(&self) -> Option<String> {
        next_limit(&self.case, &self.remedy.as_ref()?.what_if)
    }
}

/// `unless other traffic, a policer, or the program or buffer of 10.0.0.1 limits it next`: behind a window or a buffer that a transfer never
/// exceeded, neither what others send, nor what drops above a rate, nor the pace of a program, nor the size of the other buffer shows. The link's rate, losses and the window
/// that is offered do, and are in the runs. Losses of a policer whose bucket is smaller than a burst look like those of errors, or of a short
/// queue, and behind errors neither other traffic shows nor a program that writes or reads more slowly than the path. `None` of other changes: what they remove is what the transfer met.
fn next_limit(case: &Case<'_>, changes: &[Change]) -> Option<String> {
    let sender = case.evidence.sender(case.diagnosis.direction).ip().to_canonical();
    let lifts_buffer = changes.iter().any(|change| matches!(change, Change::SendBuffer(_)));
    if lifts_buffer {
        return Some("unless other traffic, a policer or a program limits it next".to_owned());
    }
    if lifts_window(changes) || changes.contains(&Change::ReadsAtOnce) {
        return Some(format!(
            "unless other traffic, a policer, or the program or buffer of {sender} limits it next"
        ));
    }
    let lifts_losses =
        |change: &Change| matches!(change, Change::NoErrors | Change::Queue(_) | Change::FairQueue);
    let lost_by = case.diagnosis.loss.cause;
    if changes.iter().any(lifts_losses)
        && matches!(lost_by, LossCause::Errors | LossCause::Unknown)
        && case.data().needed_retransmissions() > 0
    {
        return Some(
            "unless a policer drops them, or other traffic or a program limits it next".to_owned(),
        );
    }
    None
}

/// Whether a window or a buffer is to be larger, which bring more until the path is full.
pub(super) fn lifts_window(changes: &[Change]) -> bool {
    changes.iter().any(|change| {
        matches!(
            change,
            Change::Window(_)
                | Change::ReceiveBuffer(_)
                | Change::FirstReceiveBuffer(_)
                | Change::SendBuffer(_)
        )
    })
}
