//! The sums over one direction.

use std::net::SocketAddr;

use super::flag::Flag;
use super::marks::Marks;
use super::options::TsharkOptions;
use crate::flow::Seen;
use crate::tcp::Flags;

/// Least, greatest and mean of some times.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Times {
    /// How many there were.
    pub samples: u64,
    /// The shortest, in nanoseconds; negative where the capture's clock went back.
    pub min_nanos: i64,
    /// The longest, in nanoseconds.
    pub max_nanos: i64,
    /// All together, in nanoseconds.
    pub sum_nanos: i64,
}

impl Times {
    fn add(&mut self, nanos: i64) {
        let first = self.samples == 0;
        self.min_nanos = if first { nanos } else { self.min_nanos.min(nanos) };
        self.max_nanos = if first { nanos } else { self.max_nanos.max(nanos) };
        self.samples += 1;
        self.sum_nanos = self.sum_nanos.saturating_add(nanos);
    }

    /// In seconds; `None` without samples.
    pub fn mean_s(&self) -> Option<f64> {
        (self.samples > 0).then(|| self.sum_nanos as f64 / 1e9 / self.samples as f64)
    }
}

/// What tshark counts in one direction of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counts {
    /// Who sends.
    pub source: SocketAddr,
    /// To whom.
    pub destination: SocketAddr,
    /// Segments.
    pub packets: u64,
    /// Payload of all of them, retransmitted or not.
    pub payload_bytes: u64,
    /// Segments with payload.
    pub data_packets: u64,
    /// Bytes in the longest payload.
    pub max_segment: u32,
    /// When the first one passed, in nanoseconds since 1970.
    pub first_at_nanos: u64,
    /// When the last one passed.
    pub last_at_nanos: u64,
    /// Segments with SYN.
    pub syn: u64,
    /// Segments with FIN.
    pub fin: u64,
    /// Segments with RST.
    pub rst: u64,
    /// IPv4 packets with DF.
    pub df_packets: u64,
    /// What the first SYN says.
    pub handshake: Option<Handshake>,
    /// Smallest and largest window without those of SYN and RST, in bytes.
    pub windows: Option<(u32, u32)>,
    /// `tcp.analysis.ack_rtt` of its acknowledgements.
    pub rtt: Times,
    /// Largest `tcp.analysis.bytes_in_flight`.
    pub max_in_flight: Option<u32>,
    /// Segments with SACK blocks.
    pub sack_packets: u64,
    /// Segments with a D-SACK block.
    pub dsack_packets: u64,
    /// Payload of the segments with [`Flag::Retransmission`].
    pub retransmission_bytes: u64,
    /// `tcp.analysis.rto` of each segment that has it, in nanoseconds.
    pub rto_nanos: Vec<i64>,
    /// The frames of each flag, in the order of [`Flag::ALL`].
    frames: [Vec<u64>; Flag::ALL.len()],
}

/// What a SYN says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handshake {
    /// The MSS option.
    pub mss: Option<u16>,
    /// The window scale option as it stands, in bits.
    pub window_scale: Option<u8>,
    /// Whether SACK is permitted.
    pub sack_permitted: bool,
    /// Whether there are timestamps.
    pub timestamps: bool,
    /// The window, in bytes.
    pub window: u16,
}

impl Counts {
    pub(super) fn new(first: &Seen<'_>) -> Self {
        Self {
            source: first.source,
            destination: first.destination,
            packets: 0,
            payload_bytes: 0,
            data_packets: 0,
            max_segment: 0,
            first_at_nanos: first.at_nanos,
            last_at_nanos: first.at_nanos,
            syn: 0,
            fin: 0,
            rst: 0,
            df_packets: 0,
            handshake: None,
            windows: None,
            rtt: Times::default(),
            max_in_flight: None,
            sack_packets: 0,
            dsack_packets: 0,
            retransmission_bytes: 0,
            rto_nanos: Vec::new(),
            frames: [const { Vec::new() }; Flag::ALL.len()],
        }
    }

    pub(super) fn add(&mut self, seen: &Seen<'_>, marks: &Marks) {
        let has = |flag| u64::from(seen.flags.contains(flag));
        self.packets += 1;
        self.payload_bytes += u64::from(seen.payload_len);
        self.data_packets += u64::from(seen.payload_len > 0);
        self.max_segment = self.max_segment.max(seen.payload_len);
        self.last_at_nanos = seen.at_nanos;
        self.syn += has(Flags::SYN);
        self.fin += has(Flags::FIN);
        self.rst += has(Flags::RST);
        self.df_packets += u64::from(seen.ip_id.is_some() && seen.dont_fragment);
        self.add_options(seen, marks);
        if !seen.flags.contains(Flags::SYN) && !seen.flags.contains(Flags::RST) {
            let window = marks.window_bytes;
            let (least, most) = self.windows.unwrap_or((window, window));
            self.windows = Some((least.min(window), most.max(window)));
        }
        if let Some(nanos) = marks.ack_rtt_nanos {
            self.rtt.add(nanos);
        }
        self.rto_nanos.extend(marks.rto_nanos);
        self.max_in_flight = self.max_in_flight.max(marks.bytes_in_flight);
        if marks.flags.contains(Flag::Retransmission) {
            self.retransmission_bytes += u64::from(seen.payload_len);
        }
        for (flag, frames) in Flag::ALL.into_iter().zip(&mut self.frames) {
            if marks.flags.contains(flag) {
                frames.push(seen.frame);
            }
        }
    }

    fn add_options(&mut self, seen: &Seen<'_>, marks: &Marks) {
        let options = TsharkOptions::of(seen);
        self.sack_packets += u64::from(options.sack.is_some());
        self.dsack_packets += u64::from(marks.dsack);
        if seen.flags.contains(Flags::SYN) {
            self.handshake.get_or_insert(Handshake {
                mss: options.mss,
                window_scale: options.window_scale,
                sack_permitted: options.sack_permitted,
                timestamps: options.timestamps,
                window: seen.window,
            });
        }
    }

    /// The frames of which `flag` is said.
    pub fn frames(&self, flag: Flag) -> &[u64] {
        self.frames.get(flag as usize).map_or(&[], Vec::as_slice)
    }

    /// Every flag with its frames.
    pub fn flags(&self) -> impl Iterator<Item = (Flag, &[u64])> {
        Flag::ALL.into_iter().zip(&self.frames).map(|(flag, frames)| (flag, frames.as_slice()))
    }
}
