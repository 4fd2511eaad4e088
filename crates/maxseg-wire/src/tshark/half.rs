//! What is remembered of one direction.

use super::flag::FlagSet;

/// Most unacknowledged segments that are remembered of a direction (`TCP_MAX_UNACKED_SEGMENTS`).
const MOST_OUTSTANDING: usize = 10_000;

/// The window of a direction that has not said one; no window field holds it.
const NO_WINDOW: u32 = u32::MAX;

/// Whether `a` comes before `b` in the circle of sequence numbers.
pub(super) const fn before(a: u32, b: u32) -> bool {
    a.wrapping_sub(b).cast_signed() < 0
}

/// Whether `a` comes after `b`. Half the circle away, a number is both before and after.
pub(super) const fn after(a: u32, b: u32) -> bool {
    before(b, a)
}

/// Whether `a` does not come after `b`, with the same exception.
pub(super) const fn up_to(a: u32, b: u32) -> bool {
    a == b || before(a, b)
}

/// By how much windows are shifted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scale {
    /// No SYN was seen.
    Unknown,
    /// A SYN without the option was seen.
    Unused,
    /// As the option says, at most 14.
    Shift(u8),
}

impl Scale {
    /// Bits; none where nothing is known.
    pub(super) const fn shift(self) -> u32 {
        match self {
            Self::Unknown | Self::Unused => 0,
            Self::Shift(bits) => bits as u32,
        }
    }
}

/// A segment that awaits its acknowledgement, or what that left of it.
#[derive(Debug, Clone, Copy)]
struct Outstanding {
    seq: u32,
    end: u32,
    at_nanos: u64,
}

/// One direction of a stream. Where a number is not known yet it is 0, as in tshark: a connection that
/// really passes number 0 is misjudged there, and so it is here.
#[derive(Debug, Clone)]
pub(super) struct HalfStream {
    /// From where numbers are counted.
    pub(super) base_seq: Option<u32>,
    /// The highest number reached; probes of a zero window do not move it.
    pub(super) next_seq: u32,
    /// When it was reached.
    pub(super) next_seq_at: u64,
    /// Up to where there is no gap, and so what the peer may acknowledge.
    pub(super) gapless: u32,
    /// The last acknowledgement that this direction carried.
    pub(super) last_ack: u32,
    /// When it did.
    pub(super) last_ack_at: u64,
    /// How often `last_ack` was repeated; the highest number there is where it lies beyond what was seen.
    pub(super) duplicate_acks: u32,
    /// The last window field.
    pub(super) window: u32,
    /// How its windows are shifted.
    pub(super) scale: Scale,
    /// The SYN's window stands: no acknowledgement without SYN followed.
    pub(super) window_is_the_syns: bool,
    /// What was said of the last segment.
    pub(super) last_flags: FlagSet,
    /// Bytes in the last segment's SACK blocks, of which tshark keeps three.
    pub(super) sacked: u32,
    /// No gap since the last acknowledgement from the peer.
    pub(super) flight_is_known: bool,
    /// Kinds of MPTCP options that the stream had shown when this direction's last segment came.
    pub(super) mptcp_operations: u8,
    /// In the order of their coming.
    outstanding: Vec<Outstanding>,
}

impl HalfStream {
    pub(super) const fn new() -> Self {
        Self {
            base_seq: None,
            next_seq: 0,
            next_seq_at: 0,
            gapless: 0,
            last_ack: 0,
            last_ack_at: 0,
            duplicate_acks: 0,
            window: NO_WINDOW,
            scale: Scale::Unknown,
            window_is_the_syns: false,
            last_flags: FlagSet::EMPTY,
            sacked: 0,
            flight_is_known: true,
            mptcp_operations: 0,
            outstanding: Vec::new(),
        }
    }

    /// Where the peer must stop: the first number beyond the window.
    pub(super) const fn window_edge(&self) -> u32 {
        let shift = if self.window_is_the_syns { 0 } else { self.scale.shift() };
        self.last_ack.wrapping_add(self.window << shift)
    }

    /// Remembers a segment until it is acknowledged; `false` where there are too many already.
    pub(super) fn remember(&mut self, seq: u32, end: u32, at_nanos: u64) -> bool {
        let room = self.outstanding.len() < MOST_OUTSTANDING;
        if room {
            self.outstanding.push(Outstanding { seq, end, at_nanos });
        }
        room
    }

    /// Forgets what `ack` covers. The time of the oldest segment that ends just there, if any does.
    pub(super) fn acknowledge(&mut self, ack: u32) -> Option<u64> {
        let mut answered = None;
        self.outstanding.retain_mut(|segment| {
            if ack == segment.end {
                answered = answered.or(Some(segment.at_nanos));
            } else if after(segment.end, ack) {
                if after(ack, segment.seq) {
                    segment.seq = ack;
                }
                return true;
            }
            false
        });
        answered
    }

    /// When the oldest of them came.
    pub(super) fn oldest_at(&self) -> Option<u64> {
        self.outstanding.first().map(|segment| segment.at_nanos)
    }

    /// From the first to the last number of what is outstanding, in bytes.
    pub(super) fn span(&self) -> Option<u32> {
        let base = self.base_seq.unwrap_or(0);
        let first = self.outstanding.iter().map(|segment| segment.seq.wrapping_sub(base)).min()?;
        let last = self.outstanding.iter().map(|segment| segment.end.wrapping_sub(base)).max()?;
        Some(last.wrapping_sub(first))
    }
}
