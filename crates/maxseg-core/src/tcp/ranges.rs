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
    }
}
