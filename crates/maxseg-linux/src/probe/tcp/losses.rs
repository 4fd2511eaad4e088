//! For everybody: how many full segments of a connection are lost, beside small ones that are sent between them.
//!
//! The kernel repairs what is lost. The bytes that it sends again (`tcpi_bytes_retrans`) tell how many of each kind were, because a small
//! segment has one byte; what came twice (`tcpi_dsack_dups`) was not lost.

use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use maxseg_core::path_mtu::{LARGE_AMONG_SMALL, LossEstimate};
use maxseg_wire::tcp_info::{State, TcpInfo};

use super::payload::Payload;
use super::sized::{ENDED, LOOK, SYN_PATIENCE, connect, header_bytes};
use crate::sys::TcpSocket;

/// What a connection sends. The last is small, so that the kernel's probe of the last segment (RFC 8985 §7) repeats no full one.
const ORDER: [bool; 13] = LARGE_AMONG_SMALL;
/// So long after the last segment the kernel has sent what is lost again twice (200 ms, then 400 ms; RFC 6298 §5).
const PATIENCE: Duration = Duration::from_secs(1);
/// Payload of a small segment, bytes.
const SMALL: u32 = 1;

/// What became of the segments of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SegmentLosses {
    /// The connection's port here.
    pub source_port: u16,
    /// Full segments, those that were sent again included.
    pub large: LossEstimate,
    /// Segments of one byte.
    pub small: LossEstimate,
}

impl SegmentLosses {
    /// Bytes of the payload of a connection, whose full segments have so many.
    pub fn payload_bytes(full: u32) -> u32 {
        ORDER.iter().map(|is_large| if *is_large { full } else { SMALL }).sum()
    }
}

/// Sends the segments on a connection of its own, the full ones in packets of `size` bytes, in the network namespace of the calling thread;
/// `None` where nothing is known: the connection did not open or was ended, makes no such packets, or the kernel (before 4.19) does not
/// count what it sends again.
///
/// # Errors
/// A socket cannot be made.
pub fn count_losses(
    far: SocketAddr,
    size: u32,
    payload: Payload,
    is_over: &dyn Fn() -> bool,
) -> io::Result<Option<SegmentLosses>> {
    let socket = TcpSocket(connect(far, size)?);
    let opened = Instant::now();
    let mut sending: Option<Sending> = None;
    while !is_over() {
        let info = TcpInfo::decode(&socket.tcp_info()?).map_err(io::Error::other)?;
        match info.state() {
            Some(State::SynSent) if opened.elapsed() <= SYN_PATIENCE => {}
            Some(State::Established | State::CloseWait) => {
                let overhead = header_bytes(far) + info.option_bytes();
                let len = size.saturating_sub(overhead);
                let is_full = info.pmtu >= size && info.snd_mss >= len && len > SMALL;
                let sending = sending.get_or_insert_with(|| Sending::new(len, payload));
                if is_full && !sending.is_done(&info) {
                    if !sending.send_next(&socket, &info)? {
                        return Ok(None);
                    }
                } else if let Some([large, small]) = sending.counts(&info) {
                    let port = socket.0.local_addr()?.as_socket().map(|address| address.port());
                    let source_port = port.unwrap_or_default();
                    return Ok(Some(SegmentLosses { source_port, large, small }));
                } else {
                    return Ok(None);
                }
            }
            _ => return Ok(None),
        }
        std::thread::sleep(LOOK);
    }
    Ok(None)
}

/// The segments of a connection.
struct Sending {
    /// Bytes of the payload of a full one.
    len: u32,
    payload: Vec<u8>,
    /// How many were sent, in [`ORDER`].
    count: usize,
    /// When the last was.
    at: Instant,
}

impl Sending {
    fn new(len: u32, payload: Payload) -> Self {
        let bytes = SegmentLosses::payload_bytes(len);
        Self { len, payload: payload.bytes(bytes as usize), count: 0, at: Instant::now() }
    }

    const fn bytes_of(&self, is_large: bool) -> u32 {
        if is_large { self.len } else { SMALL }
    }

