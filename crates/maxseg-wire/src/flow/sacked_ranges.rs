//! The ranges that SACK blocks have covered already.
//!
//! Each acknowledgement repeats its blocks (RFC 2018 §4): with many segments in flight, only what a block newly
//! covers may be walked through, or the work grows with their square.

use serde::{Deserialize, Serialize};

/// Ranges that have been applied, in order and without overlaps; at most 4096.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct SackedRanges {
    blocks: Vec<(i64, i64)>,
}

impl SackedRanges {
    const MOST: usize = 4096;

    /// The parts of `left..right` that no block has covered, also the empty ones between two that touch: a
    /// segment may lie across.
    pub(super) fn new_in(&self, left: i64, right: i64) -> impl Iterator<Item = (i64, i64)> {
        let first = self.blocks.partition_point(|block| block.1 <= left);
        let behind = self.blocks.get(first..).unwrap_or_default();
        let within = behind.iter().take_while(move |block| block.0 < right);
        let mut from = left;
        let mut is_done = false;
        within.map(Some).chain([None]).filter_map(move |block| {
            if is_done {
                return None;
            }
            let begin = from;
            let end = block.map_or(right, |block| block.0.max(left));
            from = block.map_or(right, |block| block.1);
            is_done = from >= right;
            (begin < end || begin > left && begin < right).then_some((begin, end))
        })
    }

    /// Marks `left..right` as applied.
    pub(super) fn add(&mut self, left: i64, right: i64) {
        let first = self.blocks.partition_point(|block| block.1 <= left);
        if left >= right || self.blocks.get(first).is_some_and(|it| it.0 <= left && right <= it.1) {
            return;
        }
        let last = self.blocks.partition_point(|block| block.0 < right);
        if self.blocks.len() >= Self::MOST {
            self.blocks.clear();
            self.blocks.push((left, right));
            return;
        }
        // What it overlaps in part stays as far as it is beside it.
        let touched = self.blocks.get(first..last).unwrap_or_default();
        let before = touched.first().map(|block| (block.0, left)).filter(|part| part.0 < part.1);
        let behind = touched.last().map(|block| (right, block.1)).filter(|part| part.0 < part.1);
        let parts = before.into_iter().chain([(left, right)]).chain(behind);
        self.blocks.splice(first..last, parts);
    }

    /// Forgets what lies before `offset`.
    pub(super) fn pass(&mut self, offset: i64) {
        let gone = self.blocks.partition_point(|block| block.1 <= offset);
        self.blocks.drain(..gone);
    }

    /// Forgets all ranges: a segment was inserted that they may cover.
    pub(super) fn clear(&mut self) {
        self.blocks.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new_in(covered: &SackedRanges, left: i64, right: i64) -> Vec<(i64, i64)> {
        covered.new_in(left, right).collect()
    }

    #[test]
    fn only_what_is_new_is_looked_through() {
        let mut covered = SackedRanges::default();
        assert_eq!(new_in(&covered, 10, 20), [(10, 20)]);
        covered.add(10, 20);
        assert!(new_in(&covered, 10, 20).is_empty());
        assert!(new_in(&covered, 12, 18).is_empty());
        assert_eq!(new_in(&covered, 5, 25), [(5, 10), (20, 25)]);
        covered.add(10, 25);
        covered.add(40, 50);
        assert_eq!(new_in(&covered, 10, 60), [(25, 40), (50, 60)]);
        covered.add(25, 40);
        assert_eq!(new_in(&covered, 10, 50), [(25, 25), (40, 40)], "across the borders");
        covered.add(10, 50);
        assert!(new_in(&covered, 10, 50).is_empty());
        covered.pass(30);
        assert_eq!(new_in(&covered, 45, 55), [(50, 55)]);
    }
}
