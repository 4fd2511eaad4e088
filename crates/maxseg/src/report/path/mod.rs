//! Tests of paths as text: the verdict, what to do, then the details.

use maxseg_workbench::path::PathReport;

use crate::printer::Printer;

/// The text of these reports.
pub(crate) fn path_text(reports: &[PathReport], printer: Printer) -> String {
    let _ = printer;
    reports.iter().map(|report| format!("{}\n", report.address)).collect()
}
