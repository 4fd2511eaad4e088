//! Which end the capture point is at, by the round trips of the handshake.

/// The capture point is at one end if the other is at least so many times as far, by round trip.
const NEAR: u64 = 8;
/// A host answers within this time, in nanoseconds: the capture point is at a host that is so near.
const AT_THE_HOST: u64 = 100_000;

/// Whether the capture point is at this end, by its round trips to this end and to the other. Where both answer as soon as a host
/// does, which of them answers sooner is chance, and a queue that fills later may be in front of either: timestamps tell how far the
/// sender is then. Without them it is at the one that answers sooner.
pub(super) fn is_near(this: Option<u64>, other: Option<u64>, has_stamps: bool) -> bool {
    let answers_first = |near: u64| {
        other.is_none_or(|other| near <= other && (!has_stamps || other >= AT_THE_HOST))
    };
    this.is_some_and(|near| near < AT_THE_HOST && answers_first(near)) || is_nearer(this, other)
}

/// Whether the capture point is much nearer to this end than to the other.
pub(in crate::flow) fn is_nearer(this: Option<u64>, other: Option<u64>) -> bool {
    this.is_some_and(|near| near.saturating_mul(NEAR) < other.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_that_answer_at_once_are_told_apart_by_timestamps() {
        let near = |this, other, has_stamps| is_near(Some(this), Some(other), has_stamps);
        assert!(near(15_000, 20_000_000, true));
        assert!(!near(15_000, 30_000, true), "either may be behind a queue");
        assert!(near(15_000, 30_000, false), "nothing else tells");
        assert!(!near(30_000, 15_000, false));
        assert!(near(2_000, 30_000, true), "much nearer");
        assert!(is_near(Some(15_000), None, true), "the other did not answer yet");
    }
}
