//! The content of a capture, as `maxseg explain` shows it.
//!
//! ```text
//! capture ─ maxseg_wire::reading → Explanation: Evidence of every connection, facts and problems of the file
//!                      └ maxseg_core::advise: Case → Headline
//! ```

#[cfg(test)]
pub(crate) mod fixtures;
pub(crate) mod read;

use maxseg_core::advise::Case;
use maxseg_core::evidence::Evidence;
use maxseg_wire::reading::{CaptureSummary, Problem, ProblemKind, TopConnections};

/// The content of a capture.
#[derive(Debug, Clone)]
pub(crate) struct Explanation {
    /// The path as given; `-` for standard input.
    pub(crate) name: String,
    /// Facts and problems of the file.
    pub(crate) capture: CaptureSummary,
    /// The selected connections of the highest impact, by number; see [`TopConnections`].
    pub(crate) connections: Vec<Evidence>,
    /// The number of selected connections.
    pub(crate) total_connections: u64,
    /// The number of connections that the filter left out.
    pub(crate) filtered_connections: u64,
}

/// A problem of a capture as a sentence, with the option that helps where there is one.
pub(crate) fn problem_text(problem: &Problem) -> String {
    let text = problem.kind.to_string();
    if matches!(problem.kind, ProblemKind::UntrackedPackets { .. }) {
        return text + ": --most-connections follows more";
    }
    text
}

impl Explanation {
    /// The file of this name, without its connections.
    pub(crate) fn new(name: &str, capture: CaptureSummary) -> Self {
        Self {
            name: name.to_owned(),
            capture,
            connections: Vec::new(),
            filtered_connections: 0,
            total_connections: 0,
        }
    }

    /// Takes the connections of the highest impact.
    pub(crate) fn take(&mut self, top: TopConnections) {
        self.total_connections = top.total();
        self.connections = top.into_connections();
    }

    /// Every connection with its diagnosis, one at a time: there may be a million of them.
    pub(crate) fn cases(&self) -> impl Iterator<Item = Case<'_>> {
        self.connections.iter().map(Case::of)
    }

    /// At most `most` connections, the one of the highest impact first.
    pub(crate) fn by_impact(&self, most: usize) -> Vec<Case<'_>> {
        let mut weights: Vec<(f64, &Evidence)> = Vec::with_capacity(self.connections.len());
        weights.extend(self.cases().map(|case| (case.impact(), case.evidence)));
        // Equal impacts keep their order: the sort is stable.
        weights.sort_by(|a, b| b.0.total_cmp(&a.0));
        weights.into_iter().take(most).map(|(_, evidence)| Case::of(evidence)).collect()
    }

    /// The connection of the highest impact; see [`Case::impact`].
    pub(crate) fn matters_most(&self) -> Option<Case<'_>> {
        self.by_impact(1).pop()
    }
}

#[cfg(test)]
mod tests {
    use maxseg_testkit::{full_link, windowed};

    use super::fixtures::explanation;

    #[test]
    fn a_window_ranks_before_a_larger_transfer_on_a_full_link() {
        let explained = explanation(vec![full_link(0), windowed(1)]);
        let ids: Vec<u32> = explained.by_impact(5).iter().map(|case| case.evidence.id).collect();
        assert_eq!(ids, [1, 0]);
        assert_eq!(explained.matters_most().unwrap().evidence.id, 1);
    }
}
