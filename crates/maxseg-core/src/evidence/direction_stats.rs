//! Statistics of one direction of a connection.

mod once;
mod resent;

use schemars::JsonSchema;
use serde::Serialize;

use super::{
    AckGaps, Alone, Beside, Bins, CongestionEpochs, Departures, DropLine, Events, Intervals,
    LoadedRoundTrips, LossEpisodes, Outage, Refills, SynFacts, Trace, Unseen, WayDelay,
};
use crate::units::Time;
pub use resent::{BlackHole, Resent, Spurious};

/// One direction of a connection: its sender's packets and the fate of their payload. SI units, named in the keys.
///
/// What a source cannot know is 0 here where the type has no `None`; documents have `null` for it, as the fields say.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub struct DirectionStats {
    /// Packets of the sender, duplicates made by the capture included.
    pub packets: u64,
    /// Packets with payload.
    pub data_packets: u64,
    /// Payload, retransmissions included.
    pub payload_bytes: u64,
    /// Bytes of the IP packets.
    pub ip_bytes: u64,
    /// MSS option of the SYN: the largest segment that the sender accepts.
    pub mss_option_bytes: Option<u16>,
    /// The same where the capturing host sends the SYN on, if it lowers the option.
    #[serde(skip)]
    pub mss_option_elsewhere: Option<u16>,
    /// Window scale of the sender in bits, as offered: values above 14 count as 14 (RFC 7323 §2.3); `None` unless both sides offered the option.
    pub window_scale: Option<u8>,
    /// Whether the SYN permits selective acknowledgements.
    /// `null` where the SYN was not captured.
    #[schemars(with = "Option<bool>")]
    pub sack_permitted: bool,
    /// Whether the SYN offers timestamps.
    /// `null` where the SYN was not captured and no segment has them.
    #[schemars(with = "Option<bool>")]
    pub timestamps: bool,
    /// The sender's SYN, or SYN with ACK; `None` where it was not captured.
    #[serde(skip)]
    pub syn: Option<SynFacts>,
    /// Largest payload of a packet.
    /// `null` where none of its packets was captured.
    #[schemars(with = "Option<u32>")]
    pub largest_segment_bytes: u32,
    /// Payload of a full segment: the size in which most bytes were sent, at most the other side's MSS. Where packets were
    /// captured before segmentation offload or after receive offload, what most of them are multiples of; else that MSS.
    pub mss_used_bytes: Option<u32>,
    /// Packets with more payload than a segment has: captured before segmentation offload, or after receive
    /// offload.
    pub offloaded_packets: u64,
    /// Payload without retransmissions.
    pub unique_bytes: u64,
    /// Payload acknowledged by the other side, cumulatively, counted from the first byte captured.
    /// `null` where the other side was not captured.
    #[schemars(with = "Option<u64>")]
    pub acked_bytes: u64,
    /// Payload acknowledged but not captured.
    /// `null` where one of the directions was not captured.
    #[schemars(with = "Option<u64>")]
    pub unseen_bytes: u64,
    /// Holes in the capture through which the direction went on, in order: files that are missing. `unseen_bytes` has their payload too.
    #[serde(skip)]
    pub holes: Vec<Unseen>,
    /// Payload that was sent and not acknowledged at the end.
    /// `null` where one of the directions was not captured.
    #[schemars(with = "Option<u64>")]
    pub outstanding_bytes: u64,
    /// Retransmissions of payload, SYN or FIN: seen before, or filling a gap later than reordering explains.
    #[serde(skip)]
    pub retransmitted_packets: u64,
    /// Retransmitted payload.
    /// `null` as `retransmitted_packets`.
    #[schemars(with = "Option<u64>")]
    pub retransmitted_bytes: u64,
    /// Expiries of the retransmission timer; each may cause several retransmissions.
    /// `null` as `retransmitted_packets`.
    #[schemars(with = "Option<u64>")]
    pub timeouts: u64,
    /// Retransmissions by cause.
    /// `null` as `retransmitted_packets`.
    #[schemars(with = "Option<Resent>")]
    pub resent: Resent,
    /// Spurious retransmissions: the receiver had the payload already.
    /// `null` as `retransmitted_packets`, and where the other side was not captured.
    #[schemars(with = "Option<u64>")]
    pub spurious_retransmissions: u64,
    /// Spurious retransmissions by the evidence for them.
    /// `null` as `spurious_retransmissions`.
    #[schemars(with = "Option<Spurious>")]
    pub spurious: Spurious,
    /// Packets captured twice (same IP identification), which are not retransmissions.
    pub capture_duplicates: u64,
    /// Packets overtaken by later ones.
    /// `null` as `retransmitted_packets`.
    #[schemars(with = "Option<u64>")]
    pub out_of_order_packets: u64,
    /// Duplicate acknowledgements by the sender (RFC 5681 §2).
    /// `null` where none of its packets was captured.
    #[schemars(with = "Option<u64>")]
    pub duplicate_acks: u64,
    /// Acknowledgements by the sender that report duplicate payload (DSACK, RFC 2883).
    /// `null` where one of the directions was not captured.
    #[schemars(with = "Option<u64>")]
    pub dsack_acks: u64,
    /// Packets with a window of 0, advertised by the sender.
    /// `null` where none of its packets was captured.
    #[schemars(with = "Option<u64>")]
    pub zero_windows: u64,
    /// Times that the sender's advertised window closed.
    /// `null` where none of its packets was captured.
    #[schemars(with = "Option<u64>")]
    pub window_shut_times: u64,
    /// Those of them that it opened again within milliseconds: a program that waits for data is woken as soon.
    #[serde(skip)]
    pub window_shut_briefly: u64,
    /// Zero-window probes.
    /// `null` where none of its packets was captured.
    #[schemars(with = "Option<u64>")]
    pub zero_window_probes: u64,
    /// Segments that filled the other side's window, or left less than a segment of it.
    /// `null` where one of the directions was not captured.
    #[schemars(with = "Option<u64>")]
    pub window_full: u64,
    /// Segments beyond every window that the other side was seen to advertise: the capture lacks acknowledgements. 0 in one that begins late.
    /// `null` where none of its packets was captured.
    #[schemars(with = "Option<u64>")]
    pub beyond_window: u64,
    /// New segments that left though nothing was acknowledged for longer than any retransmission timer lasts: the capture lacks
    /// acknowledgements.
    /// `null` where none of its packets was captured.
    #[schemars(with = "Option<u64>")]
    pub beyond_timer: u64,
    /// Keep-alives (RFC 9293 §3.8.4).
    /// `null` where none of its packets was captured.
    #[schemars(with = "Option<u64>")]
    pub keep_alives: u64,
    /// Least window that the sender advertised after its SYN, scaled.
    pub window_min_bytes: Option<u64>,
    /// Largest window that the sender advertised after its SYN, scaled.
    pub window_max_bytes: Option<u64>,
    /// Least RTT between the capture point and the other side.
    pub rtt_min_s: Option<f64>,
    /// Mean RTT between the capture point and the other side.
    pub rtt_mean_s: Option<f64>,
    /// Least RTT of the whole path, on both sides of the capture point.
    pub path_rtt_min_s: Option<f64>,
    /// Mean RTT of the whole path while data was sent.
    pub path_rtt_mean_s: Option<f64>,
    /// Median round trip of the whole path of segments behind which more data was in flight, counted in intervals 2% to 3% wide.
    pub path_rtt_loaded_s: Option<f64>,
    /// Most bytes in flight, as the sender sees them.
    /// `null` where one of the directions was not captured.
    #[schemars(with = "Option<u64>")]
    pub in_flight_max_bytes: u64,
    /// Acknowledged payload ÷ time from the first data to the last acknowledgement of data, in bits per second.
    pub goodput_bps: Option<f64>,
    /// Payload without retransmissions ÷ bytes of the IP packets.
    pub efficiency: Option<f64>,
    /// Rate at which packet trains left the slowest link, in bits per second of payload.
    pub capacity_bps: Option<f64>,
    /// Fastest rate that a fifth of the bytes in packet trains had, likewise: of the slowest link, or of a paced sender.
    pub train_mode_bps: Option<f64>,
    /// Rate of the fastest of the first packet trains, likewise. The first flight is sent at once even where the sender
    /// paces later segments; a token bucket may pass it above its rate.
    pub first_flight_bps: Option<f64>,
    /// The rate of the very first train, in bits per second of payload, though it may be of too few packets for a rate: what it is faster than
    /// is not the link.
    pub opening_train_bps: Option<f64>,
    /// Time without data to send, in seconds.
    /// `null` where one of the directions was not captured.
    #[schemars(with = "Option<f64>")]
    pub idle_s: f64,
    /// Idle times of an RTO or more after which the sender began with a smaller congestion window (RFC 5681 §4.1).
    /// `null` where one of the directions was not captured.
    #[schemars(with = "Option<u64>")]
    pub idle_restarts: u64,
    /// Time from these restarts until as much was in flight as half of what was before, without the first round trip
    /// of each, in seconds.
    /// `null` where one of the directions was not captured.
    #[schemars(with = "Option<f64>")]
    pub idle_restart_s: f64,
    /// Longest time between two data packets, in seconds.
    /// `null` where none of its packets was captured.
    #[schemars(with = "Option<f64>")]
    pub longest_gap_s: f64,
    /// Packets with DF clear, which routers may fragment.
    /// `null` where none of its packets was captured.
    #[schemars(with = "Option<u64>")]
    pub may_fragment_packets: u64,
    /// Packets that arrived as fragments.
    /// `null` where none of its packets was captured.
    #[schemars(with = "Option<u64>")]
    pub fragmented_packets: u64,
    /// Packets with CE, and those with payload and CWR in answer to ECE: at the sender no other marks are seen (RFC 3168 §6.1). CWR
    /// alone does not count: it follows losses as well.
    /// `null` where none of its packets was captured.
    #[schemars(with = "Option<u64>")]
    pub congestion_marks: u64,
    /// Packets retransmitted by timeout although they had arrived.
    /// `null` as `spurious_retransmissions`.
    #[schemars(with = "Option<u64>")]
    pub spurious_timeouts: u64,
    /// Acknowledgements of its payload with SACK blocks outside of all that it was seen to send, and of the window.
    #[serde(skip)]
    pub sacks_outside: u64,
    /// Expiries of the retransmission timer although the segment had arrived.
    #[serde(skip)]
    pub spurious_expiries: u64,
    /// Its round trips with more data in flight.
    #[serde(skip)]
    pub loaded_round_trips: LoadedRoundTrips,
    /// Whether the capture begins after the connection: its first trains are no first flight.
    #[serde(skip)]
    pub begins_late: bool,
    /// Whether its segments behind the SYN carry timestamps.
    #[serde(skip)]
    pub uses_timestamps: bool,
    /// Delays of its way, as the other end's timestamps tell them.
    #[serde(skip)]
    pub way_delay: Option<WayDelay>,
    /// The share of the time in which its window was below two thirds of the largest before: what it receives is read slowly.
    #[serde(skip)]
    pub low_windows: Option<f64>,
    /// The smallest that it advertised after its SYN as a share of the largest, whatever the scale.
    #[serde(skip)]
    pub least_window: Option<f64>,
    /// The share of the time in which it was full: within a fiftieth of the largest before.
    #[serde(skip)]
    pub full_windows: Option<f64>,
    /// What its data or its acknowledgements alone show, where the other direction was not captured.
    #[serde(skip)]
    pub alone: Option<Box<Alone>>,
    /// Gaps between acknowledgements of its payload.
    #[serde(skip)]
    pub ack_gaps: Option<AckGaps>,
    /// Intervals between the arrivals of its payload.
    #[serde(skip)]
    pub intervals: Option<Intervals>,
    /// When its new segments left, where the capture point is not at its sender and both ends have timestamps.
    #[serde(skip)]
    pub departures: Option<Departures>,
    /// The path at each loss.
    #[serde(skip)]
    pub loss_episodes: LossEpisodes,
    /// The flight in which most segments were dropped.
    #[serde(skip)]
    pub drop_line: Option<DropLine>,
    /// Growth of the flight between losses.
    #[serde(skip)]
    pub epochs: CongestionEpochs,
    /// Times that its sender let acknowledgements pass without sending.
    #[serde(skip)]
    pub refills: Option<Refills>,
    /// A segment that did not arrive in spite of retransmissions, because it was too large.
    #[serde(skip)]
    pub black_hole: Option<BlackHole>,
    /// The longest time in which nothing of the other side answered its retransmissions, until something did.
    #[serde(skip)]
    pub outage: Option<Outage>,
    /// Time of the first payload.
    #[serde(skip)]
    pub first_data: Option<Time>,
    /// Time of the last acknowledgement of payload.
    #[serde(skip)]
    pub last_ack: Option<Time>,
    /// The end of the time whose limits are told: the last acknowledgement, or the last
    /// retransmission or probe after it.
    #[serde(skip)]
    pub limits_end: Option<Time>,
    /// When its sender's window shut, if it did not open again.
    #[serde(skip)]
    pub window_shut_since: Option<Time>,
    /// What connections of one of its hosts with others sent the same way meanwhile.
    #[serde(skip)]
    pub nearby: Option<Beside>,
    /// The events in intervals of time.
    #[serde(skip)]
    pub bins: Bins,
    /// Packets that show an event, by number.
    #[serde(skip)]
    pub events: Events,
    /// Every segment and acknowledgement, where requested.
    #[serde(skip)]
    pub trace: Option<Box<Trace>>,
}

