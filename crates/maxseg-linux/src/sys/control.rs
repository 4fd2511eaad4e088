//! Lines and file descriptors between processes over an abstract Unix socket (unix(7)): it has no file, and
//! disappears with the process that listens.

use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::time::{Duration, Instant};

use nix::sys::socket::sockopt::PeerCredentials;
use nix::sys::socket::{
    ControlMessage, ControlMessageOwned, MsgFlags, getsockopt, recvmsg, sendmsg,
};

use super::process_status::ProcessStatus;

/// A listening control socket.
#[derive(Debug)]
pub(crate) struct ControlListener {
    socket: UnixListener,
    /// A descriptor that is given up for a connection when the process has no other left.
    spare: Option<File>,
}

/// A connection: one line each way, and file descriptors with it.
#[derive(Debug)]
pub(crate) struct ControlSocket {
    socket: UnixStream,
    /// When the peer's whole line must have arrived.
    deadline: Option<Instant>,
    /// The longest line of the peer, in bytes.
    longest: usize,
}

/// More than any answer, in bytes.
const LONGEST_ANSWER: usize = 16 << 20;
/// More than any request, in bytes.
const LONGEST_REQUEST: usize = 64 << 10;
/// More descriptors than ever come with a line.
const MOST_FILES: usize = 4;

impl ControlListener {
    /// Listens at the abstract address `name`, in the network namespace of the calling thread.
    ///
    /// # Errors
    /// `AddrInUse` where another process listens there.
    pub(crate) fn new(name: &str) -> io::Result<Self> {
        let address = SocketAddr::from_abstract_name(name)?;
        let socket = UnixListener::bind_addr(&address)?;
        socket.set_nonblocking(true)?;
        Ok(Self { socket, spare: spare() })
    }

    /// The next connection, if one is waiting. Its request must arrive, and its answer must be read, within
    /// `timeout`.
    ///
    /// # Errors
    /// The system is out of descriptors or memory. A process at its own limit still accepts one connection at a time.
    pub(crate) fn accept(&mut self, timeout: Duration) -> io::Result<Option<ControlSocket>> {
        if self.spare.is_none() {
            self.spare = spare();
        }
        match self.accept_now(timeout) {
            Err(error) if error.raw_os_error() == Some(libc::EMFILE) && self.spare.is_some() => {
                self.spare = None;
                self.accept_now(timeout)
            }
            other => other,
        }
    }

