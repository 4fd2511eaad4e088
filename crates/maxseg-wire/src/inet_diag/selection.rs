//! Which sockets are asked for: of a family, in some states.

use crate::tcp_info::State;

/// The family of a socket. One of IPv6 may have a connection over IPv4 (RFC 4291 §2.5.5.2: mapped addresses).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// `AF_INET`.
    Ipv4 = 2,
    /// `AF_INET6`.
    Ipv6 = 10,
}

/// A set of connection states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StateSet(u32);

impl StateSet {
    /// None.
    pub const NONE: Self = Self(0);
    /// All that the kernel has.
    pub const ALL: Self = Self(0x3ffe);

    /// With this state too.
    #[must_use]
    pub const fn with(self, state: State) -> Self {
        Self(self.0 | 1 << state as u32)
    }

    /// Without this state.
    #[must_use]
    pub const fn without(self, state: State) -> Self {
        Self(self.0 & !(1 << state as u32))
    }

    /// A bit for each state, as the kernel has them.
    pub(super) const fn bits(self) -> u32 {
        self.0
    }

    /// Whether the state is in it.
    pub const fn has(self, state: State) -> bool {
        self.0 & (1 << state as u32) != 0
    }
}
