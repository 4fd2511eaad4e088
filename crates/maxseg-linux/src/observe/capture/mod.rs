//! Capturing packets at an interface (packet(7)).
//!
//! `CAP_NET_RAW` is needed by [`Capture::open`] alone; [`give_up_rights`] drops it for good. The socket is bound after its
//! filter is attached, so that every packet passes the filter.

mod captured_packet;
mod default_route;

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::time::Duration;

use maxseg_wire::bpf::{Instruction, Link, Selection, TooLong, compile};
use nix::net::if_::{if_indextoname, if_nameindex, if_nametoindex};
use nix::unistd::{Gid, Uid};
use thiserror::Error;

pub use captured_packet::{CapturedPacket, Direction};

use crate::sys::{self, PacketCounts, PacketRing, PacketSocket, Waker};

/// What to look at.
#[derive(Debug, Clone)]
pub struct CaptureOptions {
    /// Where.
    pub place: InterfaceChoice,
    /// What.
    pub selection: Selection,
    /// Captured bytes of a packet at most.
    pub snap_len: u32,
    /// Promiscuous mode: packets for other hosts too.
    pub promiscuous: bool,
    /// The kernel's capture buffer, in bytes.
    pub buffer: usize,
}

/// The largest captured length: a block of the ring without its headers.
pub const LONGEST: u32 = 261_120;

/// Where to look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InterfaceChoice {
    /// At the interface of this name.
    Interface(String),
    /// At the interfaces of these names, two or more.
    Several(Vec<String>),
    /// At all interfaces.
    Any,
}

impl InterfaceChoice {
    /// The interface of the default route; all of them where there is none.
    pub fn default_here() -> Self {
        default_route::interface().map_or(Self::Any, Self::Interface)
    }
}

/// Why a capture cannot be opened.
#[derive(Debug, Error)]
pub enum OpenError {
    /// This process has no `CAP_NET_RAW`.
    #[error("this user may not capture packets: {0}")]
    NoRight(io::Error),
    /// There is no interface of this name.
    #[error("there is no interface `{name}`")]
    NoInterface {
        /// The name asked for.
        name: String,
        /// The interfaces that exist.
        there: Vec<String>,
    },
    /// The link type of the interface is not supported.
    #[error("interface {name} is of hardware type {hardware}, which is not understood")]
    Hardware {
        /// Which.
        name: String,
        /// `ARPHRD_*` in `linux/if_arp.h`.
        hardware: u16,
    },
    /// The options exceed a limit.
    #[error(transparent)]
    Filter(#[from] TooLong),
    /// A system call failed.
    #[error("the kernel refuses {what}: {error}")]
    Kernel {
        /// The purpose of the call.
        what: &'static str,
        /// The kernel's error.
        error: io::Error,
    },
}

/// What packets begin with, by the type of their interface (`linux/if_arp.h`): Ethernet, loopback; PPP, IP in IP
/// and its IPv6 kin, raw IP of modems, and none, as TUN and `WireGuard` have it.
pub(crate) const LINKS: [(u16, Link); 8] = [
    (libc::ARPHRD_ETHER, Link::Ethernet),
    (libc::ARPHRD_LOOPBACK, Link::Loopback),
    (libc::ARPHRD_PPP, Link::RawIp),
    (libc::ARPHRD_TUNNEL, Link::RawIp),
    (libc::ARPHRD_TUNNEL6, Link::RawIp),
    (libc::ARPHRD_SIT, Link::RawIp),
    (RAWIP, Link::RawIp),
    (libc::ARPHRD_NONE, Link::RawIp),
];
/// `ARPHRD_RAWIP`.
const RAWIP: u16 = 519;

/// Types whose packets begin with what is not kept, and carry IP: IP over ATM, IEEE 1394, InfiniBand, serial lines, HDLC, frame relay, GRE,
/// GRE over IPv6, 6LoWPAN. Libpcap captures these "cooked".
const SKIPPED: [u16; 13] = [
    libc::ARPHRD_ATM,
    libc::ARPHRD_IEEE1394,
    libc::ARPHRD_INFINIBAND,
    libc::ARPHRD_SLIP,
    libc::ARPHRD_CSLIP,
    libc::ARPHRD_SLIP6,
    libc::ARPHRD_CSLIP6,
    libc::ARPHRD_HDLC,
    libc::ARPHRD_DLCI,
    libc::ARPHRD_FRAD,
    libc::ARPHRD_IPGRE,
    IP6GRE,
    SIXLOWPAN,
];
const IP6GRE: u16 = 823;
const SIXLOWPAN: u16 = 825;

/// All types that are captured.
fn captured() -> Vec<(u16, Link)> {
    LINKS.into_iter().chain(SKIPPED.map(|hardware| (hardware, Link::Skipped))).collect()
}

/// The link type of an interface.
fn link_of(hardware: u16) -> Option<Link> {
    let known = LINKS.iter().find(|(known, _)| *known == hardware).map(|(_, link)| *link);
    known.or_else(|| SKIPPED.contains(&hardware).then_some(Link::Skipped))
}

/// Bytes before the IP header of a packet of such an interface, without VLAN tags; `None` of a type that is not understood.
pub(crate) fn link_header_len(hardware: u16) -> Option<usize> {
    /// Bytes of Ethernet's header.
    const ETHERNET: usize = 14;
    link_of(hardware).and_then(|link| match link {
        Link::Ethernet | Link::Loopback => Some(ETHERNET),
        Link::RawIp => Some(0),
        Link::Skipped => None,
    })
}

/// A filter that passes no packet.
const NOTHING: [Instruction; 1] = [Instruction { code: 6, jt: 0, jf: 0, k: 0 }];

/// An interface whose packets were seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interface {
    /// Its name, when its first packet was seen.
    pub name: String,
    /// What its packets begin with: [`Link::Loopback`] is Ethernet here.
    pub link: Link,
    /// Packets of it that were seen.
    pub seen: u64,
    /// The kernel's number of it.
    index: u32,
}

