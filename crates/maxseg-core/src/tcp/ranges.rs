//! Received bytes beyond the next expected one.

/// Disjoint ranges `start..end`, in order, with gaps between them.
#[derive(Debug, Clone, Default)]
pub(super) struct Ranges {
    ranges: Vec<(u64, u64)>,
}

impl Ranges {
    pub(super) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.ranges.clear();
    }

    /// The ranges, in order.
    pub(super) fn as_slice(&self) -> &[(u64, u64)] {
        &self.ranges
    }

    /// The bytes in all of them.
    pub(super) fn total(&self) -> u64 {
        self.ranges.iter().map(|(begin, stop)| stop - begin).sum()
    }

    /// The range that holds `at`.
    pub(super) fn containing(&self, at: u64) -> Option<(u64, u64)> {
        let index = self.ranges.partition_point(|&(_, stop)| stop <= at);
        self.ranges.get(index).copied().filter(|&(begin, _)| begin <= at)
    }

    /// Forget everything below `floor`.
    pub(super) fn remove_below(&mut self, floor: u64) {
        let gone = self.ranges.partition_point(|&(_, stop)| stop <= floor);
        self.ranges.drain(..gone);
        if let Some(first) = self.ranges.first_mut() {
            first.0 = first.0.max(floor);
        }
    }

    /// The bytes of `start..end` that are in no range.
    pub(super) fn missing_in(&self, start: u64, end: u64) -> u64 {
        let first = self.ranges.partition_point(|&(_, stop)| stop <= start);
        let covered: u64 = self.ranges[first..]
            .iter()
            .take_while(|&&(begin, _)| begin < end)
            .map(|&(begin, stop)| stop.min(end) - begin.max(start))
            .sum();
        end.saturating_sub(start) - covered
    }

    /// The first gap at or after `from` that has a range above it.
    pub(super) fn gap_from(&self, from: u64) -> Option<(u64, u64)> {
        let mut begin = from;
        for &(start, stop) in &self.ranges {
            if start > begin {
                return Some((begin, start));
            }
            begin = begin.max(stop);
        }
        None
    }

    /// Add `start..end`; gives how many of its bytes were new.
    pub(super) fn insert(&mut self, start: u64, end: u64) -> u64 {
        let first = self.ranges.partition_point(|&(_, stop)| stop < start);
        let last = self.ranges.partition_point(|&(begin, _)| begin <= end);
        let touched = &self.ranges[first..last];
        let known: u64 = touched
            .iter()
            .map(|&(begin, stop)| stop.min(end).saturating_sub(begin.max(start)))
            .sum();
        let merged = touched
            .iter()
            .fold((start, end), |(begin, stop), range| (begin.min(range.0), stop.max(range.1)));
        self.ranges.splice(first..last, [merged]);
        end - start - known
    }

    /// The end of the range that holds `from` or begins there, which is then removed together with
    /// all before it; `from` where there is none.
    pub(super) fn take_through(&mut self, from: u64) -> u64 {
        let passed = self.ranges.partition_point(|&(begin, _)| begin <= from);
        let end = self.ranges[..passed].last().map_or(from, |&(_, stop)| stop.max(from));
        self.ranges.drain(..passed);
        end
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn behaves_as_a_set_of_bytes(
            inserts in proptest::collection::vec((0..60_u64, 1..15_u64), 1..40), take in 0..60_u64
        ) {
            let (mut ranges, mut bytes) = (Ranges::default(), BTreeSet::new());
            for (start, len) in inserts {
                let new = (start..start + len).filter(|byte| bytes.insert(*byte)).count();
                prop_assert_eq!(ranges.insert(start, start + len), new as u64);
            }
            prop_assert!(ranges.ranges.windows(2).all(|pair| pair[0].1 < pair[1].0));
            let end = (take..100).find(|byte| !bytes.contains(byte)).unwrap();
            prop_assert_eq!(ranges.take_through(take), end);
            let left: u64 = ranges.ranges.iter().map(|(start, stop)| stop - start).sum();
            prop_assert_eq!(left, bytes.range(end..).count() as u64);
        }

        #[test]
        fn gaps_are_where_no_range_is(
            inserts in proptest::collection::vec((0..60_u64, 1..15_u64), 1..20),
            from in 0..80_u64, to in 0..80_u64, floor in 0..80_u64
        ) {
            let (mut ranges, mut bytes) = (Ranges::default(), BTreeSet::new());
            for (start, len) in inserts {
                bytes.extend(start..start + len);
                ranges.insert(start, start + len);
            }
            let missing = (from..to).filter(|byte| !bytes.contains(byte)).count() as u64;
            prop_assert_eq!(ranges.missing_in(from, to.max(from)), missing);
            let top = bytes.last().copied().unwrap();
            let first = (from..top).find(|byte| !bytes.contains(byte));
            prop_assert_eq!(ranges.gap_from(from).map(|(begin, _)| begin), first);
            prop_assert_eq!(ranges.containing(from).is_some(), bytes.contains(&from));
            ranges.remove_below(floor);
            let left: u64 = ranges.ranges.iter().map(|(start, stop)| stop - start).sum();
            prop_assert_eq!(left, bytes.range(floor..).count() as u64);
        }
    }
}
