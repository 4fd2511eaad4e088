//! What a capture says: everything that `maxseg explain` shows, before anybody shows it.
//!
//! ```text
//! capture ─ maxseg_wire::reading → Explanation: Evidence of every connection, facts and problems of the file
//!                      └ Case: one Evidence with its Diagnosis ─┬ remedy: what to change, on which host
//!                                                               └ path → scenario text → gain (model, sim)
//! ```

pub(crate) mod gain;
pub(crate) mod path;
pub(crate) mod read;
pub(crate) mod remedy;
mod scenario_text;

#[cfg(test)]
pub(crate) mod made;

use maxseg_core::diagnose::{Diagnosis, Finding, Severity, diagnose};
use maxseg_core::evidence::{DirectionStats, Evidence};
use maxseg_core::outcome::LimitedBy;
use maxseg_wire::reading::{CaptureSummary, Problem, ProblemKind, TopConnections};

/// Everything that a capture says.
#[derive(Debug, Clone)]
pub(crate) struct Explanation {
    /// The path as given; `-` for standard input.
    pub(crate) name: String,
    /// What the capture says besides its connections.
    pub(crate) capture: CaptureSummary,
    /// Those of the connections that were asked for with most at stake, by their numbers; see [`TopConnections`].
    pub(crate) connections: Vec<Evidence>,
    /// How many connections were asked for.
    pub(crate) total_connections: u64,
    /// How many connections the filter left out.
    pub(crate) filtered_connections: u64,
    /// How evidence is judged.
    pub(crate) judge: fn(&Evidence) -> Diagnosis,
}

/// A problem of a capture as a sentence, with the option that helps where there is one.
pub(crate) fn problem_text(problem: &Problem) -> String {
    let text = problem.kind.to_string();
    if matches!(problem.kind, ProblemKind::UntrackedPackets { .. }) {
        return text + ": --most-connections follows more";
    }
    text
}

/// A connection with what its evidence shows.
#[derive(Debug, Clone)]
pub(crate) struct Case<'a> {
    /// What was seen.
    pub(crate) evidence: &'a Evidence,
    /// What that shows.
    pub(crate) diagnosis: Diagnosis,
}

impl Explanation {
    /// What was read of a file of this name; no connection yet.
    pub(crate) fn new(name: &str, capture: CaptureSummary) -> Self {
        Self {
            name: name.to_owned(),
            capture,
            connections: Vec::new(),
            filtered_connections: 0,
            total_connections: 0,
            judge: diagnose,
        }
    }

    /// Takes the connections with most at stake.
    pub(crate) fn take(&mut self, top: TopConnections) {
        self.total_connections = top.total();
        self.connections = top.into_connections();
    }

    /// Every connection with what it shows, one at a time: there may be a million of them.
    pub(crate) fn cases(&self) -> impl Iterator<Item = Case<'_>> {
        self.connections.iter().map(|evidence| self.case(evidence))
    }

    /// A connection with what it shows.
    pub(crate) fn case<'a>(&self, evidence: &'a Evidence) -> Case<'a> {
        Case { evidence, diagnosis: (self.judge)(evidence) }
    }

    /// The connection of this number.
    #[cfg(test)]
    pub(crate) fn connection(&self, id: u32) -> Option<Case<'_>> {
        let place = self.connections.binary_search_by_key(&id, |evidence| evidence.id).ok()?;
        self.connections.get(place).map(|evidence| self.case(evidence))
    }

    /// The connections with most at stake, beginning with the one that matters most: at most `most` of them.
    pub(crate) fn by_weight(&self, most: usize) -> Vec<Case<'_>> {
        let mut weights: Vec<(f64, &Evidence)> = Vec::with_capacity(self.connections.len());
        weights.extend(self.cases().map(|case| (case.stake(), case.evidence)));
        // Of equal stakes the first comes first: the sort is stable.
        weights.sort_by(|a, b| b.0.total_cmp(&a.0));
        weights.into_iter().take(most).map(|(_, evidence)| self.case(evidence)).collect()
    }

    /// The connection with most at stake; see [`Case::stake`].
    pub(crate) fn matters_most(&self) -> Option<Case<'_>> {
        self.by_weight(1).pop()
    }
}

