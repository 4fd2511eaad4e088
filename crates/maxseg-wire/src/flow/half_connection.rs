//! One end of a connection: the packets that it sends, as sender of its payload and as receiver of the other's.

mod describe;
mod resumed;

use maxseg_core::evidence::{
    DirectionStats, Event, EventKind, Events, OptionKind, OptionOrder, SynFacts,
};
use maxseg_core::framing::IpVersion;
use maxseg_core::units::Time;
use maxseg_core::window::LARGEST_SHIFT;
use serde::{Deserialize, Serialize};

use super::Seen;
use super::capture_duplicates::RecentPackets;
use super::capture_points::CapturePoints;
use super::ecn::{CE, MarkEcho};
use super::seen_options::SeenOptions;
use super::send_history::SendHistory;
use super::sequence::Sequence;
use super::stamp_clock::StampClock;
use super::unanswered::Unanswered;
use super::way_delays::WayDelays;
use super::window_levels::WindowLevels;
use crate::options::{Item, kind, walk};
use crate::tcp::Flags;
use describe::{Agreed, describe};

/// A window that opens again within this, in nanoseconds, was shut until the program that reads was scheduled.
const BRIEFLY: u64 = 5_000_000;

/// One end of a connection.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct HalfConnection {
    pub(super) counts: PacketCounts,
    pub(super) offered: SynOptions,
    pub(super) sequence: Option<Sequence>,
    /// Behind the highest byte that was seen of it, and the first that is not acknowledged.
    pub(super) nxt: i64,
    pub(super) una: i64,
    /// The FIN's place.
    pub(super) fin: Option<i64>,
    /// The window field of its last segment, not scaled.
    window: u16,
    /// The same in bytes, where its scale is known.
    window_bytes: Option<i64>,
    pub(super) windows: WindowLevels,
    acknowledged: Option<u32>,
    shut_at: Option<u64>,
    pub(super) unanswered: Unanswered,
    pub(super) echo: MarkEcho,
    pub(super) points: CapturePoints,
    pub(super) recent: RecentPackets,
    /// They only tell a pause from a clock that was set.
    #[serde(skip)]
    pub(super) stamps: StampClock,
    pub(super) way_to: WayDelays,
    /// Where its windows shut, and what is to be said of its packets as such.
    events: Events,
    pub(super) stream: Option<Box<SendHistory>>,
    pub(super) first_data: u64,
    pub(super) last_data_ack: u64,
    pub(super) last_ack: u64,
}

/// What is counted of an end's packets.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct PacketCounts {
    pub(super) packets: u32,
    pub(super) data_packets: u32,
    pub(super) payload: u64,
    pub(super) ip_bytes: u64,
    pub(super) control_resent: u32,
    pub(super) duplicates_of_capture: u32,
    /// IP bytes of the copies.
    copied_bytes: u64,
    pub(super) duplicate_acks: u32,
    /// The same where no data of the other end is known to be outstanding, of which none may be captured.
    repeated_acks: u32,
    pub(super) dsack_acks: u32,
    pub(super) zero_windows: u32,
    pub(super) shut: u32,
    pub(super) shut_briefly: u32,
    pub(super) zero_window_probes: u32,
    pub(super) keep_alives: u32,
    pub(super) offloaded: u32,
    pub(super) may_fragment: u32,
    pub(super) fragmented: u32,
    /// Packets with CE.
    pub(super) marked: u32,
    /// Segments with CWR in answer to ECE.
    pub(super) answered_marks: u32,
    pub(super) largest: u32,
    window_min: u32,
    window_max: u32,
    has_window: bool,
}

/// What an end's SYN offers.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "what a SYN offers or does not")]
pub(super) struct SynOptions {
    pub(super) syn: bool,
    pub(super) mss: Option<u16>,
    pub(super) window_scale: Option<u8>,
    pub(super) sack: bool,
    pub(super) timestamps: bool,
    /// The capture kept only a part of its options.
    pub(super) is_cut: bool,
    /// Seen behind the SYN.
    pub(super) uses_timestamps: bool,
    pub(super) facts: SynFacts,
}

