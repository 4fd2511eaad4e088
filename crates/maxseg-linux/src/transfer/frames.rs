//! Messages over a TCP socket with blocking calls.

use std::io::{self, Read as _};
use std::time::{Duration, Instant};

use maxseg_wire::responder::{HEADER, LONGEST_BODY, Message, MessageError, decode, encode};
use thiserror::Error;

use super::bulk::is_later;
use crate::sys::TcpSocket;

/// After so long a blocking call comes back, to see whether there is still something to wait for.
const TURN: Duration = Duration::from_millis(50);

/// A socket whose messages are read one by one.
#[derive(Debug)]
pub(crate) struct Frames {
    pub(crate) socket: TcpSocket,
    /// What has arrived and was not decoded: less than one message.
    arrived: Vec<u8>,
}

/// Why no message came.
#[derive(Debug, Error)]
pub(crate) enum ReadError {
    /// The time was over.
    #[error("no answer came in time")]
    TooLate,
    /// The peer closed the connection.
    #[error("the connection was closed")]
    Closed,
    /// The caller no longer waits.
    #[error("interrupted")]
    Stopped,
    /// What came is no message.
    #[error(transparent)]
    NoMessage(#[from] MessageError),
    /// The connection failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Frames {
    /// Messages of a connected socket.
    ///
    /// # Errors
    /// The socket rejects an option.
    pub(crate) fn new(socket: TcpSocket) -> io::Result<Self> {
        socket.0.set_nonblocking(false)?;
        socket.0.set_tcp_nodelay(true)?;
        socket.0.set_read_timeout(Some(TURN))?;
        socket.0.set_write_timeout(Some(Duration::from_secs(5)))?;
        Ok(Self { socket, arrived: Vec::new() })
    }

    /// Sends a message.
    ///
    /// # Errors
    /// The connection failed, or the peer has not read for five seconds.
    pub(crate) fn send(&self, message: &Message) -> io::Result<()> {
        let frame = encode(message);
        let mut rest = &frame[..];
        while !rest.is_empty() {
            // An error is wanted, not a signal.
            match self.socket.0.send_with_flags(rest, libc::MSG_NOSIGNAL) {
                Ok(sent) => rest = &rest[sent.min(rest.len())..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// The next message, for which it waits so long, or until `is_over`.
    ///
    /// # Errors
    /// None came, or something else did.
    pub(crate) fn next(
        &mut self,
        longest: Duration,
        is_over: impl Fn() -> bool,
    ) -> Result<Message, ReadError> {
        let began = Instant::now();
        loop {
            if let Some((message, taken)) = decode(&self.arrived)? {
                self.arrived.drain(..taken);
                return Ok(message);
            }
            if is_over() {
                return Err(ReadError::Stopped);
            }
            if began.elapsed() >= longest {
                return Err(ReadError::TooLate);
            }
            self.read_more()?;
        }
    }

    fn read_more(&mut self) -> Result<(), ReadError> {
        let mut room = [0; 4096];
        // No more than one message is ever kept.
        let most = (HEADER + LONGEST_BODY).saturating_sub(self.arrived.len()).clamp(1, room.len());
        match (&self.socket.0).read(&mut room[..most]) {
            Ok(0) => Err(ReadError::Closed),
            Ok(read) => {
                self.arrived.extend(&room[..read]);
                Ok(())
            }
            Err(error) if is_later(&error) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Err(ReadError::Closed),
            Err(error) => Err(error.into()),
        }
    }
}
