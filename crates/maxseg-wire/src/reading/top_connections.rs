//! The connections of greatest weight among many that are seen one at a time.

use maxseg_core::evidence::Evidence;

/// The 10 000 connections of greatest weight. What a weight means is the caller's: payload, or what could be gained.
#[derive(Debug, Clone, Default)]
pub struct TopConnections {
    total: u64,
    /// At most twice [`MOST`](Self::MOST), in the order in which they were offered since the last [`prune`](Self::prune).
    connections: Vec<(f64, Evidence)>,
}

impl TopConnections {
    /// A capture may have a million connections, each with its intervals: only so many are held at once.
    pub const MOST: usize = 10_000;

    /// The heaviest of these connections.
    pub fn select(
        connections: impl Iterator<Item = Evidence>,
        weight: impl Fn(&Evidence) -> f64,
    ) -> Self {
        let mut top = Self::default();
        connections.for_each(|evidence| top.offer(weight(&evidence), evidence));
        top
    }

    /// Offers a connection with its weight.
    pub fn offer(&mut self, weight: f64, evidence: Evidence) {
        self.total += 1;
        self.connections.push((weight, evidence));
        if self.connections.len() >= 2 * Self::MOST {
            self.prune();
        }
    }

    /// How many connections were offered.
    pub const fn total(&self) -> u64 {
        self.total
    }

    /// The heaviest connections, in the order of their numbers.
    pub fn into_connections(self) -> Vec<Evidence> {
        self.into_weighted().into_iter().map(|(_, evidence)| evidence).collect()
    }

    /// The same, each with its weight.
    pub fn into_weighted(mut self) -> Vec<(f64, Evidence)> {
        if self.connections.len() > Self::MOST {
            self.prune();
        }
        self.connections.sort_by_key(|(_, evidence)| evidence.id);
        self.connections
    }

    /// Of equal weights the first stays: the sort is stable.
    fn prune(&mut self) {
        self.connections.sort_by(|a, b| b.0.total_cmp(&a.0));
        self.connections.truncate(Self::MOST);
    }
}

#[cfg(test)]
mod tests {
    use super::super::made::connection;
    use super::*;

    #[test]
    fn the_heaviest_connections_stay() {
        let connections = (0..25_000_u32).map(connection);
        let top = TopConnections::select(connections, |evidence| f64::from(evidence.id % 20_000));
        assert_eq!(top.total(), 25_000);
        let ids: Vec<u32> = top.into_connections().iter().map(|evidence| evidence.id).collect();
        assert_eq!((ids.len(), ids[0], ids[9_999]), (10_000, 10_000, 19_999));
    }
}