/// A running capture.
#[derive(Debug)]
pub struct Capture {
    socket: PacketSocket,
    ring: PacketRing,
    counts: PacketCounts,
    /// In the order of their first packets; the only one from the beginning.
    interfaces: Vec<Interface>,
    /// Whether the interface was down when the capture began.
    begins_down: bool,
    options: CaptureOptions,
    /// Packets that were taken out of the ring.
    taken: u64,
    /// A frame whose VLAN tag is put back.
    frame: Vec<u8>,
}

impl Capture {
    /// Starts to capture, in the namespace of the calling thread.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn open(options: CaptureOptions) -> Result<Self, OpenError> {
        let interfaces = match &options.place {
            InterfaceChoice::Any => Vec::new(),
            InterfaceChoice::Interface(name) => vec![interface(name)?],
            InterfaceChoice::Several(names) => {
                names.iter().map(|name| interface(name)).collect::<Result<_, _>>()?
            }
        };
        let asked: Vec<u32> =
            interfaces.iter().map(|interface: &Interface| interface.index).collect();
        // A socket is bound to one interface or to all: of all, the filter takes the several.
        let (only, among) = match asked[..] {
            [only] => (Some(only), &[][..]),
            _ => (None, &asked[..]),
        };
        let program = compile(&options.selection, &captured(), among, options.snap_len)?;
        let refused = |what| move |error| OpenError::Kernel { what, error };
        let socket = PacketSocket::new().map_err(no_right)?;
        socket.attach(&program).map_err(refused("the filter"))?;
        let ring =
            PacketRing::new(&socket, options.buffer).map_err(refused("memory for packets"))?;
        for index in asked.iter().filter(|_| options.promiscuous) {
            socket.promiscuous(*index).map_err(refused("promiscuous mode"))?;
        }
        // Of an interface that is down the kernel says so, and listens once it is up (`packet_do_bind`, `packet_notifier`).
        let begins_down = match socket.bind(only) {
            Err(error) if only.is_some() && is_down(&error) => true,
            bound => bound.map(|()| false).map_err(refused("to listen"))?,
        };
        let (counts, taken, frame) = (PacketCounts::default(), 0, Vec::new());
        Ok(Self { socket, ring, counts, interfaces, begins_down, options, taken, frame })
    }

    /// Waits until there are packets, `longest` has passed, or the waker is woken; and, if packets are written to `output`, until
    /// its reader is gone, which without packets no write would tell.
    ///
    /// # Errors
    /// The interface is gone or down, or the reader of `output` is gone ([`io::ErrorKind::BrokenPipe`]).
    pub fn wait(
        &self,
        waker: &Waker,
        output: Option<BorrowedFd<'_>>,
        longest: Option<Duration>,
    ) -> io::Result<()> {
        let files = [self.socket.as_fd(), waker.as_fd()];
        match output {
            Some(output) => sys::wait_while_read(&files, output, longest)?,
            None => sys::wait_for(&files, longest)?,
        }
        self.socket.take_error()
    }

    /// Calls `each` for packets that the kernel has ready. Gives whether there were any.
    ///
    /// # Errors
    /// The error of `each`, which ends the calls.
    pub fn read<E>(
        &mut self,
        mut each: impl FnMut(&CapturedPacket<'_>, &Interface) -> Result<(), E>,
    ) -> Result<bool, E> {
        let Self { ring, interfaces, taken, frame, options, .. } = self;
        ring.next_block(|packet| {
            *taken += 1;
            let Some(number) = number_of(interfaces, packet.interface, packet.hardware) else {
                return Ok(()); // the filter lets no such type pass
            };
            let interface = &mut interfaces[number];
            interface.seen += 1;
            each(
                &CapturedPacket::of(&packet, number, interface.link, options.snap_len, frame),
                interface,
            )
        })
    }

    /// Ends the capture; packets captured before can still be read.
    ///
    /// # Errors
    /// The kernel refuses the filter.
    pub fn close(&mut self) -> io::Result<()> {
        self.socket.attach(&NOTHING)
    }

    /// Whether all packets that passed the filter were read or dropped; final only after [`Capture::close`].
    ///
    /// # Errors
    /// The kernel's counters cannot be read.
    pub fn is_drained(&mut self) -> io::Result<bool> {
        self.refresh()?;
        Ok(self.taken >= self.counts.received.saturating_sub(self.counts.dropped))
    }

    /// Packets that passed the filter, and those of them that the kernel dropped because the ring was full.
    ///
    /// # Errors
    /// The kernel's counters cannot be read.
    pub fn counts(&mut self) -> io::Result<(u64, u64)> {
        self.refresh()?;
        Ok((self.counts.received, self.counts.dropped))
    }

    fn refresh(&mut self) -> io::Result<()> {
        let more = self.socket.take_counts()?;
        self.counts.received += more.received;
        self.counts.dropped += more.dropped;
        Ok(())
    }

    /// Whether the one interface that was asked for was down at first: packets are captured once it is up.
    pub const fn begins_down(&self) -> bool {
        self.begins_down
    }

    /// Whether the one interface that was asked for is there no more: the kernel tells the socket that it is down, and says nothing when it
    /// is removed afterwards.
    pub fn is_gone(&self) -> bool {
        let is_asked = matches!(self.options.place, InterfaceChoice::Interface(_));
        let only = self.interfaces.first().filter(|_| is_asked);
        // Of an index that nothing has, glibc's NULL comes as an empty name.
        let has_name = |index| if_indextoname(index).is_ok_and(|name| !name.is_empty());
        only.is_some_and(|only| !has_name(only.index))
    }

    /// What it was opened with.
    pub const fn options(&self) -> &CaptureOptions {
        &self.options
    }

    /// The interfaces whose packets were seen, and one that was asked for in any case.
    pub fn interfaces(&self) -> &[Interface] {
        &self.interfaces
    }
}

