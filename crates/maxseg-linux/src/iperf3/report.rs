//! The report of an iperf3 client or server (`--json`).
//!
//! Keys differ between versions, occur twice with several streams, and are absent after an error, which leaves the
//! exit code 0. Every key is therefore optional here.

use std::time::Duration;

use serde_json::Value;
use thiserror::Error;

/// The report of a test. `None` where a key is absent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report {
    /// The program's version, such as `iperf 3.12`.
    pub version: Option<String>,
    /// Why the test failed; the other values are from before the failure. The exit code is 0 all the same.
    pub error: Option<String>,
    /// The requested MSS (`-M`), not the effective one.
    pub mss_asked: Option<u64>,
    /// Without a requested MSS: the MSS of the control connection, over the same path.
    pub mss_default: Option<u64>,
    /// Send buffer as the kernel accounts it, in bytes.
    pub send_buffer_bytes: Option<u64>,
    /// Receive buffer as the kernel accounts it, in bytes.
    pub receive_buffer_bytes: Option<u64>,
    /// The sender's congestion control.
    pub sender_congestion: Option<String>,
    /// Sent by all streams.
    pub sent: Option<Sum>,
    /// Received by all streams: the goodput.
    pub received: Option<Sum>,
    /// One entry per stream.
    pub streams: Vec<StreamEnd>,
    /// One entry per interval.
    pub intervals: Vec<Interval>,
    /// The server's report, where it is JSON.
    pub server: Option<Box<Report>>,
}

/// Bytes transferred in a time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Sum {
    /// Time since the start of the test, in seconds.
    pub end_s: Option<f64>,
    /// Payload in bytes.
    pub bytes: Option<u64>,
    /// Payload in bits per second.
    pub bits_per_second: Option<f64>,
    /// Retransmitted segments; senders only.
    pub retransmits: Option<u64>,
}

/// The totals of a stream.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct StreamEnd {
    /// Sent.
    pub sent: Sum,
    /// Received.
    pub received: Sum,
    /// Largest congestion window of all intervals, in bytes.
    pub max_snd_cwnd_bytes: Option<u64>,
    /// Least smoothed RTT of all intervals.
    pub min_rtt: Option<Duration>,
    /// Mean of the smoothed RTTs.
    pub mean_rtt: Option<Duration>,
}

/// An interval of the test.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Interval {
    /// The sum of all streams.
    pub sum: Sum,
    /// One entry per stream.
    pub streams: Vec<Sample>,
}

/// A stream in an interval; the kernel's values are those at its end, and senders only.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Sample {
    /// The socket's file descriptor, which identifies the connection.
    pub socket: Option<u64>,
    /// Bytes transferred.
    pub sum: Sum,
    /// Congestion window in bytes, a multiple of the effective MSS.
    pub snd_cwnd_bytes: Option<u64>,
    /// Advertised window of the receiver in bytes; iperf3 3.10 and later.
    pub snd_wnd_bytes: Option<u64>,
    /// Smoothed RTT.
    pub rtt: Option<Duration>,
    /// Mean deviation of the RTT.
    pub rttvar: Option<Duration>,
    /// Path MTU of the connection, in bytes.
    pub pmtu: Option<u64>,
}

/// The output is not a report. After an invalid argument iperf3 prints its usage, and the error on standard error.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("iperf3 printed `{begin}` instead of a report")]
pub struct NoReport {
    /// The beginning of the output.
    pub begin: String,
}

impl Report {
    /// Parses the output of iperf3.
    ///
    /// # Errors
    /// The output is not a JSON object.
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
            sent: at("/end/sum_sent").map(Sum::of),
            received: at("/end/sum_received").map(Sum::of),
            streams: list(at("/end/streams"), StreamEnd::of),
            intervals: list(at("/intervals"), Interval::of),
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

#[cfg(test)]
mod tests;
