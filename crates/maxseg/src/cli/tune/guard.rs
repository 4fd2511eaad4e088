//! `maxseg tune guard`: the process that undoes a plan at its deadline.

use std::io;
use std::process::{Command, Stdio};

use clap::Args;
use maxseg_linux::sys::detach_from_terminal;
use maxseg_linux::tune::{guard, state_folder};

use crate::failure::Failure;

/// Undo a plan at its deadline
#[derive(Debug, Args)]
pub(crate) struct GuardArgs {
    /// Number of the plan
    plan: u64,
}

pub(super) fn run(args: &GuardArgs) -> Result<(), Failure> {
    guard(&state_folder()?, args.plan)?;
    Ok(())
}

/// Starts it: in a session of its own, so that the end of this shell does not end it.
pub(super) fn start(plan: u64) -> io::Result<u32> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["tune", "guard", &plan.to_string()]).current_dir("/");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    detach_from_terminal(&mut command);
    Ok(command.spawn()?.id())
}
