//! Segments of many connections at once, deferred for a short while so that those of one connection are followed together.
//!
//! With thousands of connections in use, what is known of one has left the processor's caches when its next segment comes,
//! and to fetch it takes most of the time. Within each connection the order stays as it was, and none needs another.

use std::num::NonZeroU32;

use super::pair::Endpoint;
use super::seen::{Passing, Seen};
use super::segment_batch::SegmentBatch;

/// Deferred segments of a [part](super::part).
#[derive(Debug, Default)]
pub(super) struct Backlog {
    segments: SegmentBatch,
    /// For each of them who sent it, and which is the next of its connection.
    links: Vec<Link>,
    /// By the number of the connection: twelve bytes for each that there is.
    chains: Vec<Option<Chain>>,
    /// The connections in the order of their first segments; some may have no chain any more.
    numbers: Vec<u32>,
    /// How many connections there were when the segments before these had been followed.
    before: usize,
    gathered: Gathered,
}

/// Segments of one connection that are followed next, and who sent them.
#[derive(Debug, Default)]
struct Gathered {
    segments: SegmentBatch,
    senders: Vec<Endpoint>,
}

/// The sender of a segment, and the place of the next of its connection, which is never the first of all.
#[derive(Debug, Clone, Copy)]
struct Link {
    sender: Endpoint,
    next: Option<NonZeroU32>,
}

/// Where the first and the last segment of a connection are.
#[derive(Debug, Clone, Copy)]
struct Chain {
    first: u32,
    last: u32,
}

/// So many segments of each connection are deferred: what is known of it comes into the caches once for all of them.
const EACH: usize = 64;
/// At least so many of all, in 1 MB, which stay in the second-level cache; and at most so many, in 8 MB.
const LEAST: usize = 1 << 13;
const MOST: usize = 1 << 16;

impl Backlog {
    /// Defers a segment of the connection with this number. Gives whether it is time to follow all.
    pub(super) fn push(
        &mut self,
        number: usize,
        seen: &Seen<'_>,
        passing: Passing,
        sender: Endpoint,
    ) -> bool {
        let place = u32::try_from(self.links.len()).unwrap_or(u32::MAX);
        self.segments.push(seen, passing);
        self.links.push(Link { sender, next: None });
        self.link(number, place);
        self.links.len() >= self.enough()
    }

    /// So many segments are deferred.
    fn enough(&self) -> usize {
        (self.numbers.len() * EACH).clamp(LEAST, MOST)
    }

    fn link(&mut self, number: usize, place: u32) {
        if number >= self.chains.len() {
            self.chains.resize(number + 1, None);
        }
        let Some(chain) = self.chains.get_mut(number) else { return };
        if let Some(Chain { last, .. }) = chain {
            if let Some(before) = self.links.get_mut(*last as usize) {
                before.next = NonZeroU32::new(place);
            }
            *last = place;
        } else {
            *chain = Some(Chain { first: place, last: place });
            self.numbers.push(u32::try_from(number).unwrap_or(u32::MAX));
        }
    }

    /// When the first deferred one passed; `now` where there is none.
    pub(super) fn since(&self, now: u64) -> u64 {
        self.segments.begin().map_or(now, |begin| begin.min(now))
    }

    /// Connections that have begun, and of which no segment was followed yet.
    pub(super) const fn begun(&self) -> usize {
        self.chains.len() - self.before
    }

