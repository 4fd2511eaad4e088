//! What was seen of one connection: from a capture, from the kernel, or from a simulation.
//!
//! ```text
//! packets → Evidence: two Directions, each with counts, Bins (what happened when) and Events (where to look)
//! ```
//!
//! `None` is "this source cannot know"; it is never zero for that.

mod alone;
mod beside;
mod bins;
mod capture_facts;
mod congestion_epochs;
mod departures;
mod direction_stats;
mod drop_line;
mod ending;
mod event;
mod joined;
mod losses;
mod missing;
mod path_mtu;
mod points;
mod rate_spread;
mod refills;
mod requests;
mod socket;
mod socket_info;
mod syn;
mod timer;
mod trace;
mod translated;
mod unreachable;
mod unseen;

use std::net::SocketAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use alone::{Alone, Repair};
pub(crate) use beside::least;
pub use beside::{Beside, note_beside};
pub use bins::{Bin, Bins, later_stands};
pub use capture_facts::{CaptureFacts, FileInterface};
pub use congestion_epochs::{
    CongestionEpoch, CongestionEpochs, FlightAtLoss, Opening, OpeningRound, RecoveryBefore,
    RecoveryRound, RoundFlight,
};
pub use departures::Departures;
pub use direction_stats::{BlackHole, DirectionStats, Resent, Spurious};
pub use drop_line::DropLine;
pub use ending::{Ending, Handshake, Outage, Silence};
pub use event::{Cause, Event, EventKind, Events};
pub use joined::{
    Change, ChangedField, ClockDifference, DelayAtLosses, Joined, OneWayDelay, Passage,
};
pub use losses::{
    AckGaps, Bursts, Intervals, LoadedRoundTrips, LossEpisode, LossEpisodes, WayDelay,
};
pub use path_mtu::PathMtuEvent;
pub use points::Points;
pub use rate_spread::{RatePoint, RateQuartiles, RateSpread};
pub use refills::Refills;
pub use requests::{Requests, Waits};
pub use socket::{BufferFill, Closing, SocketEvidence, SocketState};
pub use socket_info::SocketInfo;
pub use syn::{OptionKind, OptionOrder, SynFacts};
pub use trace::{AckPoint, ControlKind, ControlPoint, SackPoint, SegmentPoint, Trace};
pub use translated::Translated;
pub use unreachable::{UnreachableCode, UnreachableEvent};
pub use unseen::Unseen;

use crate::framing::{Headers, IpVersion, TCP_TIMESTAMPS};
use crate::units::{Bytes, Mtu, Time};

/// What was seen of one connection. Times are since 1970 in a capture, and since the beginning of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    /// Which connection of the source it is, in the order of their first packets, from 0.
    pub id: u32,
    /// Who opened it; where that was not seen, whoever has the port that looks less like a service's.
    pub client: SocketAddr,
    /// Whom it was opened to.
    pub server: SocketAddr,
    /// When its first packet passed.
    pub begin: Time,
    /// When its last packet passed.
    pub end: Time,
    /// How it began, as far as that was seen.
    pub handshake: Handshake,
    /// How it ended, as far as that was seen.
    pub ending: Ending,
    /// When the first RST passed.
    pub reset_at: Option<Time>,
    /// Whether the first RST came another number of hops (TTL, hop limit) than the other packets of its end.
    pub reset_is_other_path: bool,
    /// Which end is silent at its end, and since when.
    pub silence: Option<Silence>,
    /// Requests and replies; `None` where there were none.
    pub requests: Option<Requests>,
    /// From the client to the server.
    pub forward: DirectionStats,
    /// From the server to the client.
    pub reverse: DirectionStats,
    /// ICMP messages about packets of this connection that were too big, of both directions.
    pub path_mtu_events: Vec<PathMtuEvent>,
    /// ICMP messages that the destination of its segments is unreachable, of both directions.
    pub unreachable: Vec<UnreachableEvent>,
    /// What else there is to know.
    pub marks: Marks,
    /// How it was captured.
    pub capture: CaptureFacts,
    /// What a second capture, nearer to the other end, adds; `None` where there is none.
    pub joined: Option<Box<Joined>>,
    /// What other connections of the same hosts sent meanwhile; `None` where that is little, or not known.
    pub beside: Option<Beside>,
}

