//! From evidence to findings: what limited a connection when, and what else it shows.
//!
//! ```text
//! Evidence → limits (shares of the time) ─┬→ Diagnosis
//!         └→ findings, one rule a file ───┘
//! ```

mod capture;
mod finding;
mod limits;
mod loss;
mod mtu;
mod opening;
mod windows;

pub use finding::{Finding, FindingKind, Number, Severity};
pub use limits::{LimitSpan, Limits};

use crate::evidence::{Direction, Evidence};
use crate::outcome::{LimitShare, LimitedBy};

/// What evidence shows of a connection.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnosis {
    /// The direction that the limits are of: the one with more payload.
    pub way: Direction,
    /// Shares of the time from first data to last acknowledgement, largest first; they sum up to one, or are
    /// empty where there was no such time.
    pub limits: Vec<LimitShare>,
    /// What limited it when.
    pub spans: Vec<LimitSpan>,
    /// The largest; `None` where no payload was seen.
    pub limited_by: Option<LimitedBy>,
    /// What there is to say, the most severe first.
    pub findings: Vec<Finding>,
}

/// Looks at everything.
pub fn diagnose(evidence: &Evidence) -> Diagnosis {
    let way = evidence.data_way();
    let Limits { shares, spans } = Limits::of(evidence.direction(way));
    let mut findings = Vec::new();
    capture::look(evidence, &mut findings);
    opening::look(evidence, &mut findings);
    for way in [Direction::Forward, Direction::Reverse] {
        mtu::look(evidence, way, &mut findings);
        windows::look(evidence, way, &mut findings);
        loss::look(evidence, way, &mut findings);
    }
    findings.sort_by(|a, b| b.severity.cmp(&a.severity).then(a.from.cmp(&b.from)));
    let limited_by = shares.first().map(|largest| largest.kind);
    Diagnosis { way, limits: shares, spans, limited_by, findings }
}

#[cfg(test)]
mod tests;
