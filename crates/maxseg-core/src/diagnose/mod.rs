//! From evidence to findings: what limited a connection when, and what else it shows.
//!
//! ```text
//! Evidence → limits (shares of the time) ─┬→ Diagnosis
//!         └→ findings, one rule a file ───┘
//! ```

mod finding;

pub use finding::{Finding, FindingKind, Number, Severity};

use crate::evidence::{Evidence, Way};
use crate::outcome::{LimitShare, LimitedBy};

/// What evidence shows of a connection.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnosis {
    /// The direction that the limits are of: the one with more payload.
    pub way: Way,
    /// Shares of the time from first data to last acknowledgement, largest first; they sum up to one, or are
    /// empty where there was no such time.
    pub limits: Vec<LimitShare>,
    /// The largest; `None` where no payload was acknowledged.
    pub limited_by: Option<LimitedBy>,
    /// What there is to say, the most severe first.
    pub findings: Vec<Finding>,
}

/// Looks at everything.
pub fn diagnose(evidence: &Evidence) -> Diagnosis {
    Diagnosis {
        way: evidence.data_way(),
        limits: Vec::new(),
        limited_by: None,
        findings: Vec::new(),
    }
}
