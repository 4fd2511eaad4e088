//! Segments on their way to the thread that follows their connections: with their ends, by which these are found.

use std::net::{SocketAddr, SocketAddrV4};

use super::seen::{Passing, Seen};
use super::segment_batch::SegmentBatch;

/// Segments of many connections, in the order in which they came.
#[derive(Debug)]
pub(super) struct LaneBatch {
    segments: SegmentBatch,
    heads: Vec<Head>,
    /// Both ends of those that are not IPv4's.
    other_ends: Vec<(SocketAddr, SocketAddr)>,
}

/// Which segment it is among all, and between which ends it passes.
#[derive(Debug, Clone, Copy)]
struct Head {
    count: u64,
    ends: Ends,
}

/// Source and destination.
#[derive(Debug, Clone, Copy)]
enum Ends {
    V4(SocketAddrV4, SocketAddrV4),
    /// Their place among the others.
    Other(u32),
}

impl LaneBatch {
    /// None yet; room for so many.
    pub(super) fn with_capacity(segments: usize) -> Self {
        Self {
            segments: SegmentBatch::with_capacity(segments),
            heads: Vec::with_capacity(segments),
            other_ends: Vec::new(),
        }
    }

    pub(super) const fn len(&self) -> usize {
        self.heads.len()
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.heads.is_empty()
    }

    #[inline]
    pub(super) fn push(&mut self, seen: &Seen<'_>, passing: Passing, count: u64) {
        let ends = match (seen.source, seen.destination) {
            (SocketAddr::V4(source), SocketAddr::V4(destination)) => Ends::V4(source, destination),
            ends => {
                self.other_ends.push(ends);
                Ends::Other(u32::try_from(self.other_ends.len() - 1).unwrap_or(u32::MAX))
            }
        };
        self.heads.push(Head { count, ends });
        self.segments.push(seen, passing);
    }

    /// All of them in order, each with its count.
    #[inline]
    pub(super) fn iter(&self) -> impl Iterator<Item = (Seen<'_>, Passing, u64)> {
        self.heads.iter().enumerate().map_while(|(place, head)| {
            let ends = match head.ends {
                Ends::V4(source, destination) => (source.into(), destination.into()),
                Ends::Other(place) => *self.other_ends.get(place as usize)?,
            };
            let (seen, passing) = self.segments.open(self.segments.get(place)?, ends);
            Some((seen, passing, head.count))
        })
    }

    /// Room for the next.
    pub(super) fn clear(&mut self) {
        self.segments.clear();
        self.heads.clear();
        self.other_ends.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::made::{answer, segment};

    #[test]
    fn ends_and_counts_are_kept() {
        let ends = ["[2001:db8::7]:443", "[2001:db8::9]:50000"].map(|end| end.parse().unwrap());
        let [source, destination] = ends;
        let all =
            [segment(3), Seen { source, destination, ..answer(4) }, Seen { source, ..segment(5) }];
        let passing = Passing { fragments: 0, is_late: false, is_set: false };
        let mut batch = LaneBatch::with_capacity(2);
        for _ in 0..2 {
            for (seen, count) in all.iter().zip(7..) {
                batch.push(seen, passing, count);
            }
            assert_eq!(batch.len(), all.len());
            let kept: Vec<_> = batch.iter().collect();
            let expected: Vec<_> =
                all.into_iter().zip(7..).map(|(seen, count)| (seen, passing, count)).collect();
            assert_eq!(kept, expected);
            drop(kept);
            batch.clear();
            assert!(batch.is_empty());
        }
    }
}
