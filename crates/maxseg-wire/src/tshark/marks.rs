//! What is said of one segment.

use super::flag::{Flag, FlagSet};

/// What is said of one segment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Marks {
    /// The stream's number (`tcp.stream`).
    pub stream: usize,
    /// What it is.
    pub flags: FlagSet,
    /// Time since the segment that it acknowledges exactly, in nanoseconds (`tcp.analysis.ack_rtt`).
    pub ack_rtt_nanos: Option<i64>,
    /// Of a retransmission neither fast nor spurious: time since the oldest unacknowledged segment
    /// (`tcp.analysis.rto`).
    pub rto_nanos: Option<i64>,
    /// `tcp.analysis.bytes_in_flight`.
    pub bytes_in_flight: Option<u32>,
    /// Time from SYN to the handshake's last acknowledgement (`tcp.analysis.initial_rtt`): told of each
    /// segment of which anything is told.
    pub initial_rtt_nanos: Option<i64>,
    /// The window in bytes (`tcp.window_size`).
    pub window_bytes: u32,
    /// Whether a D-SACK block is in it (RFC 2883).
    pub dsack: bool,
    /// Whether there is an entry for it at all, with or without flags.
    pub(super) noted: bool,
}

impl Marks {
    pub(super) const fn flag(&mut self, flag: Flag) {
        self.flags.insert(flag);
        self.noted = true;
    }

    /// Takes back what tshark finds out, but does not get to say.
    pub(super) fn silence(&mut self) {
        let kept = [Flag::TfoSyn, Flag::TfoAck, Flag::TfoIgnored];
        let mut flags = FlagSet::default();
        kept.into_iter().filter(|flag| self.is(*flag)).for_each(|flag| flags.insert(flag));
        let Self { stream, window_bytes, .. } = *self;
        *self = Self { stream, flags, window_bytes, ..Self::default() };
    }

    pub(super) const fn is(self, flag: Flag) -> bool {
        self.flags.contains(flag)
    }
}

/// A time difference; 0 is not shown.
pub(super) fn shown(nanos: i64) -> Option<i64> {
    (nanos != 0).then_some(nanos)
}

/// Time from `then` to `now`, in nanoseconds; negative where the clock went back.
pub(super) const fn since(then: u64, now: u64) -> i64 {
    now.wrapping_sub(then).cast_signed()
}
