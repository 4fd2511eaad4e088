//! The limits of what arrives. What limits the peer only the peer knows, but for a reader here that is behind, and for a window here that
//! is full in each round trip.

use super::{Judge, LimitShare, LimitedBy, QUEUEING, QUEUEING_S, Unseen};
use crate::evidence::{SocketEvidence, SocketState};
use crate::window::SHUT_AT_UNREAD;

/// The reader is behind where so much of the receive buffer is not read: the window shuts from here on.
pub(super) const UNREAD: f64 = SHUT_AT_UNREAD.0 as f64 / SHUT_AT_UNREAD.1 as f64;
/// Nothing more fits into a buffer so full: the next packet's memory is the rest of it.
const NO_ROOM: f64 = 0.9;
/// The window is full where so much of it arrives in each round trip (Little's law). Windows are whole segments and buffers are not: a
/// `SO_RCVBUF` of 8192 offers 8688 bytes, and 8270 of them arrived. Autotuning keeps a window twice as large as what arrives.
const FULL_WINDOW: f64 = 0.8;

/// Whether data waits here for a process that does not read it, so that nothing more can arrive.
pub fn waits_for_reader(evidence: &SocketEvidence) -> bool {
    let (state, bin) = (&evidence.state, &evidence.bin);
    let is_still = !evidence.is_since_start
        && (evidence.received_bytes, bin.sent_bytes, bin.acked_bytes) == (0, 0, 0);
    let has_no_room = state.receive_buffer.is_some_and(|buffer| buffer.share() >= NO_ROOM);
    is_still && state.unread_bytes > 0 && (has_no_room || is_nearly_shut(state))
}

/// Whether the peer fills the window that this host offers in each round trip, which cannot grow (`SO_RCVBUF`, the largest of `tcp_rmem`,
/// the window scale), and no queue makes the round trip longer.
pub fn fills_receive_window(evidence: &SocketEvidence) -> bool {
    let state = &evidence.state;
    let seconds = evidence.bin.duration.as_secs_f64();
    let (Some(window), Some(rtt), Some(least)) =
        (state.advertised_window_bytes, state.receive_rtt, state.min_rtt)
    else {
        return false;
    };
    let (rtt, least) = (rtt.as_secs_f64(), least.as_secs_f64());
    let has_queue = rtt > QUEUEING * least && rtt > least + QUEUEING_S;
    let a_trip = evidence.received_bytes as f64 * rtt / seconds;
    let is_held =
        state.receive_buffer_is_set == Some(true) || state.receive_window_grows == Some(false);
    is_held
        && !evidence.is_since_start
        && seconds > 0.0
        && !has_queue
        && a_trip >= FULL_WINDOW * f64::from(window)
}

/// The window that this host last advertised has hardly room for a segment.
fn is_nearly_shut(state: &SocketState) -> bool {
    state.advertised_window_bytes.is_some_and(|window| window < 2 * state.mss_bytes)
}

impl Judge<'_> {
    /// Whether most of the payload came from the peer, or waits here to be read while none moves.
    pub(super) fn receives(&self) -> bool {
        let received = self.evidence.received_bytes;
        let has_come =
            received > self.evidence.bin.acked_bytes && received > self.evidence.bin.sent_bytes;
        has_come || waits_for_reader(self.evidence)
    }

    pub(super) fn receiving(&self) -> (Vec<LimitShare>, Option<Unseen>) {
        let all_of = |kind| vec![LimitShare { kind, share: 1.0 }];
        let is_full = self.state.receive_buffer.is_some_and(|buffer| buffer.share() >= UNREAD);
        let is_behind = self.state.unread_bytes > 0 && (is_full || is_nearly_shut(self.state));
        if is_behind || fills_receive_window(self.evidence) {
            (all_of(LimitedBy::ReceiveWindow), None)
        } else {
            (all_of(LimitedBy::Unknown), Some(Unseen::AtPeer))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{limit, still};
    use super::*;
    use crate::evidence::{Bin, BufferFill};
    use crate::units::Time;

    /// A second without a byte, the buffer as Linux 6.18 leaves it where nobody reads.
    fn unread(e: &mut SocketEvidence) {
        still(e);
        e.state.unread_bytes = 128_504;
        e.state.receive_buffer = Some(BufferFill { used: 129_336, limit: 131_072 });
        e.state.advertised_window_bytes = Some(20_000);
    }

    #[test]
    fn nothing_arrives_where_nobody_reads() {
        assert_eq!(limit(unread), LimitedBy::ReceiveWindow);
        let shut = |e: &mut SocketEvidence| {
            unread(e);
            e.state.receive_buffer = Some(BufferFill { used: 90_000, limit: 131_072 });
            e.state.advertised_window_bytes = Some(0);
        };
        assert_eq!(limit(shut), LimitedBy::ReceiveWindow);
        let has_room = |e: &mut SocketEvidence| {
            shut(e);
            e.state.advertised_window_bytes = Some(20_000);
        };
        assert_eq!(limit(has_room), LimitedBy::Application, "the peer may have sent all it has");
        let sends = |e: &mut SocketEvidence| {
            unread(e);
            (e.bin.sent_bytes, e.bin.acked_bytes) = (5_000, 5_000);
        };
        assert_eq!(limit(sends), LimitedBy::Application, "what it sends is judged");
    }

    /// `SO_RCVBUF` of 8192 over 40 ms: 1.64 Mbit/s of 20 (Linux 6.18).
    #[test]
    fn a_set_buffer_holds_the_window_that_is_full_in_each_round_trip() {
        let small = |e: &mut SocketEvidence| {
            e.bin = Bin { duration: Time::from_secs(1), ..Bin::default() };
            e.received_bytes = 205_000;
            e.state.advertised_window_bytes = Some(8_688);
            e.state.receive_buffer = Some(BufferFill { used: 0, limit: 16_384 });
            e.state.receive_buffer_is_set = Some(true);
            e.state.receive_rtt = Some(Time::from_nanos(40_439_000));
            e.state.min_rtt = Some(Time::from_nanos(40_329_000));
        };
        assert_eq!(limit(small), LimitedBy::ReceiveWindow);
        let but = |change: fn(&mut SocketEvidence)| {
            limit(|e| {
                small(e);
                change(e);
            })
        };
        assert_eq!(but(|e| e.received_bytes = 140_000), LimitedBy::Unknown, "two thirds of it");
        assert_eq!(but(|e| e.state.receive_buffer_is_set = Some(false)), LimitedBy::Unknown);
        assert_eq!(but(|e| e.state.receive_buffer_is_set = None), LimitedBy::Unknown);
        let by_sysctl: fn(&mut SocketEvidence) = |e| {
            e.state.receive_buffer_is_set = Some(false);
            e.state.receive_window_grows = Some(false);
        };
        assert_eq!(but(by_sysctl), LimitedBy::ReceiveWindow, "tcp_rmem lets it grow no further");
        let queue: fn(&mut SocketEvidence) = |e| e.state.receive_rtt = Some(Time::from_millis(90));
        assert_eq!(but(queue), LimitedBy::Unknown, "what it holds may be a link's queue");
        assert_eq!(but(|e| e.state.min_rtt = None), LimitedBy::Unknown);
        assert_eq!(but(|e| e.is_since_start = true), LimitedBy::Unknown, "of when is the window?");
    }
}