impl PacketCounts {
    /// A packet is a copy that the capture made.
    pub(super) fn on_copy(&mut self, seen: &Seen<'_>) {
        self.duplicates_of_capture += 1;
        self.copied_bytes += u64::from(seen.ip_len);
    }
}

impl SynOptions {
    /// By how many bits windows are shifted; `None` where the capture cut the option off or has no SYN.
    pub(super) fn shift(&self) -> Option<u8> {
        let is_known = self.syn && (self.window_scale.is_some() || !self.is_cut);
        is_known.then(|| self.window_scale.unwrap_or(0))
    }
}

impl HalfConnection {
    /// Where a number lies among the offsets of what this end sends; begins to count there where nothing was
    /// seen before.
    pub(super) fn offset(&mut self, number: u32) -> i64 {
        let sequence = *self.sequence.get_or_insert_with(|| Sequence::from(number));
        sequence.offset(number, self.nxt)
    }

    /// Whether all its segments were captured at two places, as far as their identifications show.
    pub(super) fn is_seen_twice(&self) -> bool {
        let overtaken = self.stream.as_ref().map_or(0, |stream| stream.counts.out_of_order);
        self.points.repeats(self.counts.data_packets, overtaken)
    }

    /// A SYN: what it offers, and where payload begins.
    pub(super) fn on_syn(&mut self, seen: &Seen<'_>, options: &SeenOptions) {
        self.offered = SynOptions {
            syn: true,
            mss: options.mss,
            window_scale: options.window_scale,
            sack: options.sack_permitted,
            timestamps: options.timestamps.is_some(),
            is_cut: seen.options_are_cut(),
            uses_timestamps: false,
            facts: SynFacts {
                ttl: seen.ttl,
                later_ttl: None,
                window: seen.window,
                mss: options.mss,
                window_scale: options.window_scale,
                order: option_order(seen.options),
                is_answer: seen.flags.contains(Flags::ACK),
                is_cut: seen.options_are_cut(),
            },
        };
        self.sequence = Some(Sequence::from(seen.seq.wrapping_add(1)));
        self.nxt = 0;
        self.una = -1;
    }

    /// The first packet behind the SYN: its hops show whether the same host sent both.
    pub(super) fn on_later_ttl(&mut self, seen: &Seen<'_>) {
        let facts = &mut self.offered.facts;
        if facts.later_ttl.is_none() && self.offered.syn && !seen.flags.contains(Flags::SYN) {
            facts.later_ttl = Some(seen.ttl);
        }
    }

    #[inline]
    pub(super) fn count(&mut self, seen: &Seen<'_>) {
        let counts = &mut self.counts;
        counts.packets += 1;
        counts.ip_bytes += u64::from(seen.ip_len);
        if seen.payload_len > 0 {
            counts.payload += u64::from(seen.payload_len);
            counts.data_packets += 1;
            counts.largest = counts.largest.max(seen.payload_len);
        }
        counts.may_fragment += u32::from(!seen.dont_fragment);
        counts.marked += u32::from(seen.ecn == CE);
    }

    /// The window that a segment of this end offers, in bytes; `shift` is `None` while it is not known.
    pub(super) fn window_of(seen: &Seen<'_>, shift: Option<u8>) -> Option<i64> {
        if seen.flags.contains(Flags::SYN) {
            return Some(i64::from(seen.window)); // RFC 7323 §2.2: never scaled
        }
        if seen.window == 0 {
            return Some(0); // whatever the scale
        }
        Some(i64::from(seen.window) << shift?.min(LARGEST_SHIFT))
    }

