//! A connection and a listening socket in the document.

use std::borrow::Cow;
use std::net::SocketAddr;
use std::time::Duration;

use maxseg_core::diagnose::{SocketFinding, socket_findings};
use maxseg_core::evidence::SocketEvidence;
use maxseg_core::outcome::{LimitShare, LimitedBy};
use maxseg_wire::inet_diag::TimerKind;
use maxseg_wire::tcp_info::TcpInfo;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use crate::connections::{Connection, Listener, Owner};

/// A connection. Numbers are the kernel's (`tcp_info`), null where it does not tell; counters are since the
/// connection's beginning.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ConnectionEntry<'a> {
    /// The network namespace: a name, or `pid:PID`; null for the program's own.
    netns: Option<&'a str>,
    /// This end.
    #[serde(serialize_with = "address")]
    #[schemars(with = "String")]
    local: SocketAddr,
    /// The peer's end.
    #[serde(serialize_with = "address")]
    #[schemars(with = "String")]
    remote: SocketAddr,
    /// The state, as `established`; `closed` of a connection that ended since the sample before.
    state: &'static str,
    /// The process that has it open; of several the one that began first, or the one that was asked for.
    process: Option<ProcessEntry<'a>>,
    /// Payload of the largest segment that is sent.
    mss_bytes: Option<u32>,
    /// Payload of the peer's segments, as guessed from what has arrived.
    rcv_mss_bytes: Option<u32>,
    /// The MSS that was advertised, less the options of every segment.
    advmss_bytes: Option<u32>,
    /// The path MTU that the connection goes by.
    pmtu_bytes: Option<u32>,
    /// The window that the peer last advertised.
    snd_wnd_bytes: Option<u32>,
    /// The window that was last advertised to the peer.
    rcv_wnd_bytes: Option<u32>,
    /// Bytes that the application took within a round trip: what the window's growth goes by.
    rcv_space_bytes: Option<u32>,
    /// The congestion window.
    cwnd_segments: Option<u32>,
    /// The slow-start threshold; null until something has set one.
    ssthresh_segments: Option<u32>,
    /// The smoothed round-trip time; null where there is no sample.
    rtt_s: Option<f64>,
    /// Its mean deviation.
    rttvar_s: Option<f64>,
    /// The least round-trip time of late.
    min_rtt_s: Option<f64>,
    /// The retransmission timeout, back-off included.
    rto_s: Option<f64>,
    /// Segments sent again.
    retransmitted_segments: Option<u32>,
    /// Payload sent, repeated bytes included.
    bytes_sent: Option<u64>,
    /// Payload sent again.
    bytes_retransmitted: Option<u64>,
    /// Payload acknowledged, and a byte each for the SYN that this host sent and for its FIN.
    bytes_acked: Option<u64>,
    /// Payload received in order, and a byte for the peer's FIN.
    bytes_received: Option<u64>,
    /// The latest sample of the rate at which data arrived.
    delivery_rate_bps: Option<f64>,
    /// The rate at which segments are spaced; null without pacing.
    pacing_rate_bps: Option<f64>,
    /// Time with data to send or to be acknowledged.
    busy_s: Option<f64>,
    /// Time of it during which the peer's window was the limit.
    rwnd_limited_s: Option<f64>,
    /// Time of it during which the send buffer was the limit.
    sndbuf_limited_s: Option<f64>,
    /// Bytes sent and not acknowledged.
    in_flight_bytes: Option<u32>,
    /// `TCP_WINDOW_CLAMP`, read from the socket itself, which takes root or the same user.
    clamp_bytes: Option<u32>,
    /// Whether the program has set `SO_RCVBUF` (`SO_BUF_LOCK`), read likewise.
    rcvbuf_is_set: Option<bool>,
    /// Whether it has set `SO_SNDBUF`.
    sndbuf_is_set: Option<bool>,
    /// Why these three were not read.
    clamp_unread_because: Option<&'a str>,
    /// The congestion control.
    congestion: Option<&'a str>,
    /// The upper-layer protocol: `tls`, or `mptcp` of a subflow of Multipath TCP (RFC 8684); null where there is none, and
    /// where this user is not told (`CAP_NET_ADMIN`, or a subflow of a process of its own).
    upper_layer: Option<&'a str>,
    /// What limits it, since the sample before or since its beginning; null without `tcp_info`.
    limited_by: Option<LimitedBy>,
    /// An estimate from 0 to 1 of how sure that is.
    confidence: Option<f64>,
    /// Why the limit is unknown, and what would show it.
    unknown_because: Option<Cow<'static, str>>,
    /// Shares of the time, largest first.
    limits: Vec<LimitShare>,
    /// What else there is to know.
    findings: Vec<FindingEntry>,
    /// Payload per second that was acknowledged since the sample before.
    sent_bps: Option<f64>,
    /// Payload per second that arrived since the sample before.
    received_bps: Option<f64>,
    /// Bytes that were written and not acknowledged.
    send_queue_bytes: u32,
    /// Bytes that arrived in order and were not read.
    receive_queue_bytes: u32,
    /// The send buffer's limit, in the kernel's accounting (twice `SO_SNDBUF`).
    sndbuf_bytes: Option<u32>,
    /// The receive buffer's limit, likewise.
    rcvbuf_bytes: Option<u32>,
    /// The timer that runs.
    timer: Option<TimerEntry>,
    /// The user that opened it.
    uid: u32,
    /// Index of the interface to which it is bound, as those of link-local addresses are; null for none.
    interface_index: Option<u32>,
}

