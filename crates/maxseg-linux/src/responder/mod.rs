//! The far end of a test of a path: answers pings, sends and discards bulk data, sends and counts datagrams, and tells the SYN
//! that arrived, to whoever has the token.
//!
//! ```text
//! accept → Unproven (at most 128, 5 s each; never more bytes out than in) → token proven → a thread with `answer`
//! ```
//!
//! One session at a time, as another would disturb what is measured. All connections are to one port; a session's first is
//! its control connection, whose end ends the session.

mod answer;
mod datagrams;
mod session;
#[cfg(test)]
mod tests;
mod unproven;

use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::AsFd as _;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::Scope;
use std::time::{Duration, Instant};

use maxseg_wire::responder::{Limits, Message, Refusal, encode};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use socket2::{Domain, Protocol, Socket, Type};

use crate::sys::{TcpSocket, note_arrivals, send_as_probes, set_tcp_option};
use crate::transfer::RateLimit;
use answer::answer;
use session::Sessions;
use unproven::{Step, Unproven};

/// Connections at once whose token is not proven; the oldest gives way to a new one.
const MOST_UNPROVEN: usize = 128;

/// Between two refusals that are told.
const BETWEEN_REFUSALS: Duration = Duration::from_secs(1);

/// After so long the loop looks whether it is to stop.
const TURN: Duration = Duration::from_millis(200);

/// What a responder is to do.
#[derive(Debug, Clone)]
pub struct ResponderOptions {
    /// Where it listens, over TCP and UDP.
    pub listen: SocketAddr,
    /// What a client has to prove that it has.
    pub token: String,
    /// What it allows.
    pub limits: Limits,
    /// Whether it ends after one session.
    pub once: bool,
}

/// A token of 128 bits.
///
/// # Errors
/// The kernel's random numbers cannot be read.
pub fn make_token() -> io::Result<String> {
    crate::transfer::make_token()
}

/// What happened, for a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResponderEvent {
    /// A client has begun a session.
    Began(IpAddr),
    /// The session has ended; with the bytes of bulk data sent and received.
    Ended {
        /// Whose session.
        client: IpAddr,
        /// Bytes sent.
        sent_bytes: u64,
        /// Bytes received.
        received_bytes: u64,
    },
    /// A connection was refused.
    Refused(IpAddr, Refusal),
}

/// A responder that listens.
#[derive(Debug)]
pub struct Responder {
    options: ResponderOptions,
    listener: Socket,
    datagrams: UdpSocket,
    address: SocketAddr,
}

/// What all threads of a responder share.
struct Shared<'a> {
    options: &'a ResponderOptions,
    sessions: Sessions,
    datagrams: &'a UdpSocket,
    stop: &'a AtomicBool,
    /// The limit of all bulk data, each way and over all connections.
    rate: Option<RateLimit>,
    /// Bytes of bulk data since the session began.
    sent_bytes: AtomicU64,
    received_bytes: AtomicU64,
    /// When a refusal was last told.
    refused: Mutex<Option<Instant>>,
    on_event: &'a (dyn Fn(ResponderEvent) + Sync),
}

impl Responder {
    /// Begins to listen.
    ///
    /// # Errors
    /// The port is in use, or the address is not this host's.
    pub fn bind(options: ResponderOptions) -> io::Result<Self> {
        let socket =
            Socket::new(Domain::for_address(options.listen), Type::STREAM, Some(Protocol::TCP))?;
        socket.set_reuse_address(true)?;
        if options.listen.is_ipv6() {
            socket.set_only_v6(false)?;
        }
        // Linux 4.2; without it the SYN is unknown.
        let _ = set_tcp_option(&socket, libc::TCP_SAVE_SYN, 1);
        socket.bind(&options.listen.into())?;
        // The longest backlog that the kernel allows: where it is full, SYNs are dropped.
        socket.listen(libc::SOMAXCONN)?;
        socket.set_nonblocking(true)?;
        let address = socket.local_addr()?.as_socket().unwrap_or(options.listen);
        let datagrams =
            Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
        if address.is_ipv6() {
            datagrams.set_only_v6(false)?;
        }
        send_as_probes(&datagrams, address.is_ipv6())?;
        datagrams.bind(&address.into())?;
        datagrams.set_nonblocking(true)?;
        let datagrams = UdpSocket::from(datagrams);
        note_arrivals(&datagrams)?;
        Ok(Self { options, listener: socket, datagrams, address })
    }

    /// Where it listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until `stop` is set, or a session has ended where one alone was wanted. All its threads have ended then.
    ///
    /// # Errors
    /// The kernel no longer waits for its descriptors.
    pub fn run(
        &self,
        stop: &AtomicBool,
        on_event: &(dyn Fn(ResponderEvent) + Sync),
    ) -> io::Result<()> {
        let shared = Shared {
            options: &self.options,
            sessions: Sessions::default(),
            datagrams: &self.datagrams,
            stop,
            rate: RateLimit::of(self.options.limits, Instant::now()),
            sent_bytes: AtomicU64::new(0),
            received_bytes: AtomicU64::new(0),
            refused: Mutex::new(None),
            on_event,
        };
        let shared = &shared;
        std::thread::scope(|scope| {
            let mut waiting: Vec<Unproven> = Vec::new();
            while !shared.is_over() {
                wait(&self.listener, &self.datagrams, &waiting)?;
                datagrams::receive(shared);
                self.accept(&mut waiting);
                waiting = waiting
                    .into_iter()
                    .filter_map(|unproven| attend(scope, shared, unproven))
                    .collect();
            }
            shared.sessions.end_all();
            Ok(())
        })
    }

