//! A socket of another process, to read and set its options: `pidfd_getfd(2)`.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd, RawFd};

use nix::errno::Errno;

use super::socket::{read_option, write_option};

/// `SO_BUF_LOCK` in `include/uapi/asm-generic/socket.h` (Linux 5.14), and its bits for both buffers.
const SO_BUF_LOCK: libc::c_int = 72;
const SOCK_SNDBUF_LOCK: i32 = 1;
const SOCK_RCVBUF_LOCK: i32 = 2;
/// Bytes of the longest name of a congestion control (`TCP_CA_NAME_MAX`).
const CONGESTION_ROOM: usize = 16;

/// A buffer of a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Buffer {
    /// `SO_SNDBUF`.
    Send,
    /// `SO_RCVBUF`.
    Receive,
}

impl Buffer {
    /// The option, and the one that no limit of the host holds for.
    const fn options(self) -> (libc::c_int, libc::c_int) {
        match self {
            Self::Send => (libc::SO_SNDBUF, libc::SO_SNDBUFFORCE),
            Self::Receive => (libc::SO_RCVBUF, libc::SO_RCVBUFFORCE),
        }
    }

    /// Its bit of `SO_BUF_LOCK`.
    const fn lock(self) -> i32 {
        match self {
            Self::Send => SOCK_SNDBUF_LOCK,
            Self::Receive => SOCK_RCVBUF_LOCK,
        }
    }
}

/// A second descriptor of a socket that another process has open: what is set on it, is set for that process.
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

    /// Whether it is a socket of Multipath TCP: the kernel lists its subflows under its inode.
    pub(crate) fn is_multipath(&self) -> bool {
        self.number(libc::SOL_SOCKET, libc::SO_PROTOCOL)
            .is_ok_and(|number| number == libc::IPPROTO_MPTCP)
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

    /// The number that the kernel gives this socket alone (`SO_COOKIE`).
    pub(crate) fn cookie(&self) -> io::Result<u64> {
        self.long_number(libc::SOL_SOCKET, libc::SO_COOKIE)
    }

    /// An option whose value is an `int`.
    pub(crate) fn number(&self, level: libc::c_int, option: libc::c_int) -> io::Result<i32> {
        let mut value = [0; size_of::<i32>()];
        read_option(&self.0, level, option, &mut value)?;
        Ok(i32::from_ne_bytes(value))
    }

    /// An option whose value has 64 bits.
    pub(crate) fn long_number(&self, level: libc::c_int, option: libc::c_int) -> io::Result<u64> {
        let mut value = [0; size_of::<u64>()];
        read_option(&self.0, level, option, &mut value)?;
        Ok(u64::from_ne_bytes(value))
    }

    /// `TCP_CONGESTION`.
    pub(crate) fn congestion(&self) -> io::Result<String> {
        let mut name = [0; CONGESTION_ROOM];
        let length = read_option(&self.0, libc::IPPROTO_TCP, libc::TCP_CONGESTION, &mut name)?;
        let name = name.get(..length).unwrap_or(&name).split(|byte| *byte == 0).next();
        Ok(String::from_utf8_lossy(name.unwrap_or_default()).into_owned())
    }

    /// Sets `TCP_CONGESTION`.
    pub(crate) fn set_congestion(&self, name: &str) -> io::Result<()> {
        write_option(&self.0, libc::IPPROTO_TCP, libc::TCP_CONGESTION, name.as_bytes())
    }

    /// Sets an option whose value is an `int`.
    pub(crate) fn set_number(
        &self,
        level: libc::c_int,
        option: libc::c_int,
        value: i32,
    ) -> io::Result<()> {
        write_option(&self.0, level, option, &value.to_ne_bytes())
    }

    /// Sets an option whose value has 64 bits.
    pub(crate) fn set_long_number(
        &self,
        level: libc::c_int,
        option: libc::c_int,
        value: u64,
    ) -> io::Result<()> {
        write_option(&self.0, level, option, &value.to_ne_bytes())
    }

    /// Sets a buffer to what `getsockopt` is to show: twice what `setsockopt` takes. Above `rmem_max` or `wmem_max` it takes
    /// `CAP_NET_ADMIN`.
    pub(crate) fn set_buffer(&self, which: Buffer, shown: i32) -> io::Result<()> {
        let (plain, forced) = which.options();
        match self.set_number(libc::SOL_SOCKET, forced, shown / 2) {
            Err(error) if error.raw_os_error() == Some(libc::EPERM) => {
                self.set_number(libc::SOL_SOCKET, plain, shown / 2)
            }
            result => result,
        }
    }

    /// What `getsockopt` shows of a buffer.
    pub(crate) fn buffer(&self, which: Buffer) -> io::Result<i32> {
        self.number(libc::SOL_SOCKET, which.options().0)
    }

    /// Lets the kernel change the size of a buffer again (`SO_BUF_LOCK`, Linux 5.14).
    pub(crate) fn unlock_buffer(&self, which: Buffer) -> io::Result<()> {
        let locks = self.number(libc::SOL_SOCKET, SO_BUF_LOCK)?;
        self.set_number(libc::SOL_SOCKET, SO_BUF_LOCK, locks & !which.lock())
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
