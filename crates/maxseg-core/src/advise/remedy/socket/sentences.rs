//! Sentences about a running connection that depend on more than its limit.

use super::SocketCase;
use crate::diagnose::{counted, were};
use crate::units::{Time, approx};

impl SocketCase<'_> {
    /// A timer that is far longer than the round trip, in seconds, before it has expired: a route's `rto_min` makes it so.
    pub(super) fn long_timer(&self) -> Option<Time> {
        const LONG: Time = Time::from_secs(1);
        const ROUND_TRIPS: u64 = 10;
        let state = &self.evidence.state;
        let is_long = |rto: &Time| *rto > LONG && *rto > state.rtt.times(ROUND_TRIPS);
        state.rto.filter(is_long).filter(|_| state.timeouts_in_a_row == 0)
    }

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

    /// `3 timeouts in a row without an answer`, or how long the timer is waited for.
    pub(super) fn unanswered_timeouts(&self) -> String {
        let state = &self.evidence.state;
        let timeouts = state.timeouts_in_a_row;
        if let (0, Some(waits)) = (timeouts, state.unanswered_for) {
            let timer = state.rto.map_or_else(String::new, |rto| {
                format!(", and the timer is {}", approx::time(rto.as_secs_f64()))
            });
            return format!(
                "what was sent last has waited for an acknowledgement for {}{timer}",
                approx::time(waits.as_secs_f64())
            );
        }
        let in_a_row = if timeouts == 1 { "" } else { " in a row" };
        format!("{}{in_a_row} without an answer", counted(timeouts.into(), "timeout"))
    }
}