impl Case<'_> {
    /// The direction that carried the data.
    pub(crate) const fn data(&self) -> &DirectionStats {
        self.evidence.direction(self.diagnosis.way)
    }

    /// The direction of its acknowledgements: what the receiver says.
    pub(crate) const fn acks(&self) -> &DirectionStats {
        self.evidence.direction(self.diagnosis.way.other())
    }

    /// Seconds from the first data to the last acknowledgement; of a connection without any, as long as it lasted.
    pub(crate) fn data_seconds(&self) -> f64 {
        let data = self.data();
        match (data.first_data, data.last_ack) {
            (Some(first), Some(last)) => last.since(first).as_secs_f64(),
            _ => self.evidence.end.since(self.evidence.begin).as_secs_f64(),
        }
    }

    /// The share of the time that a limit held; 0 where it never did.
    pub(crate) fn share(&self, kind: LimitedBy) -> f64 {
        let limits = self.diagnosis.limits.iter();
        limits.filter(|limit| limit.kind == kind).map(|limit| limit.share).sum()
    }

    /// The findings that say something of the data's way.
    pub(crate) fn findings_of_data(&self) -> impl Iterator<Item = &Finding> {
        let way = self.diagnosis.way;
        self.diagnosis.findings.iter().filter(move |finding| finding.way.is_none_or(|of| of == way))
    }

    /// How severe its worst finding is.
    pub(crate) fn worst(&self) -> Option<Severity> {
        self.diagnosis.findings.iter().map(|finding| finding.severity).max()
    }

    /// How much is at stake: payload × the seconds that something which can be changed held it up, more where a
    /// finding is severe. A long transfer that its window holds up so comes before a longer one on a full
    /// line, and both before a connection that nobody waits for. A unit of its own: only the order matters.
    pub(crate) fn stake(&self) -> f64 {
        let held_up: f64 =
            self.diagnosis.limits.iter().map(|limit| limit.share * changeable(limit.kind)).sum();
        let severity = match self.worst() {
            Some(Severity::Problem) => 10.0,
            Some(Severity::Warning) => 3.0,
            Some(Severity::Note) | None => 1.0,
        };
        let data = self.data();
        // What never got through has no payload that was acknowledged, but somebody waited for it.
        let bytes = data.acked_bytes.max(data.unique_bytes).max(1) as f64;
        bytes * (self.data_seconds() * held_up.max(LEAST_CHANGEABLE)).max(1e-6) * severity
    }
}

/// What counts of the time under no limit that is known.
const LEAST_CHANGEABLE: f64 = 0.02;

/// How far somebody who looks after hosts and path can change a limit, roughly: what no setting mends counts little.
const fn changeable(kind: LimitedBy) -> f64 {
    match kind {
        LimitedBy::ReceiveWindow
        | LimitedBy::SendBuffer
        | LimitedBy::PathMtu
        | LimitedBy::Rto
        | LimitedBy::Congestion => 1.0,
        LimitedBy::Unknown | LimitedBy::Host => 0.5,
        LimitedBy::StartUp => 0.3,
        LimitedBy::Bandwidth | LimitedBy::Application => 0.1,
    }
}

#[cfg(test)]
mod tests {
    use super::made::{explanation, limited, windowed};
    use super::*;

    #[test]
    fn what_can_be_changed_comes_before_what_is_larger() {
        let mut full = windowed(0);
        full.forward.acked_bytes *= 4;
        full.marks.offloaded = true; // the made judge calls it limited by bandwidth
        let explained = explanation(vec![full, windowed(1)]);
        let ids: Vec<u32> = explained.by_weight(5).iter().map(|case| case.evidence.id).collect();
        assert_eq!(ids, [1, 0]);
        assert_eq!(explained.matters_most().unwrap().evidence.id, 1);
    }

    #[test]
    fn a_connection_is_found_by_its_number() {
        let explained = explanation(vec![windowed(3), windowed(7)]);
        assert_eq!(explained.connection(7).unwrap().evidence.id, 7);
        assert!(explained.connection(4).is_none());
    }

    #[test]
    fn shares_of_a_limit_are_found() {
        let explained = explanation(vec![windowed(0)]);
        let case = explained.connection(0).unwrap();
        assert!((case.share(LimitedBy::ReceiveWindow) - 0.9).abs() < 1e-9);
        assert!(case.share(LimitedBy::Rto).abs() < 1e-9);
        assert!(limited(&case.diagnosis));
    }
}
