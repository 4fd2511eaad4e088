//! What leaves room in the congestion window: a send buffer, writes that are small, or the application.

use super::{Judge, LimitedBy, Unseen};
use crate::evidence::{BufferFill, SocketEvidence};
use crate::units::Time;

/// The send buffer was seen to limit where it was full, and the congestion window was not, at so many of the looks: of the lab's transfers
/// that a set buffer limited under Reno and CUBIC, with losses now and again, it was at 40% or more.
const SEEN: f64 = 0.25;
/// And limits whatever was lost from so many on, where the path waits for it as well.
const MOSTLY: f64 = 0.5;
/// Less than this of what the path delivers at a time was delivered in all: the path waits for the buffer. Of the lab's transfers with a
/// set buffer, those that the buffer limited delivered 0.14 to 0.72 of it, but one of 0.96; those of a full link 0.75 and more, but
/// one of 0.65.
const PATH_WAITS: f64 = 0.7;
/// Nagle's algorithm holds data back where it did at so many of the looks: between two small writes and their answer it does for a round
/// trip, or until the delayed acknowledgement comes, and not for the rest.
const HELD: f64 = 0.25;

/// Whether small writes wait for acknowledgements: what was sent was less than half full segments, and less than a segment waits. Of a
/// transfer it is the last part of each write, which waits for nothing else.
pub fn holds_small_segments(evidence: &SocketEvidence) -> bool {
    let (state, bin) = (&evidence.state, &evidence.bin);
    let are_small = 2 * bin.sent_bytes < u64::from(bin.segments) * u64::from(state.mss_bytes);
    let now = state.holds_small_segment();
    let is_held = evidence.spread.map_or(now, |spread| spread.small_segment_share >= HELD);
    are_small && is_held
}