    /// The connections with segments, in the order in which these came.
    pub(super) fn take_numbers(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.numbers)
    }

    /// Whether a connection has deferred segments.
    pub(super) fn has(&self, number: usize) -> bool {
        self.chains.get(number).is_some_and(Option::is_some)
    }

    /// Gathers the next segments of a connection, which are deferred no longer. Gives whether there were any.
    ///
    /// They lie far apart, where no cache holds them any more: of copies that follow each other at once the processor
    /// fetches several at a time.
    pub(super) fn gather(&mut self, number: usize) -> bool {
        let Self { segments, links, gathered, .. } = self;
        gathered.segments.clear();
        gathered.senders.clear();
        let Some(chain) = self.chains.get_mut(number) else { return false };
        while let Some(Chain { first, last }) = *chain
            && gathered.senders.len() < EACH
        {
            let place = first as usize;
            let Some(Link { sender, next }) = links.get(place).copied() else { break };
            gathered.segments.push_from(segments, place);
            gathered.senders.push(sender);
            *chain = next.map(|next| Chain { first: next.get(), last });
        }
        !gathered.senders.is_empty()
    }

    /// What was gathered, in order.
    pub(super) fn gathered(&self) -> impl Iterator<Item = (Seen<'_>, Passing, Endpoint)> {
        let Gathered { segments, senders } = &self.gathered;
        segments.iter().zip(senders).map(|((seen, passing), sender)| (seen, passing, *sender))
    }

    /// All have been taken; `numbers` is room for the next.
    pub(super) fn clear(&mut self, mut numbers: Vec<u32>) {
        numbers.clear();
        self.numbers = numbers;
        self.segments.clear();
        self.links.clear();
        self.before = self.chains.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::made::segment;

    #[test]
    fn each_connection_keeps_its_order() {
        let mut backlog = Backlog::default();
        let passing = Passing { count: 0, fragments: 0, is_late: false };
        for (micros, number) in [(1, 7), (2, 3), (3, 7), (4, 7), (5, 3)] {
            backlog.push(number, &segment(micros), passing, Endpoint::Low);
        }
        let zero = segment(0).at_nanos;
        let times = |backlog: &mut Backlog, number| -> Vec<u64> {
            backlog.gather(number);
            backlog.gathered().map(|(it, ..)| (it.at_nanos - zero) / 1000).collect()
        };
        assert_eq!(backlog.since(u64::MAX), zero + 1000);
        assert_eq!(times(&mut backlog, 3), [2, 5]);
        backlog.push(3, &segment(6), passing, Endpoint::Low);
        let numbers = backlog.take_numbers();
        assert_eq!(numbers, [7, 3, 3]);
        assert_eq!(times(&mut backlog, 7), [1, 3, 4]);
        assert_eq!(times(&mut backlog, 3), [6]);
        assert_eq!(times(&mut backlog, 3), [0; 0]);
        backlog.clear(numbers);
        assert_eq!(backlog.since(9), 9);
    }

    /// Defers segments of so many connections in turn until it is time to follow them; gives how many there were.
    fn fill(backlog: &mut Backlog, connections: usize) -> usize {
        let passing = Passing { count: 0, fragments: 0, is_late: false };
        let mut deferred = 0;
        loop {
            deferred += 1;
            if backlog.push(deferred % connections, &segment(1), passing, Endpoint::Low) {
                break;
            }
        }
        let numbers = backlog.take_numbers();
        let mut gathered = 0;
        for number in &numbers {
            while backlog.gather(*number as usize) {
                gathered += backlog.gathered().count();
            }
        }
        assert_eq!(gathered, deferred);
        backlog.clear(numbers);
        deferred
    }

    #[test]
    fn the_more_connections_the_more_segments_are_deferred() {
        let mut backlog = Backlog::default();
        for (connections, expected) in [(100, LEAST), (500, 500 * EACH), (5000, MOST)] {
            assert_eq!(fill(&mut backlog, connections), expected, "{connections} connections");
        }
    }

    #[test]
    fn connections_have_begun_until_their_segments_are_followed() {
        let mut backlog = Backlog::default();
        let passing = Passing { count: 0, fragments: 0, is_late: false };
        for (number, begun) in [(0, 1), (1, 2), (0, 2)] {
            backlog.push(number, &segment(1), passing, Endpoint::Low);
            assert_eq!(backlog.begun(), begun);
        }
        let numbers = backlog.take_numbers();
        backlog.clear(numbers);
        assert_eq!(backlog.begun(), 0);
        backlog.push(1, &segment(2), passing, Endpoint::Low);
        assert_eq!(backlog.begun(), 0);
    }
}
