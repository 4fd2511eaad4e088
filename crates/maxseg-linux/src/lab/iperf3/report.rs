//! What an iperf3 client, or server, reports with `--json`.
//!
//! The document's keys differ between versions, stand twice with several streams, and are absent after an
//! error; iperf3 then ends with exit code 0 all the same. So everything is read as far as it is there.

use std::time::Duration;

use serde_json::Value;
use thiserror::Error;

/// A test's report. What it does not say is `None`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report {
    /// The program's, such as `iperf 3.12`.
    pub version: Option<String>,
    /// Why the test failed; whatever else is here is from before. The exit code does not tell.
    pub error: Option<String>,
    /// The MSS that was asked (`-M`), which nothing says was had.
    pub mss_asked: Option<u64>,
    /// Where none was asked: the payload of full segments on the control connection, over the same path.
    pub mss_default: Option<u64>,
    /// The send buffer as the kernel books it, bytes.
    pub send_buffer_bytes: Option<u64>,
    /// The receive buffer as the kernel books it, bytes.
    pub receive_buffer_bytes: Option<u64>,
    /// The sender's congestion control.
    pub sender_congestion: Option<String>,
    /// The receiver's congestion control.
    pub receiver_congestion: Option<String>,
    /// What the sender wrote, over all streams.
    pub sent: Option<Sum>,
    /// What the receiver read, over all streams: the goodput.
    pub received: Option<Sum>,
    /// Stream by stream.
    pub streams: Vec<StreamEnd>,
    /// From time to time.
    pub intervals: Vec<Interval>,
    /// What it cost.
    pub cpu: Option<Cpu>,
    /// The server's report, where it gave one as JSON.
    pub server: Option<Box<Report>>,
}

/// Bytes over a time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Sum {
    /// Since the test's begin, seconds.
    pub start_s: Option<f64>,
    /// Since the test's begin, seconds.
    pub end_s: Option<f64>,
    /// Payload.
    pub bytes: Option<u64>,
    /// Payload bits a second.
    pub bits_per_second: Option<f64>,
    /// Segments sent again; a sender's only.
    pub retransmits: Option<u64>,
}

/// A stream's whole.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct StreamEnd {
    /// What the sender wrote.
    pub sent: Sum,
    /// What the receiver read.
    pub received: Sum,
    /// The largest congestion window that an interval saw, bytes.
    pub max_snd_cwnd_bytes: Option<u64>,
    /// The least smoothed round-trip time that an interval saw.
    pub min_rtt: Option<Duration>,
    /// The mean of the smoothed round-trip times.
    pub mean_rtt: Option<Duration>,
    /// The greatest smoothed round-trip time that an interval saw.
    pub max_rtt: Option<Duration>,
}

/// A span of the test.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Interval {
    /// Over all streams.
    pub sum: Sum,
    /// Stream by stream.
    pub streams: Vec<Sample>,
}

/// A stream in an interval; the kernel's numbers are those at its end, and a sender's only.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Sample {
    /// Which connection: the descriptor in the program.
    pub socket: Option<u64>,
    /// What went through.
    pub sum: Sum,
    /// The congestion window in segments times the MSS, bytes: a multiple of the effective MSS.
    pub snd_cwnd_bytes: Option<u64>,
    /// The window that the receiver advertised, bytes; from iperf3 3.10 on.
    pub snd_wnd_bytes: Option<u64>,
    /// The smoothed round-trip time.
    pub rtt: Option<Duration>,
    /// Its mean deviation.
    pub rttvar: Option<Duration>,
    /// The path MTU that the connection goes by, bytes.
    pub pmtu: Option<u64>,
}

/// Processor time as percents of one core.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cpu {
    /// Of the end that reports.
    pub host_total: Option<f64>,
    /// In the program.
    pub host_user: Option<f64>,
    /// In the kernel, for the program; not what interrupts take.
    pub host_system: Option<f64>,
    /// Of the other end.
    pub remote_total: Option<f64>,
    /// In the program.
    pub remote_user: Option<f64>,
    /// In the kernel.
    pub remote_system: Option<f64>,
}

