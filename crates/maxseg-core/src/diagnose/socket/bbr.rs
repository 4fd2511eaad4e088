//! What holds BBR down that the kernel counts for a part of the time only.
//!
//! BBR paces at the rate that it saw. Where a window or a buffer kept that rate down, it sends no faster in the rest of the time either, and
//! no queue forms but that of others.

use super::steadiness::HOLDS_QUEUE;
use super::{BBR_STARTUP_GAIN, Judge, LimitedBy};

/// BBR's rate is that of a window or buffer which limits for so much of the time with data: of 1757 simulated transfers those of BBR that
/// one limited have 0.19 and more of it, those of a full link 0.14 and less or a queue.
const COUNTED: f64 = 1.0 / 6.0;
/// Of a buffer, any queue shows that the link is full below this share.
const COUNTED_OF_BUFFER: f64 = 1.0 / 3.0;
/// A buffer that limits for this share may be what keeps the rate down.
const SOME: f64 = 0.1;

impl Judge<'_> {
    /// The window or the buffer that keeps BBR's rate down; `None` where neither does, or it is not BBR.
    pub(super) fn limit_of_bbr(&self) -> Option<LimitedBy> {
        let (window, buffer) = (self.evidence.bin.rwnd_limited, self.evidence.bin.sndbuf_limited);
        let both = window.saturating_add(buffer);
        if !self.is_cruising() || !self.is_counted(both, COUNTED) || !self.is_free_of_queue() {
            return None;
        }
        if window >= buffer {
            return Some(LimitedBy::ReceiveWindow);
        }
        let is_sure = self.is_counted(both, COUNTED_OF_BUFFER) || !self.takes_longer(HOLDS_QUEUE);
        is_sure.then_some(LimitedBy::SendBuffer)
    }

    /// Whether a buffer is counted for long enough that the link need not be all that holds BBR.
    pub(super) fn may_be_buffer_of_bbr(&self) -> bool {
        let buffer = self.evidence.bin.sndbuf_limited;
        self.is_cruising() && self.is_counted(buffer, SOME) && self.is_free_of_queue()
    }

    /// Past its start-up.
    fn is_cruising(&self) -> bool {
        self.state.bbr_pacing_gain.is_some_and(|gain| gain <= BBR_STARTUP_GAIN)
    }

    /// No queue is its own: there is none, it is that of others, or acknowledgements wait for a reader.
    fn is_free_of_queue(&self) -> bool {
        let has_none = (!self.is_queueing() || self.is_reordered()) && !self.window_keeps_queue();
        let is_beside = || self.is_sent_each_trip() && self.queue_is_of_others();
        has_none || self.reader_is_behind(COUNTED) || is_beside()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::limit;
    use super::*;
    use crate::evidence::{RateSpread, SocketEvidence};
    use crate::units::Time;

    #[test]
    fn bbr_goes_on_at_the_rate_that_a_window_or_buffer_left_it() {
        let bbr = |e: &mut SocketEvidence| e.state.bbr_pacing_gain = Some(1.0);
        let window = |e: &mut SocketEvidence| {
            bbr(e);
            e.bin.rwnd_limited = Time::from_millis(400);
        };
        assert_eq!(limit(window), LimitedBy::ReceiveWindow);
        let buffer = |e: &mut SocketEvidence| {
            bbr(e);
            e.bin.sndbuf_limited = Time::from_millis(350);
        };
        assert_eq!(limit(buffer), LimitedBy::SendBuffer);
        let queued = |e: &mut SocketEvidence| {
            buffer(e);
            e.state.rtt = Time::from_millis(120);
        };
        assert_eq!(limit(queued), LimitedBy::Bandwidth, "a queue shows the link");
    }

    /// 11.7 Mbit/s of 65 over 77 ms, of which 29% are counted of a send buffer; and 18.7 of 91, 20% of a window whose reader is behind
    /// (simulated).
    #[test]
    fn a_fifth_of_the_time_is_enough_where_no_queue_stands() {
        let looks = |rtt_ms: u64, window_shrinks: bool| {
            let rtt_median = Time::from_millis(rtt_ms);
            Some(RateSpread { rtt_median, window_shrinks, ..RateSpread::default() })
        };
        let buffer = |rtt_ms| {
            move |e: &mut SocketEvidence| {
                e.state.bbr_pacing_gain = Some(1.25);
                e.bin.sndbuf_limited = Time::from_millis(290);
                e.spread = looks(rtt_ms, false);
            }
        };
        assert_eq!(limit(buffer(51)), LimitedBy::SendBuffer);
        assert_eq!(limit(buffer(57)), LimitedBy::Unknown, "some queue: the link or the buffer");
        let window = |millis, rtt_ms, shrinks| {
            move |e: &mut SocketEvidence| {
                e.state.bbr_pacing_gain = Some(1.0);
                e.bin.rwnd_limited = Time::from_millis(millis);
                e.spread = looks(rtt_ms, shrinks);
            }
        };
        assert_eq!(limit(window(200, 51, false)), LimitedBy::ReceiveWindow);
        assert_eq!(limit(window(140, 51, false)), LimitedBy::Bandwidth);
        assert_eq!(limit(window(200, 80, false)), LimitedBy::Bandwidth, "a queue");
        assert_eq!(limit(window(200, 80, true)), LimitedBy::ReceiveWindow, "of a reader");
    }
}