    /// A segment of this end as an acknowledgement. Gives whether it is a duplicate ACK: no new acknowledgement, no
    /// payload, the same window, and data of the other end outstanding (RFC 5681 §2).
    #[inline(always)]
    pub(super) fn on_own_ack(
        &mut self,
        seen: &Seen<'_>,
        window: Option<i64>,
        outstanding: bool,
    ) -> bool {
        let is_control = seen.flags.bits() & (Flags::SYN | Flags::FIN | Flags::RST).bits() != 0;
        if seen.window == 0 {
            if !is_control {
                self.on_zero_window(seen);
            }
        } else if let Some(since) = self.shut_at.take() {
            self.counts.shut_briefly += u32::from(seen.at_nanos < since + BRIEFLY);
        }
        if !is_control {
            self.windows.on_window(seen.window, seen.at_nanos);
        }
        if let Some(window) = window
            && !is_control
        {
            let window = u32::try_from(window).unwrap_or(u32::MAX);
            let counts = &mut self.counts;
            counts.window_max = counts.window_max.max(window);
            counts.window_min =
                if counts.has_window { counts.window_min.min(window) } else { window };
            counts.has_window = true;
        }
        let repeats = seen.payload_len == 0
            && !is_control
            && self.acknowledged == Some(seen.ack)
            && self.window == seen.window
            && seen.window != 0;
        let is_duplicate = repeats && outstanding;
        self.counts.duplicate_acks += u32::from(is_duplicate);
        self.counts.repeated_acks += u32::from(repeats && !outstanding);
        self.window = seen.window;
        self.window_bytes = window;
        if seen.flags.contains(Flags::ACK) {
            self.acknowledged = Some(seen.ack);
        }
        is_duplicate
    }

    fn on_zero_window(&mut self, seen: &Seen<'_>) {
        self.counts.zero_windows += 1;
        if self.shut_at.is_none() {
            self.counts.shut += 1;
            self.shut_at = Some(seen.at_nanos);
            self.note(EventKind::ZeroWindow, seen);
        }
    }

    /// A SYN or FIN of this end is sent again.
    pub(super) fn on_control_resent(&mut self, at: u64) {
        self.counts.control_resent += 1;
        self.unanswered.on_retransmission(at, true);
    }

    /// Keeps a packet of this end as an example.
    pub(super) fn note(&mut self, kind: EventKind, seen: &Seen<'_>) {
        let offset = self.sequence.map_or(0, |it| it.offset(seen.seq, self.nxt));
        self.events.note(Event {
            kind,
            at: Time::from_nanos(seen.at_nanos),
            frame: seen.frame,
            offset: u64::try_from(offset).unwrap_or(0),
            bytes: seen.payload_len,
            lasted: Time::ZERO,
        });
    }

    /// The last window that it offered, in bytes.
    pub(super) const fn window_bytes(&self) -> Option<i64> {
        self.window_bytes
    }

    /// The largest receive window that it may have, in bytes; `None` where nothing was seen of it. A window that fits the field is offered in
    /// its SYN already.
    pub(super) fn largest_window(&self, shift: Option<u8>) -> Option<i64> {
        let least = i64::from(u16::MAX);
        let most = match shift {
            Some(_) => least.max(self.counts.window_max.into()),
            None => least << LARGEST_SHIFT,
        };
        (self.counts.packets > 0).then_some(most)
    }

    /// Whether the other end has acknowledged its FIN.
    pub(super) fn fin_is_acked(&self) -> bool {
        self.fin.is_some_and(|fin| self.una > fin)
    }

    /// Acknowledgements that repeat the one before while no data of the other end is known to be outstanding: duplicates, where that data
    /// was not captured.
    pub(super) const fn repeated_acks(&self) -> u64 {
        self.counts.repeated_acks as u64
    }

    pub(super) const fn window_is_shut(&self) -> bool {
        self.shut_at.is_some()
    }