/// Payload of a full segment where none shows: that of Ethernet without options of TCP.
const USUAL_SEGMENT: u32 = 1460;

impl DirectionStats {
    /// The payload of a full segment, in bytes, at least 1; where the capture does not show it, the usual one.
    pub fn full_segment(&self) -> u32 {
        self.mss_used_bytes.unwrap_or(USUAL_SEGMENT).max(1)
    }

    /// The payload of a full segment where captured packets may be several: before segmentation offload, or after receive
    /// offload.
    fn joined_of(&self) -> Option<u64> {
        let is_joined = self.offloaded_packets > 0;
        self.mss_used_bytes.filter(|mss| is_joined && *mss > 0).map(u64::from)
    }

    /// Data packets on the wire, each once however often it was captured: those captured, or the segments that packets captured before segmentation offload, or
    /// after receive offload, stand for.
    pub fn segments(&self) -> u64 {
        let captured = self.data_packets_once();
        // Copies of joined packets may be captured cut up: the shares of packets and of bytes differ.
        let counted = self.unique_bytes + self.retransmitted_bytes;
        let once = match counted {
            0 => self.payload_bytes - self.copies_of(self.payload_bytes),
            bytes => bytes,
        };
        self.joined_of().map_or(captured, |mss| captured.max(once.div_ceil(mss)))
    }

