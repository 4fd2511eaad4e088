//! Bytes that were passed over: not seen while later ones were.

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
        if self.list.is_empty() {
            return None;
        }
        let mut first = None;
        let mut filled = 0;
        let mut rest = Vec::new();
        self.list.retain_mut(|gap| {
            let (from, to) = (gap.start.max(start), gap.end.min(end));
            if from >= to {
                return true;
            }
            first.get_or_insert(*gap);
            filled += to - from;
            let (before, behind) = (Gap { end: from, ..*gap }, Gap { start: to, ..*gap });
            if behind.start < behind.end && before.start < before.end {
                rest.push(behind);
            }
            if before.start < before.end {
                *gap = before;
                true
            } else {
                *gap = behind;
                behind.start < behind.end
            }
        });
        self.list.append(&mut rest);
        self.list.sort_unstable_by_key(|gap| gap.start);
        first.map(|gap| (gap, filled))
    }

    /// Forgets what lies before `offset`, and gives how many bytes of it were never seen.
    pub(super) fn pass(&mut self, offset: i64) -> i64 {
        let mut unseen = 0;
        self.list.retain_mut(|gap| {
            if gap.start >= offset {
                return true;
            }
            unseen += gap.end.min(offset) - gap.start;
            gap.start = offset;
            gap.start < gap.end
        });
        unseen
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
