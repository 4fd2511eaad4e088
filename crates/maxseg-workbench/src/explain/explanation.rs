//! The content of a capture.

use maxseg_core::advise::{Case, Headline};
use maxseg_core::evidence::Evidence;
use maxseg_wire::reading::CaptureSummary;

use super::CapturePair;

/// The content of a capture.
#[derive(Debug, Clone)]
pub struct Explanation {
    /// Its name: the path as given.
    pub name: String,
    /// Facts and problems of the file.
    pub capture: CaptureSummary,
    /// The selected connections of the highest impact, by number; at most 10 000, see
    /// [`TopConnections`](maxseg_wire::reading::TopConnections).
    pub connections: Vec<Evidence>,
    /// The [impact](Case::impact) of each of them: a diagnosis takes longer than to keep what came of it.
    pub(super) impacts: Vec<f64>,
    /// The number of selected connections.
    pub total_connections: u64,
    /// The number of connections that were not selected.
    pub filtered_connections: u64,
    /// The two captures that were joined; `None` where there is one.
    pub pair: Option<CapturePair>,
    /// Files without a packet, which are left out of several that follow each other.
    pub without_packets: Vec<String>,
}

impl Explanation {
    /// Every connection with its diagnosis, one at a time.
    pub fn cases(&self) -> impl Iterator<Item = Case<'_>> {
        self.connections.iter().map(Case::of)
    }

    /// At most `most` connections, the one of the highest impact first.
    pub fn by_impact(&self, most: usize) -> Vec<Case<'_>> {
        let impacts = self.impacts.iter().copied();
        let mut weights: Vec<(f64, &Evidence)> = impacts.zip(&self.connections).collect();
        // Equal impacts keep their order: the sort is stable.
        weights.sort_by(|a, b| b.0.total_cmp(&a.0));
        weights.into_iter().take(most).map(|(_, evidence)| Case::of(evidence)).collect()
    }

    /// The connection of the highest impact; see [`Case::impact`].
    pub fn matters_most(&self) -> Option<Case<'_>> {
        self.by_impact(1).pop()
    }

    /// The conclusion about the connection of the highest impact: change and gain. It runs the observed path with and
    /// without the limit, which may take seconds.
    pub fn headline(&self) -> Option<Headline<'_>> {
        self.matters_most().map(|case| Headline::of(case, &self.name))
    }
}

#[cfg(test)]
mod tests {
    use maxseg_core::evidence::{DirectionStats, Ending, Evidence};
    use maxseg_core::units::Time;
    use maxseg_testkit::{clean, full_link, windowed};

    use crate::explain::fixtures::capture;

    #[test]
    fn a_window_ranks_before_a_larger_transfer_on_a_full_link() {
        let explained = capture(vec![full_link(0), windowed(1)]).explain();
        let ids: Vec<u32> = explained.by_impact(5).iter().map(|case| case.evidence.id).collect();
        assert_eq!(ids, [1, 0]);
        assert_eq!(explained.matters_most().unwrap().evidence.id, 1);
    }

    /// The SYN of `id` was sent for a minute without an answer.
    fn unanswered(id: u32) -> Evidence {
        let mut evidence = Evidence { id, ending: Ending::NoAnswer, ..windowed(id) };
        evidence.handshake.syn_ack = false;
        evidence.handshake.syn_packets = 7;
        evidence.end = evidence.begin.saturating_add(Time::from_secs(60));
        evidence.forward = DirectionStats::default();
        evidence.reverse = DirectionStats::default();
        evidence
    }

    /// What carried little, without a fault, and was idle for the rest of a minute.
    fn small(id: u32) -> Evidence {
        let mut evidence = clean();
        evidence.id = id;
        evidence.forward.acked_bytes = 100_000;
        evidence.forward.unique_bytes = 100_000;
        evidence
    }

    #[test]
    fn what_was_never_opened_ranks_before_what_went_well_and_behind_a_slow_transfer() {
        let first =
            |connections| capture(connections).explain().matters_most().unwrap().evidence.id;
        assert_eq!(first(vec![small(0), unanswered(1)]), 1);
        assert_eq!(first(vec![unanswered(0), windowed(1)]), 1);
    }

    #[test]
    fn connections_that_are_not_selected_are_counted() {
        let mut capture = capture((0..5).map(windowed).collect()).select(|one| one.id >= 3);
        assert!(!capture.is_empty());
        assert_eq!(capture.filtered_connections(), 3);
        let explained = capture.explain();
        let ids: Vec<u32> = explained.connections.iter().map(|evidence| evidence.id).collect();
        assert_eq!(ids, [3, 4]);
        assert_eq!((explained.total_connections, explained.filtered_connections), (2, 3));
    }
}
