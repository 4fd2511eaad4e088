//! A capture that runs, and traffic for it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};

use nix::sched::{CloneFlags, unshare};
use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use serde_json::Value;

use crate::rights::has_rights;

/// Moves this thread into a network namespace of its own, with a loopback interface that is up; whether it may.
pub(crate) fn own_network() -> bool {
    if !has_rights() {
        return false;
    }
    if let Err(error) = unshare(CloneFlags::CLONE_NEWNET) {
        println!("skipped: no network namespace: {error}");
        return false;
    }
    let there = Command::new("ip").arg("-V").output().is_ok();
    if there {
        ip("link set lo up");
    } else {
        println!("skipped: `ip` is not installed");
    }
    there
}

/// Runs `ip` in this thread's namespace.
pub(crate) fn ip(arguments: &str) {
    let output = Command::new("ip").args(arguments.split(' ')).output().unwrap();
    assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A connection to somebody here, with one message.
pub(crate) fn exchange(address: &str, message: &[u8]) {
    let listener = TcpListener::bind(address).unwrap();
    let mut client = TcpStream::connect(address).unwrap();
    let (mut server, _) = listener.accept().unwrap();
    client.write_all(message).unwrap();
    let mut heard = vec![0; message.len()];
    server.read_exact(&mut heard).unwrap();
    assert_eq!(heard, message);
}

/// Datagrams to somebody, from a socket that hears no errors.
pub(crate) fn datagrams(address: &str, count: usize, length: usize) {
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    for _ in 0..count {
        socket.send_to(&vec![b'x'; length], address).unwrap();
    }
}

/// Tells when a file is written to (inotify(7)).
pub(crate) struct Growth(Inotify);

impl Growth {
    pub(crate) fn of(path: &Path) -> Self {
        let inotify = Inotify::init(InitFlags::IN_CLOEXEC).unwrap();
        inotify.add_watch(path, AddWatchFlags::IN_MODIFY).unwrap();
        Self(inotify)
    }

    /// Returns when this holds, which is looked at after each write.
    pub(crate) fn wait_until(&self, is: impl Fn() -> bool) {
        while !is() {
            self.0.read_events().unwrap();
        }
    }
}

/// A `maxseg capture` that listens; killed whatever happens.
pub(crate) struct Watch {
    child: Child,
    stderr: BufReader<ChildStderr>,
    said: String,
}

/// What came of it.
pub(crate) struct End {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Watch {
    /// Begins in this thread's namespace.
    pub(crate) fn begin(arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_maxseg"));
        command.arg("capture").args(arguments);
        Self::of(command)
    }

    /// Waits until it says that it listens: what comes later is seen.
    pub(crate) fn of(mut command: Command) -> Self {
        command.env_remove("SUDO_UID").stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        while !said.contains("listening on ") {
            assert!(stderr.read_line(&mut said).unwrap() > 0, "it does not listen: {said}");
        }
        Self { child, stderr, said }
    }

    pub(crate) fn id(&self) -> Pid {
        Pid::from_raw(self.child.id().cast_signed())
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill(self.id(), signal).unwrap();
    }

    /// Stops it, and returns when it stands still.
    pub(crate) fn stop(&self) {
        self.signal(Signal::SIGSTOP);
        let stopped = waitpid(self.id(), Some(WaitPidFlag::WUNTRACED)).unwrap();
        assert_eq!(stopped, WaitStatus::Stopped(self.id(), Signal::SIGSTOP));
    }

    pub(crate) fn close_stdout(&mut self) {
        drop(self.child.stdout.take());
    }

    /// What it says from an interrupt to its end: all that passed before is in it.
    pub(crate) fn interrupt(self) -> End {
        self.signal(Signal::SIGINT);
        self.wait()
    }

    /// Its end.
    pub(crate) fn wait(mut self) -> End {
        let mut stdout = String::new();
        if let Some(pipe) = &mut self.child.stdout {
            pipe.read_to_string(&mut stdout).unwrap();
        }
        let mut stderr = std::mem::take(&mut self.said);
        self.stderr.read_to_string(&mut stderr).unwrap();
        let code = self.child.wait().unwrap().code();
        End { code, stdout, stderr }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl End {
    /// The packets of `--json-stream`, and the summary.
    pub(crate) fn stream(&self) -> (Vec<Value>, Value) {
        let lines: Vec<Value> =
            self.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let [first, packets @ .., last] = &lines[..] else { panic!("{}", self.stdout) };
        assert_eq!((&first["type"], &last["type"]), (&"capture".into(), &"summary".into()));
        assert!(packets.iter().all(|packet| packet["type"] == "packet"));
        assert_eq!(last["packets"], packets.len());
        (packets.to_vec(), last.clone())
    }
}
