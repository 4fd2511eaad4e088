//! `maxseg lab`: a lab that stays, and what goes in and out of it.

use clap::{Args, Subcommand};

use crate::failure::Failure;
use crate::printer::Printer;

/// Hosts and links of a scenario, with the real kernel: keep a lab, work in it, import one
#[derive(Debug, Args)]
pub(crate) struct LabArgs {
    #[command(subcommand)]
    command: LabCommand,
}

#[derive(Debug, Subcommand)]
enum LabCommand {}

pub(crate) fn run(args: &LabArgs, _: Printer) -> Result<(), Failure> {
    match args.command {}
}
