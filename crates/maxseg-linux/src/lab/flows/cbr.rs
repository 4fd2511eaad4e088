//! UDP datagrams at a constant bit rate.

use std::io::{self, Read as _};
use std::net::SocketAddr;
use std::thread::Scope;

use maxseg_core::scenario::{Flow, FlowKind};
use maxseg_core::stats::Seen;
use maxseg_core::units::Time;
use socket2::{Protocol, Socket, Type};

use super::FlowContext;
use super::open::{is_timeout, open_socket, server_address};
use super::status::Status;
use crate::sys::minimize_timer_slack;

/// A constant-bit-rate flow whose receiver is bound.
pub(crate) struct CbrFlow<'a> {
    context: &'a FlowContext<'a>,
    flow: &'a Flow,
    sender: Socket,
    receiver: Socket,
    to: SocketAddr,
    size: usize,
    /// Seconds between datagrams.
    interval_s: f64,
}

/// Requested receive buffer (`SO_RCVBUF`) in bytes; the kernel gives no more than `net.core.rmem_max`.
pub(crate) const RECEIVE_BUFFER: usize = 4 << 20;

impl<'a> CbrFlow<'a> {
    pub(super) fn prepare(
        context: &'a FlowContext<'a>,
        index: usize,
        flow: &'a Flow,
    ) -> io::Result<Self> {
        let FlowKind::Cbr { size, .. } = flow.kind else {
            return Err(io::Error::other("this flow sends no datagrams"));
        };
        let to = server_address(context, index, flow);
        let (receiver, _) =
            open_socket(context, flow, flow.from.other(), Type::DGRAM, Protocol::UDP)?;
        receiver.bind(&to.into())?;
        receiver.set_recv_buffer_size(RECEIVE_BUFFER)?;
        let (sender, own) = open_socket(context, flow, flow.from, Type::DGRAM, Protocol::UDP)?;
        sender.bind(&SocketAddr::new(own, 0).into())?;
        let size = usize::try_from(size.get()).map_err(io::Error::other)?;
        let interval_s = flow.kind.interval_s().unwrap_or(1.0);
        Ok(Self { context, flow, sender, receiver, to, size, interval_s })
    }

    pub(super) fn start<'scope>(self, scope: &'scope Scope<'scope, '_>, status: &'scope Status)
    where
        'a: 'scope,
    {
        let Self { context, flow, sender, receiver, to, size, interval_s } = self;
        scope.spawn(move || {
            if let Err(error) = receive(context, &receiver, status) {
                status.failed(error);
            }
        });
        scope.spawn(move || {
            if let Err(error) = send(context, flow, (&sender, to), (size, interval_s), status) {
                status.failed(error);
            }
        });
    }
}

/// Sends each datagram at its own time: one that is late does not delay the next.
fn send(
    context: &FlowContext<'_>,
    flow: &Flow,
    (socket, to): (&Socket, SocketAddr),
    (size, interval_s): (usize, f64),
    status: &Status,
) -> io::Result<()> {
    minimize_timer_slack();
    let to = to.into();
    let mut datagram = vec![0_u8; size];
    for number in 0_u64.. {
        let at = flow.start + Time::from_secs_f64(number as f64 * interval_s);
        if at >= flow.stop || at >= context.scenario.until.time || !context.wait_until(at) {
            return Ok(());
        }
        if let Some(place) = datagram.get_mut(..8) {
            place.copy_from_slice(&number.to_be_bytes());
        }
        // Not connected: the ICMP message about one datagram is no error of the next.
        match socket.send_to(&datagram, &to) {
            Ok(_) => status.count(|counted| counted.sent += 1),
            // A datagram that the host cannot send counts as lost.
            Err(error) if is_lost(&error) => status.count(|counted| {
                counted.sent += 1;
                counted.unsent += 1;
            }),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Above the interface's MTU (EMSGSIZE), or no memory (ENOBUFS, EAGAIN).
fn is_lost(error: &io::Error) -> bool {
    let known = [libc::EMSGSIZE, libc::ENOBUFS, libc::EAGAIN];
    error.raw_os_error().is_some_and(|code| known.contains(&code))
}

fn receive(context: &FlowContext<'_>, mut socket: &Socket, status: &Status) -> io::Result<()> {
    let mut buffer = vec![0; 65_536];
    let mut seen = Seen::default();
    while !context.is_over() {
        match socket.read(&mut buffer) {
            // A copy that a link has made is delivered once; a datagram too short for its number tells nothing of that.
            Ok(bytes) => {
                let number = buffer[..bytes].first_chunk().map(|place| u64::from_be_bytes(*place));
                if number.is_none_or(|number| seen.insert(number)) {
                    status.count(|counted| counted.delivered += bytes as u64);
                }
            }
            Err(error) if is_timeout(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
