//! Socket options that nix and socket2 do not wrap.

use std::io;
use std::os::fd::{AsFd, AsRawFd as _};

use nix::errno::Errno;
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
    pub(crate) fn tcp_info(&self) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0_u8; TCP_INFO_ROOM];
        let length = read_option(&self.0, libc::IPPROTO_TCP, libc::TCP_INFO, &mut bytes)?;
        bytes.truncate(length);
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

/// Has every packet of the socket sent with DF, be it larger than the path MTU that the kernel knows
/// (`IP_PMTUDISC_PROBE`); the kernel refuses one above the interface's MTU (EMSGSIZE).
///
/// # Errors
/// The socket is of the other IP version.
pub(crate) fn forbid_fragments(socket: &Socket, is_v6: bool) -> io::Result<()> {
    let (level, option, value) = if is_v6 {
        (libc::IPPROTO_IPV6, libc::IPV6_MTU_DISCOVER, libc::IPV6_PMTUDISC_PROBE)
    } else {
        (libc::IPPROTO_IP, libc::IP_MTU_DISCOVER, libc::IP_PMTUDISC_PROBE)
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

pub(super) fn set_option(
    socket: &Socket,
    level: libc::c_int,
    option: libc::c_int,
    value: u32,
) -> io::Result<()> {
    write_option(socket, level, option, &value.to_ne_bytes())
}

/// Sets an option to these bytes.
///
/// # Errors
/// The kernel does not know the option, or rejects the value.
#[expect(unsafe_code, reason = "options that neither nix nor socket2 has")]
pub(super) fn write_option(
    socket: &impl AsFd,
    level: libc::c_int,
    option: libc::c_int,
    value: &[u8],
) -> io::Result<()> {
    let length = libc::socklen_t::try_from(value.len()).map_err(io::Error::other)?;
    let file = socket.as_fd().as_raw_fd();
    // SAFETY: the kernel reads the bytes of `value`.
    let result = unsafe { libc::setsockopt(file, level, option, value.as_ptr().cast(), length) };
    Ok(Errno::result(result).map(drop)?)
}

/// Reads an option into `room`; how many bytes of it the kernel filled.
///
/// # Errors
/// The kernel does not know the option.
#[expect(unsafe_code, reason = "options that neither nix nor socket2 has")]
pub(super) fn read_option(
    socket: &impl AsFd,
    level: libc::c_int,
    option: libc::c_int,
    room: &mut [u8],
) -> io::Result<usize> {
    let mut length = libc::socklen_t::try_from(room.len()).map_err(io::Error::other)?;
    let file = socket.as_fd().as_raw_fd();
    // SAFETY: the kernel writes at most `length` bytes, which `room` has.
    let result =
        unsafe { libc::getsockopt(file, level, option, room.as_mut_ptr().cast(), &raw mut length) };
    Errno::result(result)?;
    usize::try_from(length).map(|length| length.min(room.len())).map_err(io::Error::other)
}
