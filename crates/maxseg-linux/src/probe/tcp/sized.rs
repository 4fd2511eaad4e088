//! For everybody: a new connection for each size, whose first segment is full, and has DF.
//!
//! Several full segments are sent at once, and one byte behind them. Where the far end acknowledges that byte selectively and none
//! of the full segments, these are lost or too big; the kernel sends them again. A full segment has arrived when it is acknowledged
//! and the kernel has not gone to smaller ones meanwhile.

use std::io;
use std::net::SocketAddr;
use std::ops::Range;
use std::time::{Duration, Instant};

use maxseg_core::framing::Headers;
use maxseg_wire::tcp_info::{State, TcpInfo};
use socket2::{Domain, Protocol, Socket, Type};

use super::payload::Payload;
use crate::sys::{TcpSocket, discover_mtu_by_df, set_tcp_option};

/// What became of a size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizedFate {
    /// The far end has acknowledged a packet of this size.
    Arrived,
    /// It was sent so often and never acknowledged, and a small one behind it was; 0 where that is not known either.
    Silent(u32),
    /// A router's message made the kernel go to smaller packets: it has learnt this MTU, bytes.
    Learnt(u32),
    /// The kernel makes packets of no more than so many bytes on such a connection: the MSS that the far end offers, its window, or a
    /// path MTU that the kernel remembers allow no more.
    Limited(u32),
    /// The far end refuses the connection, or has ended it.
    Closed,
    /// It does not answer the SYN.
    NoAnswer,
}

/// The most that `TCP_MAXSEG` takes (`MAX_TCP_WINDOW` in the kernel's `include/net/tcp.h`).
const MOST_MSS: u32 = 32_767;
/// Full segments that are sent at once: with the byte, no more than a new connection may send (RFC 6928).
const AT_ONCE: u32 = 4;
/// How long a SYN is waited for: it is sent at 0, 1, 2 and 3 s.
pub(super) const SYN_PATIENCE: Duration = Duration::from_millis(3500);
/// How long a segment is waited for, besides round trips: the kernel's timer for a lost one, several times.
const PATIENCE: Duration = Duration::from_secs(2);
/// For so long, at least, the last transmission is waited for.
const LEAST_GRACE: Duration = Duration::from_millis(20);
/// What a connection says that the far end has ended.
pub(super) const ENDED: [io::ErrorKind; 2] =
    [io::ErrorKind::BrokenPipe, io::ErrorKind::ConnectionReset];
/// Between two looks at the socket.
pub(super) const LOOK: Duration = Duration::from_millis(2);

/// Tries a size of IP packets on a connection of its own, in the network namespace of the calling thread.
///
/// # Errors
/// A socket cannot be made.
pub fn try_size(
    far: SocketAddr,
    size: u32,
    payload: Payload,
    is_over: &dyn Fn() -> bool,
) -> io::Result<SizedFate> {
    let most = MOST_MSS + Headers::plain(far.ip().into()).octets();
    if size > most {
        return Ok(SizedFate::Limited(most));
    }
    let mut attempt = Attempt::start(far, size, payload)?;
    loop {
        if let Some(fate) = attempt.step()? {
            return Ok(fate);
        }
        if is_over() {
            return Ok(SizedFate::Silent(0));
        }
        std::thread::sleep(LOOK);
    }
}

/// Bytes of the headers of a connection's packets, without TCP options.
pub(super) fn header_bytes(far: SocketAddr) -> u32 {
    Headers::plain(far.ip().into()).octets()
}

/// A connection that opens, whose packets have DF and no more than `size` bytes.
pub(super) fn connect(far: SocketAddr, size: u32) -> io::Result<Socket> {
    let kind = Type::STREAM.nonblocking();
    let socket = Socket::new(Domain::for_address(far), kind, Some(Protocol::TCP))?;
    // The far end gets a RST when it is closed: nothing is sent again, and nothing of it is remembered (`tcp_metrics`).
    socket.set_linger(Some(Duration::ZERO))?;
    socket.set_tcp_nodelay(true)?;
    discover_mtu_by_df(&socket, far.is_ipv6())?;
    set_tcp_option(&socket, libc::TCP_MAXSEG, size.saturating_sub(header_bytes(far)))?;
    match socket.connect(&far.into()) {
        Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => {}
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {}
        other => other?,
    }
    Ok(socket)
}

/// One connection.
#[derive(Debug)]
struct Attempt {
    socket: TcpSocket,
    /// Bytes of the headers of its packets, without TCP options.
    header_bytes: u32,
    size: u32,
    payload: Vec<u8>,
    started: Instant,
    sent: Option<FullSegment>,
}

