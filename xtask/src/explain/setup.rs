//! A scenario in numbers.

use serde::{Deserialize, Serialize};

use super::stratum::Stratum;
use super::view::View;
use crate::draws::{Application, Congestion, Engine};

/// What a scenario is drawn for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Aim {
    /// Requests whose replies fit the first window, or come far apart.
    Turns,
    /// A transfer that ends long before slow start does.
    Short,
    /// A window that holds a part of the path.
    SmallWindow,
    /// An application that reads more slowly than the path brings.
    SlowReader,
    /// A send buffer that holds a part of the path.
    SmallBuffer,
    /// Nothing but the link, its queue deep enough to keep it busy.
    FullLink,
    /// A window that fills path and queue without a loss: the kernel calls that limited by the window.
    FullByWindow,
    /// BBR, which goes on in spite of losses.
    FullInSpiteOfLoss,
    /// Losses that come too rarely to matter on so small a path.
    SmallPathWithLoss,
    /// Losses by chance that keep the congestion window below the path.
    Loss,
    /// A queue too short for the halves of a congestion window.
    ShortQueue,
    /// A window near what the path holds.
    WindowOrRate,
    /// A window near that of the laws of Reno and CUBIC at this loss.
    WindowOrLoss,
    /// A path near that window.
    LossOrRate,
    /// A send buffer near what the path holds.
    BufferOrRate,
    /// A sender that is paced.
    Paced,
    /// A policer.
    Policed,
    /// A narrow link for the acknowledgements.
    NarrowReverse,
}

/// A scenario's numbers.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Setup {
    /// Which share of the runs it belongs to.
    pub stratum: Stratum,
    /// What it was drawn for.
    pub aim: Aim,
    /// What runs it.
    #[serde(default)]
    pub engine: Engine,
    /// Where the randomness of its links begins.
    pub seed: u64,
    /// The sender's congestion control.
    pub congestion: Congestion,
    /// The rate of the line, which is the slowest link unless the acknowledgements' is.
    pub rate_bps: u64,
    /// Propagation, there and back.
    pub rtt_s: f64,
    /// The line's queue.
    pub queue_bytes: u64,
    /// The chance that a packet is lost on the line.
    pub loss: f64,
    /// The window that the receiver offers.
    pub window_bytes: u64,
    /// What the sender's buffer holds; `None` leaves it to the kernel.
    pub send_buffer_bytes: Option<u64>,
    /// The MSS option of both hosts; `None` leaves it to the MTU of 1500.
    pub mss_bytes: Option<u64>,
    /// Whether segments carry timestamps.
    pub timestamps: bool,
    /// Whether the receiver acknowledges selectively.
    pub sack: bool,
    /// How fast the receiving application reads, where that is not at once.
    pub read_bps: Option<u64>,
    /// What paces the sender, if anything does.
    pub pace: Option<Pace>,
    /// What the line does beside rate, queue and losses.
    pub line: Line,
    /// A second hop.
    pub other_hop: Option<OtherHop>,
    /// Other traffic on the line.
    pub cross: Option<Cross>,
    /// What the application does.
    pub application: Application,
    /// How long it lasts at most.
    pub seconds: f64,
    /// The captures that are judged.
    pub views: Vec<View>,
}

/// What paces a sender.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pace {
    /// The application writes so many bits per second.
    Writes(u64),
    /// `SO_MAX_PACING_RATE`, in bits per second.
    Socket(u64),
    /// A token bucket at the host.
    Shaper {
        /// In bits per second.
        rate_bps: u64,
        /// What may pass at once.
        burst_bytes: u64,
    },
}

/// What the line does beside rate, queue and losses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// Rate and burst of a policer.
    pub policer: Option<(u64, u64)>,
    /// Rate and queue of the link of the acknowledgements, where they are its own.
    pub reverse: Option<(u64, u64)>,
    /// The share of packets that are reordered.
    pub reorder: f64,
}

/// A hop before or behind the line.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct OtherHop {
    /// Its rate, higher than the line's.
    pub rate_bps: u64,
    /// Its share of the propagation.
    pub share_of_rtt: f64,
    /// Whether it comes first.
    pub is_first: bool,
}

/// Other traffic on the line.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cross {
    /// Datagrams at so many bits per second.
    Datagrams(u64),
    /// So many bulk transfers.
    Transfers(u64),
}

/// IPv4 and TCP headers without options.
const HEADERS: f64 = 40.0;
/// Of timestamps, padded (RFC 7323 appendix A).
const TIMESTAMPS: f64 = 12.0;
/// The kernel's initial window in segments (RFC 6928).
pub(super) const INITIAL_SEGMENTS: f64 = 10.0;
impl Setup {
    /// Payload of a full segment.
    pub fn segment_bytes(&self) -> f64 {
        self.mss_bytes.unwrap_or(1460) as f64 - self.option_bytes()
    }

    fn option_bytes(&self) -> f64 {
        if self.timestamps { TIMESTAMPS } else { 0.0 }
    }

    /// The payload that the link carries at most, in bits per second.
    pub fn link_payload_bps(&self) -> f64 {
        let segment = self.segment_bytes();
        self.rate_bps as f64 * segment / self.packet_bytes()
    }

    /// The round trip of a full segment through empty queues.
    pub fn base_rtt_s(&self) -> f64 {
        self.rtt_s + self.packet_bytes() * 8.0 / self.rate_bps as f64
    }

    /// A full segment with its headers.
    pub(super) fn packet_bytes(&self) -> f64 {
        self.segment_bytes() + HEADERS + self.option_bytes()
    }

    /// The payload that the path holds without a queue.
    pub fn path_bytes(&self) -> f64 {
        self.link_payload_bps() * self.base_rtt_s() / 8.0
    }

    /// The queue as a multiple of that.
    pub fn queue_in_paths(&self) -> f64 {
        self.queue_bytes as f64 * 8.0 / (self.rate_bps as f64 * self.base_rtt_s())
    }

    /// How long slow start takes until so many bytes are in flight.
    pub fn slow_start_s(&self, bytes: f64) -> f64 {
        let rounds = (bytes / (INITIAL_SEGMENTS * self.segment_bytes())).log2().max(0.0);
        rounds * self.base_rtt_s()
    }

    /// The mean window by the laws of Reno and CUBIC at this loss, in bytes. BBR knows none.
    pub fn law_window_bytes(&self) -> f64 {
        let segments = self.congestion.law_window_segments(self.loss, self.rtt_s);
        segments * self.segment_bytes()
    }
}
