//! The limits of a connection from what the kernel counts: two samples of `tcp_info`, or one.
//!
//! The kernel itself divides the time with data to send: into that in which the receiver's window, and that in which the
//! send buffer, was the limit (`tcp_chrono_start` in `net/ipv4/tcp_output.c`). What is left of it belongs to the congestion
//! window, and what holds that down the socket's state at the end tells. Time without data is the application's.

mod bbr;
mod black_hole;
mod closing;
mod findings;
mod in_vain;
mod losing;
mod over_time;
mod receiving;
mod room;
mod steadiness;
mod unknown;

use std::borrow::Cow;

pub use closing::{closed_and_still, closing_in_words};
pub use findings::{SocketFinding, socket_findings};
pub use in_vain::sends_in_vain;
pub use over_time::LimitsOverTime;
pub use receiving::{fills_receive_window, waits_for_reader};
pub use room::holds_small_segments;

use self::black_hole::loses_full_segments_alone;
use self::in_vain::probes_are_keep_alives;
use self::steadiness::{HOLDS_QUEUE, OVERTAKING_SAVES};
use self::unknown::Unseen;
use super::queueing::{QUEUEING, QUEUEING_S};
use super::verdict::{INFERRED, mixed, sureness};
use crate::evidence::{SocketEvidence, SocketState};
use crate::outcome::{LimitShare, LimitedBy};
use crate::units::Time;

/// Paced by the application where so much of its limit is reached.
const AT_PACING_LIMIT: f64 = 0.85;
/// Slow start doubles the window within a round trip, or makes it grow by half (RFC 5681 §3.1).
const GROWING: f64 = 1.25;
/// BBR's gain in its start-up is 2/ln 2 (`bbr_high_gain` in `net/ipv4/tcp_bbr.c`); later it is 1.25 at most.
const BBR_STARTUP_GAIN: f64 = 2.0;
/// A window that keeps a link full holds so many segments: of fewer the receiver delays the acknowledgement until more arrive or
/// are read (RFC 9293 §3.8.6.3), and the round trip is long without a queue.
const SEGMENTS_OF_QUEUE: u32 = 4;
/// The link is full where so much of what it delivers at a time was delivered in all.
const AT_LINE_RATE: f64 = 0.75;
/// From this share of the time with data on the window was the limit by the kernel's count, whatever waited on the way.
const COUNTED_WINDOW: f64 = 0.9;
/// A window that is always full sends itself in each round trip (Little's law); one that a slow reader closes for a while sends less. The
/// smoothed round trip is a few percent off.
const EACH_TRIP: f64 = 0.9;
/// A queue that a window holds stands still: the round trip varies by no more of what it is above the least. The acknowledgement that
/// waits for a reader is late by as much as it waits.
const STANDS_STILL: f64 = 0.5;
/// A window that limits for so much of the time with data is waited for, whoever else waits.
const COUNTED_PART: f64 = 1.0 / 3.0;
/// An acknowledgement that is to come has come after so many round trips, and the time for which a receiver may delay it (200 ms of
/// Linux, `TCP_DELACK_MAX`; RFC 9293 §3.8.6.3 allows half a second).
const ROUND_TRIPS: f64 = 3.0;
const DELAYED_ACK_S: f64 = 0.5;

/// What limited a connection, as its socket shows.
#[derive(Debug, Clone, PartialEq)]
pub struct SocketDiagnosis {
    /// Shares of the time, largest first.
    pub limits: Vec<LimitShare>,
    /// The largest; [`LimitedBy::Unknown`] where the samples do not show it.
    pub limited_by: LimitedBy,
    /// Why it is unknown, and what would show it; a clause without a full stop.
    pub unknown_because: Option<Cow<'static, str>>,
    /// An estimate from 0 to 1 of how sure `limited_by` is; 0 where it is unknown.
    pub confidence: f64,
}

/// Judges a connection by its socket.
pub fn diagnose_socket(evidence: &SocketEvidence) -> SocketDiagnosis {
    let judge = Judge { evidence, state: &evidence.state };
    let (limits, why) = judge.limits();
    let because = mixed(&limits, "a longer interval")
        .map(Cow::Owned)
        .or_else(|| judge.why_unknown(&limits, why));
    let first = limits.first().copied();
    match (first, because) {
        (Some(first), None) => SocketDiagnosis {
            confidence: confidence(first, &limits, evidence),
            limited_by: first.kind,
            unknown_because: None,
            limits,
        },
        (_, because) => SocketDiagnosis {
            limits,
            limited_by: LimitedBy::Unknown,
            unknown_because: because,
            confidence: 0.0,
        },
    }
}