/// The full segments, once they are sent.
#[derive(Debug, Clone, Copy)]
struct FullSegment {
    at: Instant,
    /// Bytes of the payload of each.
    len: u32,
    /// When it was first seen that one was sent again, and the byte behind them acknowledged.
    again_since: Option<Instant>,
}

impl Attempt {
    fn start(far: SocketAddr, size: u32, payload: Payload) -> io::Result<Self> {
        let room = usize::try_from(size * AT_ONCE + 1).unwrap_or(0);
        Ok(Self {
            socket: TcpSocket(connect(far, size)?),
            header_bytes: header_bytes(far),
            size,
            payload: payload.bytes(room),
            started: Instant::now(),
            sent: None,
        })
    }

    /// Looks at the socket, and does what is due; its fate, once that is known.
    fn step(&mut self) -> io::Result<Option<SizedFate>> {
        let info = TcpInfo::decode(&self.socket.tcp_info()?).map_err(io::Error::other)?;
        Ok(match (info.state(), self.sent) {
            (Some(State::SynSent), _) => {
                (self.started.elapsed() > SYN_PATIENCE).then_some(SizedFate::NoAnswer)
            }
            (Some(State::Established | State::CloseWait), None) => self.send_full(&info)?,
            (Some(State::Established | State::CloseWait), Some(sent)) => self.watch(&info, sent),
            _ => Some(SizedFate::Closed),
        })
    }

    /// Sends the full segment, if the connection can have one of that size.
    fn send_full(&mut self, info: &TcpInfo) -> io::Result<Option<SizedFate>> {
        let overhead = self.header_bytes + info.option_bytes();
        let window = info.snd_wnd.unwrap_or(u32::MAX);
        let most = info.snd_mss.min(window) + overhead;
        if most < self.size {
            return Ok(Some(SizedFate::Limited(most)));
        }
        let len = self.size.saturating_sub(overhead);
        // Each by itself: what is written at once may pass virtual links as one packet (GSO), and is lost as one there.
        let mut begin = 0;
        for bytes in [len; AT_ONCE as usize].into_iter().chain([1]) {
            if !self.write(begin..begin + bytes)? {
                return Ok(Some(SizedFate::Closed));
            }
            begin += bytes;
        }
        self.sent = Some(FullSegment { at: Instant::now(), len, again_since: None });
        Ok(None)
    }

    /// Whether the full segment has arrived, or was silent often enough.
    fn watch(&mut self, info: &TcpInfo, sent: FullSegment) -> Option<SizedFate> {
        if info.pmtu < self.size {
            return Some(SizedFate::Learnt(info.pmtu));
        }
        // With net.ipv4.tcp_mtu_probing the kernel goes to smaller segments by itself: what is acknowledged then shows nothing.
        if info.snd_mss < sent.len {
            return Some(SizedFate::Silent(0));
        }
        // The SYN counts as a byte.
        if info.bytes_acked.is_some_and(|bytes| bytes > u64::from(sent.len)) {
            return Some(SizedFate::Arrived);
        }
        // The byte is one segment; another that is acknowledged selectively is a full one.
        if info.sacked > 1 {
            return Some(SizedFate::Arrived);
        }
        let again = info.bytes_retrans.unwrap_or(0) / u64::from(sent.len.max(1));
        if info.sacked == 1 && again > 0 {
            // What was sent again first gets its time, too.
            let since = sent.again_since.unwrap_or_else(Instant::now);
            self.sent = Some(FullSegment { again_since: Some(since), ..sent });
            if since.elapsed() > info.rtt + (info.rtt / 2).max(LEAST_GRACE) {
                return Some(SizedFate::Silent(AT_ONCE + 1));
            }
        }
        let is_late = sent.at.elapsed() > PATIENCE + info.rtt * 4;
        let silences = if info.sacked == 1 { AT_ONCE } else { 0 };
        is_late.then_some(SizedFate::Silent(silences))
    }

    /// Sends these bytes of the payload; whether the connection took them.
    fn write(&self, range: Range<u32>) -> io::Result<bool> {
        let range = range.start as usize..range.end as usize;
        let Some(bytes) = self.payload.get(range) else { return Ok(false) };
        match self.socket.0.send(bytes) {
            Ok(sent) => Ok(sent == bytes.len()),
            Err(error) if ENDED.contains(&error.kind()) => Ok(false),
            Err(error) => Err(error),
        }
    }
}
