//! The command line of maxseg: read, run, report.
//!
//! `cli` has a file for each command; `calc` one for each formula; `import` makes scenarios from other
//! programs' files; `experiment` is what commands were asked for; `runner` runs it on all cores and keeps
//! what is done; `report` turns results into text, JSON, CSV, Parquet and a page with pictures; `capture`
//! turns a run into a capture file; `explain` says what a capture file shows; `monitor` turns packets into lines.
//! Modules use only those to their left (`cargo xtask layers` checks it):
//!
//! `failure environment shipped whole_file growing_file · printer · experiment calc import · capture monitor · explain · report runner · cli`
#![forbid(unsafe_code)]

#[cfg(not(target_os = "linux"))]
compile_error!(
    "maxseg needs Linux: its lab is made of the kernel's network namespaces. \
     The crates maxseg-core and maxseg-wire build everywhere."
);

mod calc;
mod capture;
mod cli;
mod environment;
mod experiment;
mod explain;
mod failure;
mod growing_file;
mod import;
mod monitor;
mod printer;
mod report;
mod runner;
mod shipped;
mod whole_file;

use std::process::ExitCode;

pub use cli::{
    ManPage, explain_schema, man_pages, picture, results_schema, scenario_schema, stream_schema,
};
pub use environment::processor;
pub use report::cost_picture;

/// Runs the program with the process's own arguments.
pub fn main() -> ExitCode {
    cli::main()
}
