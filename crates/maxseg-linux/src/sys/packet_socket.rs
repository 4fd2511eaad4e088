//! A packet socket (packet(7)): what passes an interface, before and with_steps everything else in the kernel.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use maxseg_wire::bpf::Instruction;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, getsockopt, socket, sockopt};

/// A packet socket. Until it is bound nothing comes to it, so that a filter that is attached before lets no
/// packet slip by.
#[derive(Debug)]
pub(crate) struct PacketSocket {
    file: OwnedFd,
}

/// What came to the socket since it was asked last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct PacketCounts {
    /// Packets that passed the filter.
    pub(crate) received: u64,
    /// Those of them that found no room.
    pub(crate) dropped: u64,
}

/// `ETH_P_ALL` in the network's byte order.
#[expect(clippy::cast_possible_truncation, reason = "a number of 16 bits")]
const EVERYTHING: u16 = (libc::ETH_P_ALL as u16).to_be();

impl PacketSocket {
    /// A socket that sees nothing yet.
    ///
    /// # Errors
    /// This process has not the right to (`CAP_NET_RAW`).
    pub(crate) fn new() -> io::Result<Self> {
        let file = socket(AddressFamily::Packet, SockType::Raw, SockFlag::SOCK_CLOEXEC, None)?;
        Ok(Self { file })
    }

    /// Only what this program keeps comes to the socket, as much of it as it says.
    ///
    /// # Errors
    /// The kernel's checker refuses it.
    pub(crate) fn attach(&self, program: &[Instruction]) -> io::Result<()> {
        let of = |instruction: &Instruction| libc::sock_filter {
            code: instruction.code,
            jt: instruction.jt,
            jf: instruction.jf,
            k: instruction.k,
        };
        let mut program: Vec<libc::sock_filter> = program.iter().map(of).collect();
        let len = libc::c_ushort::try_from(program.len()).map_err(io::Error::other)?;
        let handed = libc::sock_fprog { len, filter: program.as_mut_ptr() };
        self.set(libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, &handed)
    }

    /// Packets come from now on: of the interface with this number, or of all.
    ///
    /// # Errors
    /// There is no such interface, or it is down.
    #[expect(unsafe_code, reason = "nix has no constructor of this address")]
    pub(crate) fn bind(&self, interface: Option<u32>) -> io::Result<()> {
        // SAFETY: all-zero bytes are a valid `sockaddr_ll`.
        let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
        address.sll_family = libc::c_ushort::try_from(libc::AF_PACKET).map_err(io::Error::other)?;
        address.sll_protocol = EVERYTHING;
        address.sll_ifindex = i32::try_from(interface.unwrap_or(0)).map_err(io::Error::other)?;
        // SAFETY: the kernel reads the address, whose length is given.
        let result = unsafe {
            libc::bind(self.file.as_raw_fd(), (&raw const address).cast(), length_of(&address)?)
        };
        if result < 0 {
            return Err(io::Error::last_os_error());
        }
        self.take_error()
    }

    /// The interface hands over what is for others too, as long as the socket is there.
    ///
    /// # Errors
    /// There is no such interface.
    #[expect(unsafe_code, reason = "libc has no constructor of this request")]
    pub(crate) fn promiscuous(&self, interface: u32) -> io::Result<()> {
        // SAFETY: all-zero bytes are a valid `packet_mreq`.
        let mut request: libc::packet_mreq = unsafe { std::mem::zeroed() };
        request.mr_ifindex = i32::try_from(interface).map_err(io::Error::other)?;
        request.mr_type =
            libc::c_ushort::try_from(libc::PACKET_MR_PROMISC).map_err(io::Error::other)?;
        self.set(libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &request)
    }

    /// What came since this was asked last; the kernel begins anew then.
    ///
    /// # Errors
    /// None that is known.
    #[expect(unsafe_code, reason = "an option that nix does not have")]
    pub(crate) fn take_counts(&self) -> io::Result<PacketCounts> {
        let mut counts = libc::tpacket_stats_v3 { tp_packets: 0, tp_drops: 0, tp_freeze_q_cnt: 0 };
        let mut length = length_of(&counts)?;
        // SAFETY: the kernel writes at most `length` bytes, which `counts` has.
        let result = unsafe {
            libc::getsockopt(
                self.file.as_raw_fd(),
                libc::SOL_PACKET,
                libc::PACKET_STATISTICS,
                (&raw mut counts).cast(),
                &raw mut length,
            )
        };
        if result < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(PacketCounts { received: counts.tp_packets.into(), dropped: counts.tp_drops.into() })
    }

    /// What went wrong since this was asked last.
    ///
    /// # Errors
    /// Just that: `ENETDOWN` when the interface went down or away.
    pub(crate) fn take_error(&self) -> io::Result<()> {
        match getsockopt(&self.file, sockopt::SocketError)? {
            0 => Ok(()),
            number => Err(io::Error::from_raw_os_error(number)),
        }
    }

    /// Sets an option to a value of C.
    #[expect(unsafe_code, reason = "options that nix does not have")]
    pub(super) fn set<T>(&self, level: i32, option: i32, value: &T) -> io::Result<()> {
        // SAFETY: the kernel reads `value`, whose length is given, and what it points to, which outlives the call.
        let result = unsafe {
            libc::setsockopt(
                self.file.as_raw_fd(),
                level,
                option,
                std::ptr::from_ref(value).cast(),
                length_of(value)?,
            )
        };
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

impl AsFd for PacketSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

fn length_of<T>(value: &T) -> io::Result<libc::socklen_t> {
    libc::socklen_t::try_from(size_of_val(value)).map_err(io::Error::other)
}
