//! What is known of a direction from more than its own counts: from both captures where they are joined, and from the times of
//! requests and replies.

use super::full_link::FULL_LINK;
use super::joined::acks_may_wait;
use crate::evidence::{Direction, Evidence, Requests};

/// A message that waits behind itself has so many segments at least: fewer wait for a delayed acknowledgement as well.
const MESSAGE_SEGMENTS: u64 = 4;

/// What is known of a direction besides.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    /// Its acknowledgements may wait in a queue.
    pub(super) acks_may_wait: bool,
    /// Messages of a dialogue, one after the other, keep the link full.
    pub(super) messages_fill_link: bool,
}

impl Known {
    pub(super) fn of(evidence: &Evidence, direction: Direction) -> Self {
        let data = evidence.stats(direction);
        let segment = u64::from(data.full_segment());
        let is_large = data.in_flight_max_bytes >= MESSAGE_SEGMENTS * segment;
        let queue = |requests: &Requests| fills(requests, direction);
        Self {
            acks_may_wait: acks_may_wait(evidence, direction),
            messages_fill_link: is_large && evidence.requests.as_ref().is_some_and(queue),
        }
    }
}

/// Whether the last bytes of messages are on their way, beyond the path's least round trips, for about all of the time: what they
/// wait for is the link, busy with what was sent before.
fn fills(requests: &Requests, direction: Direction) -> bool {
    let queued_s = match direction {
        Direction::Forward => requests.requests_queued_s,
        Direction::Reverse => requests.replies_queued_s,
    };
    requests.span_s > 0.0 && queued_s >= FULL_LINK * requests.span_s
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_that_are_always_on_their_way_fill_the_link() {
        let of = |replies_queued_s| {
            let requests = Requests { span_s: 3.0, replies_queued_s, ..Requests::default() };
            fills(&requests, Direction::Reverse)
        };
        assert!(of(2.9));
        assert!(!of(1.5), "the round trip is half of the time");
    }
}
