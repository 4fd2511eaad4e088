//! Child processes that live in a namespace, and no longer than we do.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nix::sched::{CloneFlags, setns};
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::unistd::setsid;

use super::NetNs;

/// The command is to run inside `namespace`.
///
/// # Errors
/// There are too many open files.
#[expect(unsafe_code, reason = "between fork and exec: one system call")]
pub(crate) fn in_namespace(command: &mut Command, namespace: &NetNs) -> io::Result<()> {
    let namespace = namespace.again()?;
    // SAFETY: `setns` is async-signal-safe, and the closure owns the descriptor that it uses.
    unsafe {
        command.pre_exec(move || Ok(setns(&namespace, CloneFlags::CLONE_NEWNET)?));
    }
    Ok(())
}

/// The command is to be killed when the thread that starts it ends, whatever ends it.
#[expect(unsafe_code, reason = "between fork and exec: one system call")]
pub(crate) fn dies_with_parent(command: &mut Command) {
    // SAFETY: `prctl` is async-signal-safe.
    unsafe {
        command.pre_exec(|| Ok(prctl::set_pdeathsig(Signal::SIGKILL)?));
    }
}

/// The command is to outlive the terminal that it is started from.
#[expect(unsafe_code, reason = "between fork and exec: one system call")]
pub fn detach_from_terminal(command: &mut Command) {
    // SAFETY: `setsid` is async-signal-safe.
    unsafe {
        command.pre_exec(|| {
            setsid()?;
            Ok(())
        });
    }
}

/// Runs a command to its end, or kills it when `stop` is set.
///
/// # Errors
/// It cannot be started, or its output cannot be read.
pub(crate) fn run_to_end(mut command: Command, stop: &AtomicBool) -> io::Result<Output> {
    dies_with_parent(&mut command);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn()?;
    let id = nix::unistd::Pid::from_raw(child.id().cast_signed());
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !ended.load(Ordering::Relaxed) {
                if stop.load(Ordering::Relaxed) {
                    // It may have ended just now: then there is nobody to kill.
                    let _ = nix::sys::signal::kill(id, Signal::SIGKILL);
                    return;
                }
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        let output = Child::wait_with_output(child);
        ended.store(true, Ordering::Relaxed);
        output
    })
}
