//! Connections that go by one at a time: those with most at stake are kept.

use maxseg_core::evidence::Evidence;

/// There may be a million connections, of which each has its graphs: only so many are held at once.
const MOST: usize = 10_000;

/// What is kept of the connections that went by.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    /// How many went by.
    pub(super) total: u64,
    connections: Vec<(f64, Evidence)>,
}

impl Kept {
    /// One more, with what is at stake.
    pub(crate) fn offer(&mut self, stake: f64, evidence: Evidence) {
        self.total += 1;
        self.connections.push((stake, evidence));
        if self.connections.len() >= 2 * MOST {
            self.prune();
        }
    }

    /// Of equal stakes the first stays: the sort is stable.
    fn prune(&mut self) {
        self.connections.sort_by(|a, b| b.0.total_cmp(&a.0));
        self.connections.truncate(MOST);
    }

    /// The connection with most at stake so far.
    pub(crate) fn leading(&self) -> Option<&Evidence> {
        let first = self.connections.iter();
        first.rev().max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, evidence)| evidence)
    }

    /// By their numbers.
    pub(super) fn finish(mut self) -> Vec<Evidence> {
        if self.connections.len() > MOST {
            self.prune();
        }
        let mut kept: Vec<Evidence> =
            self.connections.into_iter().map(|(_, evidence)| evidence).collect();
        kept.sort_by_key(|evidence| evidence.id);
        kept
    }
}

#[cfg(test)]
mod tests {
    use maxseg_core::evidence::Bins;

    use super::*;
    use crate::explain::made::windowed;

    #[test]
    fn those_with_most_at_stake_stay() {
        let mut small = windowed(0);
        small.forward.bins = Bins::default();
        let mut kept = Kept::default();
        for id in 0..25_000_u32 {
            kept.offer(f64::from(id % 20_000), Evidence { id, ..small.clone() });
        }
        assert_eq!(kept.total, 25_000);
        assert_eq!(kept.leading().unwrap().id, 19_999);
        let ids: Vec<u32> = kept.finish().iter().map(|evidence| evidence.id).collect();
        assert_eq!((ids.len(), ids[0], ids[9_999]), (10_000, 10_000, 19_999));
    }
}
