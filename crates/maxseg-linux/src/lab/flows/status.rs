//! What is known of a flow while it runs.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use maxseg_core::stats::Histogram;
use maxseg_core::units::Time;
use maxseg_wire::tcp_info::TcpInfo;

use crate::sys::TcpSocket;

/// A flow's state, shared by its threads and whoever watches it.
#[derive(Debug, Default)]
pub(crate) struct Status {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    counted: FlowCounts,
    /// The open connections whose data the flow's sender sends.
    open: Vec<Arc<TcpSocket>>,
    done: Option<Time>,
    error: Option<io::Error>,
}

/// What a flow counted.
#[derive(Debug, Clone, Default)]
pub(crate) struct FlowCounts {
    /// Payload delivered: of datagrams, of replies, of what iperf3 sent.
    pub(crate) delivered: u64,
    /// Another program ran it and has not told what came of it.
    pub(crate) untold: bool,
    /// How long it lasted, where it was not the whole run.
    pub(crate) lasted: Option<Time>,
    /// CbrFlow or echo requests sent.
    pub(crate) sent: u64,
    /// Echo requests answered, and how long that took.
    pub(crate) pings: Histogram,
    /// RequestFlow answered, and how long that took.
    pub(crate) requests: Histogram,
    /// Connections.
    pub(crate) tcp: TcpTotals,
}

/// What the kernel tells of all connections of a flow's data sender.
#[derive(Debug, Clone, Default)]
pub(crate) struct TcpTotals {
    pub(crate) connections: u64,
    /// Payload acknowledged.
    pub(crate) acknowledged: u64,
    /// Packets with payload that were sent, repeated ones included.
    pub(crate) data_packets: Option<u64>,
    pub(crate) retransmitted_packets: u64,
    pub(crate) retransmitted_bytes: u64,
    pub(crate) timeouts: Option<u64>,
    /// Duplicates that the receiver told of.
    pub(crate) duplicates: u64,
    pub(crate) busy: Option<Time>,
    pub(crate) window_limited: Option<Time>,
    pub(crate) buffer_limited: Option<Time>,
    /// Of the last one.
    pub(crate) mss: Option<u64>,
    pub(crate) rtt_min: Option<Time>,
    /// Sampled: smoothed round trips, bytes in flight.
    pub(crate) samples: u64,
    pub(crate) rtt_sum: f64,
    pub(crate) in_flight_sum: f64,
    pub(crate) in_flight_most: u64,
}

impl TcpTotals {
    /// A connection has ended, or is looked at for the last time.
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
        for (sum, told) in [
            (&mut self.busy, info.busy_time),
            (&mut self.window_limited, info.rwnd_limited),
            (&mut self.buffer_limited, info.sndbuf_limited),
        ] {
            if let Some(told) = told {
                *sum = Some(sum.unwrap_or_default() + told.into());
            }
        }
        self.mss = Some(u64::from(info.snd_mss));
        if let Some(least) = info.min_rtt.map(Time::from) {
            self.rtt_min = Some(self.rtt_min.map_or(least, |known| known.min(least)));
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

/// Bytes sent and not acknowledged.
pub(crate) fn in_flight(info: &TcpInfo) -> u64 {
    match (info.bytes_sent, info.bytes_retrans) {
        (Some(sent), Some(again)) => sent.saturating_sub(again).saturating_sub(acknowledged(info)),
        _ => u64::from(info.unacked) * u64::from(info.snd_mss),
    }
}

impl Status {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A connection stands.
    pub(super) fn opened(&self, socket: &Arc<TcpSocket>) {
        self.lock().open.push(Arc::clone(socket));
    }

    /// A connection is about to be closed.
    pub(super) fn closing(&self, socket: &Arc<TcpSocket>) {
        let info = info_of(socket);
        let mut inner = self.lock();
        inner.open.retain(|open| !Arc::ptr_eq(open, socket));
        if let Some(info) = info {
            inner.counted.tcp.add(&info);
        }
    }

    /// Changes what is counted.
    pub(super) fn count(&self, change: impl FnOnce(&mut FlowCounts)) {
        change(&mut self.lock().counted);
    }

    /// The flow has come to its end.
    pub(super) fn finished(&self, at: Time) {
        self.lock().done.get_or_insert(at);
    }

    /// The flow cannot go on.
    pub(super) fn failed(&self, error: io::Error) {
        self.lock().error.get_or_insert(error);
    }

    /// Whether it is over, and why if it failed.
    ///
    /// # Errors
    /// It failed.
    pub(crate) fn end(&self) -> io::Result<Option<Time>> {
        let mut inner = self.lock();
        match inner.error.take() {
            Some(error) => Err(error),
            None => Ok(inner.done),
        }
    }

    /// Looks at its connections. Gives what the kernel says of the last of them that carries data.
    pub(crate) fn sample(&self) -> Option<TcpInfo> {
        let open = self.lock().open.clone();
        let mut last = None;
        for socket in &open {
            if let Some(info) = info_of(socket) {
                self.lock().counted.tcp.sample(&info);
                last = Some(info);
            }
        }
        last
    }

    /// What it counted until now, its open connections included.
    pub(crate) fn counted(&self) -> FlowCounts {
        let inner = self.lock();
        let mut counted = inner.counted.clone();
        for info in inner.open.iter().filter_map(|socket| info_of(socket)) {
            counted.tcp.add(&info);
        }
        counted
    }
}

/// Payload that the peer of a connection has acknowledged, of one that this side opened: the kernel counts
/// the SYN too.
pub(crate) fn acknowledged(info: &TcpInfo) -> u64 {
    info.bytes_acked.unwrap_or(0).saturating_sub(1)
}

fn info_of(socket: &TcpSocket) -> Option<TcpInfo> {
    TcpInfo::decode(&socket.tcp_info().ok()?).ok()
}
