//! A socket of another process, to read its options: `pidfd_getfd(2)`.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd, RawFd};

use nix::errno::Errno;

/// `SO_BUF_LOCK` in `include/uapi/asm-generic/socket.h` (Linux 5.14), and its bits for both buffers.
const SO_BUF_LOCK: libc::c_int = 72;
const SOCK_SNDBUF_LOCK: i32 = 1;
const SOCK_RCVBUF_LOCK: i32 = 2;

/// A second descriptor of a socket that another process has open. Nothing is ever set on it.
#[derive(Debug)]
pub(crate) struct BorrowedSocket(OwnedFd);

impl BorrowedSocket {
    /// The socket behind descriptor `file` of process `pid`.
    ///
    /// # Errors
    /// The process or the descriptor is gone, or this user may not trace the process (`EPERM`).
    #[expect(unsafe_code, reason = "nix has neither call")]
    pub(crate) fn of(pid: u32, file: RawFd) -> io::Result<Self> {
        let pid = libc::pid_t::try_from(pid).map_err(io::Error::other)?;
        let none: libc::c_uint = 0;
        // SAFETY: numbers only; a descriptor that is returned is this process's own.
        let process = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, none) };
        let process = owned(process)?;
        // SAFETY: as above.
        let copy = unsafe { libc::syscall(libc::SYS_pidfd_getfd, process.as_raw_fd(), file, none) };
        owned(copy).map(Self)
    }

    /// The inode, by which the kernel's list names the socket.
    pub(crate) fn inode(&self) -> io::Result<u64> {
        use std::os::linux::fs::MetadataExt as _;
        Ok(File::from(self.0.try_clone()?).metadata()?.st_ino())
    }

    /// `TCP_WINDOW_CLAMP`.
    pub(crate) fn window_clamp(&self) -> io::Result<u32> {
        self.number(libc::IPPROTO_TCP, libc::TCP_WINDOW_CLAMP).map(i32::cast_unsigned)
    }

    /// Whether the process has set `SO_SNDBUF`, and `SO_RCVBUF`; `None` where the kernel does not tell (before Linux 5.14).
    pub(crate) fn buffers_set(&self) -> Option<[bool; 2]> {
        let locks = self.number(libc::SOL_SOCKET, SO_BUF_LOCK).ok()?;
        Some([locks & SOCK_SNDBUF_LOCK != 0, locks & SOCK_RCVBUF_LOCK != 0])
    }

    #[expect(unsafe_code, reason = "options that nix does not have")]
    fn number(&self, level: libc::c_int, option: libc::c_int) -> io::Result<i32> {
        let mut value: i32 = 0;
        let mut length = libc::socklen_t::try_from(size_of::<i32>()).map_err(io::Error::other)?;
        // SAFETY: the kernel writes at most `length` bytes, which `value` has.
        let result = unsafe {
            let value = (&raw mut value).cast();
            libc::getsockopt(self.0.as_raw_fd(), level, option, value, &raw mut length)
        };
        Ok(Errno::result(result).map(|_| value)?)
    }
}

/// A descriptor that a system call has returned.
#[expect(unsafe_code, reason = "the call itself returns a number")]
fn owned(returned: libc::c_long) -> io::Result<OwnedFd> {
    let file = Errno::result(returned)?;
    let file = RawFd::try_from(file).map_err(io::Error::other)?;
    // SAFETY: the kernel has just opened it for this process, and nothing else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(file) })
}
