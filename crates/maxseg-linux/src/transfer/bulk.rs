//! Sending and discarding bulk data.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use maxseg_wire::responder::SenderSample;
use nix::errno::Errno;
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::sendfile::sendfile64;
use nix::unistd::ftruncate;

use super::{RateLimit, Sampler};
use crate::sys::{TcpSocket, set_tcp_option};

/// Bytes of the file of zeros, and so the most that one call sends: what the kernel moves at once in any case (a pipe's 16 pages, `splice_direct_to_actor` in
/// `fs/splice.c`). Where the buffer frees faster than [`TURN`], a call ends only when it has sent all: 1 MiB of one of four connections takes
/// 1.7 s at 20 Mbit/s.
const ZEROS: i64 = 64 << 10;

/// After so long a blocking call comes back, to see whether the transfer is over and to sample the socket.
const TURN: Duration = Duration::from_millis(10);

/// A file of zeros to send, whose pages the kernel need not copy.
#[derive(Debug)]
pub(crate) struct Zeros(OwnedFd);

impl Zeros {
    /// Makes the file, in memory.
    ///
    /// # Errors
    /// There are too many open files.
    pub(crate) fn new() -> io::Result<Self> {
        let file = memfd_create(c"zeros", MFdFlags::MFD_CLOEXEC)?;
        ftruncate(&file, ZEROS)?;
        Ok(Self(file))
    }
}

/// Sends zeros until `is_over`, no faster than a limit allows; each sample of the socket goes to `on_sample`.
///
/// # Errors
/// The connection ended, other than by the peer's wish.
pub(crate) fn send(
    socket: &TcpSocket,
    zeros: &Zeros,
    mut sampler: Sampler,
    limit: Option<&RateLimit>,
    is_over: impl Fn() -> bool,
    mut on_sample: impl FnMut(SenderSample),
) -> io::Result<()> {
    socket.0.set_nonblocking(false)?;
    socket.0.set_write_timeout(Some(TURN))?;
    // Messages before went out at once; segments of bulk data are to be full.
    socket.0.set_tcp_nodelay(false)?;
    let most = usize::try_from(ZEROS).unwrap_or(usize::MAX);
    while !is_over() {
        if let Some(sample) = sampler.poll(socket)? {
            on_sample(sample);
        }
        let room = limit.map_or(most, |limit| limit.take(most, Instant::now()));
        if room == 0 {
            std::thread::sleep(TURN);
            continue;
        }
        let mut from = 0;
        let sent = match sendfile64(&socket.0, &zeros.0, Some(&mut from), room) {
            Ok(sent) => sent,
            Err(Errno::EAGAIN | Errno::EINTR) => 0,
            Err(Errno::EPIPE | Errno::ECONNRESET) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        if let Some(limit) = limit {
            limit.give_back(room.saturating_sub(sent));
        }
    }
    // The state at the end.
    on_sample(SenderSample { at: sampler.elapsed(), sample: socket.sample()? });
    Ok(())
}

/// Reads and discards until `is_over` or the peer has closed; tells how many bytes each time. With `MSG_TRUNC` TCP does not copy
/// them (tcp(7)). A window is held by setting the clamp after each read, as a segment of another size makes the kernel raise it
/// (`tcp_measure_rcv_mss` in `net/ipv4/tcp_input.c`); a rate, by not reading faster.
///
/// # Errors
/// The connection ended, other than by the peer's wish.
pub(crate) fn discard(
    socket: &TcpSocket,
    window: Option<u32>,
    limit: Option<&RateLimit>,
    is_over: impl Fn() -> bool,
    mut on_read: impl FnMut(u64),
) -> io::Result<()> {
    /// Most at once, where a rate is to be held.
    const SLICE: usize = 64 << 10;
    socket.0.set_nonblocking(false)?;
    socket.0.set_read_timeout(Some(TURN))?;
    let mut buffer = vec![MaybeUninit::uninit(); 1 << 20];
    let most = if limit.is_some() { SLICE } else { buffer.len() };
    while !is_over() {
        let room = limit.map_or(most, |limit| limit.take(most, Instant::now()));
        if room == 0 {
            std::thread::sleep(TURN);
            continue;
        }
        let read = socket.0.recv_with_flags(&mut buffer[..room], libc::MSG_TRUNC);
        if let Some(limit) = limit {
            limit.give_back(room - read.as_ref().map_or(0, |read| room.min(*read)));
        }
        match read {
            Ok(0) => break,
            Ok(read) => on_read(read as u64),
            Err(error) if is_later(&error) => continue,
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => break,
            Err(error) => return Err(error),
        }
        if let Some(window) = window {
            set_tcp_option(&socket.0, libc::TCP_WINDOW_CLAMP, window)?;
        }
    }
    Ok(())
}

/// Whether a blocking call has only run out of time.
pub(super) fn is_later(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted
    )
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::net::{TcpListener, TcpStream};
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    /// The reader takes little at a time, so that the sender's buffer is full and frees all the time.
    #[test]
    fn a_transfer_ends_soon_after_it_is_over() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let socket = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut reader, _) = listener.accept().unwrap();
        let (socket, is_over) = (socket2::Socket::from(socket), AtomicBool::new(false));
        socket.set_send_buffer_size(32 << 10).unwrap();
        socket2::SockRef::from(&reader).set_recv_buffer_size(32 << 10).unwrap();
        let read = std::thread::scope(|scope| {
            let reading = scope.spawn(|| {
                let (mut room, mut all) = ([0; 2048], 0);
                loop {
                    match reader.read(&mut room).unwrap() {
                        0 => return all,
                        read => all += read,
                    }
                    is_over.fetch_or(all > 100_000, Ordering::Relaxed);
                }
            });
            let (socket, zeros) = (TcpSocket(socket), Zeros::new().unwrap());
            let sampler = Sampler::new(Instant::now(), 1);
            send(&socket, &zeros, sampler, None, || is_over.load(Ordering::Relaxed), |_| {})
                .unwrap();
            drop(socket);
            reading.join().unwrap()
        });
        assert!((100_000..600_000).contains(&read), "{read}");
    }
}
