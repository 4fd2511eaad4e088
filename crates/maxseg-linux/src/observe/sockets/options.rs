//! Options of a socket that the kernel's list does not have: read from the socket itself, by a second descriptor
//! (`pidfd_getfd(2)`). Nothing is set.

use std::collections::HashMap;
use std::io;
use std::os::fd::RawFd;

use thiserror::Error;

use super::processes::all_sockets_of;
use crate::sys::BorrowedSocket;

/// What a socket is set to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SocketOptions {
    /// `TCP_WINDOW_CLAMP`, bytes: the program's, the route's `window`, or what the kernel has made of the buffer.
    pub window_clamp: u32,
    /// Whether the program has set `SO_SNDBUF`, and `SO_RCVBUF` (`SO_BUF_LOCK`); `None` before Linux 5.14.
    pub buffers_set: Option<[bool; 2]>,
}

/// Why the options of a socket cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum OptionsError {
    /// No process is known to have the socket open: it is closed, or of another user.
    #[error("no process is known to have the socket open")]
    NoProcess,
    /// This user may not trace the process.
    #[error(
        "this user may not read the sockets of that process: root may, and the user whose process it is"
    )]
    Denied,
    /// The process has closed the socket, or has ended.
    #[error("the process has closed the socket meanwhile")]
    Gone,
    /// The process's socket is one of Multipath TCP (RFC 8684), and the connection a subflow of it.
    #[error("it is a subflow of Multipath TCP, of which no process has a descriptor")]
    Subflow,
    /// The kernel has no such call: before Linux 5.6, or a sandbox.
    #[error("pidfd_getfd is not available here (Linux 5.6)")]
    NotSupported,
}

/// The sockets of processes, by descriptor: looked up once for each process.
#[derive(Debug, Default)]
pub struct SocketReader {
    descriptors: HashMap<u32, HashMap<u32, RawFd>>,
}

impl SocketReader {
    /// The options of the socket with this inode, which the process has open.
    ///
    /// # Errors
    /// As of [`OptionsError`].
    pub fn options(&mut self, pid: u32, inode: u32) -> Result<SocketOptions, OptionsError> {
        let socket = self.borrow(pid, inode)?;
        if socket.is_multipath() {
            return Err(OptionsError::Subflow);
        }
        let read = || -> io::Result<SocketOptions> {
            Ok(SocketOptions {
                window_clamp: socket.window_clamp()?,
                buffers_set: socket.buffers_set(),
            })
        };
        read().map_err(|error| of(&error))
    }

    /// Whether a listening socket ignores acknowledgements until data come (`TCP_DEFER_ACCEPT`).
    ///
    /// # Errors
    /// As of [`OptionsError`].
    pub fn defers_accept(&mut self, pid: u32, inode: u32) -> Result<bool, OptionsError> {
        let read = self.borrow(pid, inode)?.number(libc::IPPROTO_TCP, libc::TCP_DEFER_ACCEPT);
        read.map(|seconds| seconds > 0).map_err(|error| of(&error))
    }

    fn borrow(&mut self, pid: u32, inode: u32) -> Result<BorrowedSocket, OptionsError> {
        let files = self.descriptors.entry(pid).or_insert_with(|| {
            // Of a process that may not be looked at, none are known.
            all_sockets_of(pid).into_iter().flatten().collect()
        });
        let file = files.get(&inode).ok_or(OptionsError::Gone)?;
        let socket = BorrowedSocket::of(pid, *file).map_err(|error| of(&error))?;
        // The process may have closed it, and opened another under the same number.
        if socket.inode().ok() != Some(inode.into()) {
            return Err(OptionsError::Gone);
        }
        Ok(socket)
    }
}

/// The socket of this inode, by a descriptor of a process; `None` where the process does not have it open.
pub(crate) fn borrowed(pid: u32, inode: u32) -> Option<io::Result<BorrowedSocket>> {
    let (_, file) = all_sockets_of(pid).ok()?.filter(|(of, _)| *of == inode).last()?;
    Some(BorrowedSocket::of(pid, file))
}

fn of(error: &io::Error) -> OptionsError {
    match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => OptionsError::Denied,
        Some(libc::ENOSYS | libc::EINVAL | libc::ENOPROTOOPT) => OptionsError::NotSupported,
        _ => OptionsError::Gone,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::net::TcpListener;
    use std::os::linux::fs::MetadataExt as _;

    use socket2::Socket;

    use super::*;
    use crate::sys::set_tcp_option;

    #[test]
    fn the_options_of_an_own_socket_are_those_of_getsockopt() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&listener));
        let inode = u32::try_from(fs::metadata(path).unwrap().st_ino()).unwrap();
        let pid = std::process::id();
        let mut reader = SocketReader::default();
        let plain = reader.options(pid, inode).unwrap();
        assert_eq!(plain.buffers_set, Some([false, false]));
        let socket = socket2::SockRef::from(&listener);
        socket.set_recv_buffer_size(50_000).unwrap();
        let set = reader.options(pid, inode).unwrap();
        assert_eq!(set.buffers_set, Some([false, true]));
        let socket = Socket::from(listener.try_clone().unwrap());
        set_tcp_option(&socket, libc::TCP_WINDOW_CLAMP, 5_000).unwrap();
        assert_eq!(reader.defers_accept(pid, inode), Ok(false));
        set_tcp_option(&socket, libc::TCP_DEFER_ACCEPT, 30).unwrap();
        assert_eq!(reader.defers_accept(pid, inode), Ok(true));
        assert_eq!(reader.options(pid, inode).unwrap().window_clamp, 5_000);
        assert_eq!(reader.options(pid, u32::MAX), Err(OptionsError::Gone));
        assert_eq!(reader.options(u32::MAX, inode), Err(OptionsError::Gone));
    }
    #[test]
    #[expect(clippy::print_stderr, reason = "what is skipped is said")]
    fn of_a_subflow_of_multipath_tcp_no_options_are_read() {
        use socket2::{Domain, Protocol, Type};
        let Ok(socket) = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::MPTCP)) else {
            eprintln!("skipped: this kernel has no Multipath TCP");
            return;
        };
        let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&socket));
        let inode = u32::try_from(fs::metadata(path).unwrap().st_ino()).unwrap();
        let read = SocketReader::default().options(std::process::id(), inode);
        assert_eq!(read, Err(OptionsError::Subflow));
    }
}
