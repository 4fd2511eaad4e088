//! What SACK blocks tell (`tcp_sacktag_write_queue`, `net/ipv4/tcp_input.c`).

use super::CaState;
use super::Socket;
use super::flags::{DATA_SACKED, DSACK_TLP, DSACKING_ACK, Flags, ORIG_SACK_ACKED};
use super::packet::{Blocks, Packet};
use super::rate::RateSample;
use super::skb::{ACKED, ANY_RETRANSMISSION, LOST, RETRANSMITTED, Skb};

/// What was found in the blocks of one acknowledgement (`struct tcp_sacktag_state`).
#[derive(Debug, Default)]
pub(super) struct SackState {
    /// When the first and the last newly told packet without a retransmission were sent, in microseconds.
    pub(super) first_sent: Option<u64>,
    pub(super) last_sent: u64,
    /// The lowest number that came after a higher one.
    lowest: u64,
    /// Segments newly SACKed, duplicates included.
    pub(super) delivered: u64,
    flags: Flags,
}

/// A range of numbers, its end not included.
type Block = (u64, u64);

/// What a block covers of a packet: whole segments only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Covered {
    Whole,
    Nothing,
    /// It ends within the packet's first segment.
    TooLittle,
    /// So many bytes from the packet's begin on.
    Front(u64),
    /// All behind so many bytes.
    Back(u64),
}

/// What the block covers of a packet (`tcp_match_skb_to_sack`).
fn covered(skb: &Skb, start: u64, end: u64) -> Covered {
    // It is SACKed already: it may have been before as a part of another block, and is not to be cut for that.
    if skb.sacked == ACKED {
        return Covered::Nothing;
    }
    let begins_before = start <= skb.seq;
    if begins_before && end >= skb.end_seq {
        return Covered::Whole;
    }
    if skb.segments <= 1 || skb.end_seq <= start {
        return Covered::Nothing;
    }
    let mss = skb.gso_size;
    if begins_before {
        return match (end - skb.seq) / mss {
            0 => Covered::TooLittle,
            segments => Covered::Front(segments * mss),
        };
    }
    let uncovered = (start - skb.seq).max(mss).div_ceil(mss) * mss;
    if uncovered >= skb.len() { Covered::Nothing } else { Covered::Back(uncovered) }
}

impl Socket {
    /// Where the highest SACKed packet ends (`tcp_highest_sack_seq`).
    #[inline]
    pub(super) fn highest_sack_seq(&self) -> u64 {
        if self.sacked_out == 0 { self.snd_una } else { self.highest_sack }
    }

    /// Tags the packets that the blocks of `packet` tell of.
    pub(super) fn tag_sacked(
        &mut self,
        packet: &Packet,
        prior_una: u64,
        state: &mut SackState,
        sample: &mut RateSample,
    ) -> Flags {
        state.lowest = self.snd_nxt;
        if self.sacked_out == 0 {
            self.highest_sack = self.rtx_queue.front().map_or(self.snd_nxt, |skb| skb.seq);
        }
        let found_dup = self.check_dsack(packet, prior_una, state);
        if packet.ack + self.max_window < prior_una {
            return 0;
        }
        if self.packets_out == 0 {
            return state.flags;
        }
        let (blocks, dup) = self.usable_blocks(packet, prior_una, found_dup);
        let known = if self.sacked_out == 0 { Blocks::default() } else { self.last_blocks };
        for &block in blocks.as_slice() {
            // The duplicate may lie within a block: then that one is looked at as a whole.
            let within = dup.filter(|&(start, _)| start >= block.0 && start < block.1);
            if within.is_some() {
                self.walk(block, within, state, sample);
            } else {
                self.walk_unknown(block, &known, state, sample);
            }
        }
        self.last_blocks = blocks;
        if self.ca_state != CaState::Loss || self.undo_marker.is_some() {
            self.check_reordering(state.lowest);
        }
        state.flags
    }

