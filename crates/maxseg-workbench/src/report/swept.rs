//! The sweep that a report is of.

use maxseg_core::scenario::Scenario;

/// What the rows of a sweep do not say themselves.
#[derive(Debug, Clone, Copy)]
pub struct Swept<'a> {
    /// The scenario of its first point.
    pub scenario: &'a Scenario,
    /// Whether all of its runs are there: before that, the best is only the best so far, and nothing is marked.
    pub is_complete: bool,
}

impl<'a> Swept<'a> {
    /// A sweep whose runs are all there.
    pub const fn complete(scenario: &'a Scenario) -> Self {
        Self { scenario, is_complete: true }
    }
}
