//! A path as a scenario.

use crate::path::PathReport;

/// The scenario file of a path.
pub fn scenario(report: &PathReport) -> String {
    report.target.clone()
}
