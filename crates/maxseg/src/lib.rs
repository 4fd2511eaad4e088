//! The command line of maxseg: read, run, report.
//!
//! `cli` has a file for each command; `calc` one for each formula; `runner` runs sweeps on all cores and
//! keeps what is done; `report` turns results into text, JSON, CSV, Parquet and a page with pictures; `capture` turns a
//! simulated run into a capture file.
#![forbid(unsafe_code)]

mod calc;
mod capture;
mod cli;
mod failure;
mod printer;
pub mod report;
mod runner;
mod shipped;

use std::process::ExitCode;

pub use cli::{command, picture, results_schema, scenario_schema};

/// Runs the program with the process's own arguments.
pub fn main() -> ExitCode {
    cli::main()
}