/// The interface called `name`.
fn interface(name: &str) -> Result<Interface, OpenError> {
    let unknown = || OpenError::NoInterface { name: name.to_owned(), there: names() };
    let index = if_nametoindex(name).map_err(|_| unknown())?;
    let hardware = sys::hardware_type(name).map_err(|_| unknown())?;
    let link =
        link_of(hardware).ok_or_else(|| OpenError::Hardware { name: name.to_owned(), hardware })?;
    Ok(Interface { name: name.to_owned(), link, seen: 0, index })
}

/// The interfaces that there are.
fn names() -> Vec<String> {
    let all = if_nameindex().ok();
    let name =
        |interface: &nix::net::if_::Interface| interface.name().to_string_lossy().into_owned();
    all.iter().flat_map(|all| all.iter().map(name)).collect()
}

/// The place of an interface in the list; it gets one with its first packet.
fn number_of(interfaces: &mut Vec<Interface>, index: u32, hardware: u16) -> Option<usize> {
    if let Some(known) = interfaces.iter().position(|interface| interface.index == index) {
        return Some(known);
    }
    let name = if_indextoname(index)
        .map_or_else(|_| format!("interface {index}"), |name| name.to_string_lossy().into_owned());
    interfaces.push(Interface { name, link: link_of(hardware)?, seen: 0, index });
    Some(interfaces.len() - 1)
}

fn no_right(error: io::Error) -> OpenError {
    match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => OpenError::NoRight(error),
        _ => OpenError::Kernel { what: "a packet socket", error },
    }
}

/// Whether an interface is down, or gone: see [`Capture::is_gone`].
pub fn is_down(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::ENETDOWN)
}

/// Gives up all capabilities of this process, which must have one thread. A process of root's becomes one of `user`
/// (user and group ID), or of nobody. Where that failed, wholly or in part, the value has the user now and the error.
///
/// # Errors
/// A capability remains.
pub fn give_up_rights(user: Option<(u32, u32)>) -> io::Result<Option<Stayed>> {
    /// By convention, somebody who owns nothing.
    const NOBODY: u32 = 65_534;
    let (user, group) = user.unwrap_or((NOBODY, NOBODY));
    let stayed = sys::give_up_rights((Uid::from_raw(user), Gid::from_raw(group)))?;
    let (uid, gid) = (Uid::effective().as_raw(), Gid::effective().as_raw());
    Ok(stayed.map(|why| Stayed { user: uid, group: gid, why }))
}

/// The user of a process that could not become another one.
#[derive(Debug)]
pub struct Stayed {
    /// Its effective user.
    pub user: u32,
    /// Its effective group.
    pub group: u32,
    /// What the kernel refused first.
    pub why: io::Error,
}

/// Gives up the `CAP_NET_RAW` that the program's file gave an ordinary user (`setcap`), for commands that capture nothing.
/// To be called while there is one thread.
///
/// # Errors
/// The capability remains.
pub fn give_up_file_right() -> io::Result<()> {
    sys::give_up_file_right()
}
