//! Sockets inside the hosts of a flow, with the options of its settings.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use maxseg_core::scenario::{End, Flow};
use maxseg_core::settings::{CongestionName, Settings, SocketMemory};
use socket2::{Domain, Protocol, Socket, Type};

use super::FlowContext;
use crate::lab::topology::{FIRST_PORT, host_at};
use crate::sys::{TcpSocket, forbid_fragments, set_tcp_option};

/// Timeout of blocking calls, after which a thread checks whether the run has ended.
const SOCKET_TIMEOUT: Duration = Duration::from_millis(50);

/// The address of flow `index` at its server or receiver.
pub(super) fn server_address(context: &FlowContext<'_>, index: usize, flow: &Flow) -> SocketAddr {
    let (_, address) = host_at(context.scenario, flow, flow.from.other());
    SocketAddr::new(address, port(index))
}

/// The port of flow `index`.
pub(super) fn port(index: usize) -> u16 {
    FIRST_PORT.saturating_add(u16::try_from(index).unwrap_or(u16::MAX))
}

/// A TCP socket at this end of a flow.
pub(super) fn tcp(context: &FlowContext<'_>, flow: &Flow, end: End) -> io::Result<Socket> {
    let (host, address) = host_at(context.scenario, flow, end);
    let settings = settings_of(context, end);
    context.hosts[host].namespace.run(move || {
        let socket = Socket::new(
            Domain::for_address(SocketAddr::new(address, 0)),
            Type::STREAM,
            Some(Protocol::TCP),
        )?;
        socket.set_reuse_address(true)?;
        apply(&socket, settings)?;
        Ok(socket)
    })
}

/// A listening TCP socket at the flow's receiver.
pub(super) fn listener(context: &FlowContext<'_>, index: usize, flow: &Flow) -> io::Result<Socket> {
    let socket = tcp(context, flow, flow.from.other())?;
    socket.bind(&server_address(context, index, flow).into())?;
    socket.listen(16)?;
    set_timeouts(&socket)?;
    Ok(socket)
}

/// A UDP or raw socket at this end of a flow, and the host's address. Where nobody may fragment what the host sends,
/// its kernel does not either.
pub(super) fn open_socket(
    context: &FlowContext<'_>,
    flow: &Flow,
    end: End,
    kind: Type,
    protocol: Protocol,
) -> io::Result<(Socket, IpAddr)> {
    let (host, address) = host_at(context.scenario, flow, end);
    let socket = context.hosts[host].namespace.run(move || {
        let domain = Domain::for_address(SocketAddr::new(address, 0));
        Socket::new(domain, kind, Some(protocol))
    })?;
    if context.scenario.forbids_fragments(end) {
        forbid_fragments(&socket, address.is_ipv6())?;
    }
    set_timeouts(&socket)?;
    Ok((socket, address))
}

/// Connects, and waits for the handshake; `None` if the run ends first.
pub(super) fn connect(
    context: &FlowContext<'_>,
    socket: Socket,
    to: SocketAddr,
) -> io::Result<Option<Arc<TcpSocket>>> {
    socket.set_nonblocking(true)?;
    match socket.connect(&to.into()) {
        Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => {}
        other => other?,
    }
    loop {
        if context.is_over() {
            return Ok(None);
        }
        if is_writable(&socket)? {
            break;
        }
    }
    if let Some(error) = socket.take_error()? {
        return Err(error);
    }
    socket.set_nonblocking(false)?;
    set_timeouts(&socket)?;
    Ok(Some(Arc::new(TcpSocket(socket))))
}

/// The next connection to a listening socket; `None` if the run ends first.
pub(super) fn accept(context: &FlowContext<'_>, listener: &Socket) -> io::Result<Option<Socket>> {
    accept_while(context, listener, || {})
}

/// The same, doing something at each turn of the wait.
pub(super) fn accept_while(
    context: &FlowContext<'_>,
    listener: &Socket,
    mut at_turn: impl FnMut(),
) -> io::Result<Option<Socket>> {
    while !context.is_over() {
        at_turn();
        match listener.accept() {
            Ok((socket, _)) => {
                set_timeouts(&socket)?;
                return Ok(Some(socket));
            }
            Err(error) if is_timeout(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// Whether a call timed out or was interrupted, rather than failed.
pub(super) fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

fn is_writable(socket: &Socket) -> io::Result<bool> {
    use std::os::fd::AsFd;

    use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
    let mut files = [PollFd::new(socket.as_fd(), PollFlags::POLLOUT)];
    match poll(&mut files, PollTimeout::from(50_u8)) {
        Ok(ready) => Ok(ready > 0),
        Err(nix::errno::Errno::EINTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn set_timeouts(socket: &Socket) -> io::Result<()> {
    socket.set_read_timeout(Some(SOCKET_TIMEOUT))?;
    socket.set_write_timeout(Some(SOCKET_TIMEOUT))
}

pub(super) fn settings_of<'a>(context: &FlowContext<'a>, end: End) -> &'a Settings {
    match end {
        End::Sender => &context.scenario.sender,
        End::Receiver => &context.scenario.receiver,
    }
}

/// Sets the options that sockets have; the others are the host's (`host_setup`).
fn apply(socket: &Socket, settings: &Settings) -> io::Result<()> {
    let context = |what: String| {
        move |error: io::Error| io::Error::new(error.kind(), format!("{what}: {error}"))
    };
    if let Some(mss) = settings.mss {
        let requested = u32::try_from(mss.bytes().get()).map_err(io::Error::other)?;
        socket.set_tcp_mss(requested).map_err(context(format!("TCP_MAXSEG = {requested}")))?;
    }
    let name = congestion_of(settings);
    socket
        .set_tcp_congestion(name.as_bytes())
        .map_err(context(format!("congestion control {name}")))
}

/// Keeps the advertised window of a host at that of its settings.
///
/// A route's `window` metric is in effect until the first segment arrives: then the kernel knows the memory per byte,
/// and sets the clamp to what the buffer holds (`net/ipv4/tcp_input.c`, `tcp_measure_rcv_mss`).
#[derive(Debug)]
pub(super) struct WindowClamp {
    /// `None` where the kernel finds the window.
    clamp: Option<u32>,
}

impl WindowClamp {
    pub(super) fn new(context: &FlowContext<'_>, flow: &Flow, end: End) -> Self {
        let mss = context.scenario.mss(flow).unbound.bytes();
        let window = SocketMemory::of(settings_of(context, end), mss).clamp;
        Self { clamp: window.map(|bytes| u32::try_from(bytes.get()).unwrap_or(u32::MAX)) }
    }

    /// To be called after every read: a segment of another size makes the kernel set the clamp again.
    pub(super) fn after_read(&self, socket: &Socket) -> io::Result<()> {
        match self.clamp {
            Some(clamp) => set_tcp_option(socket, libc::TCP_WINDOW_CLAMP, clamp),
            None => Ok(()),
        }
    }
}

/// The kernel's name of the settings' congestion control.
pub(crate) fn congestion_of(settings: &Settings) -> &'static str {
    match settings.congestion {
        CongestionName::Reno | CongestionName::Ns2Reno => "reno",
        CongestionName::Cubic => "cubic",
        CongestionName::Bbr => "bbr",
    }
}
