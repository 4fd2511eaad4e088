//! `maxseg tune`: settings of this host, changed so that every change can be undone.

mod apply;
mod ask;
mod confirm;
mod document;
mod duration;
mod export;
mod guard;
mod import;
mod list;
mod persist;
mod session;
mod show;
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
    List(list::ListArgs),
    Show(show::ShowArgs),
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
    Persist(persist::PersistArgs),
    Import(import::ImportArgs),
    Export(export::ExportArgs),
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
        TuneCommand::List(args) => list::run(args, printer),
        TuneCommand::Show(args) => show::run(args, printer),
        TuneCommand::Apply(args) => apply::run(args, printer),
        TuneCommand::Undo(args) => undo::run(args, printer),
        TuneCommand::Status(args) => status::run(args, printer),
        TuneCommand::Confirm(args) => confirm::run(args, printer),
        TuneCommand::Watch(args) => watch::run(args, printer),
        TuneCommand::Persist(args) => persist::run(args, printer),
        TuneCommand::Import(args) => import::run(args, printer),
        TuneCommand::Export(args) => export::run(args, printer),
        TuneCommand::Guard(args) => guard::run(args),
    }
}
