//! Opening the connections.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::{Duration, Instant};

use maxseg_wire::bpf::{Selection, compile};
use maxseg_wire::inet_diag::Prefix;
use socket2::{Domain, Protocol, Socket, Type};
use thiserror::Error;

use super::connection::Connection;
use super::{ROOM, RawProber, SentTotal};
use crate::netlink::Netlink;
use crate::observe::capture::LINKS;
use crate::sys::PacketSocket;

/// How the connections are opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawOptions {
    /// How many, each from a port of its own.
    pub flows: usize,
    /// For how long the first is waited for.
    pub patience: Duration,
}

impl Default for RawOptions {
    /// Four, and time for a SYN that is sent four times.
    fn default() -> Self {
        Self { flows: 4, patience: Duration::from_millis(3500) }
    }
}

/// Why there is no prober.
#[derive(Debug, Error)]
pub enum RawError {
    /// This process has no `CAP_NET_RAW`.
    #[error("this user may not send raw packets: {0}")]
    NoRight(io::Error),
    /// The far end refuses connections to this port.
    #[error("{0} refuses the connection")]
    Closed(SocketAddr),
    /// A router or the far end rejects it by ICMP.
    #[error("a SYN to {0} is rejected by ICMP")]
    Rejected(SocketAddr),
    /// It does not answer.
    #[error("{0} does not answer a SYN")]
    NoAnswer(SocketAddr),
    /// The connection is there, and its packets do not pass an interface in the clear, as with `IPsec`.
    #[error("the packets of the connection to {0} are not seen at any interface")]
    NotSeen(SocketAddr),
    /// A system call failed.
    #[error("the kernel refuses {what}: {error}")]
    Kernel {
        /// The purpose of the call.
        what: &'static str,
        /// The kernel's error.
        error: io::Error,
    },
}

/// How long a SYN waits before it is sent again, and a little more (`TCP_TIMEOUT_INIT` in the kernel's `include/net/tcp.h`).
const SYN_AGAIN: Duration = Duration::from_millis(1100);
/// How often errors of the connections are looked at: the interface shows all else.
const LOOK: Duration = Duration::from_millis(20);

impl RawProber {
    /// Opens the connections, in the network namespace of the calling thread. Nothing is sent on them but their handshakes.
    /// `is_over` is asked from time to time whether to give up.
    ///
    /// # Errors
    /// See [`RawError`].
    pub fn open(
        far: SocketAddr,
        options: RawOptions,
        is_over: &dyn Fn() -> bool,
    ) -> Result<Self, RawError> {
        let refused = |what| move |error| RawError::Kernel { what, error };
        let bound = (0..options.flows.max(1)).map(|_| bound_socket(far, 0));
        let bound = bound.collect::<io::Result<Vec<_>>>().map_err(refused("a socket"))?;
        let ports: Vec<u16> = bound.iter().map(|(_, port)| *port).collect();
        let socket = listen(far.ip(), &ports)?;
        let mut prober = Self {
            socket,
            room: vec![0; ROOM],
            local: far.ip(),
            far,
            interface_mtu: 0,
            connections: Vec::new(),
            sent: SentTotal::default(),
        };
        for (socket, port) in bound {
            let connection = prober.connect(socket, port).map_err(refused("a connection"))?;
            prober.connections.push(connection);
        }
        prober.wait_for_handshakes(options.patience, is_over).map_err(refused("to listen"))?;
        prober.keep_the_seen()?;
        prober.interface_mtu = prober.mtu().map_err(refused("the interface's MTU"))?;
        Ok(prober)
    }

    /// Opens a connection again that the far end has closed, from the same port. Gives whether it is there.
    ///
    /// # Errors
    /// A system call fails.
    pub fn reopen(&mut self, flow: usize, is_over: &dyn Fn() -> bool) -> io::Result<bool> {
        let Some(old) = self.connections.get(flow) else { return Ok(false) };
        let port = old.port();
        // The old socket goes first: two may not have one port.
        self.connections[flow].close();
        let (socket, port) = bound_socket(self.far, port)?;
        self.connections[flow] = self.connect(socket, port)?;
        self.wait_for_handshakes(RawOptions::default().patience, is_over)?;
        Ok(self.connections[flow].is_seen())
    }