    /// Whether the first block is a duplicate: below what is acknowledged, or within the second
    /// (`tcp_check_dsack`; RFC 2883 §4).
    fn check_dsack(&mut self, packet: &Packet, prior_una: u64, state: &mut SackState) -> bool {
        let blocks = packet.sack.as_slice();
        let Some(&(start, end)) = blocks.first() else { return false };
        let is_dup = start < packet.ack
            || blocks.get(1).is_some_and(|&(from, to)| start >= from && end <= to);
        if !is_dup {
            return false;
        }
        let segments = self.count_dsack(start, end, state);
        if segments == 0 {
            return false;
        }
        if let Some(marker) = self.undo_marker
            && self.undo_retrans > 0
            && end <= prior_una
            && end > marker
        {
            self.undo_retrans = (self.undo_retrans - segments.cast_signed()).max(0);
        }
        true
    }

    /// How many segments the receiver got twice; 0 where that cannot be (`tcp_dsack_seen`).
    fn count_dsack(&mut self, start: u64, end: u64, state: &mut SackState) -> u64 {
        let len = end.saturating_sub(start);
        if len == 0 || len > self.max_window {
            return 0;
        }
        let mut segments = 1;
        if len > self.mss_cache {
            segments = len.div_ceil(self.mss_cache);
        } else if self.tlp_high_seq > 0 && self.tlp_high_seq == end {
            state.flags |= DSACK_TLP;
        }
        self.dsack_dups += segments;
        if self.dsack_dups > self.counters.retransmitted_segments {
            return 0; // the network doubles packets
        }
        if self.reord_seen > 0 && state.flags & DSACK_TLP == 0 {
            self.rack.dsack_seen = true;
        }
        state.flags |= DSACKING_ACK;
        state.delivered += segments;
        segments
    }

    /// The blocks that can be true, in order of numbers, and the duplicate among them.
    fn usable_blocks(
        &self,
        packet: &Packet,
        prior_una: u64,
        found_dup: bool,
    ) -> (Blocks, Option<Block>) {
        let mut blocks = Blocks::default();
        let mut dup = None;
        // Newer ones lie further up most often, and come first: the last is the lowest.
        for (index, &(start, end)) in packet.sack.as_slice().iter().enumerate().rev() {
            let is_dup = index == 0 && found_dup;
            if !self.is_block_valid(is_dup, start, end) || end <= prior_una {
                continue;
            }
            if is_dup {
                dup = Some((start, end));
            }
            blocks.insert_in_order((start, end));
        }
        (blocks, dup)
    }

    /// `tcp_is_sackblock_valid`.
    fn is_block_valid(&self, is_dup: bool, start: u64, end: u64) -> bool {
        if end > self.snd_nxt || start >= end || start >= self.snd_nxt {
            return false;
        }
        if start > self.snd_una {
            return true;
        }
        let Some(marker) = self.undo_marker.filter(|_| is_dup) else { return false };
        if end > self.snd_una {
            return false;
        }
        start >= marker || (end > marker && start + self.max_window >= end)
    }

    /// Tags what of a block the last acknowledgement did not tell of.
    fn walk_unknown(
        &mut self,
        (start, end): Block,
        known: &Blocks,
        state: &mut SackState,
        sample: &mut RateSample,
    ) {
        let mut from = start;
        for &(known_start, known_end) in known.as_slice() {
            if known_end <= from {
                continue;
            }
            if known_start >= end {
                break;
            }
            if from < known_start {
                self.walk((from, known_start), None, state, sample);
            }
            from = known_end;
            if from >= end {
                return;
            }
        }
        self.walk((from, end), None, state, sample);
    }

    /// Tags the packets of a block (`tcp_sacktag_walk`). What lies within `dup` is SACKed a second time.
    fn walk(
        &mut self,
        (start, end): Block,
        dup: Option<Block>,
        state: &mut SackState,
        sample: &mut RateSample,
    ) {
        let mut index = self.find_sent_near(start, self.sacked_index);
        while let Some(skb) = self.rtx_queue.get(index).filter(|skb| skb.seq < end) {
            let is_dup = dup.is_some_and(|(from, to)| from <= skb.seq && skb.end_seq <= to);
            let mss = skb.gso_size;
            match covered(skb, start, end) {
                Covered::TooLittle => break,
                Covered::Nothing => {}
                Covered::Whole => self.tag(index, is_dup, state, sample),
                Covered::Front(len) if self.can_shift(index) => {
                    self.shift(index, len, state, sample);
                    continue;
                }
                Covered::Front(_) | Covered::Back(_) if !self.may_split_sent(index) => break,
                Covered::Front(len) => {
                    self.split_sent(index, len, mss);
                    self.tag(index, is_dup, state, sample);
                }
                Covered::Back(len) => self.split_sent(index, len, mss),
            }
            index += 1;
        }
        self.sacked_index = index;
    }