/// What was printed is no report: as after a wrong argument, when iperf3 prints its usage and says on
/// standard error what is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("iperf3 printed no report but `{begin}`")]
pub struct NoReport {
    /// How it begins.
    pub begin: String,
}

impl Report {
    /// The report in what iperf3 printed.
    ///
    /// # Errors
    /// It is no JSON object.
    pub fn parse(text: &str) -> Result<Self, NoReport> {
        let document = serde_json::from_str(text).ok().filter(Value::is_object);
        document.as_ref().map(Self::of).ok_or_else(|| {
            let first = text.trim_start().lines().next().unwrap_or_default();
            NoReport { begin: first.chars().take(60).collect() }
        })
    }

    fn of(document: &Value) -> Self {
        let at = |path| document.pointer(path);
        let number = |path| at(path).and_then(Value::as_u64);
        let text = |path| at(path).and_then(Value::as_str).map(str::to_owned);
        Self {
            version: text("/start/version"),
            error: text("/error"),
            mss_asked: number("/start/tcp_mss"),
            mss_default: number("/start/tcp_mss_default"),
            send_buffer_bytes: number("/start/sndbuf_actual"),
            receive_buffer_bytes: number("/start/rcvbuf_actual"),
            sender_congestion: text("/end/sender_tcp_congestion"),
            receiver_congestion: text("/end/receiver_tcp_congestion"),
            sent: at("/end/sum_sent").map(Sum::of),
            received: at("/end/sum_received").map(Sum::of),
            streams: list(at("/end/streams"), StreamEnd::of),
            intervals: list(at("/intervals"), Interval::of),
            cpu: at("/end/cpu_utilization_percent").map(Cpu::of),
            server: at("/server_output_json")
                .filter(|server| server.is_object())
                .map(|server| Box::new(Self::of(server))),
        }
    }
}

fn list<T>(found: Option<&Value>, of: impl Fn(&Value) -> T) -> Vec<T> {
    found.and_then(Value::as_array).map(|items| items.iter().map(of).collect()).unwrap_or_default()
}

fn count(object: &Value, key: &str) -> Option<u64> {
    object.get(key)?.as_u64()
}

fn float(object: &Value, key: &str) -> Option<f64> {
    object.get(key)?.as_f64()
}

fn micros(object: &Value, key: &str) -> Option<Duration> {
    count(object, key).map(Duration::from_micros)
}

impl Sum {
    fn of(object: &Value) -> Self {
        Self {
            start_s: float(object, "start"),
            end_s: float(object, "end"),
            bytes: count(object, "bytes"),
            bits_per_second: float(object, "bits_per_second"),
            retransmits: count(object, "retransmits"),
        }
    }
}

impl StreamEnd {
    fn of(object: &Value) -> Self {
        let end = |key| object.get(key).unwrap_or(&Value::Null);
        let sender = end("sender");
        Self {
            sent: Sum::of(sender),
            received: Sum::of(end("receiver")),
            max_snd_cwnd_bytes: count(sender, "max_snd_cwnd"),
            min_rtt: micros(sender, "min_rtt"),
            mean_rtt: micros(sender, "mean_rtt"),
            max_rtt: micros(sender, "max_rtt"),
        }
    }
}

impl Interval {
    fn of(object: &Value) -> Self {
        Self {
            sum: Sum::of(object.get("sum").unwrap_or(&Value::Null)),
            streams: list(object.get("streams"), Sample::of),
        }
    }
}

impl Sample {
    fn of(object: &Value) -> Self {
        Self {
            socket: count(object, "socket"),
            sum: Sum::of(object),
            snd_cwnd_bytes: count(object, "snd_cwnd"),
            snd_wnd_bytes: count(object, "snd_wnd"),
            rtt: micros(object, "rtt"),
            rttvar: micros(object, "rttvar"),
            pmtu: count(object, "pmtu"),
        }
    }
}

impl Cpu {
    fn of(object: &Value) -> Self {
        Self {
            host_total: float(object, "host_total"),
            host_user: float(object, "host_user"),
            host_system: float(object, "host_system"),
            remote_total: float(object, "remote_total"),
            remote_user: float(object, "remote_user"),
            remote_system: float(object, "remote_system"),
        }
    }
}

#[cfg(test)]
mod tests;
