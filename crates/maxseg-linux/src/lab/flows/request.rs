//! Requests over TCP, answered by the other host.

use std::io::{self, Read, Write};
use std::mem::MaybeUninit;
use std::sync::Arc;
use std::thread::Scope;

use maxseg_core::scenario::{ConnectionUse, Flow, RequestPlan};
use maxseg_core::units::{Bytes, Time};
use socket2::Socket;

use super::FlowContext;
use super::open::{WindowClamp, accept_while, connect, is_timeout, listener, server_address, tcp};
use super::status::Status;
use crate::sys::{TcpSocket, minimize_timer_slack};

/// A request flow whose server listens.
pub(crate) struct RequestFlow<'a> {
    context: &'a FlowContext<'a>,
    index: usize,
    flow: &'a Flow,
    plan: RequestPlan,
    listener: Socket,
}

impl<'a> RequestFlow<'a> {
    pub(super) fn prepare(
        context: &'a FlowContext<'a>,
        index: usize,
        flow: &'a Flow,
        plan: RequestPlan,
    ) -> io::Result<Self> {
        let listener = listener(context, index, flow)?;
        Ok(Self { context, index, flow, plan, listener })
    }

    pub(super) fn start<'scope>(self, scope: &'scope Scope<'scope, '_>, status: &'scope Status)
    where
        'a: 'scope,
    {
        let Self { context, index, flow, plan, listener } = self;
        scope.spawn(move || {
            if let Err(error) = run_server(context, flow, (&listener, plan), status) {
                status.failed(error);
            }
        });
        scope.spawn(move || {
            if context.wait_until(flow.start)
                && let Err(error) = run_client(context, (index, flow), plan, status)
            {
                status.failed(error);
            }
        });
    }
}

/// Sends the requests, one after the other, and reads the replies.
fn run_client(
    context: &FlowContext<'_>,
    (index, flow): (usize, &Flow),
    plan: RequestPlan,
    status: &Status,
) -> io::Result<()> {
    let socket = || {
        let socket = tcp(context, flow, flow.from)?;
        socket.set_tcp_nodelay(true)?;
        io::Result::Ok(socket)
    };
    let open = |socket| {
        let socket = connect(context, socket, server_address(context, index, flow))?;
        io::Result::Ok(socket.map(|socket| Asking::new(socket, status)))
    };
    let kept = match plan.connection {
        ConnectionUse::Kept => {
            let Some(opened) = open(socket()?)? else { return Ok(()) };
            Some(Arc::new(opened))
        }
        ConnectionUse::New => None,
    };
    let mut buffer = Buffer::new(WindowClamp::new(context, &flow.reversed(), flow.from));
    for _ in 0..plan.count.unwrap_or(u64::MAX) {
        // Opened before the time is taken: opening a socket can take longer than a short request.
        let unconnected = if kept.is_none() { Some(socket()?) } else { None };
        let begun = context.clock.now();
        if begun >= flow.stop {
            return Ok(());
        }
        let socket = match (&kept, unconnected) {
            (Some(kept), _) => Arc::clone(kept),
            (None, None) => return Ok(()),
            (None, Some(socket)) => match open(socket)? {
                Some(opened) => Arc::new(opened),
                None => return Ok(()),
            },
        };
        // A reply counts as it comes, whole or not.
        let on_read = |read| status.count(|counted| counted.delivered += read);
        if !write_all(context, socket.socket(), plan.request)?
            || !read_all(context, socket.socket(), plan.reply, &mut buffer, on_read)?
        {
            return Ok(());
        }
        let now = context.clock.now();
        status.count(|counted| counted.requests.record(now.since(begun)));
        drop(socket);
        if plan.pause > Time::ZERO && !context.wait_until(now + plan.pause) {
            return Ok(());
        }
    }
    status.finished(context.clock.now());
    Ok(())
}

/// A connection that asks, counted as long as it is open.
struct Asking<'a> {
    socket: Arc<TcpSocket>,
    status: &'a Status,
}

impl<'a> Asking<'a> {
    fn new(socket: Arc<TcpSocket>, status: &'a Status) -> Self {
        status.opened_asking(&socket);
        Self { socket, status }
    }

