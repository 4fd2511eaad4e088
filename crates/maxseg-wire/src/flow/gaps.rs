//! Gaps in the sequence numbers: bytes that were not seen while later ones were.

use serde::{Deserialize, Serialize};

/// A run of bytes that have not been seen.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Gap {
    pub(super) start: i64,
    pub(super) end: i64,
    /// When what lies behind it was seen.
    pub(super) at: u64,
    /// The timestamp and the IP identification of what lies behind it.
    pub(super) stamp: Option<u32>,
    pub(super) ip_id: Option<u16>,
}

/// The gaps of one direction in order; a bounded number.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Gaps {
    list: Vec<Gap>,
}

impl Gaps {
    const MOST: usize = 1024;

    pub(super) fn open(&mut self, gap: Gap) {
        if self.list.len() < Self::MOST {
            self.list.push(gap);
        }
    }

    /// Fills `start..end`, and gives the first gap that this met, with how many of the bytes had been missing.
    pub(super) fn fill(&mut self, start: i64, end: i64) -> Option<(Gap, i64)> {
        let from = self.list.partition_point(|gap| gap.end <= start);
        let to = self.list.partition_point(|gap| gap.start < end);
        let met = self.list.get(from..to)?;
        let (first, last) = (*met.first()?, *met.last()?);
        let filled = met.iter().map(|gap| gap.end.min(end) - gap.start.max(start)).sum();
        let before = (first.start < start).then_some(Gap { end: start, ..first });
        let behind = (end < last.end).then_some(Gap { start: end, ..last });
        self.list.splice(from..to, before.into_iter().chain(behind));
        Some((first, filled))
    }

    /// Whether bytes of `start..end` are missing.
    pub(super) fn meet(&self, start: i64, end: i64) -> bool {
        self.list.iter().any(|gap| gap.start < end && start < gap.end)
    }

    /// Forgets what lies before `offset`, and gives how many bytes of it were never seen.
    pub(super) fn pass(&mut self, offset: i64) -> i64 {
        let gone = self.list.partition_point(|gap| gap.end <= offset);
        let mut unseen = self.list.drain(..gone).map(|gap| gap.end - gap.start).sum();
        if let Some(first) = self.list.first_mut().filter(|gap| gap.start < offset) {
            unseen += offset - first.start;
            first.start = offset;
        }
        unseen
    }

    /// The gap that holds the byte at `offset`.
    pub(super) fn at(&self, offset: i64) -> Option<&Gap> {
        let index = self.list.partition_point(|gap| gap.end <= offset);
        self.list.get(index).filter(|gap| gap.start <= offset)
    }

    /// How many bytes from `offset` on are missing.
    pub(super) fn missing_behind(&self, offset: i64) -> i64 {
        let first = self.list.partition_point(|gap| gap.end <= offset);
        let behind = self.list.get(first..).unwrap_or_default();
        behind.iter().map(|gap| gap.end - gap.start.max(offset)).sum()
    }

    /// Whether bytes before `offset` are missing.
    pub(super) fn lack_before(&self, offset: i64) -> bool {
        self.list.first().is_some_and(|gap| gap.start < offset)
    }

    /// When the newest was opened, in nanoseconds; 0 without any.
    pub(super) fn newest(&self) -> u64 {
        self.list.last().map_or(0, |gap| gap.at)
    }

    pub(super) fn forget_all(&mut self) {
        self.list.clear();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gap(start: i64, end: i64) -> Gap {
        Gap { start, end, at: 0, stamp: None, ip_id: None }
    }

    #[test]
    fn what_is_filled_is_no_gap_any_more() {
        let mut gaps = Gaps::default();
        gaps.open(gap(10, 20));
        gaps.open(gap(30, 40));
        assert!(gaps.fill(20, 30).is_none());
        let (first, filled) = gaps.fill(12, 14).unwrap();
        assert_eq!((first.start, filled), (10, 2));
        assert_eq!(gaps.fill(0, 35).unwrap().1, 8 + 5);
        assert_eq!(gaps.pass(38), 3);
        assert_eq!(gaps.fill(0, 100).unwrap().1, 2);
        assert!(gaps.is_empty());
    }
}
