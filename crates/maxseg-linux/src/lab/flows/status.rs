//! Counters and state of a flow while it runs.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use maxseg_core::outcome::LimitedBy;
use maxseg_core::scenario::{Flow, Scenario};
use maxseg_core::settings::CongestionName;
use maxseg_core::stats::Histogram;
use maxseg_core::units::Time;
use maxseg_wire::tcp_info::TcpInfo;

use super::holding::{Charged, Sending, acknowledged, in_flight};
use crate::sys::TcpSocket;

/// A flow's state, shared by its threads and the run.
#[derive(Debug, Default)]
pub(crate) struct Status {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    counted: FlowCounts,
    sending: Sending,
    /// The open connections whose data the flow's sender sends.
    open: Vec<Open>,
    /// The other ends of them in this process.
    asking: Vec<Arc<TcpSocket>>,
    done: Option<Time>,
    error: Option<io::Error>,
}

/// An open connection.
#[derive(Debug, Clone)]
struct Open {
    socket: Arc<TcpSocket>,
    charged: Charged,
}

/// The counters of a flow.
#[derive(Debug, Clone, Default)]
pub(crate) struct FlowCounts {
    /// Payload delivered, in bytes: of datagrams, of replies, or as iperf3 reports it.
    pub(crate) delivered: u64,
    /// Whether the flow is another program's, which has not reported yet.
    pub(crate) report_pending: bool,
    /// From the start of the run to its own end, where that is not the run's.
    pub(crate) elapsed: Option<Time>,
    /// When its connection was established, on the run's clock: of bulk data.
    pub(crate) opened: Option<Time>,
    /// When it ended by itself, on the run's clock.
    pub(crate) ended: Option<Time>,
    /// How often its connections were looked at, open or not.
    pub(crate) looks: u64,
    /// Datagrams or echo requests sent.
    pub(crate) sent: u64,
    /// Those of them that the host could not send.
    pub(crate) unsent: u64,
    /// Round-trip times of the answered echo requests.
    pub(crate) pings: Histogram,
    /// Echo requests of which it is known whether they were answered: all up to the last answered one.
    pub(crate) settled: u64,
    /// Completion times of the answered requests.
    pub(crate) requests: Histogram,
    /// Counters of its TCP connections.
    pub(crate) tcp: TcpTotals,
    /// Those of their other ends: the clients of a request flow.
    pub(crate) asking: TcpTotals,
}

/// Sums of `tcp_info` over all connections of a flow, at one of its ends.
#[derive(Debug, Clone, Default)]
pub(crate) struct TcpTotals {
    pub(crate) connections: u64,
    /// Payload acknowledged, in bytes.
    pub(crate) acknowledged: u64,
    /// Packets with payload sent, retransmissions included.
    pub(crate) data_packets: Option<u64>,
    pub(crate) retransmitted_packets: u64,
    pub(crate) retransmitted_bytes: u64,
    pub(crate) timeouts: Option<u64>,
    /// Duplicates that the receiver reported by D-SACK (RFC 2883).
    pub(crate) duplicates: u64,
    pub(crate) busy: Option<Time>,
    pub(crate) window_limited: Option<Time>,
    pub(crate) buffer_limited: Option<Time>,
    /// Time from timeouts to the next acknowledgement (`tcpi_total_rto_time`).
    pub(crate) timed_out: Option<Time>,
    /// What else held the sender while it was busy, by what its socket showed each time.
    pub(crate) held: BTreeMap<LimitedBy, Time>,
    /// MSS of the last connection, in bytes.
    pub(crate) mss: Option<u64>,
    pub(crate) rtt_min: Option<Time>,
    /// Samples taken, with sums of the smoothed RTT in seconds and of the bytes in flight.
    pub(crate) samples: u64,
    pub(crate) rtt_sum: f64,
    pub(crate) in_flight_sum: f64,
    pub(crate) in_flight_most: u64,
}

impl TcpTotals {
    /// Adds the final counters of a connection.
    fn add(&mut self, info: &TcpInfo) {
        self.connections += 1;
        self.acknowledged += acknowledged(info);
        self.retransmitted_packets += u64::from(info.total_retrans);
        self.retransmitted_bytes += info.bytes_retrans.unwrap_or(0);
        self.duplicates += u64::from(info.dsack_dups.unwrap_or(0));
        if let Some(packets) = info.data_segs_out {
            *self.data_packets.get_or_insert(0) += u64::from(packets);
        }
        if let Some(timeouts) = info.total_rto {
            *self.timeouts.get_or_insert(0) += u64::from(timeouts);
        }
        for (sum, time) in [
            (&mut self.busy, info.busy_time),
            (&mut self.window_limited, info.rwnd_limited),
            (&mut self.buffer_limited, info.sndbuf_limited),
            (&mut self.timed_out, info.total_rto_time),
        ] {
            if let Some(time) = time {
                *sum = Some(sum.unwrap_or_default() + time.into());
            }
        }
        self.mss = Some(u64::from(info.snd_mss));
        if let Some(least) = info.min_rtt.map(Time::from) {
            self.rtt_min = Some(self.rtt_min.map_or(least, |known| known.min(least)));
        }
    }

