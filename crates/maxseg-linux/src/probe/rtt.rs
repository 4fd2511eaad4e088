//! Round trips by TCP's handshake: a SYN, and the SYN-ACK or RST that answers it.

use std::io;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use socket2::{Domain, Protocol, Socket, Type};

/// What became of a SYN.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SynTrip {
    /// The round trip; `None` where nothing answered the first SYN.
    pub round_trip: Option<Duration>,
    /// Whether a SYN-ACK answered: somebody listens.
    pub is_open: bool,
}

/// The kernel repeats a SYN after a second (RFC 6298 §2.1): what comes later may answer either.
const REPEATED: Duration = Duration::from_millis(990);
/// A stop is noticed within this time.
const LONGEST_WAIT: Duration = Duration::from_millis(100);

/// Opens `count` connections to an address, with a pause between them, and closes them at once. It waits at most `patience` after
/// the last.
///
/// # Errors
/// There is no route, or no socket is left; `Interrupted` after a stop.
pub fn syn_trips(
    to: SocketAddr,
    count: u32,
    pause: Duration,
    patience: Duration,
    stop: &AtomicBool,
) -> io::Result<Vec<SynTrip>> {
    let mut open: Vec<(Socket, Instant, Option<SynTrip>)> = Vec::new();
    let mut due = Instant::now();
    loop {
        let now = Instant::now();
        if (open.len() as u64) < u64::from(count) && now >= due {
            open.push(begin(to)?);
            due = now + pause;
            continue;
        }
        let is_all_sent = open.len() as u64 == u64::from(count);
        let last = open.last().map_or(now, |(_, at, _)| *at);
        let end = if is_all_sent { last + patience.min(REPEATED) } else { due };
        let is_answered = open.iter().all(|(_, _, trip)| trip.is_some());
        if is_all_sent && (is_answered || now >= end) {
            break;
        }
        if stop.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        wait(&mut open, end.saturating_duration_since(now).min(LONGEST_WAIT))?;
    }
    let none = SynTrip { round_trip: None, is_open: false };
    Ok(open.into_iter().map(|(_, _, trip)| trip.unwrap_or(none)).collect())
}

fn begin(to: SocketAddr) -> io::Result<(Socket, Instant, Option<SynTrip>)> {
    let socket = Socket::new(Domain::for_address(to), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_nonblocking(true)?;
    let at = Instant::now();
    match socket.connect(&to.into()) {
        Ok(()) => {}
        Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => {}
        // On this host itself the answer is there at once.
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            let trip = SynTrip { round_trip: Some(at.elapsed()), is_open: false };
            return Ok((socket, at, Some(trip)));
        }
        Err(error) => return Err(error),
    }
    Ok((socket, at, None))
}

/// Waits until a connection is answered, and notes when.
fn wait(open: &mut [(Socket, Instant, Option<SynTrip>)], longest: Duration) -> io::Result<()> {
    let waiting: Vec<usize> =
        open.iter().enumerate().filter(|(_, one)| one.2.is_none()).map(|(at, _)| at).collect();
    let mut polled: Vec<PollFd<'_>> =
        waiting.iter().map(|at| PollFd::new(open[*at].0.as_fd(), PollFlags::POLLOUT)).collect();
    match ppoll(&mut polled, Some(TimeSpec::from(longest)), None) {
        Ok(_) | Err(nix::errno::Errno::EINTR) => {}
        Err(error) => return Err(error.into()),
    }
    let now = Instant::now();
    let ready: Vec<usize> = waiting
        .iter()
        .zip(&polled)
        .filter(|(_, file)| file.any().unwrap_or(false))
        .map(|(at, _)| *at)
        .collect();
    drop(polled);
    for at in ready {
        let (socket, begun, trip) = &mut open[at];
        let elapsed = now.saturating_duration_since(*begun);
        let error = socket.take_error().ok().flatten();
        let is_refused =
            error.as_ref().is_some_and(|e| e.kind() == io::ErrorKind::ConnectionRefused);
        let is_answer = error.is_none() || is_refused;
        *trip = Some(SynTrip {
            round_trip: (is_answer && elapsed < REPEATED).then_some(elapsed),
            is_open: error.is_none(),
        });
    }
    Ok(())
}
