//! A network namespace of a test's own.

use std::process::{Child, Command, Output};

use nix::sched::{CloneFlags, setns};

use super::kernel::wait_until;
use super::stderr;

/// A network namespace, held by a process.
pub(super) struct Namespace(pub(super) Child);

impl Drop for Namespace {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Namespace {
    /// An empty one; `None` for who may not have one.
    pub(super) fn new() -> Option<Self> {
        let mut child = Command::new("unshare");
        child.args(["--net", "sleep", "300"]).stderr(std::process::Stdio::null());
        let mut made = Self(child.spawn().ok()?);
        let own = std::fs::read_link("/proc/self/ns/net").ok()?;
        let of = format!("/proc/{}/ns/net", made.0.id());
        let mut has_ended = false;
        wait_until("a network namespace", || {
            has_ended = made.0.try_wait().is_ok_and(|ended| ended.is_some());
            has_ended || std::fs::read_link(&of).is_ok_and(|there| there != own)
        });
        (!has_ended).then_some(made)
    }

    /// Runs a command there.
    pub(super) fn run(&self, line: &str) -> Output {
        // A space that belongs to an argument has a backslash.
        let arguments = line.replace("\\ ", "\u{0}");
        let words = arguments.split_whitespace().map(|word| word.replace('\u{0}', " "));
        let pid = self.0.id().to_string();
        Command::new("nsenter").args(["-t", &pid, "-n"]).args(words).output().unwrap()
    }

    /// Runs a command there that must succeed.
    pub(super) fn must(&self, line: &str) {
        let output = self.run(line);
        assert!(output.status.success(), "{line}: {}", stderr(&output));
    }

    /// Runs work on a thread in the namespace: sockets that it opens stay there.
    pub(super) fn inside<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        let file = std::fs::File::open(format!("/proc/{}/ns/net", self.0.id())).unwrap();
        std::thread::scope(|scope| {
            let inside = || {
                setns(file, CloneFlags::CLONE_NEWNET).unwrap();
                work()
            };
            scope.spawn(inside).join().unwrap()
        })
    }
}
