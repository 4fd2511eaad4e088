//! What two captures show together, in the document.

use maxseg_core::evidence::{Change, Direction, Evidence, Joined, Passage};
use schemars::JsonSchema;
use serde::Serialize;

use crate::explain::CapturePair;

/// The two captures that were joined.
#[derive(Serialize, JsonSchema)]
pub(super) struct PairEntry<'a> {
    /// Their paths, in the order in which they were given; `client_capture` and `judged_in` of a connection are places in
    /// this list.
    files: &'a [String; 2],
    /// Packets of each.
    packets: [u64; 2],
    /// Connections that only one of them holds, which are left out.
    only_in: [u64; 2],
}

impl<'a> PairEntry<'a> {
    pub(super) fn of(pair: &'a CapturePair, main_packets: u64) -> Self {
        let mut packets = [pair.other.file.packets; 2];
        if let Some(place) = packets.get_mut(pair.main) {
            *place = main_packets;
        }
        Self { files: &pair.names, packets, only_in: pair.only_in }
    }
}

/// What two captures of a connection, one at each end, show together.
#[derive(Serialize, JsonSchema)]
pub(super) struct JoinedEntry {
    /// The capture nearer to the client.
    client_capture: usize,
    /// The capture that limits, findings, times and frames are of: the one nearer to the sender of most payload, or the
    /// other where only that holds both directions, or the SYNs.
    judged_in: usize,
    /// Time of the capture at the server less time of the capture at the client; null where only one direction of the
    /// packets is in both.
    clock_offset_s: Option<f64>,
    /// The offset is right to so much: half the least round trip.
    clock_uncertainty_s: Option<f64>,
    /// By how much the clock at the server is faster, in millionths; null where it cannot be told from 0.
    clock_skew_ppm: Option<f64>,
    /// The least delay there plus the least delay back.
    base_rtt_s: Option<f64>,
    /// The direction whose packets wait much longer than those of the other; null where neither stands out.
    queued_way: Option<Direction>,
    /// From the client to the server, then back.
    directions: [PassageEntry; 2],
    /// Header fields that were not the same at both ends.
    changed_on_the_way: Vec<ChangeEntry>,
}

/// What became of the packets of a direction. What was captured before segmentation offload counts as the segments that
/// it is cut to.
#[derive(Serialize, JsonSchema)]
struct PassageEntry {
    from: String,
    to: String,
    /// Packets in the capture at the sender.
    sent_packets: u64,
    /// Their payload.
    sent_bytes: u64,
    /// Packets that did not pass the other capture while it ran.
    lost_packets: u64,
    lost_bytes: u64,
    /// Lost packets ÷ packets sent while both captured; null where there were none.
    loss_share: Option<f64>,
    /// Packets that arrived behind one that was sent later (RFC 4737).
    reordered_packets: u64,
    /// Copies of packets that were sent once.
    duplicated_packets: u64,
    retransmitted_packets: u64,
    /// Retransmissions of these that brought nothing new.
    needless_retransmissions: u64,
    /// Packets that arrived, and that the capture at the sender lost.
    missed_by_sender_capture: u64,
    /// Packets with payload that was acknowledged, and that the capture at the receiver lost.
    missed_by_receiver_capture: u64,
    /// Packets that were sent while the other capture did not run: their fate is unknown.
    outside_packets: u64,
    /// The least one-way delay, right to `clock_uncertainty_s`.
    delay_min_s: Option<f64>,
    /// One-way delay above the least: the median,
    queue_delay_median_s: Option<f64>,
    /// the 99th percentile,
    queue_delay_p99_s: Option<f64>,
    /// and the largest.
    queue_delay_max_s: Option<f64>,
    /// Losses of payload behind a packet that arrived, several in a row once,
    losses_with_delay: u64,
    /// those where that had waited for at least half of `queue_delay_max_s`,
    losses_at_high_delay: u64,
    /// and the median time that it had waited; null without such losses.
    delay_at_losses_median_s: Option<f64>,
    /// Hops between the captures that lowered the TTL.
    hops: Option<u8>,
    /// Packets that a hop marked CE (RFC 3168).
    marked_packets: u64,
    /// Packets whose ECN code point a hop cleared.
    bleached_packets: u64,
}

/// A header field that was not the same at both ends.
#[derive(Serialize, JsonSchema)]
struct ChangeEntry {
    #[serde(rename = "way")]
    direction: Direction,
    /// `mss`, `window-scale`, `sack-permitted`, `timestamps`, `option-N`, `addresses`, `sequence-numbers`, `ecn-setup`, `window`.
    field: String,
    /// As it was sent; null where there was none.
    sent: Option<String>,
    /// As it arrived; null where it was removed.
    received: Option<String>,
}

impl JoinedEntry {
    pub(super) fn of(evidence: &Evidence, joined: &Joined) -> Self {
        let clock = joined.clock;
        let passage = |direction| PassageEntry::of(evidence, direction, joined.passage(direction));
        Self {
            client_capture: joined.client_capture,
            judged_in: joined.judged_in,
            clock_offset_s: clock.map(|clock| clock.offset_s),
            clock_uncertainty_s: clock.map(|clock| clock.uncertainty_s),
            clock_skew_ppm: clock.and_then(|clock| clock.skew_ppm),
            base_rtt_s: clock.map(|clock| clock.base_rtt_s),
            queued_way: joined.queued_direction(),
            directions: [passage(Direction::Forward), passage(Direction::Reverse)],
            changed_on_the_way: joined.changes.iter().map(ChangeEntry::of).collect(),
        }
    }
}

impl PassageEntry {
    fn of(evidence: &Evidence, direction: Direction, passage: &Passage) -> Self {
        let (delay, at_losses) = (passage.delay, passage.at_losses);
        Self {
            from: evidence.sender(direction).to_string(),
            to: evidence.receiver(direction).to_string(),
            sent_packets: passage.sent_packets,
            sent_bytes: passage.sent_bytes,
            lost_packets: passage.lost_packets,
            lost_bytes: passage.lost_bytes,
            loss_share: passage.loss_share(),
            reordered_packets: passage.reordered_packets,
            duplicated_packets: passage.duplicated_packets,
            retransmitted_packets: passage.retransmitted_packets,
            needless_retransmissions: passage.needless_retransmissions,
            missed_by_sender_capture: passage.missed_at_sender,
            missed_by_receiver_capture: passage.missed_at_receiver,
            outside_packets: passage.outside_packets,
            delay_min_s: delay.and_then(|delay| delay.min_s),
            queue_delay_median_s: delay.map(|delay| delay.queue_median_s),
            queue_delay_p99_s: delay.map(|delay| delay.queue_p99_s),
            queue_delay_max_s: delay.map(|delay| delay.queue_max_s),
            losses_with_delay: at_losses.count,
            losses_at_high_delay: at_losses.high,
            delay_at_losses_median_s: (at_losses.count > 0).then_some(at_losses.median_s),
            hops: passage.hops,
            marked_packets: passage.marked_packets,
            bleached_packets: passage.bleached_packets,
        }
    }
}

impl ChangeEntry {
    fn of(change: &Change) -> Self {
        let known = |text: &String| (!text.is_empty()).then(|| text.clone());
        Self {
            direction: change.direction,
            field: change.field.word(),
            sent: known(&change.sent),
            received: known(&change.received),
        }
    }
}
