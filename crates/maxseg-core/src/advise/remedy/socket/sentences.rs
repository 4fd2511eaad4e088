//! Sentences about a running connection that depend on more than its limit.

use super::SocketCase;
use crate::diagnose::{counted, were};

impl SocketCase<'_> {
    /// Losses limit, of which there were some in the time.
    pub(super) fn losses(&self, share: &str) -> String {
        let bin = &self.evidence.bin;
        let (lost, all) = (u64::from(bin.losses), counted(bin.segments.into(), "segment"));
        format!("Losses limit this connection {share}: {lost} of {all} {} sent again.", were(lost))
    }

    /// Slow start limits. One sample shows no growth, but that nothing has ended it.
    pub(super) fn slow_start(&self, share: &str) -> String {
        let state = &self.evidence.state;
        let goes_on = match (state.bbr_pacing_gain, state.cwnd_before_segments) {
            (Some(_), _) => "BBR has not found the rate of the path yet",
            (None, Some(_)) => "it grows",
            (None, None) => "no loss has ended it yet",
        };
        format!(
            "Slow start limits this connection {share}: the congestion window is {}, and {goes_on}.",
            counted(state.cwnd_segments.into(), "segment")
        )
    }

    /// `3 timeouts in a row without an answer`.
    pub(super) fn unanswered_timeouts(&self) -> String {
        let timeouts = self.evidence.state.timeouts_in_a_row;
        let in_a_row = if timeouts == 1 { "" } else { " in a row" };
        format!("{}{in_a_row} without an answer", counted(timeouts.into(), "timeout"))
    }
}