    /// Sends the SYN.
    fn connect(&mut self, socket: Socket, port: u16) -> io::Result<Connection> {
        match socket.connect(&self.far.into()) {
            Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => {}
            // Over loopback the answer may be there at once.
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {}
            other => other?,
        }
        if let Some(local) = socket.local_addr()?.as_socket() {
            self.local = if local.ip().is_unspecified() { self.local } else { local.ip() };
        }
        Ok(Connection::new(socket, (SocketAddr::new(self.local, port), self.far)))
    }

    /// Waits until every connection is there or refused; for the slow ones not much longer than for the first.
    fn wait_for_handshakes(
        &mut self,
        patience: Duration,
        is_over: &dyn Fn() -> bool,
    ) -> io::Result<()> {
        let start = Instant::now();
        let mut end = start + patience;
        loop {
            self.read()?;
            let settled = |connection: &Connection| connection.is_seen() || connection.has_failed();
            let first = self.connections.iter().find(|connection| connection.is_seen());
            if let Some(took) = first.and_then(Connection::handshake) {
                end = end.min(start + SYN_AGAIN + took * 3);
            }
            let now = Instant::now();
            if self.connections.iter().all(settled) || now >= end || is_over() {
                return Ok(());
            }
            self.wait_until(end.min(now + LOOK))?;
        }
    }

    /// Leaves the connections that can be used.
    fn keep_the_seen(&mut self) -> Result<(), RawError> {
        let is_refused = self.connections.iter().any(Connection::is_refused);
        let is_rejected = self.connections.iter().any(Connection::is_rejected);
        let is_there = self.connections.iter().any(Connection::is_connected);
        self.connections.retain(Connection::is_seen);
        match (self.connections.is_empty(), is_refused, is_there) {
            (false, _, _) => Ok(()),
            (true, true, _) => Err(RawError::Closed(self.far)),
            (true, false, true) => Err(RawError::NotSeen(self.far)),
            (true, false, false) if is_rejected => Err(RawError::Rejected(self.far)),
            (true, false, false) => Err(RawError::NoAnswer(self.far)),
        }
    }

    fn mtu(&self) -> io::Result<u32> {
        let link = self.connections.iter().find_map(|connection| connection.link.as_ref());
        let index = link.map_or(0, |link| link.interface);
        let facts = Netlink::new()?.interface_facts(index)?;
        facts.mtu.ok_or_else(|| io::Error::other("the interface has no MTU"))
    }
}

/// A packet socket that hears of these connections alone.
fn listen(far: IpAddr, ports: &[u16]) -> Result<PacketSocket, RawError> {
    let refused = |what| move |error| RawError::Kernel { what, error };
    let socket = PacketSocket::new().map_err(|error| match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => RawError::NoRight(error),
        _ => RawError::Kernel { what: "a packet socket", error },
    })?;
    let selection =
        Selection { hosts: vec![Prefix::host(far)], ports: ports.to_vec(), protocols: Vec::new() };
    let room = u32::try_from(ROOM).unwrap_or(u32::MAX);
    let program = compile(&selection, &LINKS, &[], room).map_err(io::Error::other);
    let program = program.map_err(refused("the filter"))?;
    socket.attach(&program).map_err(refused("the filter"))?;
    socket.note_times().map_err(refused("times of packets"))?;
    socket.bind(None).map_err(refused("to listen"))?;
    Ok(socket)
}

/// A socket that is bound to a port, which it has before it connects. When it is closed, the far end gets a RST at once: nothing
/// is remembered of the connection (`tcp_metrics`), and nothing of it remains at the far end.
fn bound_socket(far: SocketAddr, port: u16) -> io::Result<(Socket, u16)> {
    let socket =
        Socket::new(Domain::for_address(far), Type::STREAM.nonblocking(), Some(Protocol::TCP))?;
    socket.set_linger(Some(Duration::ZERO))?;
    socket.set_reuse_address(true)?;
    let any: IpAddr =
        if far.is_ipv6() { Ipv6Addr::UNSPECIFIED.into() } else { Ipv4Addr::UNSPECIFIED.into() };
    socket.bind(&SocketAddr::new(any, port).into())?;
    let bound = socket.local_addr()?.as_socket().map_or(port, |address| address.port());
    Ok((socket, bound))
}
