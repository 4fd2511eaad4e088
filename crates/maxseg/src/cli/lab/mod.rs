//! `maxseg lab`: persistent labs, and the import of topologies.

mod down;
mod enter;
mod import;
mod keep;
mod set;
mod status;
mod table;
mod up;

use clap::{Args, Subcommand};
use maxseg_core::engine::EngineError;
use maxseg_linux::lab::LabError;
use maxseg_linux::lab::persistent::{Client, DEFAULT_NAME};

use crate::failure::Failure;
use crate::printer::Printer;

/// Emulate a path in network namespaces and keep it up
#[derive(Debug, Args)]
pub(crate) struct LabArgs {
    #[command(subcommand)]
    command: LabCommand,
}

#[derive(Debug, Subcommand)]
enum LabCommand {
    /// Start the hosts and links of a scenario
    Up(up::UpArgs),
    /// Run a command in a host
    Exec(enter::ExecArgs),
    /// Open a shell in a host
    Shell(enter::ShellArgs),
    /// Change links and hosts of a running lab
    Set(set::SetArgs),
    /// Show hosts, addresses and link counters
    Status(status::StatusArgs),
    /// Stop the lab
    Down(down::DownArgs),
    /// Convert a MiniEdit topology to a scenario
    Import(import::ImportArgs),
    /// Run a lab's process
    #[command(hide = true)]
    Keep(keep::KeepArgs),
}

/// The choice of a lab.
#[derive(Debug, Clone, Args)]
struct NameArgs {
    /// Name of the lab
    #[arg(long, value_name = "NAME", env = "MAXSEG_LAB", hide_env_values = true, default_value = DEFAULT_NAME)]
    name: String,
}

impl From<LabError> for Failure {
    fn from(error: LabError) -> Self {
        Self::from(EngineError::from(error))
    }
}

impl NameArgs {
    fn connect(&self) -> Result<Client, Failure> {
        Client::connect(&self.name).map_err(|error| match std::env::var("MAXSEG_HOST") {
            Err(_) => Failure::from(error),
            Ok(host) => Failure::with_hint(
                format!("labs cannot be controlled from inside the host {host} of a lab"),
                "`exit` its shell first",
            ),
        })
    }
}

impl LabArgs {
    /// Whether this process is that of a lab.
    pub(crate) fn needs_lab(&self) -> bool {
        match &self.command {
            LabCommand::Up(args) => args.is_in_front(),
            LabCommand::Keep(_) => true,
            LabCommand::Exec(_)
            | LabCommand::Shell(_)
            | LabCommand::Set(_)
            | LabCommand::Status(_)
            | LabCommand::Down(_)
            | LabCommand::Import(_) => false,
        }
    }
}

pub(crate) fn run(args: &LabArgs, printer: Printer) -> Result<(), Failure> {
    match &args.command {
        LabCommand::Up(args) => up::run(args, printer),
        LabCommand::Exec(args) => enter::exec(args),
        LabCommand::Shell(args) => enter::shell(args, printer),
        LabCommand::Set(args) => set::run(args, printer),
        LabCommand::Status(args) => status::run(args, printer),
        LabCommand::Down(args) => down::run(args, printer),
        LabCommand::Import(args) => import::run(args, printer),
        LabCommand::Keep(_) => keep::run(printer),
    }
}