    /// How many of so many captured packets are copies of others.
    fn copies_of(&self, captured: u64) -> u64 {
        let copies = u128::from(captured) * u128::from(self.capture_duplicates);
        u64::try_from(copies / u128::from(self.packets.max(1)))
            .map_or(captured, |n| n.min(captured))
    }

    /// Retransmissions that repaired a loss, in segments of the wire: one captured packet may stand for several.
    pub fn lost_segments(&self) -> u64 {
        self.segments_of(self.needed_retransmissions())
    }

    /// Segments of the wire with payload that were sent again: one captured packet may stand for several.
    pub fn resent_segments(&self) -> u64 {
        self.segments_of(self.resent_data())
    }

    /// The same with those that a hop refused as too large.
    pub fn repeated_segments(&self) -> u64 {
        self.segments_of(self.resent_data().saturating_add(self.resent.too_large))
    }

    /// Segments of so many of the captured retransmissions.
    fn segments_of(&self, packets: u64) -> u64 {
        let Some(mss) = self.joined_of() else { return packets };
        let bytes = u128::from(self.retransmitted_bytes) * u128::from(packets)
            / u128::from(self.retransmitted_packets.max(1));
        let segments = bytes.div_ceil(u128::from(mss));
        packets.max(u64::try_from(segments).unwrap_or(packets))
    }

