//! A connection whose client has not proven yet that it has the token.

use std::io::{self, Read as _};
use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use maxseg_wire::responder::{LONGEST_UNPROVEN, Message, NONCE, Refusal, VERSION, decode, encode};
use socket2::Socket;

use super::refusal;
use crate::transfer::{is_proven, random};

/// So long a client has for its proof.
const LONGEST: Duration = Duration::from_secs(5);

/// A connection, what it has sent, and how much it was sent.
#[derive(Debug)]
pub(super) struct Unproven {
    socket: Socket,
    pub(super) from: IpAddr,
    since: Instant,
    arrived: Vec<u8>,
    received: usize,
    sent: usize,
    /// The client's nonce and this end's.
    nonces: Option<[[u8; NONCE]; 2]>,
}

/// What is to become of a connection.
pub(super) enum Step {
    /// More is due from the client.
    Wait,
    /// It is closed.
    Gone,
    /// It is to be closed.
    Refuse(Refusal),
    /// Its client has the token.
    Proven {
        /// The session that it joins; 0 for a new one.
        session: u64,
    },
}

impl Unproven {
    pub(super) fn new(socket: Socket, from: IpAddr) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        let (since, arrived) = (Instant::now(), Vec::new());
        Ok(Self { socket, from, since, arrived, received: 0, sent: 0, nonces: None })
    }

    /// Reads what has arrived, and answers it.
    pub(super) fn step(&mut self, token: &str) -> Step {
        match self.read() {
            Ok(true) => {}
            Err(_) if self.since.elapsed() > LONGEST => return Step::Refuse(Refusal::TooSlow),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Step::Wait,
            Ok(false) | Err(_) => return Step::Gone,
        }
        loop {
            match decode(&self.arrived) {
                Ok(None) if self.arrived.len() < LONGEST_UNPROVEN => return Step::Wait,
                Ok(None) | Err(_) => return Step::Refuse(Refusal::Garbage),
                Ok(Some((message, length))) => {
                    self.arrived.drain(..length);
                    match self.on_message(token, &message) {
                        Step::Wait => {}
                        // Until it is welcome, a client has nothing more to say.
                        Step::Proven { .. } if !self.arrived.is_empty() => {
                            return Step::Refuse(Refusal::Garbage);
                        }
                        step @ (Step::Gone | Step::Refuse(_) | Step::Proven { .. }) => return step,
                    }
                }
            }
        }
    }

    /// Whether the connection is open.
    fn read(&mut self) -> io::Result<bool> {
        let mut room = [0; LONGEST_UNPROVEN];
        let most = room.len().saturating_sub(self.arrived.len()).max(1);
        let read = (&self.socket).read(&mut room[..most])?;
        self.arrived.extend(&room[..read]);
        self.received += read;
        Ok(read > 0)
    }

    fn on_message(&mut self, token: &str, message: &Message) -> Step {
        match (message, self.nonces) {
            (Message::Hello { version, .. }, None) if *version != VERSION => {
                Step::Refuse(Refusal::Version)
            }
            (Message::Hello { nonce, .. }, None) => {
                let Ok(own) = random() else { return Step::Gone };
                self.nonces = Some([*nonce, own]);
                self.send(&encode(&Message::Challenge { nonce: own }));
                Step::Wait
            }
            (Message::Proof { code, session }, Some([client, own])) => {
                if is_proven(token, [&client, &own], code) {
                    Step::Proven { session: *session }
                } else {
                    Step::Refuse(Refusal::Token)
                }
            }
            _ => Step::Refuse(Refusal::Garbage),
        }
    }

    /// Sends, unless that were more than was received.
    fn send(&mut self, bytes: &[u8]) {
        if self.sent + bytes.len() > self.received {
            return;
        }
        // So few bytes always fit an empty buffer; a connection that has failed is noticed when it is read.
        let _ = self.socket.send_with_flags(bytes, libc::MSG_NOSIGNAL);
        self.sent += bytes.len();
    }

    /// Says why, before the connection is closed.
    pub(super) fn refuse(&mut self, why: Refusal) {
        self.send(&refusal(why));
        let _ = self.socket.shutdown(std::net::Shutdown::Write);
        // What is unread when a socket is closed makes the kernel send a reset, which may overtake the refusal.
        let mut room = [0; 4096];
        let _ = (&self.socket).read(&mut room);
    }

    pub(super) fn into_socket(self) -> Socket {
        self.socket
    }
}

impl AsFd for Unproven {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