/// Whether its window is in a queue that other connections fill as well: a larger one takes a share of the link from them.
pub fn shares_queue(evidence: &SocketEvidence) -> bool {
    let judge = Judge { evidence, state: &evidence.state };
    window_waits_in_queue(evidence) && judge.is_sent_each_trip() && judge.queue_is_of_others()
}

/// Whether packets wait in a queue while the peer's window is the limit by the kernel's count, for a third of the time with data at least:
/// who else is in that queue decides what limits it.
pub fn window_waits_in_queue(evidence: &SocketEvidence) -> bool {
    let judge = Judge { evidence, state: &evidence.state };
    judge.window_is_counted(COUNTED_PART) && judge.is_queueing()
}

struct Judge<'a> {
    evidence: &'a SocketEvidence,
    state: &'a SocketState,
}

impl Judge<'_> {
    /// Shares of the time, largest first, and what is behind an unknown one.
    fn limits(&self) -> (Vec<LimitShare>, Option<Unseen>) {
        let all_unseen =
            |why| (vec![LimitShare { kind: LimitedBy::Unknown, share: 1.0 }], Some(why));
        if self.state.is_opening {
            return all_unseen(Unseen::Handshake);
        }
        if self.is_closed_and_still() {
            return all_unseen(Unseen::Closed);
        }
        if sends_in_vain(self.state) {
            return all_unseen(Unseen::InVain);
        }
        if self.receives() {
            return self.receiving();
        }
        let bin = &self.evidence.bin;
        let all = bin.duration.as_secs_f64();
        if all <= 0.0 {
            return (Vec::new(), Some(self.nothing_counted()));
        }
        let (window, buffer) = (bin.rwnd_limited.as_secs_f64(), bin.sndbuf_limited.as_secs_f64());
        let idle = bin.idle.as_secs_f64().min(all);
        let rest = (all - idle - window - buffer).max(0.0);
        let (kind, why) = self.congestion_window();
        let keeps_link_full = self.window_keeps_queue()
            || self.is_queueing()
                && self.fills_window()
                && self.is_at_line_rate()
                && !self.is_reordered()
                && !self.reader_is_behind(COUNTED_PART);
        if let Some(kind) = self.limit_of_bbr() {
            return (shares([(kind, all - idle), (LimitedBy::Application, idle)]), None);
        }
        let (kind, why) = if kind == LimitedBy::Bandwidth && self.may_be_buffer_of_bbr() {
            (LimitedBy::Unknown, Some(Unseen::BufferOrPath))
        } else {
            (kind, why)
        };
        let is_either = keeps_link_full && self.window_is_counted(COUNTED_WINDOW);
        let (of_window, unseen) = if is_either {
            self.counted_window()
        } else if keeps_link_full {
            (LimitedBy::Bandwidth, None)
        } else {
            (LimitedBy::ReceiveWindow, None)
        };
        let (kind, why) = if of_window == LimitedBy::Unknown {
            (of_window, unseen)
        } else if is_either && kind == LimitedBy::Bandwidth {
            (of_window, None)
        } else {
            (kind, why)
        };
        let is_links = keeps_link_full && !self.send_buffer_held();
        let of_buffer = if is_links || self.queue_stood() {
            LimitedBy::Bandwidth
        } else {
            LimitedBy::SendBuffer
        };
        let unsure = if kind == LimitedBy::SendBuffer { self.not_of_send_buffer() } else { 0.0 };
        let waits = self.waits_for_timer_s().min(rest);
        let rest = rest - waits;
        let parts = [
            (of_window, window),
            (of_buffer, buffer),
            (kind, (1.0 - unsure) * rest),
            (LimitedBy::Unknown, unsure * rest),
            (LimitedBy::Rto, waits),
            (LimitedBy::Application, idle),
        ];
        (shares(parts), why)
    }

    /// The kernel counts the peer's window as the limit for this share of the time with data to send.
    fn window_is_counted(&self, share: f64) -> bool {
        self.is_counted(self.evidence.bin.rwnd_limited, share)
    }

    /// Whether so much time under a limit is this share of the time with data to send.
    fn is_counted(&self, limited: Time, share: f64) -> bool {
        let bin = &self.evidence.bin;
        let busy = bin.duration.since(bin.idle).as_secs_f64();
        limited > Time::ZERO && limited.as_secs_f64() >= share * busy
    }

    /// The least round trip may be that of a packet which overtook others, and is then no sign of a queue.
    const fn is_reordered(&self) -> bool {
        self.state.reorderings > 0
    }

    /// What was delivered in all is what the link delivers at a time. A reader that is slow lets little through, and what the window
    /// admits arrives faster. While losses are repaired, less is acknowledged than delivered: nothing shows then.
    fn is_at_line_rate(&self) -> bool {
        if self.state.is_recovering {
            return true;
        }
        let rates = self.rate_bps().zip(self.state.delivery_bps);
        rates.is_none_or(|(rate, delivery)| rate >= AT_LINE_RATE * delivery)
    }

    /// Packets wait in a queue, as the round trips show.
    fn is_queueing(&self) -> bool {
        let times = if self.is_reordered() { HOLDS_QUEUE * OVERTAKING_SAVES } else { QUEUEING };
        !self.losses_hold()
            && self.takes_longer(times)
            && self.round_trip_s() > self.least_s() + QUEUEING_S
    }

    /// The median of the smoothed round trips, in seconds; the last one where it was not looked at often enough.
    fn round_trip_s(&self) -> f64 {
        self.evidence.spread.map_or(self.state.rtt, |spread| spread.rtt_median).as_secs_f64()
    }

    /// The reader does not keep up: the window that limits is what its buffer has free, and becomes smaller now and again. What the window
    /// admits waits for nothing else then, and its acknowledgements wait for the reader.
    fn reader_is_behind(&self, share: f64) -> bool {
        self.evidence.spread.is_some_and(|spread| spread.window_shrinks)
            && self.window_is_counted(share)
    }

    /// What a window was that the kernel counts as the limit for nearly all of the time, though the round trips show a queue: its
    /// reader's, or the link's that it keeps full.
    fn counted_window(&self) -> (LimitedBy, Option<Unseen>) {
        if self.queue_is_of_others() {
            return (LimitedBy::ReceiveWindow, None);
        }
        if self.window_keeps_queue() {
            return (LimitedBy::Bandwidth, None);
        }
        match self.is_full_and_still() {
            None => (LimitedBy::Unknown, Some(Unseen::WindowOrLink)),
            Some(true) if !self.state.has_sack => {
                (LimitedBy::Unknown, Some(Unseen::WindowWithoutSack))
            }
            Some(true) => (LimitedBy::Bandwidth, None),
            Some(false) => (LimitedBy::ReceiveWindow, None),
        }
    }

    /// Whether the window is sent in each round trip, and that hardly varies; `None` where one sample alone was taken.
    fn is_full_and_still(&self) -> Option<bool> {
        let state = self.state;
        state.window_bytes.filter(|_| !self.evidence.is_since_start)?;
        self.rate_bps()?;
        let waits = state.rtt.as_secs_f64() - state.min_rtt?.as_secs_f64();
        let stands_still = state.rtt_deviation.as_secs_f64() <= STANDS_STILL * waits;
        Some(self.is_sent_each_trip() && stands_still)
    }

    /// The peer's window is sent in each round trip (Little's law).
    fn is_sent_each_trip(&self) -> bool {
        let rtt = self.state.rtt.as_secs_f64();
        let each = self.state.window_bytes.zip(self.rate_bps());
        each.is_some_and(|(window, rate)| rate * rtt >= EACH_TRIP * 8.0 * f64::from(window))
    }

    /// The peer's window has no room for a segment, whatever is in flight.
    fn is_shut(&self) -> bool {
        self.state.window_bytes.is_some_and(|window| window < self.state.mss_bytes)
    }

    /// What is in flight fills the peer's window, which is large enough to keep a link busy: the path holds it, not a reader that
    /// is slow.
    fn fills_window(&self) -> bool {
        let (state, in_flight) = (self.state, self.evidence.bin.in_flight_max);
        state.window_bytes.is_none_or(|window| {
            window >= SEGMENTS_OF_QUEUE * state.mss_bytes && 2 * in_flight >= u64::from(window)
        })
    }

    /// What limits while neither window nor buffer does, and data is there.
    fn congestion_window(&self) -> (LimitedBy, Option<Unseen>) {
        let state = self.state;
        let is_sure = |kind| (kind, None);
        let at_pacing_limit = state
            .pacing_limit_bps
            .zip(self.rate_bps())
            .is_some_and(|(limit, rate)| rate >= AT_PACING_LIMIT * limit);
        if state.window_probes > 0 && !probes_are_keep_alives(state) || self.is_shut() {
            is_sure(LimitedBy::ReceiveWindow)
        } else if loses_full_segments_alone(self.evidence) {
            is_sure(LimitedBy::PathMtu)
        } else if state.timeouts_in_a_row > 0 {
            is_sure(LimitedBy::Rto)
        } else if at_pacing_limit {
            is_sure(LimitedBy::Paced)
        } else if let Some(seen) = self.slow_repairs() {
            seen
        } else if let Some(seen) = self.seen_send_buffer() {
            seen
        } else if state.has_room() {
            self.room()
        } else if self.losses_hold() {
            is_sure(LimitedBy::Congestion)
        } else if let Some(gain) = state.bbr_pacing_gain {
            let starts = gain > BBR_STARTUP_GAIN && !self.long_queue_stood();
            is_sure(if starts { LimitedBy::StartUp } else { LimitedBy::Bandwidth })
        } else if self.is_queueing() && (self.is_at_line_rate() || !self.has_lost()) {
            is_sure(LimitedBy::Bandwidth)
        } else if let Some(steady) = self.steady_rate() {
            steady
        } else if self.evidence.bin.losses > 0 {
            is_sure(LimitedBy::Congestion)
        } else if self.has_lost() {
            (LimitedBy::Unknown, Some(Unseen::EarlierLosses))
        } else if self.is_growing() {
            is_sure(LimitedBy::StartUp)
        } else {
            (LimitedBy::Unknown, Some(Unseen::CongestionWindow))
        }
    }

    /// How long what was sent last has waited for its acknowledgement, in seconds, where that is longer than an acknowledgement takes: then
    /// the timer is waited for, whatever the program writes.
    fn waits_for_timer_s(&self) -> f64 {
        let waits = self.state.unanswered_for.unwrap_or(Time::ZERO).as_secs_f64();
        let answered = ROUND_TRIPS * self.state.rtt.as_secs_f64() + DELAYED_ACK_S;
        let is_lost = self.state.rtt > Time::ZERO && !self.is_shut() && waits > answered;
        if is_lost { waits } else { 0.0 }
    }

    /// Segments were lost, at any time.
    fn has_lost(&self) -> bool {
        self.evidence.bin.losses > 0 || self.state.ever_retransmitted > 0
    }

    /// Slow start: no loss has set a threshold, or the window is below it, and grows.
    fn is_growing(&self) -> bool {
        let state = self.state;
        let is_below = state.ssthresh_segments.is_none_or(|limit| state.cwnd_segments < limit);
        let cwnd = f64::from(state.cwnd_segments);
        let before = state.cwnd_before_segments;
        is_below && before.is_none_or(|before| cwnd >= GROWING * f64::from(before))
    }

    /// Payload acknowledged, or the kernel's sample where there is no time to divide by.
    fn rate_bps(&self) -> Option<f64> {
        let bin = &self.evidence.bin;
        let seconds = bin.duration.as_secs_f64();
        if self.evidence.is_since_start || seconds <= 0.0 {
            return self.state.delivery_bps;
        }
        Some(bin.acked_bytes as f64 * 8.0 / seconds)
    }
}

