//! Socket options that nix and socket2 do not wrap.

use std::io;
use std::os::fd::{AsFd, AsRawFd};

use socket2::Socket;

/// A TCP socket with `TCP_INFO`.
#[derive(Debug)]
pub(crate) struct TcpSocket(pub Socket);

/// Bytes, more than any kernel's `struct tcp_info`.
const TCP_INFO_ROOM: usize = 512;

impl TcpSocket {
    /// The kernel's `struct tcp_info`, in this kernel's length.
    ///
    /// # Errors
    /// The socket is not a TCP socket.
    #[expect(unsafe_code, reason = "nix and socket2 know the struct of one kernel only")]
    pub(crate) fn tcp_info(&self) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0_u8; TCP_INFO_ROOM];
        let mut length = libc::socklen_t::try_from(TCP_INFO_ROOM).map_err(io::Error::other)?;
        // SAFETY: the kernel writes at most `length` bytes, which `bytes` has.
        let result = unsafe {
            libc::getsockopt(
                self.0.as_fd().as_raw_fd(),
                libc::IPPROTO_TCP,
                libc::TCP_INFO,
                bytes.as_mut_ptr().cast(),
                &raw mut length,
            )
        };
        if result < 0 {
            return Err(io::Error::last_os_error());
        }
        bytes.truncate(usize::try_from(length).map_err(io::Error::other)?);
        Ok(bytes)
    }
}

/// Sets a TCP option whose value is a number.
///
/// # Errors
/// The kernel does not know the option, or rejects the value.
pub(crate) fn set_tcp_option(socket: &Socket, option: libc::c_int, value: u32) -> io::Result<()> {
    set_option(socket, libc::IPPROTO_TCP, option, value)
}

/// Has every packet of the socket sent with DF (`IP_PMTUDISC_DO`), as by default; a host may be set otherwise
/// (`net.ipv4.ip_no_pmtu_disc`).
///
/// # Errors
/// The socket is of the other IP version.
pub(crate) fn discover_mtu_by_df(socket: &Socket, is_v6: bool) -> io::Result<()> {
    let (level, option, value) = if is_v6 {
        (libc::IPPROTO_IPV6, libc::IPV6_MTU_DISCOVER, libc::IPV6_PMTUDISC_DO)
    } else {
        (libc::IPPROTO_IP, libc::IP_MTU_DISCOVER, libc::IP_PMTUDISC_DO)
    };
    set_option(socket, level, option, value.cast_unsigned())
}

/// Has the kernel pace what the socket sends to so many bytes per second (socket(7)).
///
/// # Errors
/// The kernel rejects the value.
pub(crate) fn set_pacing_rate(socket: &Socket, bytes_per_s: u32) -> io::Result<()> {
    set_option(socket, libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE, bytes_per_s)
}

#[expect(unsafe_code, reason = "options that socket2 does not have")]
pub(super) fn set_option(
    socket: &Socket,
    level: libc::c_int,
    option: libc::c_int,
    value: u32,
) -> io::Result<()> {
    let length = libc::socklen_t::try_from(size_of::<u32>()).map_err(io::Error::other)?;
    // SAFETY: the kernel reads the four bytes of `value`.
    let result = unsafe {
        libc::setsockopt(socket.as_raw_fd(), level, option, (&raw const value).cast(), length)
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
