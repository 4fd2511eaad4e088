//! Which end the capture point is at, by the round trips of the handshake.

/// The capture point is at one end if the other is at least so many times as far, by round trip.
const NEAR: u64 = 8;
/// A host answers within this time, in nanoseconds: the capture point is at a host that is so near.
const AT_THE_HOST: u64 = 100_000;

/// Whether the capture point is at this end, by its round trips to this end and to the other. Where both answer as soon as a host
/// does, it is at the one that answers sooner: a queue that fills later is in front of the other.
pub(super) fn is_near(this: Option<u64>, other: Option<u64>) -> bool {
    let answers_first = |near: u64| other.is_none_or(|other| near <= other);
    this.is_some_and(|near| near < AT_THE_HOST && answers_first(near)) || is_nearer(this, other)
}

/// Whether the capture point is much nearer to this end than to the other.
pub(in crate::flow) fn is_nearer(this: Option<u64>, other: Option<u64>) -> bool {
    this.is_some_and(|near| near.saturating_mul(NEAR) < other.unwrap_or(0))
}
