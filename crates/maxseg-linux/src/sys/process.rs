//! Child processes in a namespace, which do not outlive this process.

use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sched::{CloneFlags, setns};
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::unistd::{Pid, setsid};

use super::NetNs;

/// Makes the command run inside `namespace`.
///
/// # Errors
/// There are too many open files.
#[expect(unsafe_code, reason = "between fork and exec: one system call")]
pub(crate) fn in_namespace(command: &mut Command, namespace: &NetNs) -> io::Result<()> {
    let namespace = namespace.try_clone()?;
    // SAFETY: `setns` is async-signal-safe, and the closure owns the descriptor that it uses.
    unsafe {
        command.pre_exec(move || Ok(setns(&namespace, CloneFlags::CLONE_NEWNET)?));
    }
    Ok(())
}

/// Makes the kernel kill the command when the thread that starts it ends (`PR_SET_PDEATHSIG`).
#[expect(unsafe_code, reason = "between fork and exec: system calls alone")]
pub(crate) fn dies_with_parent(command: &mut Command) {
    let parent = Pid::this();
    // SAFETY: `prctl` and `getppid` are async-signal-safe, and an error of the system's own allocates nothing.
    unsafe {
        command.pre_exec(move || {
            prctl::set_pdeathsig(Signal::SIGKILL)?;
            // If the parent has ended before this, no signal will come.
            if Pid::parent() == parent { Ok(()) } else { Err(Errno::ESRCH.into()) }
        });
    }
}

/// Makes the command outlive the terminal from which it is started (setsid(2)).
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

/// Runs a command to its end, or kills it when `stop` is set, or when it takes longer than `longest`.
///
/// # Errors
/// It cannot be started, or its output cannot be read; `TimedOut` where it took longer.
pub(crate) fn run_to_end(
    mut command: Command,
    stop: &AtomicBool,
    longest: Option<Duration>,
) -> io::Result<Output> {
    dies_with_parent(&mut command);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    std::thread::scope(|scope| {
        // Both are read while it runs: a full pipe would block it.
        let stdout = scope.spawn(|| read_all(stdout));
        let stderr = scope.spawn(|| read_all(stderr));
        let (status, is_late) = wait_or_kill(&mut child, stop, longest)?;
        let output_of = |reader: ScopedJoinHandle<'_, io::Result<Vec<u8>>>| {
            reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        let output = Output { status, stdout: output_of(stdout)?, stderr: output_of(stderr)? };
        if is_late { Err(io::ErrorKind::TimedOut.into()) } else { Ok(output) }
    })
}

/// How often the state of a child is polled.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Waits for a child, and kills it when `stop` is set, or after `longest`, which is told. One thread does both: after the wait the process
/// ID may be another process's.
fn wait_or_kill(
    child: &mut Child,
    stop: &AtomicBool,
    longest: Option<Duration>,
) -> io::Result<(ExitStatus, bool)> {
    let began = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok((status, false));
        }
        let is_late = longest.is_some_and(|longest| began.elapsed() >= longest);
        if is_late || stop.load(Ordering::Relaxed) {
            child.kill()?;
            return Ok((child.wait()?, is_late));
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

fn read_all(pipe: Option<impl Read>) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(mut pipe) = pipe {
        pipe.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_command_may_write_more_than_a_pipe_holds() {
        let script = "head -c 300000 /dev/zero >&2; head -c 300000 /dev/zero; exit 3";
        let output = run_to_end(shell(script), &AtomicBool::new(false), None).unwrap();
        let lengths = (output.stdout.len(), output.stderr.len());
        assert_eq!((output.status.code(), lengths), (Some(3), (300_000, 300_000)));
    }

    #[test]
    fn a_command_without_end_is_killed() {
        let output = run_to_end(shell("exec sleep 1000000"), &AtomicBool::new(true), None).unwrap();
        let signal = std::os::unix::process::ExitStatusExt::signal(&output.status);
        assert_eq!(signal, Some(libc::SIGKILL));
    }

    #[test]
    fn a_command_that_takes_too_long_is_killed() {
        let (stop, longest) = (AtomicBool::new(false), Some(Duration::ZERO));
        let error = run_to_end(shell("exec sleep 1000000"), &stop, longest).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
