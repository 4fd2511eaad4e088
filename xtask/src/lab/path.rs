//! A path and its traffic in numbers.

use maxseg_core::framing::Headers;
use serde::{Deserialize, Serialize};

use super::kind::Kind;
use crate::draws::{Application, Congestion};

/// A path, and what is sent over it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Path {
    /// Its number among all: even ones serve to find missing rules, odd ones are scored.
    pub(super) number: u64,
    /// What it was drawn for.
    pub(super) kind: Kind,
    /// The first of its seeds.
    pub(super) seed: u64,
    /// The sender's congestion control.
    pub(super) congestion: Congestion,
    /// The line's rate.
    pub(super) rate_bps: u64,
    /// Propagation, there and back.
    pub(super) rtt_s: f64,
    /// The line's queue.
    pub(super) queue_bytes: u64,
    /// Random losses.
    pub(super) loss: Option<Loss>,
    /// The MSS option of both hosts.
    pub(super) mss_bytes: u64,
    /// What the application does.
    pub(super) load: Application,
    /// When each flow begins.
    pub(super) starts_s: Vec<f64>,
    /// How long it lasts at most.
    pub(super) seconds: f64,
}

/// Random losses on the line.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Loss {
    /// The share of packets.
    pub(super) rate: f64,
    /// Mean length of a burst, in packets; `None` for single ones.
    pub(super) burst: Option<f64>,
}

/// Options of every segment: timestamps, padded (RFC 7323 appendix A).
const TIMESTAMPS: f64 = 12.0;
/// The kernel's initial window in segments (RFC 6928).
const INITIAL_SEGMENTS: f64 = 10.0;

impl Loss {
    /// How often a segment is the first of a burst: laws of congestion windows count these.
    pub(super) fn events(self) -> f64 {
        self.rate / self.burst.unwrap_or(1.0)
    }
}

impl Path {
    /// Payload of a full segment.
    pub(super) fn segment_bytes(&self) -> f64 {
        self.mss_bytes as f64 - TIMESTAMPS
    }

    /// A full packet.
    pub(super) fn packet_bytes(&self) -> f64 {
        self.mss_bytes as f64
            + Headers::plain(maxseg_core::framing::IpVersion::V4).bytes().get() as f64
    }

    /// Full packets that the line carries in a second.
    pub(super) fn packets_per_s(&self) -> f64 {
        self.rate_bps as f64 / 8.0 / self.packet_bytes()
    }

    /// The round trip of a full segment through empty queues.
    pub(super) fn base_rtt_s(&self) -> f64 {
        self.rtt_s + 1.0 / self.packets_per_s()
    }

    /// Full packets that the path holds without a queue.
    pub(super) fn path_packets(&self) -> f64 {
        self.packets_per_s() * self.base_rtt_s()
    }

    /// The queue as a multiple of that.
    pub(super) fn queue_in_paths(&self) -> f64 {
        self.queue_bytes as f64 / self.packet_bytes() / self.path_packets()
    }

    /// How much of the line losses leave to its flows, by the laws of their congestion windows.
    pub(super) fn share_by_law(&self) -> f64 {
        let events = self.loss.map_or(0.0, Loss::events);
        let window = self.congestion.law_window_segments(events, self.rtt_s);
        (self.starts_s.len() as f64 * window / self.path_packets()).min(1.0)
    }

    /// How much of the line so much payload takes if all rounds of slow start come before it or none does, and
    /// `waits` round trips and `thinks` seconds beside.
    pub(super) fn share_in_turns(&self, payload: f64, waits: f64, thinks: f64) -> (f64, f64) {
        let segments = payload / self.segment_bytes();
        let carried = segments / self.packets_per_s();
        let rounds = (segments.min(self.path_packets()) / INITIAL_SEGMENTS).log2().max(0.0);
        let rest = waits * self.base_rtt_s() + thinks + carried;
        (carried / (rounds * self.base_rtt_s() + rest), carried / rest)
    }

    /// About how long a run of the lab takes.
    pub(super) fn time_s(&self) -> f64 {
        match self.load {
            Application::Bytes(bytes) => {
                8.0 * bytes as f64 / self.rate_bps as f64 + 10.0 * self.rtt_s
            }
            Application::Bulk | Application::Requests { .. } => self.seconds,
        }
    }

    /// How often it is run in each engine: where something is drawn, its mean counts.
    pub(super) fn runs(&self) -> u64 {
        /// Seeds of a path with random losses, of BBR's phases, or of flows that share a queue; and runs of a transfer
        /// so short that programs' waking shows.
        const DRAWN: u64 = 3;
        let is_drawn = self.loss.is_some()
            || self.congestion == Congestion::Bbr
            || self.starts_s.len() > 1
            || self.kind == Kind::Short;
        if is_drawn { DRAWN } else { 1 }
    }
}
