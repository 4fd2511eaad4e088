//! ICMP echo requests, answered by the other host's kernel.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::net::{IpAddr, SocketAddr};
use std::sync::{Mutex, PoisonError};
use std::thread::Scope;

use maxseg_core::framing::IpVersion;
use maxseg_core::scenario::{Flow, FlowKind};
use maxseg_core::units::Time;
use maxseg_wire::Payload;
use maxseg_wire::icmp::{Icmp, Message};
use socket2::{Protocol, Socket, Type};

use super::FlowContext;
use super::open::{is_timeout, open_socket, port};
use super::status::Status;
use crate::lab::topology::host_at;
use crate::sys::minimize_timer_slack;

/// A flow of ICMP echo requests.
pub(crate) struct PingFlow<'a> {
    context: &'a FlowContext<'a>,
    flow: &'a Flow,
    socket: Socket,
    ends: (IpAddr, IpAddr),
    id: u16,
    size: usize,
    interval: Time,
}

/// By sequence number: the number of the request, and when it was sent.
type Unanswered = BTreeMap<u16, (u64, Time)>;

impl<'a> PingFlow<'a> {
    pub(super) fn prepare(
        context: &'a FlowContext<'a>,
        index: usize,
        flow: &'a Flow,
    ) -> io::Result<Self> {
        let FlowKind::Ping { size, interval, .. } = flow.kind else {
            return Err(io::Error::other("this flow sends no echo requests"));
        };
        let protocol = match context.scenario.ip {
            IpVersion::V4 => Protocol::ICMPV4,
            IpVersion::V6 => Protocol::ICMPV6,
        };
        let (socket, own) = open_socket(context, flow, flow.from, Type::RAW, protocol)?;
        let (_, far) = host_at(context.scenario, flow, flow.from.other());
        socket.connect(&SocketAddr::new(far, 0).into())?;
        let size = usize::try_from(size.get()).map_err(io::Error::other)?;
        Ok(Self { context, flow, socket, ends: (own, far), id: port(index), size, interval })
    }

    pub(super) fn start<'scope>(self, scope: &'scope Scope<'scope, '_>, status: &'scope Status)
    where
        'a: 'scope,
    {
        scope.spawn(move || {
            let sent = Mutex::new(Unanswered::new());
            std::thread::scope(|both| {
                both.spawn(|| {
                    if let Err(error) = self.receive(&sent, status) {
                        status.failed(error);
                    }
                });
                if let Err(error) = self.send(&sent, status) {
                    status.failed(error);
                }
            });
        });
    }

    fn send(&self, sent: &Mutex<Unanswered>, status: &Status) -> io::Result<()> {
        minimize_timer_slack();
        let payload = vec![0; self.size];
        for number in 0_u64.. {
            let at = self.flow.start + self.interval.times(number);
            if at >= self.flow.stop || !self.context.wait_until(at) {
                return Ok(());
            }
            let seq = u16::try_from(number % 65_536).unwrap_or(0);
            let message = Message::EchoRequest { id: self.id, seq };
            let mut bytes = Vec::with_capacity(8 + self.size);
            message.encode(self.ends, Payload::Bytes(&payload), &mut bytes);
            lock(sent).insert(seq, (number, self.context.clock.now()));
            status.count(|counted| counted.sent += 1);
            // The first call may report an ICMP error about a request before, and sends nothing then.
            for _ in 0..2 {
                match self.socket.send(&bytes) {
                    Ok(_) => break,
                    Err(error) if is_icmp_error(&error) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(())
    }

    fn receive(&self, sent: &Mutex<Unanswered>, status: &Status) -> io::Result<()> {
        minimize_timer_slack();
        let mut buffer = vec![0; 65_536];
        while !self.context.is_over() {
            let length = match (&self.socket).read(&mut buffer) {
                Ok(length) => length,
                Err(error) if is_timeout(&error) || is_icmp_error(&error) => continue,
                Err(error) => return Err(error),
            };
            let now = self.context.clock.now();
            let answered = self.sequence(&buffer[..length]);
            if let Some((number, begun)) = answered.and_then(|seq| lock(sent).remove(&seq)) {
                status.count(|counted| {
                    counted.pings.record(now.since(begun));
                    counted.settled = counted.settled.max(number + 1);
                });
            }
        }
        Ok(())
    }

    /// The sequence number of the request that this answers; `None` for other messages.
    fn sequence(&self, bytes: &[u8]) -> Option<u16> {
        // A raw socket of IPv4 receives the IP header too (raw(7)).
        let skip = match self.ends.0 {
            IpAddr::V4(_) => usize::from(bytes.first()? & 0x0f) * 4,
            IpAddr::V6(_) => 0,
        };
        let icmp = bytes.get(skip..)?;
        let decoded = Icmp::decode(icmp, icmp.len(), (self.ends.1, self.ends.0)).ok()?;
        match decoded.message {
            Message::EchoReply { id, seq } if id == self.id => Some(seq),
            Message::EchoReply { .. }
            | Message::EchoRequest { .. }
            | Message::TooBig { .. }
            | Message::Other { .. } => None,
        }
    }
}

/// Whether the error is an ICMP error of a hop or of the other host: that request gets no answer, and the next one may.
/// A connected socket reports each ICMP error once, to its next call (`raw_err` in
/// net/ipv4/raw.c, `rawv6_err` in net/ipv6/raw.c; errors of `icmp_err_convert` and `icmpv6_err_convert`).
fn is_icmp_error(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(
            libc::EMSGSIZE
                | libc::ECONNREFUSED
                | libc::EHOSTUNREACH
                | libc::ENETUNREACH
                | libc::EHOSTDOWN
                | libc::ENONET
                | libc::ENOPROTOOPT
                | libc::EOPNOTSUPP
                | libc::EACCES
                | libc::EPROTO
        )
    )
}

fn lock(sent: &Mutex<Unanswered>) -> std::sync::MutexGuard<'_, Unanswered> {
    sent.lock().unwrap_or_else(PoisonError::into_inner)
}