    /// Bytes before the segment with this number.
    fn offset(&self, count: usize) -> u32 {
        ORDER.iter().take(count).map(|is_large| self.bytes_of(*is_large)).sum()
    }

    /// Whether everything is acknowledged, or was waited for long enough.
    fn is_done(&self, info: &TcpInfo) -> bool {
        let is_acknowledged = self.count == ORDER.len() && info.unacked == 0;
        is_acknowledged || self.at.elapsed() > PATIENCE + info.rtt * 4
    }

    /// Sends the next segment, where it leaves at once: what waits may leave with another. Whether the connection goes on.
    fn send_next(&mut self, socket: &TcpSocket, info: &TcpInfo) -> io::Result<bool> {
        let is_waiting = info.notsent_bytes.unwrap_or(0) > 0 || info.unacked >= info.snd_cwnd;
        let Some(is_large) = ORDER.get(self.count).filter(|_| !is_waiting) else { return Ok(true) };
        let begin = self.offset(self.count) as usize;
        let end = begin + self.bytes_of(*is_large) as usize;
        let Some(bytes) = self.payload.get(begin..end) else { return Ok(false) };
        (self.count, self.at) = (self.count + 1, Instant::now());
        match socket.0.send(bytes) {
            Ok(sent) => Ok(sent == bytes.len()),
            Err(error) if ENDED.contains(&error.kind()) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// What became of the large segments and of the small ones; what is not yet acknowledged is not counted, unless it was sent again.
    fn counts(&self, info: &TcpInfo) -> Option<[LossEstimate; 2]> {
        let (again, twice) = (info.bytes_retrans?, u64::from(info.dsack_dups?));
        // The SYN counts as a byte.
        let acknowledged = info.bytes_acked?.saturating_sub(1);
        let open = |wanted: bool| {
            let is_open = |number: &usize| u64::from(self.offset(number + 1)) > acknowledged;
            let numbers = (0..self.count).filter(|number| ORDER[*number] == wanted);
            numbers.filter(is_open).count() as u64
        };
        let sent = |wanted: bool| ORDER[..self.count].iter().filter(|one| **one == wanted).count();
        let missing = u64::from(info.unacked.saturating_sub(info.sacked));
        let large_missing = missing.min(open(true));
        let small_missing = (missing - large_missing).min(open(false));
        let lost =
            [(again / u64::from(self.len)).saturating_sub(twice), again % u64::from(self.len)];
        let arrived = [sent(true) as u64 - large_missing, sent(false) as u64 - small_missing];
        let estimate = |lost: u64, arrived: u64| {
            let number = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
            LossEstimate { sent: number(lost + arrived), lost: number(lost) }
        };
        Some([estimate(lost[0], arrived[0]), estimate(lost[1], arrived[1])])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(acknowledged: u64, again: u64, dups: u32) -> TcpInfo {
        let mut info = TcpInfo::decode(&[0; 232]).unwrap();
        info.bytes_acked = Some(acknowledged + 1);
        (info.bytes_retrans, info.dsack_dups) = (Some(again), Some(dups));
        info
    }

    #[test]
    fn what_was_sent_again_tells_which_segments_were_lost() {
        let sending =
            Sending { len: 1448, payload: Vec::new(), count: ORDER.len(), at: Instant::now() };
        let all = 4 * 1448 + 9;
        let counts =
            |info: &TcpInfo| sending.counts(info).unwrap().map(|count| (count.lost, count.sent));
        assert_eq!(counts(&info(all, 0, 0)), [(0, 4), (0, 9)]);
        assert_eq!(counts(&info(all, 3 * 1448 + 2, 0)), [(3, 7), (2, 11)]);
        assert_eq!(counts(&info(all, 3 * 1448, 1)), [(2, 6), (0, 9)], "one came twice");
        // The first large one never arrives; all behind it is acknowledged selectively.
        let (mut stuck, first) = (info(1, 5 * 1448, 0), 1);
        (stuck.unacked, stuck.sacked) = (12, 12 - first);
        assert_eq!(counts(&stuck), [(5, 8), (0, 9)]);
    }
}
