//! A scenario of one transfer over one hop, in numbers.

use std::fmt::Write as _;

use maxseg_core::model::cubic::Cubic;
use maxseg_core::model::mathis;
use serde::{Deserialize, Serialize};

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
    /// Whatever comes: no border is kept away from.
    Any,
}

/// The congestion controls that this kernel is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "names")]
pub enum Congestion {
    Reno,
    Cubic,
    Bbr,
}

impl Congestion {
    /// As a scenario and the kernel call it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Reno => "reno",
            Self::Cubic => "cubic",
            Self::Bbr => "bbr",
        }
    }
}

/// What the application does.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Application {
    /// Writes as much as it can until the time is over.
    Bulk,
    /// Writes so much.
    Bytes(u64),
    /// Answers requests on one connection.
    Requests {
        /// Payload of each reply.
        reply_bytes: u64,
        /// From a request to its reply.
        think_s: f64,
    },
}

/// A scenario's numbers.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Setup {
    /// What it was drawn for.
    pub aim: Aim,
    /// The sender's congestion control.
    pub congestion: Congestion,
    /// The link's rate.
    pub rate_bps: u64,
    /// Propagation, there and back.
    pub rtt_s: f64,
    /// The link's waiting room.
    pub queue_bytes: u64,
    /// The chance that a packet is lost on the way to the receiver.
    pub loss: f64,
    /// The window that the receiver offers.
    pub window_bytes: u64,
    /// What the sender's buffer holds; `None` leaves it to the kernel.
    pub send_buffer_bytes: Option<u64>,
    /// The MSS option of both hosts; `None` leaves it to the MTU of 1500.
    pub mss_bytes: Option<u64>,
    /// Whether segments carry timestamps.
    pub timestamps: bool,
    /// How fast the receiving application reads, where that is not at once.
    pub read_bps: Option<u64>,
    /// What the application does.
    pub application: Application,
    /// How long it lasts at most.
    pub seconds: f64,
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
        self.rate_bps as f64 * segment / (segment + HEADERS + self.option_bytes())
    }

    /// The round trip of a full segment through empty queues.
    pub fn base_rtt_s(&self) -> f64 {
        let packet = self.segment_bytes() + HEADERS + self.option_bytes();
        self.rtt_s + packet * 8.0 / self.rate_bps as f64
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
        /// Segments per acknowledgement: the lab's receivers delay theirs.
        const PER_ACK: f64 = 2.0;
        let segments = match self.congestion {
            _ if self.loss <= 0.0 => f64::INFINITY,
            Congestion::Bbr => f64::INFINITY,
            Congestion::Reno => mathis::rate(self.loss, self.rtt_s, PER_ACK) * self.rtt_s,
            Congestion::Cubic => Cubic::standard(self.loss, self.rtt_s).window(),
        };
        segments * self.segment_bytes()
    }

    /// The scenario as a file. Requests are asked by the receiver, so that their replies travel forward.
    pub fn to_toml(&self) -> String {
        let mut text = format!(
            "[[hop]]\nrate = \"{} bit/s\"\ndelay = \"{:.3} ms\"\nqueue = \"{} B\"\n",
            self.rate_bps,
            self.rtt_s * 500.0,
            self.queue_bytes
        );
        if self.loss > 0.0 {
            let _ = writeln!(
                text,
                "errors = {{ model = \"uniform\", per = \"packet\", rate = {:.6} }}",
                self.loss
            );
        }
        let host = format!(
            "sack = true\ntimestamps = {}\ninitial_window = \"10 segments\"\nrto = {{ min = \"200 ms\" }}\n{}",
            self.timestamps,
            self.mss_bytes.map(|mss| format!("mss = {mss}\n")).unwrap_or_default()
        );
        let _ = write!(text, "[sender]\n{host}congestion = \"{}\"\n", self.congestion.word());
        if let Some(bytes) = self.send_buffer_bytes {
            let _ = writeln!(text, "send_buffer = \"{bytes} B\"");
        }
        let _ = write!(text, "[receiver]\n{host}window = \"{} B\"\n", self.window_bytes);
        if let Some(rate) = self.read_bps {
            let _ = writeln!(text, "read_rate = \"{rate} bit/s\"");
        }
        let _ = match self.application {
            Application::Bulk | Application::Bytes(_) => {
                writeln!(text, "[[flow]]\nkind = \"bulk\"")
            }
            Application::Requests { reply_bytes, think_s } => writeln!(
                text,
                "[[flow]]\nkind = \"request\"\nfrom = \"receiver\"\nrequest = \"{REQUEST} B\"\n\
                 reply = \"{reply_bytes} B\"\nthink = \"{:.3} ms\"",
                1000.0 * think_s
            ),
        };
        let _ = writeln!(text, "[until]\ntime = \"{:.3} s\"", self.seconds);
        if let Application::Bytes(bytes) = self.application {
            let _ = writeln!(text, "bytes = \"{bytes} B\"");
        }
        text
    }
}

/// Payload of a request.
const REQUEST: u64 = 300;
