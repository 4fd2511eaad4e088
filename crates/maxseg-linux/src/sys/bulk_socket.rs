//! What sockets of bulk data and of probes tell and take, beyond nix and socket2.

use std::io;
use std::os::fd::AsRawFd as _;

use maxseg_wire::inet_diag::{Memory, Sample};
use maxseg_wire::tcp_info::TcpInfo;
use nix::errno::Errno;
use socket2::Socket;

use super::TcpSocket;
use super::socket::{read_option, set_option};

/// Numbers of `SO_MEMINFO` (`enum` `SK_MEMINFO_*` in `include/uapi/linux/sock_diag.h`).
const MEMORY_NUMBERS: usize = 9;
/// More than the headers of any SYN: 60 bytes of TCP behind 60 of IPv4, or 40 of IPv6 and some of its extensions.
const SYN_ROOM: usize = 512;

impl TcpSocket {
    /// What evidence takes of the socket: `TCP_INFO`, `SO_MEMINFO` and `SIOCOUTQ`.
    ///
    /// # Errors
    /// The socket is not a TCP socket.
    pub(crate) fn sample(&self) -> io::Result<Sample> {
        let info = TcpInfo::decode(&self.tcp_info()?).map_err(io::Error::other)?;
        Ok(Sample {
            info,
            memory: self.memory(),
            bbr: None,
            unread_bytes: 0,
            unacked_bytes: self.unacked_bytes().unwrap_or_default(),
        })
    }

    /// Its memory; `None` before Linux 4.12.
    fn memory(&self) -> Option<Memory> {
        let mut bytes = [0; 4 * MEMORY_NUMBERS];
        let length = read_option(&self.0, libc::SOL_SOCKET, libc::SO_MEMINFO, &mut bytes).ok()?;
        let at = |index: usize| {
            let bytes = bytes[..length].get(4 * index..4 * index + 4)?;
            Some(u32::from_ne_bytes(bytes.try_into().ok()?))
        };
        Some(Memory {
            receive_alloc: at(0)?,
            receive_buffer: at(1)?,
            send_alloc: at(2)?,
            send_buffer: at(3)?,
            forward_alloc: at(4)?,
            send_queued: at(5)?,
            ..Memory::default()
        })
    }

    /// Bytes that were written and not acknowledged (tcp(7), `SIOCOUTQ`).
    #[expect(unsafe_code, reason = "nix has no such call")]
    fn unacked_bytes(&self) -> io::Result<u32> {
        let mut bytes: libc::c_int = 0;
        // SAFETY: the kernel writes one number, which `bytes` has room for.
        let result = unsafe { libc::ioctl(self.0.as_raw_fd(), libc::TIOCOUTQ, &raw mut bytes) };
        Errno::result(result)?;
        Ok(bytes.cast_unsigned())
    }

    /// `TCP_WINDOW_CLAMP`.
    ///
    /// # Errors
    /// The socket is not a TCP socket.
    pub(crate) fn window_clamp(&self) -> io::Result<u32> {
        let mut bytes = [0; 4];
        read_option(&self.0, libc::IPPROTO_TCP, libc::TCP_WINDOW_CLAMP, &mut bytes)?;
        Ok(u32::from_ne_bytes(bytes))
    }

    /// The headers of the SYN that made this connection, where the listener kept it (`TCP_SAVED_SYN`); empty after it
    /// was asked for once.
    ///
    /// # Errors
    /// The socket is not a TCP socket.
    pub(crate) fn saved_syn(&self) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; SYN_ROOM];
        let length = read_option(&self.0, libc::IPPROTO_TCP, libc::TCP_SAVED_SYN, &mut bytes)?;
        bytes.truncate(length);
        Ok(bytes)
    }
}

/// Has datagrams sent with DF set, whatever path MTU the kernel has learnt, and never in fragments (ip(7)
/// `IP_PMTUDISC_PROBE`): one that is larger than the interface's MTU is refused with `EMSGSIZE`.
///
/// # Errors
/// The kernel rejects the value.
pub(crate) fn send_as_probes(socket: &Socket, is_v6: bool) -> io::Result<()> {
    /// `IP_PMTUDISC_PROBE` and `IPV6_PMTUDISC_PROBE` in `linux/in.h` and `linux/in6.h`.
    const PROBE: u32 = 3;
    if is_v6 {
        set_option(socket, libc::IPPROTO_IPV6, libc::IPV6_MTU_DISCOVER, PROBE)?;
        // A socket of IPv6 sends to IPv4 addresses too. Where it cannot, nothing is sent to one.
        let _ = set_option(socket, libc::IPPROTO_IP, libc::IP_MTU_DISCOVER, PROBE);
        return Ok(());
    }
    set_option(socket, libc::IPPROTO_IP, libc::IP_MTU_DISCOVER, PROBE)
}