/// How sure the largest of two shares that are equal is.
const EVEN: f64 = 0.7;

/// How sure the largest share is: the kernel counts windows, buffers and idle time; what it did not count for the most part is inferred.
fn confidence(first: LimitShare, limits: &[LimitShare], evidence: &SocketEvidence) -> f64 {
    let sure = sureness(first.share - limits.get(1).map_or(0.0, |second| second.share), EVEN);
    let bin = &evidence.bin;
    let most = 0.5 * first.share * bin.duration.as_secs_f64();
    let is_counted = first.kind == LimitedBy::ReceiveWindow && !fills_receive_window(evidence)
        || first.kind == LimitedBy::SendBuffer && bin.sndbuf_limited.as_secs_f64() >= most
        || first.kind == LimitedBy::Application && bin.idle.as_secs_f64() >= most;
    if is_counted { sure } else { sure * INFERRED }
}

/// The parts that hold for long enough as shares, largest first; equal limits are one.
fn shares(parts: impl IntoIterator<Item = (LimitedBy, f64)> + Clone) -> Vec<LimitShare> {
    let all: f64 = parts.clone().into_iter().map(|(_, seconds)| seconds).sum();
    let mut limits: Vec<LimitShare> = Vec::new();
    for (kind, seconds) in parts {
        let share = if all > 0.0 { seconds / all } else { 0.0 };
        match limits.iter_mut().find(|limit| limit.kind == kind) {
            Some(limit) => limit.share += share,
            None => limits.push(LimitShare { kind, share }),
        }
    }
    limits.retain(|limit| limit.share > LimitShare::LEAST);
    limits.sort_by(|a, b| b.share.total_cmp(&a.share).then(a.kind.cmp(&b.kind)));
    limits
}

#[cfg(test)]
mod tests;
