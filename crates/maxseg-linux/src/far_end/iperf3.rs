//! An iperf3 server as the far end, by the installed iperf3.

use std::io;
use std::net::SocketAddr;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use maxseg_wire::inet_diag::Sample;
use maxseg_wire::responder::{SenderSample, Towards};
use maxseg_wire::tcp_info::TcpInfo;

use super::transfer::{BulkPlan, BulkResult, BulkSeries, Granted};
use super::{FarEndError, Pings};
use crate::iperf3::{Amount, Bulk, Interval, Report, Version, version_of};
use crate::sys::run_to_end;

/// The program's name, looked up in `PATH`.
const PROGRAM: &str = "iperf3";

/// Between two samples: slow start must be told apart from what follows it.
const INTERVAL: Duration = Duration::from_millis(100);

/// After the time of a transfer, iperf3 has so long to end: a server that is stopped never answers.
const GRACE: Duration = Duration::from_secs(30);

/// What iperf3 says where `SO_SNDBUF` or `SO_RCVBUF` was not granted (`IESETBUF` and `IESETBUF2` in its `iperf_error.c`).
const NO_BUFFER: &str = "socket buffer size";

/// An iperf3 server that somebody else runs.
#[derive(Debug)]
pub struct Iperf3Server<'a> {
    address: SocketAddr,
    version: Version,
    stop: &'a AtomicBool,
}

impl<'a> Iperf3Server<'a> {
    /// Nothing is sent to it yet.
    ///
    /// # Errors
    /// iperf3 is not installed here, or too old.
    pub fn new(address: SocketAddr, stop: &'a AtomicBool) -> Result<Self, FarEndError> {
        Ok(Self { address, version: version_of(&mut Command::new(PROGRAM))?, stop })
    }

    /// Where it is.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The largest buffer that this host's kernel grants to iperf3's `-w`, which sets both of a socket: a window above it is not
    /// advertised (`net.core.rmem_max` and `wmem_max`, socket(7)).
    pub fn most_window() -> Option<u32> {
        let of = |name| std::fs::read_to_string(format!("/proc/sys/net/core/{name}")).ok();
        let number = |name| of(name)?.trim().parse::<u32>().ok();
        number("rmem_max").into_iter().chain(number("wmem_max")).min()
    }

    /// Makes a transfer. Its samples are the intervals of iperf3's report: ten a second of this host's, those of the far end as its
    /// server was started.
    ///
    /// # Errors
    /// iperf3 failed, at either end; [`FarEndError::BufferRefused`] where a kernel does not grant the buffer.
    pub fn bulk(&self, plan: &BulkPlan) -> Result<BulkResult, FarEndError> {
        let bulk = Bulk {
            server: self.address.ip(),
            port: self.address.port(),
            bind: None,
            amount: Amount::Time(plan.time),
            is_reverse: plan.towards == Towards::Client,
            streams: plan.connections.into(),
            mss: plan.mss,
            // The kernel doubles what iperf3 asks for, and half of that is for its own overhead.
            buffer_bytes: plan.window.map(u64::from),
            write_rate: None,
            pacing_rate: None,
            congestion: plan.congestion.clone(),
            interval: INTERVAL,
            connect_timeout: Duration::from_secs(10),
        };
        let mut command = Command::new(PROGRAM);
        command.args(bulk.client(self.version)?);
        let longest = plan.time + GRACE;
        let output = run_to_end(command, self.stop, Some(longest)).map_err(|error| {
            if error.kind() == io::ErrorKind::TimedOut {
                FarEndError::Iperf3Late { longest }
            } else {
                FarEndError::Io(error)
            }
        })?;
        if self.stop.load(Ordering::Relaxed) {
            return Err(FarEndError::Stopped);
        }
        let report = Report::parse(&String::from_utf8_lossy(&output.stdout))?;
        if let Some(error) = &report.error {
            let is_buffer = plan.window.filter(|_| error.contains(NO_BUFFER));
            return Err(match is_buffer {
                Some(bytes) => FarEndError::BufferRefused { bytes },
                None => FarEndError::Iperf3(error.clone()),
            });
        }
        Ok(result_of(&report, plan.towards, self.address.ip().to_canonical().is_ipv6()))
    }
}

/// The senders' and receivers' reports as one result.
fn result_of(client: &Report, towards: Towards, is_v6: bool) -> BulkResult {
    let server = client.server.as_deref();
    let (sender, receiver) = match towards {
        Towards::Responder => (Some(client), server),
        Towards::Client => (server, Some(client)),
    };
    let senders = sender.map_or(&[][..], |report| &report.intervals);
    // What arrives counts; where the receiver's report is not there, what the sender wrote.
    let receivers = receiver.map_or(&[][..], |report| &report.intervals);
    let counted = if receivers.is_empty() { senders } else { receivers };
    let count = counted.iter().map(|interval| interval.streams.len()).max().unwrap_or(0);
    let mss = client.mss_asked.or(client.mss_default).and_then(|mss| u32::try_from(mss).ok());
    let series = (0..count).map(|stream| series_of(stream, counted, senders, mss)).collect();
    let small = |bytes: Option<u64>| bytes.and_then(|bytes| u32::try_from(bytes).ok());
    BulkResult {
        series,
        granted: Granted {
            send_buffer: small(sender.and_then(|report| report.send_buffer_bytes)),
            receive_buffer: small(receiver.and_then(|report| report.receive_buffer_bytes)),
            window_clamp: None,
            congestion: client.sender_congestion.clone(),
        },
        pings: Pings::default(),
        has_sockets: false,
        is_v6,
        began: None,
    }
}

