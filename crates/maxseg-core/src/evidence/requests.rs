//! Requests and replies: which end waited for the other, and how long.

use serde::{Deserialize, Serialize};

/// The requests of a connection and the waits between them. A turn is a request of the client and the server's reply:
/// the first new payload of one end that acknowledges all payload of the other.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Requests {
    /// Requests with a reply.
    pub turns: u32,
    /// From the SYN-ACK, or the first payload where that was not captured, to the last payload, in seconds.
    pub span_s: f64,
    /// From the arrival of the last byte of a request to the first byte of its reply: without the round trip, and without queues on
    /// the way, as far as acknowledgements tell them.
    pub server: Waits,
    /// From the arrival of the last byte of a reply, or the SYN-ACK, to the first byte of the next request, likewise.
    pub think: Waits,
    /// How much of `think` came before the first request, from the SYN-ACK on, in seconds; 0 where the SYN-ACK was not captured.
    #[serde(default)]
    pub first_think_s: f64,
    /// Round trips that requests and replies took, in seconds: one for each turn.
    pub round_trips_s: f64,
    /// How long the last bytes of requests were on their way beyond the least round trip, in seconds, as far as their acknowledgements
    /// show it.
    #[serde(default)]
    pub requests_queued_s: f64,
    /// The same of replies.
    #[serde(default)]
    pub replies_queued_s: f64,
    /// Segments below half the MSS that were sent when the delayed acknowledgement of one like them arrived: Nagle's
    /// algorithm (RFC 9293 §3.7.4) against delayed ACKs (RFC 9293 §3.8.6.3).
    pub nagle: Waits,
    /// Those of these segments that were the client's.
    #[serde(default)]
    pub held_of_client: u32,
    /// Small rests of messages that left about an RTO after the full segments before them were acknowledged, as Linux's timer lets go what
    /// `TCP_CORK` or `MSG_MORE` holds: from that acknowledgement on.
    #[serde(default)]
    pub corked: Waits,
    /// Those of these rests that were the client's.
    #[serde(default)]
    pub corked_of_client: u32,
}

/// A kind of wait.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Waits {
    /// Their number.
    pub count: u32,
    /// Their sum, in seconds.
    pub total_s: f64,
    /// How much of that may be of a queue on the way, in seconds.
    #[serde(default)]
    pub unsure_s: f64,
    /// Their median, in seconds; `None` without any.
    pub p50_s: Option<f64>,
    /// Their 99th percentile, in seconds.
    pub p99_s: Option<f64>,
}
