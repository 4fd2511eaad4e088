//! The MSS that ports offer.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use maxseg_core::framing::Headers;
use maxseg_wire::tcp_info::{State, TcpInfo};
use socket2::{Domain, Protocol, Socket, Type};

use super::raw::{RawError, RawOptions, RawProber, is_rejection};
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
                let mss = offered(&info, far.ip());
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

/// The offer is what limits the segments, unless the path's MTU or half of the window does (`tcp_sync_mss` in the kernel's
/// `net/ipv4/tcp_output.c`).
fn offered(info: &TcpInfo, far: IpAddr) -> Option<OfferedMss> {
    let mss = info.snd_mss + info.option_bytes();
    let by_path = info.pmtu.saturating_sub(Headers::plain(far.into()).octets());
    let by_window = info.snd_wnd.map_or(u32::MAX, |window| window / 2);
    let is_exact = mss < by_path && mss < by_window;
    let mss = u16::try_from(mss).ok()?;
    Some(if is_exact { OfferedMss::Exactly(mss) } else { OfferedMss::AtLeast(mss) })
}
