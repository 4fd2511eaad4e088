//! The command line of maxseg: read, run, report.
//!
//! `cli` has a file for each command. What they compute, run and write is of `maxseg-workbench`; here stand what is
//! read from the command line and what is printed: `report` turns results and explanations into tables and text,
//! `monitor` turns packets into lines, `top` draws connections on a screen, `progress` draws a bar, `interrupt` handles Ctrl-C.
//! Modules use only those to their left:
//!
//! <!-- layers of maxseg -->
//! ```text
//! failure shipped growing_file interrupt roff wrap · printer · calc monitor progress reference top ·
//! report · cli
//! ```
//! <!-- end of layers -->
#![forbid(unsafe_code)]

mod calc;
mod cli;
mod failure;
#[cfg(feature = "lab")]
mod growing_file;
mod interrupt;
#[cfg(feature = "lab")]
mod monitor;
mod printer;
mod progress;
mod reference;
mod report;
mod roff;
mod shipped;
#[cfg(feature = "lab")]
mod top;
mod wrap;

use std::process::ExitCode;

pub use cli::{
    ManPage, advise_schema, compare_schema, connections_schema, explain_schema, man_pages, picture,
    results_schema, scenario_reference, scenario_schema, stream_schema,
};
#[cfg(feature = "lab")]
pub use cli::{path_schema, tune_list_schema, tune_status_schema, why_schema};
pub use maxseg_workbench::environment::processor;
pub use maxseg_workbench::report::cost_picture;

/// Runs the program with the process's own arguments.
pub fn main() -> ExitCode {
    cli::main()
}