/// A process.
#[derive(Debug, Serialize, JsonSchema)]
struct ProcessEntry<'a> {
    /// Its number.
    pid: u32,
    /// Its name, up to 15 characters.
    name: &'a str,
}

/// A fact about a connection.
#[derive(Debug, Serialize, JsonSchema)]
struct FindingEntry {
    /// What kind of fact.
    code: &'static str,
    /// The fact in a sentence.
    text: String,
}

/// A timer.
#[derive(Debug, Serialize, JsonSchema)]
struct TimerEntry {
    /// `retransmission`, `keep-alive`, `time-wait`, `window-probe` or `other`.
    kind: &'static str,
    /// Until it runs out.
    expires_s: f64,
    /// How often it has run out since the last acknowledgement.
    expiries: u8,
}

/// A listening socket.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::report) struct ListenerEntry<'a> {
    /// The network namespace; null for the program's own.
    netns: Option<&'a str>,
    /// Where it listens.
    #[schemars(with = "String")]
    local: SocketAddr,
    /// The process that has it open; of several the one that began first, or the one that was asked for.
    process: Option<ProcessEntry<'a>>,
    /// Connections that wait to be accepted.
    queued: u32,
    /// The limit of the queue.
    limit: u32,
    /// SYNs and handshakes that were dropped at this socket, mostly because the queue was full. Null where they cannot be told from what
    /// a socket drops on purpose (`TCP_DEFER_ACCEPT`), and where the counters of the host are not known.
    overflows: Option<u32>,
}

impl<'a> ConnectionEntry<'a> {
    /// The entry of a connection.
    pub fn of(connection: &'a Connection) -> Self {
        let info = connection.sample.as_ref().map(|sample| &sample.info);
        let memory = connection.sample.as_ref().and_then(|sample| sample.memory);
        let number = |of: fn(&TcpInfo) -> Option<u32>| info.and_then(of);
        let long = |of: fn(&TcpInfo) -> Option<u64>| info.and_then(of);
        let span = |of: fn(&TcpInfo) -> Option<Duration>| info.and_then(of).map(seconds);
        let evidence = connection.evidence();
        let diagnosis = connection.diagnosis();
        let (limited_by, confidence, unknown_because, limits) = match diagnosis {
            Some(found) => (
                Some(found.limited_by),
                Some(found.confidence),
                found.unknown_because,
                found.limits,
            ),
            None => (None, None, None, Vec::new()),
        };
        Self {
            netns: connection.netns.as_deref(),
            local: connection.local,
            remote: connection.remote,
            state: connection.state_name(),
            process: connection.process.as_ref().map(ProcessEntry::of),
            mss_bytes: info.map(|info| info.snd_mss),
            rcv_mss_bytes: info.map(|info| info.rcv_mss),
            advmss_bytes: info.map(|info| info.advmss),
            pmtu_bytes: info.map(|info| info.pmtu),
            snd_wnd_bytes: number(|info| info.snd_wnd),
            rcv_wnd_bytes: number(|info| info.rcv_wnd),
            rcv_space_bytes: info.map(|info| info.rcv_space),
            cwnd_segments: info.map(|info| info.snd_cwnd),
            ssthresh_segments: number(|info| info.snd_ssthresh),
            rtt_s: span(|info| measured(info.rtt)),
            rttvar_s: span(|info| measured(info.rtt).map(|_| info.rttvar)),
            min_rtt_s: span(|info| info.min_rtt),
            rto_s: info.map(|info| seconds(info.rto)),
            retransmitted_segments: info.map(|info| info.total_retrans),
            bytes_sent: long(|info| info.bytes_sent),
            bytes_retransmitted: long(|info| info.bytes_retrans),
            bytes_acked: long(|info| info.bytes_acked),
            bytes_received: long(|info| info.bytes_received),
            delivery_rate_bps: info.and_then(TcpInfo::delivery_bps),
            pacing_rate_bps: info.and_then(TcpInfo::pacing_bps),
            busy_s: span(|info| info.busy_time),
            rwnd_limited_s: span(|info| info.rwnd_limited),
            sndbuf_limited_s: span(|info| info.sndbuf_limited),
            in_flight_bytes: connection.in_flight_bytes(),
            clamp_bytes: connection.options.window_clamp,
            rcvbuf_is_set: connection.options.buffers_set.map(|[_, receive]| receive),
            sndbuf_is_set: connection.options.buffers_set.map(|[send, _]| send),
            clamp_unread_because: connection.options.unread_because.as_deref(),
            congestion: connection.congestion.as_deref(),
            upper_layer: connection.upper_layer.as_deref(),
            limited_by,
            confidence,
            unknown_because,
            limits,
            findings: findings(evidence.as_ref()),
            sent_bps: connection.sent_bps(),
            received_bps: connection.received_bps(),
            send_queue_bytes: connection.send_queue_bytes,
            receive_queue_bytes: connection.receive_queue_bytes,
            sndbuf_bytes: memory.map(|memory| memory.send_buffer),
            rcvbuf_bytes: memory.map(|memory| memory.receive_buffer),
            timer: connection.timer.map(|timer| TimerEntry {
                kind: timer_word(timer.kind),
                expires_s: seconds(timer.expires_in),
                expiries: timer.expiries,
            }),
            uid: connection.uid,
            interface_index: Some(connection.interface).filter(|index| *index != 0),
        }
    }
}

