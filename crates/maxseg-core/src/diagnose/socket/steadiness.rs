//! A full link, by what several looks at a socket have in common.
//!
//! A link that is full delivers at its rate whatever the congestion window is; where it is not full, the rate is the window in each round
//! trip (Little's law) and follows it.

use super::{Judge, LimitedBy, Unseen};

/// The rate is the same where the lower quartile is so much of the upper one: that of a window which halves at losses, as Reno's, varies
/// by more.
const STEADY: f64 = 0.78;
/// A link that is full delivers in all so much of what it delivers at a time.
const AT_RATE: f64 = 0.85;
/// The window varies where its quartiles are further apart than those of the rate by this.
const VARIES: f64 = 0.05;

impl Judge<'_> {
    /// Where the rate stays the same: that of a full link, if the window changed meanwhile; unknown if that stayed the same, too, and
    /// segments were lost. `None` where the rate varies, or was not looked at often enough.
    pub(super) fn steady_rate(&self) -> Option<(LimitedBy, Option<Unseen>)> {
        let rates = self.evidence.spread?.rates?;
        let share = |[low, high]: [f64; 2]| if high > 0.0 { low / high } else { 0.0 };
        let (of_rate, of_window) = (share(rates.delivery_bps), share(rates.cwnd_segments));
        let is_steady = of_rate >= STEADY && self.rate_bps()? >= AT_RATE * rates.delivery_bps[1];
        if is_steady && of_rate >= of_window + VARIES {
            Some((LimitedBy::Bandwidth, None))
        } else if is_steady && self.has_lost() {
            Some((LimitedBy::Unknown, Some(Unseen::SteadyWindow)))
        } else {
            None
        }
    }

    /// A queue stood for most of the time, and the link delivered nearly all that it delivers at a time: more room in the send buffer would
    /// only make the queue longer.
    pub(super) fn queue_stood(&self) -> bool {
        self.evidence.spread.is_some()
            && self.is_queueing()
            && !self.is_reordered()
            && self.path_share().is_some_and(|share| share >= AT_RATE)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::limit;
    use super::*;
    use crate::evidence::{BufferFill, RateQuartiles, RateSpread, SocketEvidence};
    use crate::units::Time;

    /// Looks at it while it lasts: at the rates and windows of their quartiles.
    fn spread(delivery_bps: [f64; 2], cwnd_segments: [f64; 2]) -> RateSpread {
        let rates = Some(RateQuartiles { delivery_bps, cwnd_segments });
        RateSpread { rtt_median: Time::from_millis(53), rates, ..RateSpread::default() }
    }

    #[test]
    fn a_rate_that_stays_while_the_window_changes_is_the_links() {
        let lossy = |e: &mut SocketEvidence| {
            e.bin.losses = 4;
            e.spread = Some(spread([9.6e6, 10.2e6], [31.0, 44.0]));
        };
        assert_eq!(limit(lossy), LimitedBy::Bandwidth);
        let follows = |e: &mut SocketEvidence| {
            lossy(e);
            e.spread = Some(spread([7e6, 10.2e6], [31.0, 44.0]));
        };
        assert_eq!(limit(follows), LimitedBy::Congestion);
        let both_stay = |e: &mut SocketEvidence| {
            lossy(e);
            e.spread = Some(spread([9.6e6, 10.2e6], [41.0, 44.0]));
        };
        assert_eq!(limit(both_stay), LimitedBy::Unknown);
        let pauses = |e: &mut SocketEvidence| {
            lossy(e);
            e.spread = Some(spread([19e6, 20e6], [31.0, 44.0]));
        };
        assert_eq!(limit(pauses), LimitedBy::Congestion, "half of what arrives at a time");
        let nothing_lost = |e: &mut SocketEvidence| {
            both_stay(e);
            e.bin.losses = 0;
        };
        assert_eq!(limit(nothing_lost), LimitedBy::Unknown, "neither a loss nor a queue");
    }

    #[test]
    fn a_buffer_that_keeps_a_queue_is_not_too_small() {
        let buffered = |e: &mut SocketEvidence| {
            e.state.unsent_bytes = Some(0);
            e.state.in_flight_segments = 40;
            e.state.send_buffer = Some(BufferFill { used: 90_000, limit: 80_000 });
            e.state.send_buffer_grows = Some(false);
            e.state.delivery_bps = Some(10.5e6);
            e.bin.sndbuf_limited = Time::from_millis(600);
        };
        assert_eq!(limit(buffered), LimitedBy::SendBuffer);
        let queued = |e: &mut SocketEvidence| {
            buffered(e);
            e.spread =
                Some(RateSpread { rtt_median: Time::from_millis(90), ..RateSpread::default() });
        };
        assert_eq!(limit(queued), LimitedBy::Bandwidth);
        let pauses = |e: &mut SocketEvidence| {
            queued(e);
            e.state.delivery_bps = Some(20e6);
        };
        assert_eq!(limit(pauses), LimitedBy::SendBuffer, "the link rests for half of the time");
    }
}
