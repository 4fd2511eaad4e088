//! The bytes that arrived: from the first on, and islands beyond a gap.

use std::collections::BTreeMap;

/// Bytes that arrived, by their offsets.
#[derive(Debug, Default)]
pub(super) struct Coverage {
    /// Ranges that do not touch, by their beginnings.
    ranges: BTreeMap<i64, i64>,
}

/// Most ranges that are kept: beyond that the lowest gap counts as filled.
const MOST: usize = 4096;

impl Coverage {
    /// Adds the bytes from `start` up to `end`.
    pub(super) fn add(&mut self, start: i64, end: i64) {
        // In order, most often.
        if let Some(mut last) = self.ranges.last_entry()
            && *last.key() <= start
            && start <= *last.get()
        {
            let grown = end.max(*last.get());
            last.insert(grown);
            return;
        }
        let (mut start, mut end) = (start, end);
        while let Some((from, to)) = self.touching(start, end) {
            start = start.min(from);
            end = end.max(to);
            self.ranges.remove(&from);
        }
        self.ranges.insert(start, end);
        if self.ranges.len() > MOST
            && let Some((from, _)) = self.ranges.pop_first()
            && let Some((_, to)) = self.ranges.pop_first()
        {
            self.ranges.insert(from, to);
        }
    }

    /// Whether all bytes from `start` up to `end` arrived.
    pub(super) fn has(&self, start: i64, end: i64) -> bool {
        self.ranges.range(..=start).next_back().is_some_and(|(_, to)| *to >= end)
    }

    fn touching(&self, start: i64, end: i64) -> Option<(i64, i64)> {
        let (from, to) = self.ranges.range(..=end).next_back()?;
        (*to >= start).then_some((*from, *to))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_grow_together() {
        let mut coverage = Coverage::default();
        for (start, end) in [(0, 10), (10, 20), (40, 50), (30, 35)] {
            coverage.add(start, end);
        }
        assert!(coverage.has(0, 20) && coverage.has(5, 15) && coverage.has(42, 50));
        assert!(!coverage.has(15, 25) && !coverage.has(30, 41) && !coverage.has(50, 51));
        coverage.add(20, 45);
        assert!(coverage.has(0, 50));
        assert_eq!(coverage.ranges.len(), 1);
    }

    #[test]
    fn the_ranges_are_bounded() {
        let mut coverage = Coverage::default();
        for n in (0..20_000).rev() {
            coverage.add(n * 10, n * 10 + 1);
        }
        assert!(coverage.ranges.len() <= MOST);
    }
}
