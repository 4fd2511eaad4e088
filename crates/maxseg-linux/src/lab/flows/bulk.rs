//! Bulk transfer over one TCP connection.

use std::io;
use std::mem::MaybeUninit;
use std::sync::Arc;
use std::thread::Scope;

use maxseg_core::outcome::LimitedBy;
use maxseg_core::scenario::Flow;
use maxseg_core::settings::SlowReader;
use maxseg_core::units::{BitsPerSec, Bytes, Time};
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::sendfile::sendfile64;
use nix::unistd::ftruncate;
use socket2::Socket;

use super::FlowContext;
use super::holding::acknowledged;
use super::open::{
    WindowClamp, accept, connect, is_timeout, listener, server_address, settings_of, tcp,
};
use super::status::Status;
use crate::sys::{TcpSocket, set_pacing_rate};

/// A bulk flow whose receiver listens.
pub(crate) struct Bulk<'a> {
    context: &'a FlowContext<'a>,
    index: usize,
    flow: &'a Flow,
    listener: Socket,
    sender: Socket,
    /// A file of zeros to send, whose pages the kernel need not copy.
    source: std::os::fd::OwnedFd,
}

/// Length of that file in bytes, and so the most that one call sends.
const SOURCE: i64 = 1 << 20;

impl<'a> Bulk<'a> {
    pub(super) fn prepare(
        context: &'a FlowContext<'a>,
        index: usize,
        flow: &'a Flow,
    ) -> io::Result<Self> {
        let source = memfd_create(c"zeros", MFdFlags::MFD_CLOEXEC)?;
        ftruncate(&source, SOURCE)?;
        let listener = listener(context, index, flow)?;
        let sender = tcp(context, flow, flow.from)?;
        Ok(Self { context, index, flow, listener, sender, source })
    }

    pub(super) fn start<'scope>(self, scope: &'scope Scope<'scope, '_>, status: &'scope Status)
    where
        'a: 'scope,
    {
        let Self { context, index, flow, listener, sender, source } = self;
        let to = server_address(context, index, flow);
        scope.spawn(move || {
            if let Err(error) = receive(context, flow, &listener) {
                status.failed(error);
            }
        });
        scope.spawn(move || {
            if !context.wait_until(flow.start) {
                return;
            }
            let sent = connect(context, sender, to).and_then(|socket| match socket {
                Some(socket) => send(context, &socket, &source, status),
                None => Ok(()),
            });
            if let Err(error) = sent {
                status.failed(error);
            }
        });
    }
}

fn send(
    context: &FlowContext<'_>,
    socket: &Arc<TcpSocket>,
    source: &std::os::fd::OwnedFd,
    status: &Status,
) -> io::Result<()> {
    status.opened(socket);
    status.count(|counted| counted.opened = Some(context.clock.now()));
    let wanted = context.scenario.until.bytes.map_or(u64::MAX, Bytes::get);
    if let Some(rate) = context.scenario.lab.pacing_rate {
        set_pacing_rate(&socket.0, u32::try_from(rate.get() / 8).unwrap_or(u32::MAX))?;
    }
    let begun = context.clock.now();
    let mut written = 0;
    status.starved_by(Some(LimitedBy::SendBuffer));
    while written < wanted && !context.is_over() {
        let allowed = context.scenario.lab.write_rate.map_or(u64::MAX, |rate| {
            let allowed = allowance(rate, context.clock.now().since(begun)).saturating_sub(written);
            // An application that is behind its rate waits for the buffer.
            let is_behind = allowed > allowance(rate, WRITE_INTERVAL.times(BEHIND));
            let limit = if is_behind { LimitedBy::SendBuffer } else { LimitedBy::Application };
            status.starved_by(Some(limit));
            allowed
        });
        if allowed == 0 {
            context.clock.sleep_until(context.clock.now() + WRITE_INTERVAL);
            continue;
        }
        let most = (wanted - written).min(allowed).min(SOURCE.unsigned_abs());
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let mut from = 0;
        match sendfile64(&socket.0, source, Some(&mut from), most) {
            Ok(sent) => written += sent as u64,
            Err(error) if is_timeout(&error.into()) => {}
            Err(error) => return Err(error.into()),
        }
        if context.scenario.lab.write_rate.is_some() {
            context.clock.sleep_until(context.clock.now() + WRITE_INTERVAL);
        }
    }
    status.starved_by(None);
    // The transfer is complete when its last byte is acknowledged.
    while !context.is_over() {
        let info = socket.tcp_info()?;
        let info = maxseg_wire::tcp_info::TcpInfo::decode(&info).map_err(io::Error::other)?;
        if acknowledged(&info) >= wanted {
            status.finished(context.clock.now());
            return Ok(());
        }
        context.clock.sleep_until(context.clock.now() + ACK_POLL);
    }
    Ok(())
}

/// How often a sender that has written its last byte checks whether it is acknowledged.
const ACK_POLL: Time = Time::from_nanos(100_000);

/// How often an application with a rate of writing writes.
const WRITE_INTERVAL: Time = Time::from_millis(10);

/// After so many intervals of its rate an application that has not written is behind it, and not only woken late.
const BEHIND: u64 = 5;

/// What a rate allows in a time, in whole bytes.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "never negative")]
fn allowance(rate: BitsPerSec, time: Time) -> u64 {
    (time.as_secs_f64() * rate.get() as f64 / 8.0) as u64
}

/// Reads and discards the data, at the receiver's read rate where it has one.
fn receive(context: &FlowContext<'_>, flow: &Flow, listener: &Socket) -> io::Result<()> {
    let Some(socket) = accept(context, listener)? else { return Ok(()) };
    let end = flow.from.other();
    let mut window = WindowClamp::new(context, flow, end);
    let Some(rate) = settings_of(context, end).read_rate else {
        return discard(context, &socket, &mut window);
    };
    let mut reader = SlowReader::new(rate, context.clock.now());
    let mut buffer = vec![MaybeUninit::uninit(); 1 << 16];
    while !context.is_over() {
        // A high rate allows more than one call takes.
        let mut allowed = reader.allows(context.clock.now());
        while allowed > 0 {
            let most = usize::try_from(allowed).map_or(buffer.len(), |most| most.min(buffer.len()));
            match socket.recv(&mut buffer[..most]) {
                Ok(0) => return Ok(()),
                Ok(read) => {
                    reader.take(read as u64);
                    window.after_read(&socket)?;
                    // What comes now is the next interval's: to wait for it here would shift that.
                    allowed = if read < most { 0 } else { allowed - read as u64 };
                }
                Err(error) if is_timeout(&error) => break,
                Err(error) => return ignore_reset(error),
            }
        }
        context.clock.sleep_until(context.clock.now() + SlowReader::INTERVAL);
    }
    Ok(())
}

/// Discards the data: with `MSG_TRUNC` TCP does not copy it (tcp(7)).
fn discard(context: &FlowContext<'_>, socket: &Socket, window: &mut WindowClamp) -> io::Result<()> {
    let mut buffer = vec![MaybeUninit::uninit(); 1 << 20];
    while !context.is_over() {
        match socket.recv_with_flags(&mut buffer, libc::MSG_TRUNC) {
            Ok(0) => return Ok(()),
            Ok(_) => window.after_read(socket)?,
            Err(error) if is_timeout(&error) => {}
            Err(error) => return ignore_reset(error),
        }
    }
    Ok(())
}

/// A reset is no error: the run may have closed the sender first.
fn ignore_reset(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::ConnectionReset { Ok(()) } else { Err(error) }
}
