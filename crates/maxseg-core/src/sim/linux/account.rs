//! What is summed over time of a sending socket.

use crate::engine::Sample;
use crate::stats::Histogram;
use crate::tcp::linux::Socket;
use crate::tcp::{Limit, ReceiverStats, SenderStats};
use crate::units::{Bytes, Time};

/// Time under each limit, and bytes in flight.
#[derive(Debug, Clone, Copy)]
pub(in crate::sim) struct Account {
    /// In the order of `Limit::ALL`.
    limited: [Time; Limit::ALL.len()],
    flight_byte_nanos: u128,
    until: Time,
}

impl Account {
    pub(in crate::sim) const fn new(start: Time) -> Self {
        Self { limited: [Time::ZERO; Limit::ALL.len()], flight_byte_nanos: 0, until: start }
    }

    /// Brings it up to `now`, before anything happens; `may_rest` says that it is the application's if nothing is out and nothing
    /// waits: what is out keeps a sender busy, in the lab as well (`tcpi_busy_time`), whether it is on its way or lost.
    #[inline]
    pub(in crate::sim) fn advance(&mut self, now: Time, sender: &Socket, may_rest: bool) {
        let span = now.since(self.until);
        if span == Time::ZERO {
            return;
        }
        self.until = now;
        let bytes = sender.unacknowledged();
        self.flight_byte_nanos += u128::from(bytes) * u128::from(span.as_nanos());
        let (has_unsent, room) = sender.unsent();
        let limit = if sender.is_in_loss() {
            Limit::Rto
        } else if sender.waits_for_buffer() {
            Limit::SendBuffer
        } else if !has_unsent && may_rest && sender.is_all_acknowledged() {
            Limit::Application
        } else if sender.waits_for_own_pace() && has_unsent && room >= sender.mss() {
            Limit::Paced
        } else if has_unsent && (room < sender.mss() || sender.peer_window_is_smaller()) {
            Limit::ReceiveWindow
        } else if sender.is_in_start_up() {
            Limit::StartUp
        } else {
            Limit::Congestion
        };
        self.limited[limit as usize] += span;
    }

    /// What the sending side of a socket counted.
    pub(in crate::sim) fn sent(&self, socket: &Socket, round_trips: &Histogram) -> SenderStats {
        let counters = socket.counters();
        SenderStats {
            packets: counters.data_segments,
            data_packets: counters.data_segments,
            retransmitted_packets: counters.retransmitted_segments - counters.retransmitted_syns,
            retransmitted_bytes: counters.retransmitted_bytes,
            timeouts: counters.timeouts,
            fast_retransmits: counters.recoveries,
            spurious_cuts: counters.undone,
            spurious_timeouts: counters.spurious_timeouts,
            rtt: round_trips.clone(),
            limited: self.limited,
            flight_byte_nanos: self.flight_byte_nanos,
            ..SenderStats::default()
        }
    }
}

/// What the receiving side of a socket saw; packets without payload are its.
pub(in crate::sim) fn seen(socket: &Socket) -> ReceiverStats {
    let counters = socket.counters();
    ReceiverStats {
        packets: counters.packets.saturating_sub(counters.data_segments),
        duplicate_bytes: counters.duplicate_bytes,
        spurious_retransmissions: counters.duplicate_packets,
        marked: 0,
    }
}

/// A socket's state for those who watch.
pub(in crate::sim) fn sample(
    socket: &Socket,
    at: Time,
    flow: usize,
    queue: Time,
    acknowledged: Bytes,
) -> Sample {
    let info = socket.info();
    let segments = |count: u64| Bytes::new(count * socket.mss());
    let micros = |micros: u64| Time::from_nanos(micros * 1000);
    Sample {
        at,
        flow,
        cwnd: segments(info.cwnd),
        window: Bytes::new(info.snd_wnd),
        in_flight: Bytes::new(socket.unacknowledged()),
        srtt: (info.srtt > 0).then(|| micros(info.srtt)),
        rto: micros(info.rto),
        queue,
        acknowledged,
    }
}