impl<'a> ListenerEntry<'a> {
    pub(in crate::report) fn of(listener: &'a Listener) -> Self {
        Self {
            netns: listener.netns.as_deref(),
            local: listener.local,
            process: listener.process.as_ref().map(ProcessEntry::of),
            queued: listener.queued,
            limit: listener.limit,
            overflows: listener.overflows,
        }
    }
}

impl<'a> ProcessEntry<'a> {
    fn of(owner: &'a Owner) -> Self {
        Self { pid: owner.pid, name: &owner.name }
    }
}

/// An address as `Display` writes it; one of IPv4 without its formatter, which is most of the time of an entry.
fn address<S: Serializer>(address: &SocketAddr, to: S) -> Result<S::Ok, S::Error> {
    let SocketAddr::V4(v4) = address else { return to.collect_str(address) };
    let mut digits = Digits { text: [0; LONGEST], from: LONGEST };
    digits.number(v4.port());
    let [a, b, c, d] = v4.ip().octets();
    for (octet, before) in [(d, b':'), (c, b'.'), (b, b'.'), (a, b'.')] {
        digits.put(before);
        digits.number(octet.into());
    }
    to.serialize_str(std::str::from_utf8(&digits.text[digits.from..]).unwrap_or_default())
}

/// Characters of `255.255.255.255:65535`.
const LONGEST: usize = 21;

/// Text that is written from its end.
struct Digits {
    text: [u8; LONGEST],
    from: usize,
}

impl Digits {
    fn put(&mut self, character: u8) {
        self.from -= 1;
        self.text[self.from] = character;
    }

    fn number(&mut self, mut number: u16) {
        loop {
            let [_, digit] = (number % 10).to_be_bytes();
            self.put(b'0' + digit);
            number /= 10;
            if number == 0 {
                return;
            }
        }
    }
}

fn findings(evidence: Option<&SocketEvidence>) -> Vec<FindingEntry> {
    let found = evidence.map(socket_findings);
    let entry =
        |finding: SocketFinding| FindingEntry { code: finding.kind.word(), text: finding.text };
    found.into_iter().flatten().map(entry).collect()
}

const fn timer_word(kind: TimerKind) -> &'static str {
    match kind {
        TimerKind::Retransmission => "retransmission",
        TimerKind::KeepAlive => "keep-alive",
        TimerKind::TimeWait => "time-wait",
        TimerKind::WindowProbe => "window-probe",
        TimerKind::Other(_) => "other",
    }
}

/// A smoothed round-trip time of zero is none: there was no sample.
fn measured(rtt: Duration) -> Option<Duration> {
    (!rtt.is_zero()).then_some(rtt)
}

fn seconds(span: Duration) -> f64 {
    span.as_secs_f64()
}
