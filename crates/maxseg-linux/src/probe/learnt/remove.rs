//! Removing one exception from the route cache.
//!
//! IPv6 deletes a cached route by its destination. IPv4 has nothing of the kind: `ip route flush cache` forgets what was learnt
//! about every destination. So the exception is made to expire: for a moment what is learnt is remembered for no time
//! (`net.ipv4.route.mtu_expires`), and in that moment a message of this host to itself says one byte less about this destination.
//! Whatever another connection learns in that moment is forgotten as well, and learnt again with its next large packet.
//!
//! What is locked takes no message (`ip_mtu_locked` in the kernel's `net/ipv4/route.c`), and stays until it expires.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use maxseg_wire::Payload;
use maxseg_wire::icmp::{Message, QuotedFlow};
use maxseg_wire::ip::{Ipv4, protocol};
use socket2::{Domain, Protocol, Socket, Type};

use super::LearntMtu;
use super::file::{Event, Line, TeachLog};
use crate::netlink::Netlink;
use crate::observe::host::sysctl_file;

/// The time for which IPv4 remembers what it learns.
const EXPIRES: &str = "net.ipv4.route.mtu_expires";
/// The same of IPv6.
const EXPIRES_V6: &str = "net.ipv6.route.mtu_expires";

/// For how many seconds the kernel remembers what it learns about a destination.
pub(super) fn remembered_for_s(destination: IpAddr) -> io::Result<f64> {
    let name = if destination.is_ipv6() { EXPIRES_V6 } else { EXPIRES };
    let text = std::fs::read_to_string(sysctl_file(name))?;
    text.trim().parse().map_err(io::Error::other)
}

/// Removes what the kernel has learnt about this destination.
pub(super) fn remove(
    log: &mut TeachLog,
    destination: IpAddr,
    learnt: &LearntMtu,
) -> io::Result<()> {
    match destination {
        IpAddr::V6(_) => Netlink::new()?.remove_exception(destination)?,
        IpAddr::V4(_) if learnt.is_locked => {
            return Err(io::Error::new(
                io::ErrorKind::Unsupported,
                format!(
                    "a message stated less than net.ipv4.route.min_pmtu, and the kernel locks such a path MTU until it expires, in {:.0} s: \
                     no message about this destination alone changes it",
                    learnt.left_s()
                ),
            ));
        }
        IpAddr::V4(address) => let_expire(log, address, learnt.mtu)?,
    }
    wait_until_gone(destination)
}

/// The kernel has looked at the exception once more, and found that its time is over.
fn wait_until_gone(destination: IpAddr) -> io::Result<()> {
    /// Times are compared in ticks, of at most 10 ms.
    const LONGEST: Duration = Duration::from_secs(1);
    let end = Instant::now() + LONGEST;
    while LearntMtu::of(destination)?.is_some() {
        if Instant::now() > end {
            return Err(io::Error::other("the kernel still remembers it"));
        }
        std::thread::yield_now();
    }
    Ok(())
}

fn let_expire(log: &mut TeachLog, destination: Ipv4Addr, mtu: u32) -> io::Result<()> {
    let message = Contradiction::prepare(destination, mtu)?;
    let was = std::fs::read_to_string(sysctl_file(EXPIRES))?.trim().to_owned();
    if was == "0" {
        // It would be restored to that, and nothing be remembered any more.
        return Err(io::Error::other(format!(
            "{EXPIRES} is 0, as while another --forget runs; by default it is 600"
        )));
    }
    // On disk first: whoever is killed between the two leaves a line by which the next one restores it.
    log.append(Event::SysctlChange { name: EXPIRES.to_owned(), was: was.clone() })?;
    let done = write(EXPIRES, "0").and_then(|()| message.send());
    let restored = write(EXPIRES, &was);
    if restored.is_ok() {
        log.append(Event::SysctlRestored { name: EXPIRES.to_owned() })?;
    }
    done.and(restored)
}

/// Restores what a run has changed that was killed in the middle.
pub(super) fn restore_sysctls(log: &mut TeachLog, lines: &[Line]) -> io::Result<()> {
    let mut changed = None;
    for line in lines {
        match &line.event {
            Event::SysctlChange { name, was } if name == EXPIRES => changed = Some(was.clone()),
            Event::SysctlRestored { name } if name == EXPIRES => changed = None,
            Event::SysctlChange { .. }
            | Event::SysctlRestored { .. }
            | Event::Begin { .. }
            | Event::End { .. }
            | Event::Forgotten { .. } => {}
        }
    }
    let Some(was) = changed else { return Ok(()) };
    // Somebody else may have set it since, and a log may be another user's: it says a time, and nothing else.
    let is_time = was.parse::<u32>().is_ok();
    if is_time && std::fs::read_to_string(sysctl_file(EXPIRES))?.trim() == "0" {
        write(EXPIRES, &was)?;
    }
    log.append(Event::SysctlRestored { name: EXPIRES.to_owned() })
}

fn write(name: &str, value: &str) -> io::Result<()> {
    std::fs::write(sysctl_file(name), value)
}

/// A message of this host to itself: a packet to the destination is too big, for an MTU that is smaller than the one learnt.
struct Contradiction {
    socket: Socket,
    to: SocketAddr,
    message: Vec<u8>,
    /// The socket that the message is about: without it, the kernel ignores it.
    _about: UdpSocket,
}

impl Contradiction {
    fn prepare(destination: Ipv4Addr, mtu: u32) -> io::Result<Self> {
        /// The discard service (RFC 863); nothing is sent to it.
        const PORT: u16 = 9;
        /// Bytes of the quoted packet's UDP header.
        const UDP: usize = 8;
        let about = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
        about.connect((destination, PORT))?;
        let SocketAddr::V4(local) = about.local_addr()? else {
            return Err(io::Error::other("a socket of IPv4 has another address"));
        };
        let mut quoted = Vec::new();
        let header = Ipv4 {
            dont_fragment: true,
            protocol: protocol::UDP,
            source: *local.ip(),
            destination,
            ..Ipv4::default()
        };
        header.encode(&[], UDP, &mut quoted).map_err(io::Error::other)?;
        QuotedFlow { source_port: local.port(), destination_port: PORT, word: 0 }
            .encode(&mut quoted);
        let ends = (IpAddr::V4(*local.ip()), IpAddr::V4(*local.ip()));
        let mut message = Vec::new();
        let too_big = Message::TooBig { mtu: mtu.saturating_sub(1) };
        too_big.encode(ends, Payload::Bytes(&quoted), &mut message);
        let socket = Socket::new(Domain::IPV4, Type::RAW, Some(Protocol::ICMPV4))?;
        Ok(Self { socket, to: SocketAddr::new(ends.0, 0), message, _about: about })
    }

    /// The kernel has taken it in when this returns: a packet to this host itself is received within the call that sends it, or by
    /// the next softirq of this processor.
    fn send(&self) -> io::Result<()> {
        self.socket.send_to(&self.message, &self.to.into())?;
        // A second one reaches the kernel after the first, whichever processor handled it.
        self.socket.send_to(&self.message, &self.to.into()).map(drop)
    }
}
