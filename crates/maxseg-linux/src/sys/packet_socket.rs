//! A packet socket (packet(7)): receives packets at the interface, before the kernel processes incoming ones and after
//! it has processed outgoing ones.

use std::io::{self, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant, SystemTime};

use maxseg_wire::bpf::Instruction;
use nix::cmsg_space;
use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, ControlMessageOwned, LinkAddr, MsgFlags, SockFlag, SockType, getsockopt,
    recvmsg, setsockopt, socket, sockopt,
};
use nix::sys::time::TimeSpec;

/// A packet socket. It receives nothing until it is bound, so that a filter attached before applies to every packet.
#[derive(Debug)]
pub(crate) struct PacketSocket {
    file: OwnedFd,
}

/// Packets of the socket since its counters were last read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct PacketCounts {
    /// Packets that passed the filter.
    pub(crate) received: u64,
    /// Those of them dropped because the ring was full.
    pub(crate) dropped: u64,
}

/// A frame that was received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ReceivedFrame {
    /// Its bytes that were kept.
    pub(crate) len: usize,
    /// The index of its interface.
    pub(crate) interface: u32,
    /// The type of the interface, `ARPHRD_*`.
    pub(crate) hardware: u16,
    /// The `EtherType`.
    pub(crate) protocol: u16,
    /// When the kernel saw it; when it was read, of a socket that does not note times.
    pub(crate) at: Instant,
}

/// `ETH_P_ALL` in network byte order.
#[expect(clippy::cast_possible_truncation, reason = "a number of 16 bits")]
const EVERYTHING: u16 = (libc::ETH_P_ALL as u16).to_be();

impl PacketSocket {
    /// A socket that is not bound.
    ///
    /// # Errors
    /// This process has no `CAP_NET_RAW`.
    pub(crate) fn new() -> io::Result<Self> {
        let file = socket(AddressFamily::Packet, SockType::Raw, SockFlag::SOCK_CLOEXEC, None)?;
        Ok(Self { file })
    }

    /// Attaches a classic BPF filter, whose result is the captured length (`SO_ATTACH_FILTER`).
    ///
    /// # Errors
    /// The kernel's verifier rejects it.
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

    /// Receives packets from now on, of the interface with this index or of all.
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

    /// Has the kernel note when it saw each frame (`SO_TIMESTAMPNS`).
    ///
    /// # Errors
    /// The kernel does not have that option.
    pub(crate) fn note_times(&self) -> io::Result<()> {
        Ok(setsockopt(&self.file, sockopt::ReceiveTimestampns, &true)?)
    }

    /// The next frame, from the link's header on; `None` where none waits. What exceeds `room` is cut off.
    ///
    /// # Errors
    /// The interface is down or gone.
    pub(crate) fn receive(&self, room: &mut [u8]) -> io::Result<Option<ReceivedFrame>> {
        let mut control = cmsg_space!(TimeSpec);
        let mut room = [IoSliceMut::new(room)];
        let (file, flags) = (self.file.as_raw_fd(), MsgFlags::MSG_DONTWAIT);
        let message = match recvmsg::<LinkAddr>(file, &mut room, Some(&mut control), flags) {
            Err(Errno::EAGAIN | Errno::EINTR) => return Ok(None),
            message => message?,
        };
        let unknown = || io::Error::other("a packet without its interface");
        let address = message.address.ok_or_else(unknown)?;
        let time = message.cmsgs()?.find_map(|control| {
            let ControlMessageOwned::ScmTimestampns(time) = control else { return None };
            Some(Duration::from(time))
        });
        Ok(Some(ReceivedFrame {
            len: message.bytes,
            interface: u32::try_from(address.ifindex()).unwrap_or(0),
            hardware: address.hatype(),
            protocol: u16::from_be(address.protocol()),
            at: time.map_or_else(Instant::now, instant_of),
        }))
    }

    /// Sends a frame, which begins with the link's header, from the interface with this index. The `EtherType` is for links
    /// whose header has none.
    ///
    /// # Errors
    /// It exceeds the interface's MTU (`EMSGSIZE`), the interface is down, or its queue is full (`ENOBUFS`).
    #[expect(unsafe_code, reason = "nix has no constructor of this address")]
    pub(crate) fn send(&self, interface: u32, protocol: u16, frame: &[u8]) -> io::Result<()> {
        // SAFETY: all-zero bytes are a valid `sockaddr_ll`.
        let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
        address.sll_family = libc::c_ushort::try_from(libc::AF_PACKET).map_err(io::Error::other)?;
        address.sll_protocol = protocol.to_be();
        address.sll_ifindex = i32::try_from(interface).map_err(io::Error::other)?;
        // SAFETY: the kernel reads frame and address, whose lengths are given.
        let sent = unsafe {
            libc::sendto(
                self.file.as_raw_fd(),
                frame.as_ptr().cast(),
                frame.len(),
                0,
                (&raw const address).cast(),
                length_of(&address)?,
            )
        };
        if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Keeps the interface in promiscuous mode while the socket is open (`PACKET_MR_PROMISC`).
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

    /// Reads the counters (`PACKET_STATISTICS`), which resets them.
    ///
    /// # Errors
    /// The socket is not a packet socket.
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

    /// Reads and clears the socket's pending error (`SO_ERROR`).
    ///
    /// # Errors
    /// That error: `ENETDOWN` when the interface went down or was deleted.
    pub(crate) fn take_error(&self) -> io::Result<()> {
        match getsockopt(&self.file, sockopt::SocketError)? {
            0 => Ok(()),
            number => Err(io::Error::from_raw_os_error(number)),
        }
    }

    /// Sets an option whose value is a C type.
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

/// The time of a clock of the day on the one that only goes forward.
fn instant_of(time: Duration) -> Instant {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let ago = now.saturating_sub(time);
    let instant = Instant::now();
    instant.checked_sub(ago).unwrap_or(instant)
}

fn length_of<T>(value: &T) -> io::Result<libc::socklen_t> {
    libc::socklen_t::try_from(size_of_val(value)).map_err(io::Error::other)
}
