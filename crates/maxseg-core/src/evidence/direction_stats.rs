//! What was seen of one way of a connection.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Bins, Events, Trace};
use crate::units::Time;

/// One way of a connection: its sender's packets, and what became of its payload. SI units, named in the keys.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct DirectionStats {
    /// Packets that its sender sent, duplicates made by the capture included.
    pub packets: u64,
    /// Those of them with payload.
    pub data_packets: u64,
    /// Payload, repeated payload included.
    pub payload_bytes: u64,
    /// All bytes of its IP packets.
    pub ip_bytes: u64,
    /// The MSS option of its SYN: the largest segment that its sender wants to receive.
    pub mss_option_bytes: Option<u16>,
    /// By how many bits its sender's windows are shifted, where both sides offered that. Above 14 it counts as 14.
    pub window_scale: Option<u8>,
    /// Whether its SYN permits selective acknowledgements.
    pub sack_permitted: bool,
    /// Whether its SYN offers timestamps.
    pub timestamps: bool,
    /// Largest payload of a packet.
    pub largest_segment_bytes: u32,
    /// The size of its full segments: the payload that most of its bytes travelled in, and no more than the other
    /// side's MSS allows; of what was captured before the card cut it up, that.
    pub mss_used_bytes: Option<u32>,
    /// Packets with more payload than any segment can have had: the capture saw them before the network card
    /// cut them up, or after it joined them.
    pub offloaded_packets: u64,
    /// Payload that was seen for the first time.
    pub unique_bytes: u64,
    /// Payload that the other side acknowledged, as far as it lies behind the first byte seen.
    pub acked_bytes: u64,
    /// Payload that was acknowledged but never seen: the capture lost it.
    pub unseen_bytes: u64,
    /// Packets that repeat payload, or a SYN or FIN: seen before, or what fills a gap later than reordering explains.
    pub retransmitted_packets: u64,
    /// The payload that they repeat.
    pub retransmitted_bytes: u64,
    /// Expiries of its retransmission timer: each may have made it repeat several packets.
    pub timeouts: u64,
    /// What made the sender repeat, packet by packet.
    pub resent: Resent,
    /// Retransmissions that were not needed: the receiver had the payload already.
    pub spurious_retransmissions: u64,
    /// How that is known, packet by packet.
    pub spurious: Spurious,
    /// Packets that the capture holds twice (same IP identification): not retransmissions.
    pub capture_duplicates: u64,
    /// Packets that were overtaken by later ones.
    pub out_of_order_packets: u64,
    /// Acknowledgements by its sender that repeat the last, while the other side's data was outstanding
    /// (RFC 5681 §2).
    pub duplicate_acks: u64,
    /// Acknowledgements by its sender that report payload which it had received before (RFC 2883).
    pub dsack_acks: u64,
    /// Packets by which its sender offers no window at all: it reads slowly.
    pub zero_windows: u64,
    /// Times that its sender's window shut.
    pub window_shut_times: u64,
    /// Probes that it sent into a shut window.
    pub zero_window_probes: u64,
    /// Segments that filled the other side's window to the last byte, or left less than a segment of it.
    pub window_full: u64,
    /// Segments of no or one byte that ask whether the other side is still there (RFC 9293 §3.8.4).
    pub keep_alives: u64,
    /// Least and largest window that its sender offered behind its SYN, scaled.
    pub window_min_bytes: Option<u64>,
    /// See `window_min_bytes`.
    pub window_max_bytes: Option<u64>,
    /// Least round trip of its segments to the other side and back, at the point of capture.
    pub rtt_min_s: Option<f64>,
    /// Their mean.
    pub rtt_mean_s: Option<f64>,
    /// Least round trip of the whole path: both sides of the point of capture.
    pub path_rtt_min_s: Option<f64>,
    /// Mean round trip of the whole path while data was sent.
    pub path_rtt_mean_s: Option<f64>,
    /// Most bytes that were sent and not acknowledged, on the sender's clock.
    pub in_flight_max_bytes: u64,
    /// Acknowledged payload ÷ time from its first data to the last acknowledgement of data, in bits per second.
    pub goodput_bps: Option<f64>,
    /// Share of its IP bytes that was payload seen for the first time.
    pub efficiency: Option<f64>,
    /// The rate at which trains of its segments left the narrowest link, in bits per second of payload.
    pub capacity_bps: Option<f64>,
    /// The rate of the fastest of its first trains, likewise: the first flight leaves at once, even where the sender
    /// spaces its segments later. A link that lets bursts through (a token bucket) lets these through as well.
    pub first_flight_bps: Option<f64>,
    /// Time without anything to send, in seconds.
    pub idle_s: f64,
    /// Longest time between two of its data packets, in seconds.
    pub longest_gap_s: f64,
    /// Packets with DF clear, so that hops may fragment them.
    pub may_fragment_packets: u64,
    /// Packets that arrived as fragments.
    pub fragmented_packets: u64,
    /// Packets that carry a congestion mark (RFC 3168: CE).
    pub congestion_marks: u64,
    /// Packets that the timer made it repeat, and that had arrived.
    pub spurious_timeouts: u64,
    /// A segment that was repeated and did not arrive, because it was too large.
    #[serde(skip)]
    pub black_hole: Option<BlackHole>,
    /// When the first of its payload was sent.
    #[serde(skip)]
    pub first_data: Option<Time>,
    /// When the last of its payload was acknowledged.
    #[serde(skip)]
    pub last_ack: Option<Time>,
    /// What happened when.
    #[serde(skip)]
    pub bins: Bins,
    /// Where to look.
    #[serde(skip)]
    pub events: Events,
    /// Every segment and acknowledgement, where that was asked for.
    #[serde(skip)]
    pub trace: Option<Box<Trace>>,
}

impl DirectionStats {
    /// Packets with payload that were sent again because they had to be.
    pub const fn needed_retransmissions(&self) -> u64 {
        self.retransmitted_packets
            .saturating_sub(self.spurious_retransmissions)
            .saturating_sub(self.resent.control)
    }
}

/// A segment that vanished again and again, while smaller ones arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlackHole {
    /// When it was first sent.
    pub from: Time,
    /// When a smaller one arrived in its place, or nothing more was seen.
    pub to: Time,
    /// Its first repetition: which packet of the capture, counted from 1.
    pub frame: u64,
    /// Its payload.
    pub segment_bytes: u32,
    /// How often it was sent again in this size.
    pub repeats: u32,
    /// The largest payload of a segment that arrived; 0 where none did.
    pub passed_bytes: u32,
}

/// Retransmissions by what brought them about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Resent {
    /// The retransmission timer expired.
    pub rto: u64,
    /// Three duplicate acknowledgements (RFC 5681 §3.2).
    pub fast: u64,
    /// What selective acknowledgements or the time since later segments gave away (RFC 6675, RFC 8985).
    pub sack: u64,
    /// A probe for a loss at the tail (RFC 8985 §7).
    pub tail_probe: u64,
    /// A SYN or FIN.
    pub control: u64,
    /// It cannot be told.
    pub unknown: u64,
}

/// Needless retransmissions by how that is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Spurious {
    /// The receiver reported that it had the payload before (RFC 2883).
    pub dsack: u64,
    /// The acknowledgement echoes the first transmission's timestamp (RFC 3522).
    pub timestamps: u64,
    /// The payload was acknowledged when it was sent again.
    pub acknowledged: u64,
    /// The capture stands at the receiver, and the payload had arrived there.
    pub arrived: u64,
}
