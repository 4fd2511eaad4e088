//! How a connection began and ended.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Direction;
use crate::units::Time;

/// How a connection began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handshake {
    /// Whether a SYN was seen.
    pub syn: bool,
    /// Whether a SYN with ACK was seen.
    pub syn_ack: bool,
    /// SYNs of the client, retransmissions included.
    pub syn_packets: u32,
    /// When the last of them passed.
    pub last_syn: Option<Time>,
    /// SYN-ACKs of the server, retransmissions included.
    pub syn_ack_packets: u32,
    /// When the client acknowledged one.
    pub done: Option<Time>,
    /// Between point of capture and server, there and back: from the SYN to the SYN-ACK; `None` where either was
    /// retransmitted (Karn, RFC 6298 §3).
    pub server_rtt: Option<Time>,
    /// Between point of capture and client, there and back: from the answer to what acknowledged it.
    pub client_rtt: Option<Time>,
}

impl Handshake {
    /// The whole path there and back.
    pub fn rtt(&self) -> Option<Time> {
        Some(self.server_rtt? + self.client_rtt?)
    }
}

/// How a connection ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// The server answered the SYN with a RST (RFC 9293 §3.10.7.1).
    Refused,
    /// The SYN was not answered.
    NoAnswer,
    /// The client sent the first RST.
    ResetByClient,
    /// The server sent the first RST.
    ResetByServer,
    /// One end stopped answering: retransmissions or probes of the other were not answered up to the last packet.
    GoneSilent,
    /// Both ends sent FIN.
    Closed,
    /// One end sent FIN.
    HalfClosed,
    /// It was open at its last packet.
    #[default]
    StillOpen,
}

/// Retransmissions or probes without any answer, up to the last packet of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Silence {
    /// The direction whose segments were not answered: its receiver is silent.
    pub direction: Direction,
    /// The last packet of the silent end.
    pub from: Time,
    /// The last segment that was not answered.
    pub to: Time,
    /// Retransmissions without an answer.
    pub retransmissions: u32,
    /// Probes without an answer: keep-alives and zero window probes.
    pub probes: u32,
}

/// A time in which nothing came through one way: one end repeated what the other did not answer, until an answer came, or nothing of what
/// it had sent passed at the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outage {
    /// The last packet of the end that did not answer, or the first payload since that called for an answer; the last payload that passed.
    pub from: Time,
    /// The answer; the next payload that passed.
    pub to: Time,
    /// How often the first segment that was not acknowledged was sent again, as far as that passed.
    pub retransmissions: u32,
    /// Whether it is the payload that did not pass, as a hole behind it shows; else the answers.
    pub of_payload: bool,
}

impl Outage {
    /// How long it lasted.
    pub fn seconds(&self) -> f64 {
        self.to.since(self.from).as_secs_f64()
    }
}
