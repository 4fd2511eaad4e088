//! What a sender counts.

use crate::stats::Histogram;
use crate::units::Time;

/// What keeps a sender from sending more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// There is no more data; time counts under it once all is acknowledged.
    Application,
    /// It has only begun: the handshake, or slow start before the first loss.
    StartUp,
    /// The peer's window.
    ReceiveWindow,
    /// Its own buffer.
    SendBuffer,
    /// The congestion window.
    Congestion,
    /// It waits for the retransmission timer.
    Rto,
    /// The program's own limit of its rate (`SO_MAX_PACING_RATE`).
    Paced,
}

impl Limit {
    /// All of them, in the order of [`SenderStats::limited`].
    pub const ALL: [Self; 7] = [
        Self::Application,
        Self::StartUp,
        Self::ReceiveWindow,
        Self::SendBuffer,
        Self::Congestion,
        Self::Rto,
        Self::Paced,
    ];
}

/// What a sender did so far.
#[derive(Debug, Clone, Default)]
pub struct SenderStats {
    /// Packets of any kind.
    pub packets: u64,
    /// Packets with payload, repeated ones included.
    pub data_packets: u64,
    /// Packets of which a part had been sent before.
    pub retransmitted_packets: u64,
    /// Their payload.
    pub retransmitted_bytes: u64,
    /// Expiries of the retransmission timer, the SYN's included.
    pub timeouts: u64,
    /// Fast retransmits.
    pub fast_retransmits: u64,
    /// Cuts that proved spurious and were taken back.
    pub spurious_cuts: u64,
    /// Timeouts among them.
    pub spurious_timeouts: u64,
    /// Cuts for marked packets.
    pub mark_cuts: u64,
    /// Probes of a closed window.
    pub window_probes: u64,
    /// Round trips of segments that were timed: one at a time, none that was resent.
    pub rtt: Histogram,
    /// Time spent under each limit, in the order of [`Limit::ALL`].
    pub limited: [Time; Limit::ALL.len()],
    /// Bytes in flight, summed over time in byte-nanoseconds.
    pub flight_byte_nanos: u128,
}

impl SenderStats {
    /// Adds what another sender did.
    pub fn add(&mut self, other: &Self) {
        self.packets += other.packets;
        self.data_packets += other.data_packets;
        self.retransmitted_packets += other.retransmitted_packets;
        self.retransmitted_bytes += other.retransmitted_bytes;
        self.timeouts += other.timeouts;
        self.fast_retransmits += other.fast_retransmits;
        self.spurious_cuts += other.spurious_cuts;
        self.spurious_timeouts += other.spurious_timeouts;
        self.mark_cuts += other.mark_cuts;
        self.window_probes += other.window_probes;
        self.rtt.merge(&other.rtt);
        for (mine, theirs) in self.limited.iter_mut().zip(other.limited) {
            *mine += theirs;
        }
        self.flight_byte_nanos += other.flight_byte_nanos;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_under_limits_stand_in_the_order_of_the_list() {
        assert!(Limit::ALL.into_iter().enumerate().all(|(place, limit)| limit as usize == place));
    }
}