fn series_of(
    stream: usize,
    counted: &[Interval],
    senders: &[Interval],
    mss: Option<u32>,
) -> BulkSeries {
    let Ok(mut info) = TcpInfo::decode(&[0; TcpInfo::LEAST]) else { return BulkSeries::default() };
    info.snd_mss = mss.unwrap_or_default();
    let (mut acked, mut resent, mut samples) = (0_u64, 0_u64, Vec::new());
    let mut take = |at: f64, info: TcpInfo| {
        let sample = Sample { info, memory: None, bbr: None, unread_bytes: 0, unacked_bytes: 0 };
        // A server's report may hold any number.
        let at = Duration::try_from_secs_f64(at.max(0.0)).unwrap_or_default();
        samples.push(SenderSample { at, sample });
    };
    take(0.0, info);
    // Unknown is not zero: the server's report may be absent, and only Linux counts what is sent again.
    let resends = |interval: &Interval| interval.streams.get(stream)?.sum.retransmits;
    let mss = mss.filter(|_| senders.iter().any(|interval| resends(interval).is_some()));
    let mut senders = senders.iter().peekable();
    for interval in counted {
        let Some(of) = interval.streams.get(stream) else { continue };
        let until_s = of.sum.end_s.unwrap_or_default();
        acked = acked.saturating_add(of.sum.bytes.unwrap_or_default());
        // Both ends have intervals of their own.
        let is_by_then = |interval: &&Interval| {
            interval.sum.end_s.is_some_and(|end| end <= until_s + INTERVAL.as_secs_f64() / 2.0)
        };
        while let Some(interval) = senders.next_if(is_by_then) {
            let Some(sender) = interval.streams.get(stream) else { continue };
            resent = resent.saturating_add(sender.sum.retransmits.unwrap_or_default());
            info.rtt = sender.rtt.unwrap_or_default();
            info.rttvar = sender.rttvar.unwrap_or_default();
            info.snd_wnd = sender.snd_wnd_bytes.and_then(|bytes| u32::try_from(bytes).ok());
            let cwnd = sender.snd_cwnd_bytes.unwrap_or_default() / u64::from(info.snd_mss.max(1));
            info.snd_cwnd = u32::try_from(cwnd).unwrap_or(u32::MAX);
        }
        info.total_retrans = u32::try_from(resent).unwrap_or(u32::MAX);
        let resent_bytes = mss.map(|mss| resent.saturating_mul(u64::from(mss)));
        info.bytes_acked = Some(acked);
        info.bytes_retrans = resent_bytes;
        info.bytes_sent = resent_bytes.map(|bytes| acked.saturating_add(bytes));
        take(until_s, info);
    }
    BulkSeries { samples }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::iperf3::{Sample as StreamSample, Sum};

    fn interval(end_s: f64, bytes: u64, retransmits: u64) -> Interval {
        let sum = Sum {
            end_s: Some(end_s),
            bytes: Some(bytes),
            retransmits: Some(retransmits),
            ..Sum::default()
        };
        Interval { sum, streams: vec![StreamSample { sum, ..StreamSample::default() }] }
    }

    #[test]
    fn the_ends_may_report_at_times_of_their_own() {
        let arrived = [interval(1.0, 1000, 0), interval(2.0, 1000, 0)];
        let sent: Vec<Interval> =
            (1_u32..=20).map(|tenth| interval(f64::from(tenth) / 10.0, 0, 1)).collect();
        let series = series_of(0, &arrived, &sent, Some(100));
        let of = |sample: &SenderSample| {
            let info = sample.sample.info;
            (sample.at.as_secs(), info.bytes_acked, info.bytes_retrans)
        };
        let samples: Vec<_> = series.samples.iter().skip(1).map(of).collect();
        assert_eq!(samples, [(1, Some(1000), Some(1000)), (2, Some(2000), Some(2000))]);
        // Seen from the end that tells more often.
        let series = series_of(0, &sent, &arrived, Some(100));
        let ninth = series.samples[9].sample.info;
        assert_eq!((ninth.bytes_retrans, series.samples.len()), (Some(0), 21));
        let series = series_of(0, &arrived, &[], Some(100));
        assert_eq!(series.samples[2].sample.info.bytes_retrans, None, "unknown is not zero");
    }
}
