//! The MSS that ports offer.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use maxseg_core::framing::Headers;
use maxseg_wire::tcp_info::{State, TcpInfo};
use socket2::{Domain, Protocol, Socket, Type};

use super::raw::{RawError, RawOptions, RawProber, is_rejection};
use crate::observe::host::sysctl;
use crate::sys::TcpSocket;

/// What a port answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortOffer {
    /// The port.
    pub port: u16,
    /// Whether it takes connections.
    pub state: PortState,
    /// The MSS that its SYN-ACK offers, as it arrives here, bytes.
    pub mss: Option<OfferedMss>,
    /// The MSS that this host's SYN offers, bytes.
    pub sent_mss: Option<u16>,
    /// What the handshake took, where its SYN was sent once.
    pub rtt: Option<Duration>,
}

/// Whether a port takes connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PortState {
    /// It does.
    Open,
    /// The host refuses them.
    Closed,
    /// A router or the host rejects a SYN by ICMP: unreachable, or prohibited.
    Rejected,
    /// Nothing answers a SYN.
    NoAnswer,
}

/// How much is known of an offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OfferedMss {
    /// It is this.
    Exactly(u16),
    /// It is no less: what this host sends is limited elsewhere.
    AtLeast(u16),
}

/// How long a port is waited for: a SYN is sent at 0, 1 and 2 s.
const PATIENCE: Duration = Duration::from_millis(2500);

/// Asks these ports for a connection each, all at once, and closes it again. With `CAP_NET_RAW` the SYN-ACK itself is read.
///
/// # Errors
/// A socket cannot be made.
pub fn offers(
    address: IpAddr,
    ports: &[u16],
    is_over: &(dyn Fn() -> bool + Sync),
) -> io::Result<Vec<PortOffer>> {
    std::thread::scope(|scope| {
        let ask = |port| {
            let thread = std::thread::Builder::new().name(format!("maxseg-{port}"));
            thread.spawn_scoped(scope, move || offer(SocketAddr::new(address, port), is_over))
        };
        let threads = ports.iter().map(|port| ask(*port)).collect::<io::Result<Vec<_>>>()?;
        let end = |thread: std::thread::ScopedJoinHandle<'_, io::Result<PortOffer>>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        threads.into_iter().map(end).collect()
    })
}

fn offer(far: SocketAddr, is_over: &dyn Fn() -> bool) -> io::Result<PortOffer> {
    let none = |state| PortOffer { port: far.port(), state, mss: None, sent_mss: None, rtt: None };
    let options = RawOptions { flows: 1, patience: PATIENCE };
    match RawProber::open(far, options, is_over) {
        Ok(prober) => Ok(PortOffer {
            port: far.port(),
            state: PortState::Open,
            mss: prober.offered_mss().map(OfferedMss::Exactly),
            sent_mss: prober.sent_mss(),
            rtt: prober.handshakes().first().copied(),
        }),
        Err(RawError::Closed(_)) => Ok(none(PortState::Closed)),
        Err(RawError::Rejected(_)) => Ok(none(PortState::Rejected)),
        Err(RawError::NoAnswer(_)) => Ok(none(PortState::NoAnswer)),
        Err(RawError::NoRight(_) | RawError::NotSeen(_)) => by_socket(far, is_over),
        Err(RawError::Kernel { error, .. }) => Err(error),
    }
}

/// What the socket shows, to everybody.
fn by_socket(far: SocketAddr, is_over: &dyn Fn() -> bool) -> io::Result<PortOffer> {
    /// Between two looks.
    const LOOK: Duration = Duration::from_millis(2);
    let port = far.port();
    let none = |state| PortOffer { port, state, mss: None, sent_mss: None, rtt: None };
    let kind = Type::STREAM.nonblocking();
    let socket = Socket::new(Domain::for_address(far), kind, Some(Protocol::TCP))?;
    socket.set_linger(Some(Duration::ZERO))?;
    match socket.connect(&far.into()) {
        Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => {}
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            return Ok(none(PortState::Closed));
        }
        other => other?,
    }
    let socket = TcpSocket(socket);
    let end = Instant::now() + PATIENCE;
    while Instant::now() < end && !is_over() {
        let info = TcpInfo::decode(&socket.tcp_info()?).map_err(io::Error::other)?;
        match info.state() {
            Some(State::SynSent) => std::thread::sleep(LOOK),
            Some(State::Established | State::CloseWait) => {
                let mss = offered(&info, far.ip(), first_segment());
                let rtt = (info.total_retrans == 0).then_some(info.rtt);
                return Ok(PortOffer { port, state: PortState::Open, mss, sent_mss: None, rtt });
            }
            _ => {
                let error = socket.0.take_error()?.map(|error| error.kind());
                let is_rejected = error.is_some_and(is_rejection);
                let state = if is_rejected { PortState::Rejected } else { PortState::Closed };
                return Ok(none(state));
            }
        }
    }
    Ok(none(PortState::NoAnswer))
}

/// Payload of the first segments of every connection of this network namespace, in bytes, where these look for the path MTU from the start
/// (`tcp_mtu_probing = 2`): no option of a socket has larger ones.
pub fn first_segment() -> Option<u32> {
    let number = |name| sysctl(name).ok()?.parse::<u32>().ok();
    let begins_small = number("net.ipv4.tcp_mtu_probing")? > 1;
    begins_small.then(|| number("net.ipv4.tcp_base_mss")).flatten()
}

/// The offer is what limits the segments, unless the path's MTU, half of the window or the search for the path MTU does (`tcp_sync_mss` in
/// the kernel's `net/ipv4/tcp_output.c`).
fn offered(info: &TcpInfo, far: IpAddr, first: Option<u32>) -> Option<OfferedMss> {
    let mss = info.snd_mss + info.option_bytes();
    let by_path = info.pmtu.saturating_sub(Headers::plain(far.into()).octets());
    let by_window = info.snd_wnd.map_or(u32::MAX, |window| window / 2);
    let is_exact = mss < by_path && mss < by_window && first != Some(info.snd_mss);
    let mss = u16::try_from(mss).ok()?;
    Some(if is_exact { OfferedMss::Exactly(mss) } else { OfferedMss::AtLeast(mss) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of an Ethernet's 1460 bytes, `tcp_mtu_probing = 2` begins with 1024, and 12 of timestamps.
    #[test]
    fn a_search_that_begins_small_shows_no_offer() {
        let info = |snd_mss| {
            let mut info = TcpInfo::decode(&[0; 232]).unwrap();
            (info.snd_mss, info.pmtu, info.snd_wnd) = (snd_mss, 1500, Some(65_535));
            info
        };
        let far = IpAddr::from([192, 0, 2, 1]);
        assert_eq!(offered(&info(1024), far, None), Some(OfferedMss::Exactly(1024)));
        assert_eq!(offered(&info(1024), far, Some(1024)), Some(OfferedMss::AtLeast(1024)));
        assert_eq!(offered(&info(900), far, Some(1024)), Some(OfferedMss::Exactly(900)), "less");
        assert_eq!(offered(&info(1460), far, None), Some(OfferedMss::AtLeast(1460)));
    }
}
