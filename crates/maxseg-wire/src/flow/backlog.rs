//! Segments of many connections at once, deferred for a short while so that those of one connection are followed together.
//!
//! With thousands of connections in use, what is known of one has left the processor's caches when its next segment comes,
//! and to fetch it takes most of the time. Within each connection the order stays as it was, and none needs another.

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
}

/// The sender of a segment, and the place of the next of its connection.
#[derive(Debug, Clone, Copy)]
struct Link {
    sender: Endpoint,
    next: Option<u32>,
}

/// Where the first and the last segment of a connection are.
#[derive(Debug, Clone, Copy)]
struct Chain {
    first: u32,
    last: u32,
}

/// Most segments that are deferred: a few of each of a thousand connections, in 1 MB.
const MOST: usize = 1 << 13;

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
        self.links.len() >= MOST
    }

    fn link(&mut self, number: usize, place: u32) {
        if number >= self.chains.len() {
            self.chains.resize(number + 1, None);
        }
        let Some(chain) = self.chains.get_mut(number) else { return };
        if let Some(Chain { last, .. }) = chain {
            if let Some(before) = self.links.get_mut(*last as usize) {
                before.next = Some(place);
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

    /// The connections with segments, in the order in which these came.
    pub(super) fn take_numbers(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.numbers)
    }

    /// The segments of a connection in order, which are deferred no longer.
    pub(super) fn take(
        &mut self,
        number: usize,
    ) -> impl Iterator<Item = (Seen<'_>, Passing, Endpoint)> + use<'_> {
        let chain = self.chains.get_mut(number).and_then(Option::take);
        let mut next = chain.map(|chain| chain.first);
        let Self { segments, links, .. } = &*self;
        std::iter::from_fn(move || {
            let place = next? as usize;
            let link = links.get(place)?;
            next = link.next;
            let (seen, passing) = segments.get(place)?;
            Some((seen, passing, link.sender))
        })
    }

    /// All have been taken; `numbers` is room for the next.
    pub(super) fn clear(&mut self, mut numbers: Vec<u32>) {
        numbers.clear();
        self.numbers = numbers;
        self.segments.clear();
        self.links.clear();
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
            backlog.take(number).map(|(it, ..)| (it.at_nanos - zero) / 1000).collect()
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
}
