//! `maxseg lab exec` and `maxseg lab shell`: this process enters a host, and executes the command.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use clap::Args;

use super::NameArgs;
use crate::failure::Failure;
use crate::printer::Printer;

/// Run a command in a host
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  maxseg lab exec receiver -- iperf3 -s -D -1
  maxseg lab exec sender -- iperf3 -c receiver
  maxseg lab exec r1 -- ip -s link

The command replaces this process: input, output, signals and exit code are the command's. Host names (sender, r1, \
receiver) resolve through an /etc/hosts of the command's own; MAXSEG_LAB, MAXSEG_HOST, MAXSEG_SENDER_ADDRESS, \
MAXSEG_R1_ADDRESS and MAXSEG_RECEIVER_ADDRESS are set in its environment. Only the network is the host's: files, user \
and processes are those outside.

Exit codes: the command's own; 126 it cannot be run, 127 it is not found, 1 no such lab or host.")]
pub(crate) struct ExecArgs {
    /// The host: sender, r1, r2 …, receiver
    #[arg(value_name = "HOST")]
    host: String,
    /// The command and its arguments
    #[arg(value_name = "COMMAND", last = true, required = true)]
    command: Vec<OsString>,
    #[command(flatten)]
    name: NameArgs,
}

/// Open a shell in a host
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  maxseg lab shell
  maxseg lab shell receiver

The shell is $SHELL, or /bin/sh; its environment is that of `maxseg lab exec`.")]
pub(crate) struct ShellArgs {
    /// The host: sender, r1, r2 …, receiver
    #[arg(value_name = "HOST", default_value = "sender")]
    host: String,
    #[command(flatten)]
    name: NameArgs,
}

/// Exit codes of a command that cannot be run, or was not found (POSIX, 2.8.2).
const NOT_RUN: u8 = 126;
const NOT_FOUND: u8 = 127;

pub(crate) fn exec(args: &ExecArgs) -> Result<(), Failure> {
    let (program, arguments) = args.command.split_first().expect("clap asks for one");
    let mut command = Command::new(program);
    command.args(arguments);
    become_in(&args.name, &args.host, command)
}

pub(crate) fn shell(args: &ShellArgs, printer: Printer) -> Result<(), Failure> {
    let shell = std::env::var_os("SHELL").filter(|shell| !shell.is_empty());
    let mut command = Command::new(shell.unwrap_or_else(|| "/bin/sh".into()));
    let prompt = format!("({}) ", args.host);
    // Bash runs this before every prompt, so that a prompt set by its start-up files follows ours.
    command.env("PROMPT_COMMAND", format!("PS1=\"{prompt}${{PS1#\"{prompt}\"}}\""));
    command.env("PS1", format!("{prompt}$ "));
    printer.note(&format!(
        "shell in the host {} of the lab `{}`; `exit` leaves it",
        args.host, args.name.name
    ));
    become_in(&args.name, &args.host, command)
}

/// Executes `command` in a host, in place of this process. Returns only on failure.
fn become_in(name: &NameArgs, host: &str, mut command: Command) -> Result<(), Failure> {
    let place = name.connect()?.host(host)?;
    place
        .enter()
        .map_err(|error| Failure::new(format!("cannot enter the host {host}: {error}")))?;
    // Where mounts are forbidden the names do not resolve; the variables have the addresses.
    let _ = place.resolve_names();
    let error = command.envs(&place.environment).exec();
    let program = command.get_program();
    let shown = program.to_string_lossy();
    let (code, what) = if error.kind() == io::ErrorKind::NotFound || !is_there(program) {
        (NOT_FOUND, format!("there is no command {shown}"))
    } else {
        (NOT_RUN, format!("cannot run {shown}: {error}"))
    };
    Err(Failure::NotRun { what, code })
}

/// Whether the command exists: the kernel's error is the same for an unreadable folder of $PATH and for a command that
/// may not be executed.
fn is_there(program: &OsStr) -> bool {
    if program.as_encoded_bytes().contains(&b'/') {
        return Path::new(program).exists();
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| folder.join(program).exists())
}
