//! A report from connections with segments of one size each, for users without `CAP_NET_RAW`.

use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::Ordering;

use maxseg_core::framing::{Headers, TCP_TIMESTAMPS};
use maxseg_core::path_mtu::Confidence;
use maxseg_linux::probe::tcp::offer::first_segment;
use maxseg_linux::probe::tcp::payload::Payload;

use super::by_ports::MOST_OTHERS;
use super::sized::{MOST_CONNECTIONS, SizedMtu, measure};
use crate::path::probing::Probing;
use crate::path::{MtuMethod, MtuReport, PathError};

/// Ports to which a payload is sent without being asked: what is sent there is the beginning of an ordinary request.
const PAYLOAD_PORTS: [u16; 2] = [443, 80];

impl Probing<'_> {
    /// The port to which a payload may be sent: one that was named, or an open one of a service that takes such beginnings every
    /// day.
    pub(in crate::path) fn payload_port(&self, open: &[u16]) -> Option<u16> {
        let is_named = |port: &u16| self.port == Some(*port);
        let is_usual = |port: &u16| PAYLOAD_PORTS.contains(port);
        let may = |port: &&u16| self.options.payload && (is_named(port) || is_usual(port));
        open.iter().find(may).copied()
    }

    /// Completes a report by connections to this port. Where routers have stated an MTU, only packets of that size are sent: a
    /// larger one would have this host's kernel learn the MTU once more, and shrink all connections there.
    pub(in crate::path) fn mtu_by_sizes(
        &mut self,
        port: u16,
        report: &mut MtuReport,
    ) -> Result<(), PathError> {
        let far = SocketAddr::new(self.to, port);
        let payload = Payload::of_port(port);
        let stated = report.forward_bytes.filter(|_| report.confidence == Confidence::IcmpOnly);
        let most = stated.unwrap_or(self.route.interface_mtu).min(u32::from(u16::MAX));
        self.observer.on_step(&format!("path MTU by connections to TCP port {port}"));
        self.observer.on_warning(&format!(
            "TCP port {port} gets up to {} connections with packets of up to {most} bytes, each with {}; --no-payload leaves them out",
            MOST_CONNECTIONS + MOST_OTHERS,
            payload.words()
        ));
        let (stop, budget) = (self.stop, self.budget);
        let is_over = move || stop.load(Ordering::Relaxed) || !budget.has_left(0);
        let found = measure(far, payload, most, self.loss, &is_over)
            .map_err(|source| PathError::Socket { doing: "open a connection", source })?;
        self.other_bytes += found.sent_bytes;
        if self.stop.load(Ordering::Relaxed) {
            return Err(PathError::Stopped);
        }
        match stated {
            Some(stated) => report.confirm(&found, stated, port),
            None => report.take_sized(&found, self, port)?,
        }
        Ok(())
    }
}

impl MtuReport {
    /// What routers state arrives.
    fn confirm(&mut self, found: &SizedMtu, stated: u32, port: u16) {
        if found.at_least == Some(stated) {
            self.reason = Some(format!(
                "TCP port {port} acknowledged packets of {stated} bytes; that larger ones are too big, a router's message alone says, \
                 and it may be forged"
            ));
        }
    }

    fn take_sized(
        &mut self,
        found: &SizedMtu,
        probing: &mut Probing<'_>,
        port: u16,
    ) -> Result<(), PathError> {
        let Some(at_least) = found.at_least else { return Ok(()) };
        self.method = Some(MtuMethod::TcpSegments);
        self.forward_bytes = Some(at_least);
        self.confidence = Confidence::AtLeast;
        let is_limited = found.limit.is_some_and(|limit| limit <= at_least);
        self.reason = match (found.settled, found.learnt) {
            (Some(settled), None) if !is_limited => {
                self.confidence = Confidence::Confirmed;
                self.error_chance = Some(settled.error);
                let vanishes = settled.vanishes;
                let is_known = self.dropped_here.as_ref().is_some_and(|here| here.is_certain);
                let is_less = at_least < probing.route.interface_mtu && !is_known;
                self.reason = None;
                self.take_other_connections(
                    (at_least, vanishes.filter(|_| is_less), found.contradicted),
                    port,
                    probing,
                )?;
                self.reason.take()
            }
            (_, Some(mtu)) => Some(format!(
                "TCP port {port} acknowledged packets of this size; a router's message of an MTU of {mtu} ended the search"
            )),
            (Some(_), None) => Some(limit_words(found, port, probing.to)),
            (None, None) => Some(format!(
                "TCP port {port} acknowledged packets of this size; {MOST_CONNECTIONS} connections were not enough to rule out larger ones"
            )),
        };
        Ok(())
    }
}

/// Why no larger packets could be tried.
fn limit_words(found: &SizedMtu, port: u16, to: IpAddr) -> String {
    let stamps = u32::try_from(TCP_TIMESTAMPS.get()).unwrap_or(0);
    let first = first_segment().filter(|first| {
        let plain = first + Headers::plain(to.into()).octets();
        found.limit.is_some_and(|limit| [plain, plain + stamps].contains(&limit))
    });
    first.map_or_else(
        || {
            format!(
                "TCP port {port} offers an MSS that allows no larger packets, or this host's kernel remembers a smaller path MTU"
            )
        },
        |first| {
            format!(
                "this host begins every connection with segments of {first} bytes (net.ipv4.tcp_mtu_probing = 2, tcp_base_mss); with \
                 CAP_NET_RAW larger packets are sent without the kernel's TCP"
            )
        },
    )
}