    /// What was seen of this end's way; `peer` is what the other end's SYN offered.
    pub(super) fn direction(
        &mut self,
        peer: &SynOptions,
        ip: IpVersion,
        end: u64,
    ) -> DirectionStats {
        let (counts, last) = (self.counts, self.fin.unwrap_or(i64::MAX));
        let both_scale = match (self.offered.syn, peer.syn) {
            (true, true) => self.offered.window_scale.is_some() && peer.window_scale.is_some(),
            _ => true,
        };
        let mut direction = DirectionStats {
            packets: counts.packets.into(),
            data_packets: counts.data_packets.into(),
            payload_bytes: counts.payload,
            ip_bytes: counts.ip_bytes,
            mss_option_bytes: self.offered.mss,
            mss_option_elsewhere: self.points.lowered_mss(self.offered.mss),
            window_scale: self.offered.window_scale.filter(|_| both_scale),
            sack_permitted: self.offered.sack,
            timestamps: self.offered.timestamps,
            uses_timestamps: self.offered.uses_timestamps,
            syn: self.offered.syn.then_some(self.offered.facts),
            largest_segment_bytes: counts.largest,
            offloaded_packets: counts.offloaded.into(),
            acked_bytes: u64::try_from(self.una.min(last)).unwrap_or(0),
            retransmitted_packets: counts.control_resent.into(),
            capture_duplicates: counts.duplicates_of_capture.into(),
            duplicate_acks: counts.duplicate_acks.into(),
            dsack_acks: counts.dsack_acks.into(),
            zero_windows: counts.zero_windows.into(),
            window_shut_times: counts.shut.into(),
            window_shut_briefly: counts.shut_briefly.into(),
            zero_window_probes: counts.zero_window_probes.into(),
            keep_alives: counts.keep_alives.into(),
            low_windows: self.windows.shares().map(|(low, _)| low),
            least_window: self.windows.least_share(),
            full_windows: self.windows.shares().map(|(_, full)| full),
            window_min_bytes: counts.has_window.then(|| counts.window_min.into()),
            window_max_bytes: counts.has_window.then(|| counts.window_max.into()),
            may_fragment_packets: counts.may_fragment.into(),
            fragmented_packets: counts.fragmented.into(),
            // A mark that is seen itself is answered as well; one that is made behind the capture point is answered alone.
            congestion_marks: counts.marked.max(counts.answered_marks).into(),
            first_data: (self.first_data > 0).then(|| Time::from_nanos(self.first_data)),
            last_ack: (self.last_ack > 0).then(|| Time::from_nanos(self.last_ack)),
            outstanding_bytes: u64::try_from(self.nxt.min(last) - self.una.max(0)).unwrap_or(0),
            window_shut_since: self.shut_at.map(Time::from_nanos),
            outage: self.unanswered.longest,
            ..DirectionStats::default()
        };
        direction.events = std::mem::take(&mut self.events);
        direction.resent.control = counts.control_resent.into();
        if self.first_data > 0 && self.last_data_ack > self.first_data {
            let seconds = (self.last_data_ack - self.first_data) as f64 / 1e9;
            direction.goodput_bps = Some(direction.acked_bytes as f64 * 8.0 / seconds);
        }
        if let Some(stream) = self.stream.take() {
            // The time until the last acknowledgement of data, retransmission or probe is looked at; where none was captured, all of it.
            // How long the connection stays open behind its data says nothing of the transfer.
            let is_alone = self.unanswered.since == 0;
            let answered = self.last_data_ack.max(self.unanswered.last);
            let last = if is_alone { stream.last_sent() } else { answered };
            let end = if last > self.first_data { last } else { end };
            direction.limits_end = Some(Time::from_nanos(end));
            let agreed = Agreed { peer, timestamps: self.offered.uses_timestamps, ip };
            describe(*stream, &mut direction, &agreed, end);
        }
        let ip_bytes = direction.ip_bytes.saturating_sub(counts.copied_bytes);
        direction.efficiency =
            (ip_bytes > 0).then(|| direction.unique_bytes as f64 / ip_bytes as f64);
        direction
    }
}

/// The order of a SYN's options.
fn option_order(options: &[u8]) -> OptionOrder {
    let kind_of = |item| match item {
        Item::EndOfList => OptionKind::EndOfList,
        Item::NoOperation => OptionKind::NoOperation,
        Item::Option(option) => match option.kind {
            kind::MSS => OptionKind::Mss,
            kind::WINDOW_SCALE => OptionKind::WindowScale,
            kind::SACK_PERMITTED => OptionKind::SackPermitted,
            kind::TIMESTAMPS => OptionKind::Timestamps,
            _ => OptionKind::Other,
        },
        Item::Truncated | Item::BadLength | Item::NotCaptured(_) => OptionKind::Other,
    };
    walk(options).map(kind_of).collect()
}