/// A direction of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// From the client to the server.
    Forward,
    /// From the server to the client.
    Reverse,
}

impl Direction {
    /// The other one.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Forward => Self::Reverse,
            Self::Reverse => Self::Forward,
        }
    }
}

/// What else there is to know of a connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(clippy::struct_excessive_bools, reason = "marks, each of which may be there or not")]
pub struct Marks {
    /// It carries multipath options (RFC 8684): it may be one of several paths.
    pub mptcp: bool,
    /// Data travelled on the SYN, or a cookie for that was asked for or given (RFC 7413).
    pub fast_open: bool,
    /// Only one direction was captured.
    pub one_way: bool,
    /// Its beginning was not seen.
    pub mid_stream: bool,
    /// An earlier connection of the source had the same addresses and ports.
    pub ports_reused: bool,
    /// Segments larger than what passed the wire: the capture stood before the network card cut them up,
    /// or after it joined them (segmentation and receive offload).
    pub offloaded: bool,
    /// The same packets were seen at other interfaces of the source as well; they count once.
    pub seen_elsewhere: bool,
    /// Bytes were acknowledged that were never seen: the capture lost packets.
    pub capture_lost: bool,
    /// Congestion was signalled by marks (RFC 3168).
    pub ecn: bool,
    /// Both ends count marks (`AccECN`, RFC 9768): flags of segments are a counter, and no answer to a mark.
    pub accurate_ecn: bool,
}

impl Evidence {
    /// The direction that carried more payload, captured or acknowledged: the one whose limits are diagnosed.
    pub fn data_direction(&self) -> Direction {
        let carried = |stats: &DirectionStats| stats.payload_bytes.max(stats.acked_bytes);
        if carried(&self.reverse) > carried(&self.forward) {
            Direction::Reverse
        } else {
            Direction::Forward
        }
    }

    /// Payload of an end that none of its segments brought, and its later packets count as sent; with who sent it. `None` of a capture of
    /// one direction alone.
    pub fn payload_that_never_came(&self) -> Option<(SocketAddr, u64)> {
        let never_came = |direction| {
            let stats = self.stats(direction);
            let is_missing = stats.payload_bytes == 0 && stats.outstanding_bytes > 0;
            is_missing.then(|| (self.sender(direction), stats.outstanding_bytes))
        };
        let both = [Direction::Forward, Direction::Reverse].into_iter();
        both.filter(|_| !self.marks.one_way).find_map(never_came)
    }

    /// Whether both SYNs were captured with all of their options: what they do not offer is not in use.
    pub const fn has_syn_options(&self) -> bool {
        self.handshake.syn && self.handshake.syn_ack && !self.capture.cut_syn
    }

    /// What stands before the payload of every segment.
    pub fn headers(&self) -> Headers {
        let ip = IpVersion::from(self.client.ip());
        let tcp_options = if self.uses_timestamps() { TCP_TIMESTAMPS } else { Bytes::ZERO };
        Headers { ip, tcp_options }
    }

    /// Whether timestamps are in use: both SYNs offer them, or segments carry them, where no SYN was captured.
    pub const fn uses_timestamps(&self) -> bool {
        self.forward.timestamps && self.reverse.timestamps
            || self.forward.uses_timestamps
            || self.reverse.uses_timestamps
    }

    /// Whether segments were lost for their size, as it seems, and no smaller one ever arrived, nor came anything since, of the receiver or of
    /// a hop that is too narrow: then the receiver may as well be gone.
    pub fn is_silent_behind_hole(&self, direction: Direction) -> bool {
        let hole = self.stats(direction).black_hole;
        hole.is_some_and(|hole| hole.passed_bytes == 0 && hole.passed_before_bytes == 0)
            && self.silence.is_some_and(|silence| silence.direction == direction)
            && self.path_mtu_events_of(direction).next().is_none()
    }

    /// Seconds that a handshake with repeated SYNs took, where that is more than all that followed: each repetition waits a
    /// second and more (RFC 6298 §2.1).
    pub fn slow_handshake_s(&self) -> Option<f64> {
        let seconds = self.handshake.done?.since(self.begin).as_secs_f64();
        let all = self.end.since(self.begin).as_secs_f64();
        let is_repeated = self.handshake.syn_packets + self.handshake.syn_ack_packets > 2;
        (is_repeated && seconds >= 1.0 && seconds > 0.5 * all).then_some(seconds)
    }

