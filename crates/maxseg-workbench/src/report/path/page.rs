//! A test of a path as a page that needs nothing else.

use crate::path::PathReport;

/// The page of these reports.
pub fn page(reports: &[PathReport]) -> String {
    reports.iter().map(|report| report.target.clone()).collect()
}
