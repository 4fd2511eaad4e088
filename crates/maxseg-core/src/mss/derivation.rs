//! A number with all that went into it.

use serde::Serialize;

use crate::units::Bytes;

/// What a step of a [`Derivation`] is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// The MTU of the interface.
    InterfaceMtu,
    /// An MTU that is set on the route.
    RouteMtu,
    /// The MTU of the path, as far as the host knows it.
    PathMtu,
    /// The IP header.
    IpHeader,
    /// The TCP header.
    TcpHeader,
    /// Options of the IP header, or IPv6 extension headers.
    IpOptions,
    /// Options of every segment's TCP header.
    TcpOptions,
    /// The peer's MSS option.
    PeerOption,
    /// What stands for an option that the peer did not send.
    NoPeerOption,
    /// What the application or the administrator asked for (`TCP_MAXSEG`).
    UserMss,
    /// An MSS that is set on the route (Linux: `advmss`).
    RouteAdvmss,
    /// The least that a host advertises or uses.
    Floor,
    /// What the field or the packet can carry at most.
    Format,
    /// Half of the largest window that the peer has offered, or all of a small one.
    PeerWindow,
    /// Whole clusters of the kernel's memory.
    Clusters,
    /// The socket's buffer, as the application or the system set it.
    SocketBuffer,
    /// A buffer size that is set on the route.
    RoutePipe,
    /// The system's limit for a socket's buffer.
    BufferLimit,
    /// Whole segments.
    Segments,
    /// What a stack uses towards hosts that are not on its own subnet.
    OffSubnet,
}

/// What a step does to the number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    /// It becomes this.
    Is(Bytes),
    /// It becomes at most this.
    AtMost(Bytes),
    /// It becomes at least this.
    AtLeast(Bytes),
    /// So much is taken away; nothing is left below zero.
    Less(Bytes),
    /// It is rounded down to a multiple of this.
    DownToMultipleOf(Bytes),
    /// It is rounded up to a multiple of this.
    UpToMultipleOf(Bytes),
}

/// One step of a [`Derivation`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Step {
    /// What it is about.
    pub cause: Cause,
    /// What it does.
    pub effect: Effect,
    /// What it gives.
    pub value: Bytes,
    /// Whether that differs from what it was given.
    pub changed: bool,
}

/// A number with every step that led to it, those without effect included.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Derivation {
    steps: Vec<Step>,
}

impl Derivation {
    /// It begins with this.
    pub fn begin(cause: Cause, value: Bytes) -> Self {
        let effect = Effect::Is(value);
        Self { steps: vec![Step { cause, effect, value, changed: true }] }
    }

    /// The result.
    pub fn value(&self) -> Bytes {
        self.steps.last().map_or(Bytes::ZERO, |step| step.value)
    }

    /// Every step in order.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// What decided: the last step that changed the number by more than taking headers away.
    pub fn winner(&self) -> Cause {
        let decides = |step: &&Step| step.changed && !matches!(step.effect, Effect::Less(_));
        self.steps.iter().rev().find(decides).map_or(Cause::InterfaceMtu, |step| step.cause)
    }

    /// It becomes at most `bound`.
    #[must_use]
    pub fn at_most(self, cause: Cause, bound: Bytes) -> Self {
        self.then(cause, Effect::AtMost(bound))
    }

    /// The same, where there is a bound.
    #[must_use]
    pub fn at_most_if(self, cause: Cause, bound: Option<Bytes>) -> Self {
        match bound {
            Some(bound) => self.at_most(cause, bound),
            None => self,
        }
    }

    /// It becomes at least `bound`.
    #[must_use]
    pub fn at_least(self, cause: Cause, bound: Bytes) -> Self {
        self.then(cause, Effect::AtLeast(bound))
    }

    /// So much is taken away.
    #[must_use]
    pub fn less(self, cause: Cause, header: Bytes) -> Self {
        self.then(cause, Effect::Less(header))
    }

    /// It is rounded down to a multiple of `unit`.
    #[must_use]
    pub fn down_to_multiple_of(self, cause: Cause, unit: Bytes) -> Self {
        self.then(cause, Effect::DownToMultipleOf(unit))
    }

    /// It is rounded up to a multiple of `unit`.
    #[must_use]
    pub fn up_to_multiple_of(self, cause: Cause, unit: Bytes) -> Self {
        self.then(cause, Effect::UpToMultipleOf(unit))
    }

    fn then(mut self, cause: Cause, effect: Effect) -> Self {
        let before = self.value();
        let value = match effect {
            Effect::Is(value) => value,
            Effect::AtMost(bound) => before.min(bound),
            Effect::AtLeast(bound) => before.max(bound),
            Effect::Less(header) => before.saturating_sub(header),
            Effect::DownToMultipleOf(unit) => {
                Bytes::new(before.get() - before.get().checked_rem(unit.get()).unwrap_or(0))
            }
            Effect::UpToMultipleOf(unit) => {
                let up = before.get().checked_next_multiple_of(unit.get());
                up.map_or(before, Bytes::new)
            }
        };
        self.steps.push(Step { cause, effect, value, changed: value != before });
        self
    }
}