    fn accept_now(&self, timeout: Duration) -> io::Result<Option<ControlSocket>> {
        match self.socket.accept() {
            Ok((socket, _)) => {
                socket.set_nonblocking(false)?;
                socket.set_write_timeout(Some(timeout))?;
                let deadline = Some(Instant::now() + timeout);
                Ok(Some(ControlSocket { socket, deadline, longest: LONGEST_REQUEST }))
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }
}

fn spare() -> Option<File> {
    File::open("/dev/null").ok()
}

impl AsFd for ControlListener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl ControlSocket {
    /// Connects to the listener at the abstract address `name`.
    ///
    /// # Errors
    /// `ConnectionRefused` where no process listens there.
    pub(crate) fn connect(name: &str) -> io::Result<Self> {
        let address = SocketAddr::from_abstract_name(name)?;
        let socket = UnixStream::connect_addr(&address)?;
        Ok(Self { socket, deadline: None, longest: LONGEST_ANSWER })
    }

    /// The effective user of the peer (`SO_PEERCRED`), as mapped into this user namespace.
    ///
    /// # Errors
    /// The socket is not connected.
    pub(crate) fn peer(&self) -> io::Result<u32> {
        Ok(getsockopt(&self.socket, PeerCredentials)?.uid())
    }

    /// The process that listens, where it is stopped: it answers only once it goes on.
    pub(crate) fn stopped_peer(&self) -> Option<i32> {
        let pid = getsockopt(&self.socket, PeerCredentials).ok()?.pid();
        is_stopped(pid).then_some(pid)
    }

    /// Sends a line, given without its line break, and descriptors with it (`SCM_RIGHTS`).
    ///
    /// # Errors
    /// The peer has closed the connection, or does not read in time.
    pub(crate) fn send_line(&self, line: &str, files: &[BorrowedFd<'_>]) -> io::Result<()> {
        let raw: Vec<RawFd> = files.iter().map(AsRawFd::as_raw_fd).collect();
        let rights = [ControlMessage::ScmRights(&raw)];
        let rights = if raw.is_empty() { &[][..] } else { &rights[..] };
        let text = format!("{line}\n");
        let parts = [IoSlice::new(text.as_bytes())];
        let socket = self.socket.as_raw_fd();
        let sent = sendmsg::<()>(socket, &parts, rights, MsgFlags::MSG_NOSIGNAL, None)?;
        io::Write::write_all(&mut &self.socket, &text.as_bytes()[sent..])
    }

    /// The next line without its line break, and the descriptors that came with it; an empty line when the peer has
    /// closed the connection.
    ///
    /// # Errors
    /// The deadline passes before the line ends, or the line is too long, or it is not UTF-8.
    pub(crate) fn receive_line(&self) -> io::Result<(String, Vec<OwnedFd>)> {
        let (mut line, mut files) = (Vec::new(), Vec::new());
        let mut buffer = [0_u8; 4096];
        while line.last() != Some(&b'\n') {
            self.limit_wait()?;
            let len = self.receive(&mut buffer, &mut files)?;
            if len == 0 {
                break;
            }
            line.extend_from_slice(&buffer[..len]);
            if line.len() > self.longest {
                return Err(io::Error::other("the line is too long"));
            }
        }
        let text = String::from_utf8(line).map_err(io::Error::other)?;
        Ok((text.trim_end_matches('\n').to_owned(), files))
    }

    /// The deadline covers the whole line, however many reads it takes.
    fn limit_wait(&self) -> io::Result<()> {
        let Some(deadline) = self.deadline else { return Ok(()) };
        match deadline.saturating_duration_since(Instant::now()) {
            Duration::ZERO => Err(io::ErrorKind::TimedOut.into()),
            left => self.socket.set_read_timeout(Some(left)),
        }
    }

    #[expect(unsafe_code, reason = "descriptors come as numbers")]
    fn receive(&self, buffer: &mut [u8], files: &mut Vec<OwnedFd>) -> io::Result<usize> {
        let mut parts = [IoSliceMut::new(buffer)];
        let mut room = nix::cmsg_space!([RawFd; MOST_FILES]);
        let flags = MsgFlags::MSG_CMSG_CLOEXEC;
        let message = recvmsg::<()>(self.socket.as_raw_fd(), &mut parts, Some(&mut room), flags)?;
        for rights in message.cmsgs()? {
            if let ControlMessageOwned::ScmRights(numbers) = rights {
                // SAFETY: the kernel made these descriptors for this process just now, and nobody else knows them.
                files.extend(numbers.iter().map(|file| unsafe { OwnedFd::from_raw_fd(*file) }));
            }
        }
        Ok(message.bytes)
    }
}

/// Whether a process is stopped by a signal.
fn is_stopped(pid: i32) -> bool {
    ProcessStatus::of(pid.cast_unsigned()).is_some_and(ProcessStatus::is_stopped)
}

#[cfg(test)]
mod tests {
    use nix::sys::signal::{Signal, kill};
    use nix::sys::wait::{WaitPidFlag, waitpid};
    use nix::unistd::Pid;

    use super::*;

    #[test]
    fn a_process_that_is_stopped_is_told_from_one_that_waits() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = Pid::from_raw(child.id().cast_signed());
        assert!(!is_stopped(pid.as_raw()));
        kill(pid, Signal::SIGSTOP).unwrap();
        waitpid(pid, Some(WaitPidFlag::WUNTRACED)).unwrap();
        assert!(is_stopped(pid.as_raw()));
        child.kill().unwrap();
        child.wait().unwrap();
    }

    fn pair(patience: Duration) -> (ControlSocket, UnixStream) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let deadline = Some(Instant::now() + patience);
        (ControlSocket { socket: ours, deadline, longest: LONGEST_REQUEST }, theirs)
    }

    #[test]
    fn a_line_that_came_in_time_but_for_its_end_is_too_late() {
        let (control, mut theirs) = pair(Duration::ZERO);
        io::Write::write_all(&mut theirs, b"\"status\"").unwrap();
        assert_eq!(control.receive_line().unwrap_err().kind(), io::ErrorKind::TimedOut);
    }

    #[test]
    fn a_request_has_a_longest() {
        let (control, theirs) = pair(Duration::from_secs(3600));
        let babble = std::thread::spawn(move || {
            let line = vec![b'x'; 2 * LONGEST_REQUEST];
            // It fails when the peer stops reading.
            let _ = io::Write::write_all(&mut &theirs, &line);
        });
        assert!(control.receive_line().unwrap_err().to_string().contains("too long"));
        drop(control);
        babble.join().unwrap();
    }
}