    /// Takes what waits. While as many connections as are allowed have proven nothing, each new one displaces the oldest.
    fn accept(&self, waiting: &mut Vec<Unproven>) {
        for _ in 0..MOST_UNPROVEN {
            let Ok((socket, from)) = self.listener.accept() else { return };
            let Some(from) = from.as_socket() else { continue };
            if waiting.len() >= MOST_UNPROVEN {
                waiting.remove(0);
            }
            if let Ok(unproven) = Unproven::new(socket, from.ip().to_canonical()) {
                waiting.push(unproven);
            }
        }
    }
}

/// Waits for a connection, a datagram or bytes of a connection that has proven nothing.
fn wait(listener: &Socket, datagrams: &UdpSocket, waiting: &[Unproven]) -> io::Result<()> {
    let mut files = vec![
        PollFd::new(listener.as_fd(), PollFlags::POLLIN),
        PollFd::new(datagrams.as_fd(), PollFlags::POLLIN),
    ];
    files.extend(waiting.iter().map(|one| PollFd::new(one.as_fd(), PollFlags::POLLIN)));
    let longest = PollTimeout::try_from(TURN).unwrap_or(PollTimeout::ZERO);
    match poll(&mut files, longest) {
        Ok(_) | Err(nix::errno::Errno::EINTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Lets a connection go on with its proof; `None` where it no longer waits for one.
fn attend<'scope>(
    scope: &'scope Scope<'scope, '_>,
    shared: &'scope Shared<'scope>,
    mut unproven: Unproven,
) -> Option<Unproven> {
    let from = unproven.from;
    match unproven.step(&shared.options.token) {
        Step::Wait => return Some(unproven),
        Step::Gone => {}
        Step::Refuse(why) => {
            unproven.refuse(why);
            shared.tell_refused(from, why);
        }
        Step::Proven { session } => match admit(shared, from, session) {
            Ok(ticket) => start(scope, shared, unproven.into_socket(), ticket),
            Err(why) => {
                unproven.refuse(why);
                shared.tell_refused(from, why);
            }
        },
    }
    None
}

/// A connection's place in a session.
#[derive(Debug, Clone, Copy)]
struct Ticket {
    session: u64,
    client: IpAddr,
    /// Whether the session ends with this connection.
    is_control: bool,
}

/// A connection to a session under way joins it in its own thread, as it may have to wait.
fn admit(shared: &Shared<'_>, client: IpAddr, session: u64) -> Result<Ticket, Refusal> {
    if session != 0 {
        return Ok(Ticket { session, client, is_control: false });
    }
    let session = shared.sessions.begin(client)?;
    shared.sent_bytes.store(0, Ordering::Relaxed);
    shared.received_bytes.store(0, Ordering::Relaxed);
    shared.tell(ResponderEvent::Began(client));
    Ok(Ticket { session, client, is_control: true })
}

/// Gives the connection a thread of its own.
fn start<'scope>(
    scope: &'scope Scope<'scope, '_>,
    shared: &'scope Shared<'scope>,
    socket: Socket,
    ticket: Ticket,
) {
    let begun =
        std::thread::Builder::new().name("answer".to_owned()).spawn_scoped(scope, move || {
            // A connection that fails is the client's to notice.
            if let Err(why) = shared.join(ticket) {
                let _ = socket.send(&refusal(why));
                shared.tell_refused(ticket.client, why);
                return;
            }
            let _ = answer(shared, TcpSocket(socket), ticket);
            shared.left(ticket);
        });
    if begun.is_err() && ticket.is_control {
        shared.left(ticket);
    }
}

impl Shared<'_> {
    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.options.once && self.sessions.have_ended()
    }

    /// Whether a connection's session is over.
    fn has_ended(&self, ticket: Ticket) -> bool {
        self.stop.load(Ordering::Relaxed) || !self.sessions.is_current(ticket.session)
    }

    fn tell(&self, event: ResponderEvent) {
        (self.on_event)(event);
    }

    /// Tells a refusal, at most one a second: a flood of them must not become a flood of lines.
    fn tell_refused(&self, from: IpAddr, why: Refusal) {
        let mut last = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        if last.is_none_or(|last| last.elapsed() >= BETWEEN_REFUSALS) {
            *last = Some(Instant::now());
            self.tell(ResponderEvent::Refused(from, why));
        }
    }

    /// What a session's client is told first.
    fn welcome(&self, ticket: Ticket) -> Option<Message> {
        let key = self.sessions.key(ticket.session)?;
        Some(Message::Welcome { session: ticket.session, key, limits: self.options.limits })
    }

    /// Counts a connection to its session, of which the control connection is the first.
    fn join(&self, ticket: Ticket) -> Result<(), Refusal> {
        if ticket.is_control {
            return Ok(());
        }
        self.sessions.join(ticket.session, self.options.limits.connections)
    }

    fn left(&self, ticket: Ticket) {
        if !ticket.is_control {
            self.sessions.leave(ticket.session);
            return;
        }
        self.sessions.end(ticket.session);
        self.tell(ResponderEvent::Ended {
            client: ticket.client,
            sent_bytes: self.sent_bytes.load(Ordering::Relaxed),
            received_bytes: self.received_bytes.load(Ordering::Relaxed),
        });
    }
}

/// A refusal as bytes.
fn refusal(why: Refusal) -> Vec<u8> {
    encode(&Message::Refused(why))
}