    /// A packet has arrived.
    fn tag(&mut self, index: usize, is_dup: bool, state: &mut SackState, sample: &mut RateSample) {
        let mut skb = self.rtx_queue[index];
        let is_new = !skb.is(ACKED);
        let can_join = is_dup || skb.sacked & (LOST | RETRANSMITTED) != RETRANSMITTED;
        self.tag_one(&mut skb, is_dup, state, sample);
        self.rtx_queue[index] = skb;
        if is_new && can_join && skb.is(ACKED) {
            self.join_sacked(index);
        }
    }

    /// The same of a packet that is not in the queue now (`tcp_sacktag_one`).
    pub(super) fn tag_one(
        &mut self,
        skb: &mut Skb,
        is_dup: bool,
        state: &mut SackState,
        sample: &mut RateSample,
    ) {
        if is_dup && skb.is(ANY_RETRANSMISSION) {
            if self.undo_retrans > 0 && self.undo_marker.is_some_and(|at| skb.end_seq > at) {
                self.undo_retrans = (self.undo_retrans - skb.segments.cast_signed()).max(0);
            }
            if skb.is(ACKED) {
                state.lowest = state.lowest.min(skb.seq);
            }
        }
        if skb.end_seq > self.snd_una {
            if !skb.is(ACKED) {
                self.tag_first_time(skb, state);
            }
            if is_dup && skb.is(RETRANSMITTED) {
                skb.sacked &= !RETRANSMITTED;
                self.retrans_out -= skb.segments;
            }
        }
        self.sample_delivery(skb, sample);
        if skb.seq >= self.highest_sack_seq() {
            self.highest_sack = skb.end_seq;
        }
    }

    fn tag_first_time(&mut self, skb: &mut Skb, state: &mut SackState) {
        let sent = skb.sent_micros();
        self.advance_rack(skb.sacked, skb.end_seq, sent);
        if skb.is(RETRANSMITTED) {
            if skb.is(LOST) {
                skb.sacked &= !(LOST | RETRANSMITTED);
                self.lost_out -= skb.segments;
                self.retrans_out -= skb.segments;
            }
        } else {
            if !skb.is(ANY_RETRANSMISSION) {
                if skb.seq < self.highest_sack_seq() {
                    state.lowest = state.lowest.min(skb.seq);
                }
                if skb.end_seq <= self.high_seq {
                    state.flags |= ORIG_SACK_ACKED;
                }
                state.first_sent.get_or_insert(sent);
                state.last_sent = sent;
            }
            if skb.is(LOST) {
                skb.sacked &= !LOST;
                self.lost_out -= skb.segments;
            }
        }
        skb.sacked |= ACKED;
        self.untagged_from = self.untagged_from.max(skb.end_seq);
        state.flags |= DATA_SACKED;
        self.sacked_out += skb.segments;
        state.delivered += skb.segments;
        if self.lost_hint.is_some_and(|hint| skb.seq < hint) {
            self.lost_count_hint += skb.segments;
        }
    }

    /// A packet with this number came after a higher one: how far do packets overtake each other
    /// (`tcp_check_sack_reordering`)?
    pub(super) fn check_reordering(&mut self, lowest: u64) {
        let highest = self.highest_sack_seq();
        if lowest >= highest {
            return;
        }
        let distance = highest - lowest;
        if distance > self.reordering * self.mss_cache {
            let segments = distance.div_ceil(self.mss_cache);
            self.reordering = segments.min(self.host.tcp_max_reordering.into());
        }
        self.reord_seen += 1;
    }
}
