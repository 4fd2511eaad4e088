//! The small types of the structure: states, and what shares a byte.

/// A connection's state, by the kernel's numbers (`include/net/tcp_states.h`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[expect(
    missing_docs,
    reason = "the names are those of RFC 9293 §3.3.2, but for the two of the kernel's own"
)]
pub enum State {
    Established = 1,
    SynSent,
    SynReceived,
    FinWait1,
    FinWait2,
    TimeWait,
    Closed,
    CloseWait,
    LastAck,
    Listen,
    Closing,
    /// A connection that waits for the handshake's last segment, before it has a socket.
    NewSynReceived,
    /// A socket that is bound and does nothing.
    BoundInactive,
}

impl State {
    /// Every state.
    pub const ALL: [Self; 13] = [
        Self::Established,
        Self::SynSent,
        Self::SynReceived,
        Self::FinWait1,
        Self::FinWait2,
        Self::TimeWait,
        Self::Closed,
        Self::CloseWait,
        Self::LastAck,
        Self::Listen,
        Self::Closing,
        Self::NewSynReceived,
        Self::BoundInactive,
    ];

    /// The state with this number; `None` where there is none.
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|state| *state as u8 == number)
    }

    /// The name, in small letters with hyphens, as filters and documents have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Established => "established",
            Self::SynSent => "syn-sent",
            Self::SynReceived => "syn-received",
            Self::FinWait1 => "fin-wait-1",
            Self::FinWait2 => "fin-wait-2",
            Self::TimeWait => "time-wait",
            Self::Closed => "closed",
            Self::CloseWait => "close-wait",
            Self::LastAck => "last-ack",
            Self::Listen => "listen",
            Self::Closing => "closing",
            Self::NewSynReceived => "new-syn-received",
            Self::BoundInactive => "bound-inactive",
        }
    }
}

/// What the congestion control is doing (`enum tcp_ca_state`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum CaState {
    /// Nothing is amiss.
    Open = 0,
    /// Duplicate or selective acknowledgements have arrived; nothing counts as lost yet.
    Disorder,
    /// The window is being reduced, after a congestion mark or a local drop.
    Cwr,
    /// Fast recovery (RFC 6675).
    Recovery,
    /// After a timeout.
    Loss,
}

impl CaState {
    pub(super) const ALL: [Self; 5] =
        [Self::Open, Self::Disorder, Self::Cwr, Self::Recovery, Self::Loss];
}

/// What the two ends agreed on: the bits `TCPI_OPT_*`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NegotiatedOptions(pub u8);

impl NegotiatedOptions {
    /// Timestamps (RFC 7323 §3).
    pub const fn timestamps(self) -> bool {
        self.0 & 1 != 0
    }

    /// Selective acknowledgements (RFC 2018).
    pub const fn sack(self) -> bool {
        self.0 & 2 != 0
    }

    /// Window scaling (RFC 7323 §2); without it [`WindowScales`] are zero.
    pub const fn window_scaling(self) -> bool {
        self.0 & 4 != 0
    }

    /// Explicit congestion notification (RFC 3168).
    pub const fn ecn(self) -> bool {
        self.0 & 8 != 0
    }
}

/// By how many bits windows are shifted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WindowScales {
    /// The window that the peer advertises.
    pub send: u8,
    /// The window that is advertised to it.
    pub receive: u8,
}

impl WindowScales {
    /// A compiler gives bit fields out from the end where the first byte of a number is.
    pub(super) const fn from_byte(byte: u8) -> Self {
        let (low, high) = (byte & 0xf, byte >> 4);
        if cfg!(target_endian = "little") {
            Self { send: low, receive: high }
        } else {
            Self { send: high, receive: low }
        }
    }
}

/// Two small fields that share a byte.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TcpInfoFlags {
    /// Whether the application's lack of data kept [`TcpInfo::delivery_rate`](super::TcpInfo::delivery_rate) down. Linux 4.9.
    pub delivery_rate_app_limited: bool,
    /// Why no Fast Open (RFC 7413) was done: a number of `enum tcp_fastopen_client_fail`. Linux 5.5.
    pub fastopen_client_fail: u8,
}

impl TcpInfoFlags {
    pub(super) const fn from_byte(byte: u8) -> Self {
        let (limited, fail) = if cfg!(target_endian = "little") {
            (byte & 1, byte >> 1)
        } else {
            (byte >> 7, byte >> 5)
        };
        Self { delivery_rate_app_limited: limited != 0, fastopen_client_fail: fail & 3 }
    }
}
