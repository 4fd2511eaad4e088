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
    /// Segments newly told of, duplicates included.
    pub(super) delivered: u64,
    flags: Flags,
}

/// A range of numbers, and whether it is told of as a duplicate.
type Block = (u64, u64);

impl Socket {
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
        let mut usable = [(0, 0); Blocks::MOST];
        let mut count = 0;
        let mut dup = None;
        for (index, &(start, end)) in packet.sack.as_slice().iter().enumerate() {
            let is_dup = index == 0 && found_dup;
            if !self.is_block_valid(is_dup, start, end) || end <= prior_una {
                continue;
            }
            if is_dup {
                dup = Some((start, end));
            }
            usable[count] = (start, end);
            count += 1;
        }
        let usable = &mut usable[..count];
        usable.sort_unstable_by_key(|block| block.0);
        let mut blocks = Blocks::default();
        for &block in &*usable {
            blocks.push(block);
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

    /// Tags the packets of a block (`tcp_sacktag_walk`). What lies within `dup` is told of a second time.
    fn walk(
        &mut self,
        (start, end): Block,
        dup: Option<Block>,
        state: &mut SackState,
        sample: &mut RateSample,
    ) {
        let mut index = self.find_sent_near(start, self.sacked_index);
        while let Some(skb) = self.rtx_queue.get(index) {
            if skb.seq >= end {
                break;
            }
            let is_dup = dup.is_some_and(|(from, to)| from <= skb.seq && skb.end_seq <= to);
            match self.match_to_block(index, start, end) {
                None => break,
                Some(false) => {}
                Some(true) => self.tag(index, is_dup, state, sample),
            }
            index += 1;
        }
        self.sacked_index = index;
    }

    /// Whether the block covers a packet, which is cut where that covers it in part: whole segments only.
    /// `None`: it ends within the packet's first segment (`tcp_match_skb_to_sack`).
    fn match_to_block(&mut self, index: usize, start: u64, end: u64) -> Option<bool> {
        let skb = &self.rtx_queue[index];
        let begins_before = start <= skb.seq;
        if begins_before && end >= skb.end_seq {
            return Some(true);
        }
        if skb.segments <= 1 || skb.end_seq <= start {
            return Some(false);
        }
        let mss = skb.gso_size;
        let len = if begins_before {
            let covered = end - skb.seq;
            if covered < mss {
                return None;
            }
            covered / mss * mss
        } else {
            let uncovered = (start - skb.seq).max(mss).div_ceil(mss) * mss;
            if uncovered >= skb.len() {
                return Some(false);
            }
            uncovered
        };
        self.split_sent(index, len, mss);
        Some(begins_before)
    }

    /// A packet has arrived (`tcp_sacktag_one`).
    fn tag(&mut self, index: usize, is_dup: bool, state: &mut SackState, sample: &mut RateSample) {
        let mut skb = self.rtx_queue[index];
        let is_new = !skb.is(ACKED);
        let can_join = is_dup || skb.sacked & (LOST | RETRANSMITTED) != RETRANSMITTED;
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
                self.tag_first_time(&mut skb, state);
            }
            if is_dup && skb.is(RETRANSMITTED) {
                skb.sacked &= !RETRANSMITTED;
                self.retrans_out -= skb.segments;
            }
        }
        self.sample_delivery(&mut skb, sample);
        if skb.seq >= self.highest_sack_seq() {
            self.highest_sack = skb.end_seq;
        }
        self.rtx_queue[index] = skb;
        if is_new && can_join && skb.is(ACKED) {
            self.join_sacked(index);
        }
    }

    /// Packets in a row that SACK told of become one, and the others' heads are freed: that makes room in the
    /// send buffer (`tcp_shift_skb_data`). Here they stay apart, because nothing else depends on it.
    fn join_sacked(&mut self, index: usize) {
        let is_told = |skb: &Skb| skb.sacked & (ACKED | LOST | RETRANSMITTED) == ACKED;
        let size = |skb: &Skb| if skb.gso_size > 0 { skb.gso_size } else { skb.len() };
        let skb = self.rtx_queue[index];
        let Some(before) = index.checked_sub(1).map(|before| self.rtx_queue[before]) else {
            return;
        };
        if !is_told(&before) || size(&before) != size(&skb) {
            return;
        }
        self.free_head(index);
        if self
            .rtx_queue
            .get(index + 1)
            .is_some_and(|next| is_told(next) && size(next) == size(&skb))
        {
            self.free_head(index + 1);
        }
    }

    fn free_head(&mut self, index: usize) {
        let skb = &mut self.rtx_queue[index];
        let freed = skb.truesize - skb.len();
        skb.truesize = skb.len();
        self.writer.queued -= freed;
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
            self.reordering = segments.min(self.host.tcp_max_reordering);
        }
        self.reord_seen += 1;
    }
}