    /// Whether none of its packets were captured beside those of the other direction, or none behind its handshake while the other sent more
    /// than any window lets it, or longer than any timer.
    pub const fn is_missing_beside(&self, other: &Self) -> bool {
        /// Packets of one end in a handshake: a SYN, and the acknowledgement of one.
        const HANDSHAKE: u64 = 2;
        self.packets == 0
            || self.packets <= HANDSHAKE && (other.beyond_window > 0 || other.beyond_timer > 0)
    }

    /// Whether these acknowledgements are of a reader that is behind: the window was shut, or it was low beside the largest for most of
    /// the time, and by more than what has just arrived takes of a small buffer, half of it. A window that nobody fills, or that grows,
    /// is not low. One that shuts for a moment is of no such reader: where a lost segment arrives, all that came behind it is there to be
    /// read at once. Where the beginning was not captured, nor was the largest window of a reader that is behind since: it is one whose
    /// window is hardly ever as large twice.
    pub fn has_slow_reader(&self) -> bool {
        const MOSTLY: f64 = 0.5;
        const HALF: f64 = 0.5;
        let is_much_lower = match self.window_min_bytes.zip(self.window_max_bytes) {
            Some((least, most)) => 2 * least < most,
            None => self.least_window.is_some_and(|share| share < HALF),
        };
        let stays_shut =
            self.zero_windows > 0 && self.window_shut_briefly < self.window_shut_times.max(1);
        let varies = self.begins_late && self.full_windows.is_some_and(|full| full < MOSTLY);
        stays_shut || varies || is_much_lower && self.low_windows.is_some_and(|low| low >= MOSTLY)
    }

    /// The share of packets with payload that others overtook.
    pub fn out_of_order_share(&self) -> f64 {
        self.out_of_order_packets as f64 / (self.data_packets_once() as f64).max(1.0)
    }

    /// Packets with payload that were sent again, but for those that a hop refused as too large.
    pub const fn resent_data(&self) -> u64 {
        let Resent { control, too_large, .. } = self.resent;
        self.retransmitted_packets.saturating_sub(control).saturating_sub(too_large)
    }

    /// Those of them that were not spurious.
    pub const fn needed_retransmissions(&self) -> u64 {
        self.resent_data().saturating_sub(self.spurious_retransmissions)
    }
}

#[cfg(test)]
mod tests;
