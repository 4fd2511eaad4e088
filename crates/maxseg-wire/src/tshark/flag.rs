//! What tshark may say of a segment: its `tcp.analysis.*` fields.

use std::fmt;

/// One of tshark's remarks. [`Flag::name`] is the end of its field's name: `retransmission` for
/// `tcp.analysis.retransmission`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Flag {
    /// It does not advance, and no other reason was found. tshark shows this field of the fast and the
    /// spurious ones too.
    Retransmission,
    /// It follows within 20 ms on at least two duplicate acknowledgements that ask for it.
    FastRetransmission,
    /// All of it was acknowledged before it was seen again.
    SpuriousRetransmission,
    /// It does not advance, but comes within the handshake's round trip of the highest segment.
    OutOfOrder,
    /// It begins behind a gap.
    LostSegment,
    /// It acknowledges what the capture does not hold.
    AckLostSegment,
    /// A bare segment with the same acknowledgement and window as before.
    DuplicateAck,
    /// It reaches the window's edge exactly.
    WindowFull,
    /// A bare segment with the same acknowledgement and another window.
    WindowUpdate,
    /// Its window is zero.
    ZeroWindow,
    /// One byte beyond a window of zero.
    ZeroWindowProbe,
    /// The answer to such a probe.
    ZeroWindowProbeAck,
    /// At most one byte, and that before the next expected.
    KeepAlive,
    /// The answer to such a segment.
    KeepAliveAck,
    /// A SYN with another number on addresses and ports that were seen before.
    ReusedPorts,
    /// A SYN with a fast open cookie.
    TfoSyn,
    /// A SYN that acknowledges the data of a SYN.
    TfoAck,
    /// A SYN that does not.
    TfoIgnored,
}

impl Flag {
    /// All of them.
    pub const ALL: [Self; 18] = [
        Self::Retransmission,
        Self::FastRetransmission,
        Self::SpuriousRetransmission,
        Self::OutOfOrder,
        Self::LostSegment,
        Self::AckLostSegment,
        Self::DuplicateAck,
        Self::WindowFull,
        Self::WindowUpdate,
        Self::ZeroWindow,
        Self::ZeroWindowProbe,
        Self::ZeroWindowProbeAck,
        Self::KeepAlive,
        Self::KeepAliveAck,
        Self::ReusedPorts,
        Self::TfoSyn,
        Self::TfoAck,
        Self::TfoIgnored,
    ];

    /// tshark's name, without `tcp.analysis.`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Retransmission => "retransmission",
            Self::FastRetransmission => "fast_retransmission",
            Self::SpuriousRetransmission => "spurious_retransmission",
            Self::OutOfOrder => "out_of_order",
            Self::LostSegment => "lost_segment",
            Self::AckLostSegment => "ack_lost_segment",
            Self::DuplicateAck => "duplicate_ack",
            Self::WindowFull => "window_full",
            Self::WindowUpdate => "window_update",
            Self::ZeroWindow => "zero_window",
            Self::ZeroWindowProbe => "zero_window_probe",
            Self::ZeroWindowProbeAck => "zero_window_probe_ack",
            Self::KeepAlive => "keep_alive",
            Self::KeepAliveAck => "keep_alive_ack",
            Self::ReusedPorts => "reused_ports",
            Self::TfoSyn => "tfo_syn",
            Self::TfoAck => "tfo_ack",
            Self::TfoIgnored => "tfo_ignored",
        }
    }

    const fn bit(self) -> u32 {
        1 << self as u8
    }
}

/// A set of [`Flag`]s.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct FlagSet(u32);

impl FlagSet {
    pub(super) const EMPTY: Self = Self(0);

    /// Whether `flag` is among them.
    pub const fn contains(self, flag: Flag) -> bool {
        self.0 & flag.bit() != 0
    }

    /// In the order of [`Flag::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Flag> {
        Flag::ALL.into_iter().filter(move |flag| self.contains(*flag))
    }

    pub(super) const fn insert(&mut self, flag: Flag) {
        self.0 |= flag.bit();
    }
}

impl fmt::Debug for FlagSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(Flag::name)).finish()
    }
}
