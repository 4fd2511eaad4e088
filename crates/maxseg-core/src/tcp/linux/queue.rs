//! The queue of packets that are sent and not acknowledged: finding, cutting and marking them.

use super::Socket;
use super::settings::LONGEST_PACKET;
use super::skb::{ACKED, LOST, RETRANSMITTED};

impl Socket {
    /// The index of the first packet that ends beyond `seq`.
    #[inline(never)]
    pub(super) fn find_sent(&self, seq: u64) -> usize {
        self.rtx_queue.partition_point(|skb| skb.end_seq <= seq)
    }

    /// The same, which is likely to be `near`, or right behind: where something was found last.
    #[inline]
    pub(super) fn find_sent_near(&self, seq: u64, near: usize) -> usize {
        let ends_beyond =
            |index: usize| self.rtx_queue.get(index).is_none_or(|skb| skb.end_seq > seq);
        if near > 0 && ends_beyond(near - 1) {
            return self.find_sent(seq);
        }
        if ends_beyond(near) {
            near
        } else if ends_beyond(near + 1) {
            near + 1
        } else {
            self.find_sent(seq)
        }
    }

    /// Whether a packet of the queue may be cut. It may not, unless it is the first or the last, once more is queued than twice the sum of the
    /// send buffer and two of the longest packets (`tcp_fragment`, `net/ipv4/tcp_output.c`): SACK blocks that ask for ever smaller parts could fill
    /// the memory.
    #[inline]
    pub(super) fn may_split_sent(&self, index: usize) -> bool {
        let most = self.writer.sndbuf + 2 * LONGEST_PACKET;
        self.writer.queued / 2 <= most || index == 0 || index + 1 == self.rtx_queue.len()
    }

    /// Cuts a packet of the queue after `len` bytes (`tcp_fragment`).
    pub(super) fn split_sent(&mut self, index: usize, len: u64, mss: u64) {
        let overhead = self.skb_overhead;
        let skb = &mut self.rtx_queue[index];
        let before = skb.segments;
        let rest = skb.split(len, mss, overhead);
        let (after, tags) = (skb.segments + rest.segments, skb.sacked);
        self.writer.queued += overhead;
        self.rtx_queue.insert(index + 1, rest);
        if before != after {
            self.adjust_counts(tags, before, after);
        }
    }

    /// A packet counts more or fewer segments than before (`tcp_adjust_pcount`).
    pub(super) fn adjust_counts(&mut self, tags: u8, before: u64, after: u64) {
        let adjust = |count: &mut u64| *count = (*count + after).saturating_sub(before);
        adjust(&mut self.packets_out);
        if tags & ACKED != 0 {
            adjust(&mut self.sacked_out);
        }
        if tags & RETRANSMITTED != 0 {
            adjust(&mut self.retrans_out);
        }
        if tags & LOST != 0 {
            adjust(&mut self.lost_out);
        }
        if self.is_reno() && self.sacked_out > 0 && before > after {
            self.sacked_out -= self.sacked_out.min(before - after);
        }
    }

    /// A packet is lost; one that was sent again is so once more (`tcp_mark_skb_lost`).
    pub(super) fn mark_lost(&mut self, index: usize) {
        let skb = &mut self.rtx_queue[index];
        if skb.is(ACKED) {
            return;
        }
        let (seq, segments) = (skb.seq, skb.segments);
        self.untagged_from = self.untagged_from.max(skb.end_seq);
        let is_first = match self.retransmit_hint {
            None => self.retrans_out >= self.lost_out,
            Some(hint) => seq < hint,
        };
        if is_first {
            self.retransmit_hint = Some(seq);
        }
        if !skb.is(LOST) {
            skb.sacked |= LOST;
            self.lost_out += segments;
            self.lost += segments;
        } else if skb.is(RETRANSMITTED) {
            skb.sacked &= !RETRANSMITTED;
            self.retrans_out -= segments;
            self.lost += segments;
            self.counters.lost_retransmissions += segments;
        }
    }

    /// `tcp_clear_all_retrans_hints`.
    pub(super) fn clear_retransmit_hints(&mut self) {
        self.lost_hint = None;
        self.retransmit_hint = None;
    }

    /// Hints that point to a packet which now begins at `to`.
    pub(super) fn move_hints(&mut self, from: u64, to: Option<u64>) {
        if self.retransmit_hint == Some(from) {
            self.retransmit_hint = to;
        }
        if self.lost_hint == Some(from) {
            self.lost_hint = to;
        }
    }
}
