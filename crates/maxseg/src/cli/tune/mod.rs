//! `maxseg tune`: settings of this host, changed so that every change can be undone.

mod apply;
mod ask;
mod confirm;
mod duration;
mod guard;
mod not_built;
mod session;
mod status;
mod undo;
mod watch;

use clap::{Args, Subcommand};
use maxseg_linux::tune::TuneError;
use maxseg_workbench::Error;
use maxseg_workbench::error::TuningError;

use crate::failure::Failure;
use crate::printer::Printer;

/// Change settings of this host, each with its way back
#[derive(Debug, Args)]
pub(crate) struct TuneArgs {
    #[command(subcommand)]
    command: TuneCommand,
}

#[derive(Debug, Subcommand)]
enum TuneCommand {
    /// List what can be set, with its value now
    List(not_built::NotBuiltArgs),
    /// Show one setting: meaning, range, what it acts on
    Show(not_built::NotBuiltArgs),
    /// Set values: plan, question, change, read back
    Apply(apply::ApplyArgs),
    /// Restore the values before
    Undo(undo::UndoArgs),
    /// Show what is set, and whether it still holds
    Status(status::StatusArgs),
    /// Keep what was set with --confirm
    Confirm(confirm::ConfirmArgs),
    /// Undo what has expired, and follow routes
    Watch(watch::WatchArgs),
    /// Make what is set last beyond the next boot
    Persist(not_built::NotBuiltArgs),
    /// Read settings from another program's document
    Import(not_built::NotBuiltArgs),
    /// Write settings as another program's document
    Export(not_built::NotBuiltArgs),
    /// Undo a plan at its deadline
    #[command(hide = true)]
    Guard(guard::GuardArgs),
}

impl From<TuneError> for Failure {
    fn from(error: TuneError) -> Self {
        Self::from(TuningError::from(error))
    }
}

impl From<TuningError> for Failure {
    fn from(error: TuningError) -> Self {
        Self::from(Error::from(error))
    }
}

pub(crate) fn run(args: &TuneArgs, printer: Printer) -> Result<(), Failure> {
    match &args.command {
        TuneCommand::List(args) => not_built::run(args, "list"),
        TuneCommand::Show(args) => not_built::run(args, "show"),
        TuneCommand::Apply(args) => apply::run(args, printer),
        TuneCommand::Undo(args) => undo::run(args, printer),
        TuneCommand::Status(args) => status::run(args, printer),
        TuneCommand::Confirm(args) => confirm::run(args, printer),
        TuneCommand::Watch(args) => watch::run(args, printer),
        TuneCommand::Persist(args) => not_built::run(args, "persist"),
        TuneCommand::Import(args) => not_built::run(args, "import"),
        TuneCommand::Export(args) => not_built::run(args, "export"),
        TuneCommand::Guard(args) => guard::run(args),
    }
}