impl Judge<'_> {
    /// Whether a send buffer that the program has set was seen to keep the path waiting.
    pub(super) fn send_buffer_held(&self) -> bool {
        self.send_buffer_was_full() && self.path_share().is_some_and(|share| share < PATH_WAITS)
    }

    /// Whether it was seen to be full while the congestion window was not.
    pub(super) fn send_buffer_was_full(&self) -> bool {
        self.state.send_buffer_grows == Some(false)
            && self.evidence.spread.is_some_and(|spread| spread.send_buffer_share >= SEEN)
    }

    /// What was delivered in all, of what the path delivers at a time.
    pub(super) fn path_share(&self) -> Option<f64> {
        let seen = self.evidence.spread.and_then(|spread| spread.path_bps);
        let path = seen.unwrap_or(0.0).max(self.state.delivery_bps.unwrap_or(0.0));
        self.rate_bps().filter(|_| path > 0.0).map(|rate| rate / path)
    }

    /// The limit of the time in which the send buffer was seen to be the limit now and again; `None` where it was not.
    pub(super) fn seen_send_buffer(&self) -> Option<(LimitedBy, Option<Unseen>)> {
        if !self.send_buffer_was_full() || self.state.bbr_pacing_gain.is_some() {
            return None;
        }
        if self.queue_stood() {
            return Some((LimitedBy::Bandwidth, None));
        }
        let was_full_mostly =
            self.evidence.spread.is_some_and(|spread| spread.send_buffer_share >= MOSTLY);
        if self.send_buffer_held() && (was_full_mostly || self.evidence.bin.losses == 0) {
            return Some((LimitedBy::SendBuffer, None));
        }
        // Losses leave a window that a buffer may fill or not.
        (!self.state.has_room()).then_some((LimitedBy::Unknown, Some(Unseen::BufferOrPath)))
    }

    /// The share of the looks at which the send buffer was not the limit, where it was at others: writes come in pieces that fill the
    /// window for a moment, so that each of them tells half.
    pub(super) fn not_of_send_buffer(&self) -> f64 {
        self.evidence.spread.map_or(0.0, |spread| (1.0 - spread.send_buffer_share) / 2.0)
    }

    /// What leaves room in the congestion window.
    pub(super) fn room(&self) -> (LimitedBy, Option<Unseen>) {
        let state = self.state;
        let was_limit = self.evidence.bin.sndbuf_limited > Time::ZERO;
        if state.send_buffer.is_some_and(BufferFill::is_full) {
            return self.full_buffer(was_limit);
        }
        if state.send_buffer.is_none() && state.is_app_limited != Some(true) {
            (LimitedBy::Unknown, Some(Unseen::HiddenBuffer))
        } else if was_limit {
            // A send buffer that is too small runs empty too, and the kernel then calls that the application's.
            (LimitedBy::Unknown, Some(Unseen::BufferOrApplication))
        } else if holds_small_segments(self.evidence) {
            (LimitedBy::Unknown, Some(Unseen::SmallSegments))
        } else {
            (LimitedBy::Application, None)
        }
    }

    /// The kernel begins to count a writer's wait with a segment that leaves while the congestion window has room
    /// (`tcp_cwnd_validate`): of a small buffer it may count none. A buffer of its own it grows for whoever waits
    /// (`tcp_new_space`), so that one which could grow has held up nobody: the program writes by a clock of its own.
    fn full_buffer(&self, was_limit: bool) -> (LimitedBy, Option<Unseen>) {
        let is_over = self.state.send_buffer.is_some_and(|buffer| buffer.share() >= 1.0);
        match self.state.send_buffer_grows {
            _ if self.queue_stood() => (LimitedBy::Bandwidth, None),
            Some(true) if was_limit => (LimitedBy::Unknown, Some(Unseen::GrowingBuffer)),
            Some(true) => (LimitedBy::Application, None),
            _ if was_limit => (LimitedBy::SendBuffer, None),
            Some(false) if is_over => (LimitedBy::SendBuffer, None),
            _ => (LimitedBy::Unknown, Some(Unseen::FullBuffer)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{diagnosed, limit};
    use super::*;
    use crate::evidence::RateSpread;

    /// `SO_SNDBUF` of 16384 over 20 Mbit/s and 40 ms (Linux 6.18): 11.6 Mbit/s, the window full at the last look.
    fn set_buffer(e: &mut SocketEvidence) {
        e.bin.acked_bytes = 1_450_000;
        e.state.cwnd_segments = 89;
        e.state.in_flight_segments = 89;
        e.state.unsent_bytes = Some(50_680);
        (e.state.rtt, e.state.min_rtt) = (Time::from_millis(50), Some(Time::from_millis(40)));
        e.state.send_buffer = Some(BufferFill { used: 217_824, limit: 32_768 });
        e.state.send_buffer_grows = Some(false);
        e.state.delivery_bps = Some(4.98e6);
        e.state.ever_retransmitted = 131;
        e.spread = Some(RateSpread {
            rtt_median: Time::from_millis(61),
            path_bps: Some(19.3e6),
            send_buffer_share: 7.0 / 12.0,
            ..RateSpread::default()
        });
    }

    #[test]
    fn a_send_buffer_that_keeps_the_path_waiting_is_the_limit_whatever_the_last_look_shows() {
        let found = diagnosed(set_buffer);
        assert_eq!(found.limited_by, LimitedBy::SendBuffer);
        assert!(found.limits[0].share < 0.9, "the looks disagree: {:?}", found.limits);
        let drained = |e: &mut SocketEvidence| {
            set_buffer(e);
            e.state.in_flight_segments = 55;
            e.state.unsent_bytes = Some(0);
        };
        assert_eq!(limit(drained), LimitedBy::SendBuffer);
        let counted = |e: &mut SocketEvidence| {
            set_buffer(e);
            e.bin.sndbuf_limited = Time::from_millis(300);
        };
        assert_eq!(limit(counted), LimitedBy::SendBuffer);
        let lossy = |e: &mut SocketEvidence| {
            set_buffer(e);
            e.bin.losses = 7;
            e.spread = e.spread.map(|s| RateSpread { send_buffer_share: 0.4, ..s });
        };
        assert_eq!(limit(lossy), LimitedBy::Unknown, "losses or the buffer");
        let lossy_and_mostly_full = |e: &mut SocketEvidence| {
            set_buffer(e);
            e.bin.losses = 7;
        };
        assert_eq!(limit(lossy_and_mostly_full), LimitedBy::SendBuffer);
        let long_queue = |e: &mut SocketEvidence| {
            set_buffer(e);
            e.spread = e.spread.map(|s| RateSpread { rtt_median: Time::from_millis(130), ..s });
        };
        assert_eq!(limit(long_queue), LimitedBy::Bandwidth, "a larger buffer makes it longer");
        let keeps_link_full = |e: &mut SocketEvidence| {
            set_buffer(e);
            e.bin.acked_bytes = 2_250_000;
            e.spread = e.spread.map(|s| RateSpread { rtt_median: Time::from_millis(80), ..s });
        };
        assert_eq!(limit(keeps_link_full), LimitedBy::Bandwidth);
        let not_known = |e: &mut SocketEvidence| {
            set_buffer(e);
            e.state.send_buffer_grows = None;
            e.spread = e.spread.map(|s| RateSpread { rtt_median: Time::from_millis(45), ..s });
        };
        assert_eq!(limit(not_known), LimitedBy::Unknown);
    }

    #[test]
    fn losses_limit_only_where_some_were_in_this_time() {
        let earlier = diagnosed(|e| e.state.ever_retransmitted = 131);
        assert_eq!(earlier.limited_by, LimitedBy::Unknown);
        let why = earlier.unknown_because.unwrap();
        assert!(why.starts_with("nothing was lost in this time and 131 segments before"), "{why}");
        assert_eq!(limit(|e| e.bin.losses = 1), LimitedBy::Congestion);
    }

    /// Two writes of 10 and 100 bytes, then an answer, over 40 ms: the second waits for the delayed acknowledgement of the first.
    #[test]
    fn small_writes_that_wait_for_acknowledgements_are_not_the_applications_lack() {
        let dialogue = |e: &mut SocketEvidence| {
            (e.bin.sent_bytes, e.bin.acked_bytes, e.bin.segments) = (880, 880, 16);
            (e.state.cwnd_segments, e.state.in_flight_segments) = (10, 1);
            (e.state.unacked_segments, e.state.unsent_bytes) = (1, Some(100));
            e.state.send_buffer = Some(BufferFill { used: 1_774, limit: 46_080 });
            e.state.is_app_limited = Some(true);
        };
        let found = diagnosed(dialogue);
        assert!(found.unknown_because.unwrap().contains("Nagle"), "{:?}", found.limits);
        let looks = |share: f64| {
            move |e: &mut SocketEvidence| {
                dialogue(e);
                e.state.unsent_bytes = Some(0);
                e.spread = Some(RateSpread { small_segment_share: share, ..RateSpread::default() });
            }
        };
        assert_eq!(limit(looks(0.55)), LimitedBy::Unknown, "not held at the last look alone");
        assert_eq!(limit(looks(0.1)), LimitedBy::Application);
        let large = |e: &mut SocketEvidence| {
            dialogue(e);
            e.bin.sent_bytes = 16 * 1448;
        };
        assert_eq!(limit(large), LimitedBy::Application, "the end of each write waits");
    }
}
