//! `maxseg lab`: a lab that stays, and what goes in and out of it.

mod import;

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
enum LabCommand {
    /// Make a scenario from a topology that MiniEdit saved
    Import(import::ImportArgs),
}

pub(crate) fn run(args: &LabArgs, printer: Printer) -> Result<(), Failure> {
    match &args.command {
        LabCommand::Import(args) => import::run(args, printer),
    }
}