    /// The evidence of one direction.
    pub const fn stats(&self, direction: Direction) -> &DirectionStats {
        match direction {
            Direction::Forward => &self.forward,
            Direction::Reverse => &self.reverse,
        }
    }

    /// When the window that the receiver of a direction advertises shut for good: it did not open again, for a second or
    /// more before the last packet.
    pub fn window_shut_for_good(&self, direction: Direction) -> Option<Time> {
        let shut = self.stats(direction.other()).window_shut_since;
        shut.filter(|shut| self.end.since(*shut) >= Time::from_secs(1))
    }

    /// The sender of a direction.
    pub const fn sender(&self, direction: Direction) -> SocketAddr {
        match direction {
            Direction::Forward => self.client,
            Direction::Reverse => self.server,
        }
    }

    /// The receiver of a direction.
    pub const fn receiver(&self, direction: Direction) -> SocketAddr {
        self.sender(direction.other())
    }

    /// The ICMP messages about packets of one direction: those that quote its sender as the source. A message about
    /// the other direction says nothing of this direction's path MTU.
    pub fn path_mtu_events_of(&self, direction: Direction) -> impl Iterator<Item = &PathMtuEvent> {
        let sender = self.sender(direction);
        let events = self.path_mtu_events.iter();
        events.filter(move |event| event.quoted.is_some_and(|(source, _)| source == sender))
    }

    /// The first message that somebody does not pass on what an end sends.
    pub fn unreachable_for(&self, sender: SocketAddr) -> Option<&UnreachableEvent> {
        self.unreachable.iter().find(|event| event.quoted.0 == sender)
    }

    /// The length of the packets that a sender put on the wire, where one that was quoted or captured has this length: it may be
    /// several segments joined. None is longer than both MSS options allow, of which the sender's own shows its link's MTU. `None`
    /// where that is not known.
    pub fn packet_on_wire(&self, direction: Direction, bytes: u32) -> Option<u32> {
        // A frame of Ethernet is one packet.
        if bytes <= Mtu::ETHERNET.octets() {
            return Some(bytes);
        }
        let (own, peer) = (self.stats(direction), self.stats(direction.other()));
        let most = own.mss_option_bytes.zip(peer.mss_option_bytes).map(|(a, b)| a.min(b));
        let plain = Headers::plain(self.headers().ip).octets();
        match most.map(|mss| u32::from(mss) + plain) {
            Some(most) => Some(bytes.min(most)),
            None => (!self.marks.offloaded).then_some(bytes),
        }
    }

    /// The smallest MTU that hops reported for packets of one direction, in bytes, and the message that says so.
    pub fn least_reported_mtu(&self, direction: Direction) -> Option<(u32, &PathMtuEvent)> {
        let events = self.path_mtu_events_of(direction);
        events.filter_map(|event| Some((event.next_hop_mtu()?, event))).min_by_key(|(mtu, _)| *mtu)
    }

    /// How long after the first packet that was too large a hop said so, where the sender heeded that: for most of the time it was not
    /// told. `None` where it was told before, or never.
    pub fn told_only_after(&self, direction: Direction) -> Option<Time> {
        let hole = self.stats(direction).black_hole.filter(BlackHole::is_by_size)?;
        let first = self.path_mtu_events_of(direction).map(|event| event.at).min()?;
        let (told, all) = (first.since(hole.from), hole.to.since(hole.from));
        let is_late = hole.passed_bytes > 0 && !hole.is_seen_behind() && told.times(2) >= all;
        is_late.then_some(told)
    }

    /// The smallest MTU that hops reported for packets of one direction, in bytes.
    pub fn reported_mtu(&self, direction: Direction) -> Option<u32> {
        self.least_reported_mtu(direction).map(|(mtu, _)| mtu)
    }

    /// The same, unless packets that are no larger were lost for their size: a hop behind it is narrower, and silent.
    pub fn path_mtu_reported(&self, direction: Direction) -> Option<u32> {
        let hole = self.stats(direction).black_hole.filter(BlackHole::is_by_size);
        let lost = hole.map(|hole| hole.segment_bytes + self.headers().octets());
        self.reported_mtu(direction).filter(|mtu| lost.is_none_or(|lost| lost > *mtu))
    }
}