    fn socket(&self) -> &Socket {
        &self.socket.0
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        self.status.closing_asking(&self.socket);
    }
}

/// Answers the requests of one connection after the other. Where each request has its own, the next one is accepted
/// before the client has closed the last: its FIN may be lost.
fn run_server(
    context: &FlowContext<'_>,
    flow: &Flow,
    (listener, plan): (&Socket, RequestPlan),
    status: &Status,
) -> io::Result<()> {
    let mut buffer = Buffer::new(WindowClamp::new(context, flow, flow.from.other()));
    minimize_timer_slack();
    let mut answered: Vec<Arc<TcpSocket>> = Vec::new();
    let retire = |answered: &mut Vec<Arc<TcpSocket>>| {
        answered.retain(|socket| {
            let is_closed = is_closed_by_peer(&socket.0);
            if is_closed {
                status.closing(socket);
            }
            !is_closed
        });
    };
    while let Some(socket) = accept_while(context, listener, || retire(&mut answered))? {
        socket.set_tcp_nodelay(true)?;
        let socket = Arc::new(TcpSocket(socket));
        status.opened(&socket);
        while read_all(context, &socket.0, plan.request, &mut buffer, |_| ())? {
            if plan.think > Time::ZERO && !context.wait_until(context.clock.now() + plan.think) {
                return Ok(());
            }
            if !write_all(context, &socket.0, plan.reply)? {
                return Ok(());
            }
            if plan.connection == ConnectionUse::New {
                break;
            }
        }
        if context.is_over() {
            return Ok(()); // the connection stays open: its counters are still to be read
        }
        match plan.connection {
            ConnectionUse::New => answered.push(socket),
            ConnectionUse::Kept => status.closing(&socket),
        }
    }
    Ok(())
}

/// Whether the peer has closed the connection, or reset it; it sends nothing more in any case.
fn is_closed_by_peer(socket: &Socket) -> bool {
    let flags = libc::MSG_DONTWAIT | libc::MSG_PEEK;
    match socket.recv_with_flags(&mut [MaybeUninit::uninit()], flags) {
        Ok(read) => read == 0,
        Err(error) => !is_timeout(&error),
    }
}

const CHUNK: usize = 1 << 16;

/// A host's read buffer, and the clamp of its advertised window.
struct Buffer {
    bytes: Vec<u8>,
    window: WindowClamp,
}

impl Buffer {
    fn new(window: WindowClamp) -> Self {
        Self { bytes: vec![0; CHUNK], window }
    }
}

/// Writes `bytes`. Gives whether all were written before the run ended or the peer closed the connection.
fn write_all(context: &FlowContext<'_>, mut socket: &Socket, bytes: Bytes) -> io::Result<bool> {
    static ZEROS: [u8; CHUNK] = [0; CHUNK];
    in_parts(context, bytes, |most| socket.write(&ZEROS[..most]))
}

/// Reads `bytes`, and tells `on_read` of each part. Gives whether all were read before the run ended or the peer closed the connection.
fn read_all(
    context: &FlowContext<'_>,
    mut socket: &Socket,
    bytes: Bytes,
    buffer: &mut Buffer,
    mut on_read: impl FnMut(u64),
) -> io::Result<bool> {
    in_parts(context, bytes, |most| {
        let read = socket.read(&mut buffer.bytes[..most])?;
        buffer.window.after_read(socket)?;
        on_read(read as u64);
        Ok(read)
    })
}

/// Transfers `bytes` by calls of `part`, each at most [`CHUNK`] bytes; it gives how many it transferred, 0 where the
/// peer has closed the connection.
fn in_parts(
    context: &FlowContext<'_>,
    bytes: Bytes,
    mut part: impl FnMut(usize) -> io::Result<usize>,
) -> io::Result<bool> {
    let mut left = bytes.get();
    while left > 0 {
        if context.is_over() {
            return Ok(false);
        }
        let most = usize::try_from(left).unwrap_or(CHUNK).min(CHUNK);
        match part(most) {
            Ok(0) => return Ok(false),
            Ok(done) => left -= done as u64,
            Err(error) if is_timeout(&error) => {}
            Err(error) if is_disconnect(&error) => return Ok(false),
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

fn is_disconnect(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe)
}
