//! Segments of many connections at once, deferred for a short while so that those of one connection are followed together.
//!
//! With thousands of connections in use, what is known of one has left the processor's caches when its next segment comes,
//! and to fetch it takes most of the time. Within each connection the order stays as it was, and none needs another.

use std::net::SocketAddr;

use super::pair::{Endpoint, Pair};
use super::seen::{Passing, Seen};
use super::segment_batch::{KeptSegment, SegmentBatch};

/// Deferred segments of a [part](super::part).
#[derive(Debug, Default)]
pub(super) struct Backlog {
    segments: SegmentBatch,
    blocks: Vec<Block>,
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
    segments: Vec<KeptSegment>,
    senders: Vec<Endpoint>,
}

/// Some segments of a connection: whoever looks for them waits for memory once for all of these, and not for each.
#[derive(Debug, Clone, Copy)]
struct Block {
    /// Their places, above the sender in the lowest bit.
    list: [u32; IN_BLOCK],
    len: u32,
    /// The next block of the connection.
    next: u32,
}

/// With as many a block is a line of the processor's caches.
const IN_BLOCK: usize = 14;

/// The first and the last block of a connection.
#[derive(Debug, Clone, Copy)]
struct Chain {
    first: u32,
    last: u32,
}

/// So many segments of each connection are deferred: what is known of it comes into the caches once for all of them.
const EACH: usize = 64;
/// At least so many of all, in half a megabyte, which stay in the second-level cache; and at most so many, in 4 MB.
const LEAST: usize = 1 << 13;
const MOST: usize = 1 << 16;

impl Block {
    const EMPTY: Self = Self { list: [0; IN_BLOCK], len: 0, next: 0 };

    /// Adds a segment; gives whether there was room.
    fn add(&mut self, place: usize, sender: Endpoint) -> bool {
        let Some(room) = self.list.get_mut(self.len as usize) else { return false };
        *room = u32::try_from(place << 1).unwrap_or(0) | u32::from(sender == Endpoint::High);
        self.len += 1;
        true
    }

    /// Places and senders.
    fn iter(&self) -> impl Iterator<Item = (usize, Endpoint)> {
        self.list.iter().take(self.len as usize).map(|segment| {
            let sender = if segment & 1 == 0 { Endpoint::Low } else { Endpoint::High };
            (*segment as usize >> 1, sender)
        })
    }
}

impl Backlog {
    /// Defers a segment of the connection with this number. Gives whether it is time to follow all.
    pub(super) fn push(
        &mut self,
        number: usize,
        seen: &Seen<'_>,
        passing: Passing,
        sender: Endpoint,
    ) -> bool {
        let place = self.segments.len();
        self.segments.push(seen, passing);
        if !self.add(number, place, sender) {
            self.add_block(number);
            self.add(number, place, sender);
        }
        place + 1 >= self.enough()
    }

    /// Adds a segment to the last block of its connection; gives whether there was room.
    #[inline]
    fn add(&mut self, number: usize, place: usize, sender: Endpoint) -> bool {
        let chain = self.chains.get(number).copied().flatten();
        let block = chain.and_then(|chain| self.blocks.get_mut(chain.last as usize));
        block.is_some_and(|block| block.add(place, sender))
    }

    fn add_block(&mut self, number: usize) {
        let new = u32::try_from(self.blocks.len()).unwrap_or(u32::MAX);
        self.blocks.push(Block::EMPTY);
        if number >= self.chains.len() {
            self.chains.resize(number + 1, None);
        }
        let Some(chain) = self.chains.get_mut(number) else { return };
        if let Some(Chain { last, .. }) = chain {
            if let Some(before) = self.blocks.get_mut(*last as usize) {
                before.next = new;
            }
            *last = new;
        } else {
            *chain = Some(Chain { first: new, last: new });
            self.numbers.push(u32::try_from(number).unwrap_or(u32::MAX));
        }
    }

    /// So many segments are deferred.
    fn enough(&self) -> usize {
        (self.numbers.len() * EACH).clamp(LEAST, MOST)
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

    /// Gathers the next segments of a connection, which are deferred no longer. Gives how many, if there were any.
    ///
    /// They lie far apart, where no cache holds them any more: of copies that follow each other at once the processor
    /// fetches several at a time.
    pub(super) fn gather(&mut self, number: usize) -> Option<u32> {
        let Self { segments, blocks, gathered, .. } = self;
        gathered.segments.clear();
        gathered.senders.clear();
        let chain = self.chains.get_mut(number)?;
        while let Some(Chain { first, last }) = *chain
            && gathered.senders.len() < EACH
        {
            let Some(block) = blocks.get(first as usize) else { break };
            for (place, sender) in block.iter() {
                gathered.segments.extend(segments.get(place));
                gathered.senders.push(sender);
            }
            *chain = (first != last).then_some(Chain { first: block.next, last });
        }
        u32::try_from(gathered.senders.len()).ok().filter(|count| *count > 0)
    }

    /// What was gathered, in order, of a connection with these ends.
    pub(super) fn gathered(
        &self,
        ends: Pair<SocketAddr>,
    ) -> impl Iterator<Item = (Seen<'_>, Passing, Endpoint)> {
        let Gathered { segments, senders } = &self.gathered;
        segments.iter().zip(senders).map(move |(segment, sender)| {
            let between = (*ends.of(*sender), *ends.of(sender.other()));
            let (seen, passing) = self.segments.open(segment, between);
            (seen, passing, *sender)
        })
    }

    /// All have been taken; `numbers` is room for the next.
    pub(super) fn clear(&mut self, mut numbers: Vec<u32>) {
        numbers.clear();
        self.numbers = numbers;
        self.segments.clear();
        self.blocks.clear();
        self.before = self.chains.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::made::segment;

    const ENDS: Pair<SocketAddr> = {
        let end = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 1);
        Pair { low: end, high: end }
    };

    #[test]
    fn each_connection_keeps_its_order() {
        let mut backlog = Backlog::default();
        let passing = Passing { fragments: 0, is_late: false, is_set: false };
        for (micros, number) in [(1, 7), (2, 3), (3, 7), (4, 7), (5, 3)] {
            backlog.push(number, &segment(micros), passing, Endpoint::Low);
        }
        let zero = segment(0).at_nanos;
        let times = |backlog: &mut Backlog, number| -> Vec<u64> {
            backlog.gather(number);
            backlog.gathered(ENDS).map(|(it, ..)| (it.at_nanos - zero) / 1000).collect()
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
        let passing = Passing { fragments: 0, is_late: false, is_set: false };
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
            while backlog.gather(*number as usize).is_some() {
                gathered += backlog.gathered(ENDS).count();
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
        let passing = Passing { fragments: 0, is_late: false, is_set: false };
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