    /// Charges the time since the last look to what holds the sender now.
    fn charge(&mut self, info: &TcpInfo, sending: Sending, charged: &mut Charged) {
        if let Some((kind, since)) = charged.look(info, sending) {
            *self.held.entry(kind).or_default() += since;
        }
    }

    fn sample(&mut self, info: &TcpInfo) {
        let in_flight = in_flight(info);
        self.samples += 1;
        self.rtt_sum += info.rtt.as_secs_f64();
        self.in_flight_sum += in_flight as f64;
        self.in_flight_most = self.in_flight_most.max(in_flight);
    }
}

impl Status {
    /// Of this flow.
    pub(crate) fn of(scenario: &Scenario, flow: &Flow) -> Self {
        let way = flow.ways_of_data().last().copied().unwrap_or(*flow);
        let is_rate_based = scenario.endpoints(&way).0.congestion == CongestionName::Bbr;
        let sending = Sending { is_rate_based, ..Sending::default() };
        Self { inner: Mutex::new(Inner { sending, ..Inner::default() }) }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A connection is established.
    pub(super) fn opened(&self, socket: &Arc<TcpSocket>) {
        self.lock().open.push(Open { socket: Arc::clone(socket), charged: Charged::default() });
    }

    /// What a socket that lacks data lacks them for, from now on; `None`: its application has written all.
    pub(super) fn starved_by(&self, limit: Option<LimitedBy>) {
        self.lock().sending.starved_by = limit;
    }

    /// A connection is about to be closed.
    pub(super) fn closing(&self, socket: &Arc<TcpSocket>) {
        let info = info_of(socket);
        let mut inner = self.lock();
        let place = inner.open.iter().position(|open| Arc::ptr_eq(&open.socket, socket));
        let mut charged =
            place.map(|place| inner.open.swap_remove(place).charged).unwrap_or_default();
        if let Some(info) = info {
            let sending = inner.sending;
            inner.counted.tcp.charge(&info, sending, &mut charged);
            inner.counted.tcp.add(&info);
        }
    }

    /// The other end of a connection is established.
    pub(super) fn opened_asking(&self, socket: &Arc<TcpSocket>) {
        self.lock().asking.push(Arc::clone(socket));
    }

    /// The other end of a connection is about to be closed.
    pub(super) fn closing_asking(&self, socket: &Arc<TcpSocket>) {
        let info = info_of(socket);
        let mut inner = self.lock();
        inner.asking.retain(|open| !Arc::ptr_eq(open, socket));
        if let Some(info) = info {
            inner.counted.asking.add(&info);
        }
    }

    /// Changes the counters.
    pub(super) fn count(&self, change: impl FnOnce(&mut FlowCounts)) {
        change(&mut self.lock().counted);
    }

    /// The flow has ended at `at`.
    pub(super) fn finished(&self, at: Time) {
        self.lock().done.get_or_insert(at);
    }

    /// The flow has failed.
    pub(super) fn failed(&self, error: io::Error) {
        self.lock().error.get_or_insert(error);
    }

    /// When the flow ended; `None` while it runs.
    ///
    /// # Errors
    /// The error with which it failed.
    pub(crate) fn end(&self) -> io::Result<Option<Time>> {
        let mut inner = self.lock();
        match inner.error.take() {
            Some(error) => Err(error),
            None => Ok(inner.done),
        }
    }

    /// Samples `tcp_info` of its open connections. Gives that of the last one.
    pub(crate) fn sample(&self) -> Option<TcpInfo> {
        let (open, asking) = {
            let mut inner = self.lock();
            inner.counted.looks += 1;
            (inner.open.clone(), inner.asking.clone())
        };
        for info in asking.iter().filter_map(|socket| info_of(socket)) {
            self.lock().counted.asking.sample(&info);
        }
        let mut last = None;
        for Open { socket, .. } in &open {
            let Some(info) = info_of(socket) else { continue };
            let mut inner = self.lock();
            let Inner { counted, open, sending, .. } = &mut *inner;
            counted.tcp.sample(&info);
            // It may have been closed meanwhile.
            if let Some(open) = open.iter_mut().find(|open| Arc::ptr_eq(&open.socket, socket)) {
                counted.tcp.charge(&info, *sending, &mut open.charged);
            }
            last = Some(info);
        }
        last
    }

    /// Its counters so far, with those of its open connections.
    pub(crate) fn counted(&self) -> FlowCounts {
        let inner = self.lock();
        let mut counted = inner.counted.clone();
        counted.ended = inner.done;
        for Open { socket, mut charged } in inner.open.iter().cloned() {
            if let Some(info) = info_of(&socket) {
                counted.tcp.charge(&info, inner.sending, &mut charged);
                counted.tcp.add(&info);
            }
        }
        for info in inner.asking.iter().filter_map(|socket| info_of(socket)) {
            counted.asking.add(&info);
        }
        counted
    }
}

fn info_of(socket: &TcpSocket) -> Option<TcpInfo> {
    TcpInfo::decode(&socket.tcp_info().ok()?).ok()
}
