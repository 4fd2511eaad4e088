//! Segments in flight: sent and not acknowledged.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::sacked_ranges::SackedRanges;

/// A segment.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct InFlightSegment {
    pub(super) start: i64,
    pub(super) end: i64,
    /// When it was last sent, in nanoseconds.
    pub(super) at: u64,
    /// Its timestamp when it was last sent.
    pub(super) stamp: u32,
    /// How often it was retransmitted.
    pub(super) resent: u16,
    /// Selectively acknowledged.
    pub(super) sacked: bool,
}

/// Segments in the order of their offsets, without overlaps; a bounded number.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct InFlight {
    list: VecDeque<InFlightSegment>,
    /// The ranges of SACK blocks that have been applied.
    covered: SackedRanges,
}

/// The segments that an acknowledgement covers.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Acknowledged {
    /// When the newest of them was sent; `None` if any was retransmitted (Karn, RFC 6298 §3).
    pub(super) timed: Option<u64>,
    /// The same with one that is covered in part, as of those that were captured before their segmentation.
    pub(super) newest: Option<u64>,
    /// Payload of the largest of them that arrived at once.
    pub(super) largest: i64,
    /// Bytes that it covers and that were selectively acknowledged before.
    pub(super) sacked: i64,
}

impl InFlight {
    /// Most segments that are kept: as many as 256 MiB of 1448 bytes; beyond that the oldest go.
    const MOST: usize = 1 << 17;

    pub(super) fn push(&mut self, segment: InFlightSegment) {
        if self.list.len() >= Self::MOST {
            self.list.pop_front();
        }
        self.list.push_back(segment);
    }

    /// The first that is not acknowledged.
    pub(super) fn first(&self) -> Option<&InFlightSegment> {
        self.list.front()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The segment that holds the byte at `offset`.
    pub(super) fn holding(&mut self, offset: i64) -> Option<&mut InFlightSegment> {
        let index = self.list.partition_point(|segment| segment.end <= offset);
        self.list.get_mut(index).filter(|segment| segment.start <= offset)
    }

    /// All in `start..end`, also in part.
    pub(super) fn within(
        &mut self,
        start: i64,
        end: i64,
    ) -> impl Iterator<Item = &mut InFlightSegment> {
        let first = self.list.partition_point(|segment| segment.end <= start);
        self.list.range_mut(first..).take_while(move |segment| segment.start < end)
    }

    /// Puts a segment that fills a gap where it belongs.
    pub(super) fn insert(&mut self, segment: InFlightSegment) {
        let index = self.list.partition_point(|other| other.start < segment.start);
        if self.list.len() < Self::MOST {
            self.list.insert(index, segment);
            self.covered.clear();
        }
    }

    /// A SACK block `left..right`. Gives how many bytes it newly covers.
    pub(super) fn sack(&mut self, left: i64, right: i64) -> i64 {
        let Some(end) = self.list.back().map(|last| last.end) else { return 0 };
        let mut news = 0;
        for (from, to) in self.covered.new_in(left, right) {
            let first = self.list.partition_point(|segment| segment.end <= from);
            for segment in self.list.range_mut(first..).take_while(|segment| segment.start < to) {
                if !segment.sacked && left <= segment.start && segment.end <= right {
                    segment.sacked = true;
                    news += segment.end - segment.start;
                }
            }
        }
        // What has not been seen yet may be seen later.
        self.covered.add(left, right.min(end));
        news
    }

    /// Removes the segments before `offset`: they are acknowledged.
    pub(super) fn acknowledge(&mut self, offset: i64) -> Acknowledged {
        self.covered.pass(offset);
        let mut done = Acknowledged::default();
        let mut is_clean = true;
        while let Some(first) = self.list.front_mut() {
            if first.start >= offset {
                break;
            }
            let segment = *first;
            if segment.end > offset {
                first.start = offset;
                done.newest = (segment.resent == 0).then_some(segment.at);
                break;
            }
            self.list.pop_front();
            is_clean &= segment.resent == 0;
            done.sacked += if segment.sacked { segment.end - segment.start } else { 0 };
            if segment.resent == 0 {
                done.largest = done.largest.max(segment.end - segment.start);
                // What was selectively acknowledged arrived earlier.
                if segment.sacked {
                    is_clean = false;
                }
                done.timed = Some(segment.at);
            }
        }
        if !is_clean {
            (done.timed, done.newest) = (None, None);
        }
        done.newest = done.newest.or(done.timed);
        done
    }

    /// Frees the memory.
    pub(super) fn forget_all(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn segment(start: i64, end: i64) -> InFlightSegment {
        InFlightSegment { start, end, at: 0, stamp: 0, resent: 0, sacked: false }
    }

    proptest! {
        /// Walking only through what is new marks the same as walking through all of every block.
        #[test]
        fn blocks_mark_every_segment_that_they_cover(
            sizes in proptest::collection::vec(1..9_i64, 1..60),
            blocks in proptest::collection::vec((0..300_i64, 1..120_i64), 1..40),
        ) {
            let mut sent = InFlight::default();
            let mut end = 0;
            for size in sizes {
                sent.push(segment(end, end + size));
                end += size;
            }
            let mut marked: Vec<(InFlightSegment, bool)> = sent.list.iter().map(|it| (*it, false)).collect();
            for (left, length) in blocks {
                let right = left + length;
                let mut news = 0;
                for (segment, is_marked) in &mut marked {
                    if !*is_marked && left <= segment.start && segment.end <= right {
                        *is_marked = true;
                        news += segment.end - segment.start;
                    }
                }
                prop_assert_eq!(sent.sack(left, right), news);
            }
        }
    }
}
