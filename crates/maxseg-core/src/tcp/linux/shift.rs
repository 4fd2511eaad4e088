//! SACKed packets in a row become one (`tcp_shift_skb_data`, `net/ipv4/tcp_input.c`).

use super::Socket;
use super::rate::RateSample;
use super::sack::SackState;
use super::skb::{ACKED, LOST, RETRANSMITTED, Skb};

impl Socket {
    /// Whether what arrives of a packet's front can be one with the packet before, of which SACK told too: whole
    /// segments of one size, sent once. Without RACK losses are counted by packets (`lost_cnt_hint`).
    pub(super) fn can_shift(&self, index: usize) -> bool {
        let skb = &self.rtx_queue[index];
        let Some(before) = index.checked_sub(1).map(|before| &self.rtx_queue[before]) else {
            return false;
        };
        self.host.tcp_recovery
            && skb.sacked == 0
            && skb.seq >= self.snd_una
            && before.sacked == ACKED
            && before.len() == before.segments * skb.gso_size
    }

    /// The front of a packet has arrived, and goes to the packet before (`tcp_shift_skb_data`, `tcp_shifted_skb`): so the
    /// queue need not make room for it.
    pub(super) fn shift(
        &mut self,
        index: usize,
        len: u64,
        state: &mut SackState,
        sample: &mut RateSample,
    ) {
        let skb = &mut self.rtx_queue[index];
        let (seq, mss) = (skb.seq, skb.gso_size);
        let mut front = skb.take_front(len, mss, self.skb_overhead);
        skb.count_segments(mss);
        // Its head was the front's, and that needs none now.
        self.writer.queued += self.skb_overhead;
        self.writer.queued -= front.truesize - len;
        self.tag_one(&mut front, false, state, sample);
        let before = &mut self.rtx_queue[index - 1];
        before.end_seq = front.end_seq;
        before.segments += front.segments;
        before.gso_size = mss;
        before.truesize += len;
        let before = before.seq;
        if self.retransmit_hint == Some(seq) {
            self.retransmit_hint = Some(before);
        }
    }

    /// A whole packet SACKed behind another frees its head, which makes room in the send buffer
    /// (`tcp_shift_skb_data`). Here it stays apart from the other, because nothing else depends on it.
    pub(super) fn join_sacked(&mut self, index: usize) {
        let is_sacked = |skb: &Skb| skb.sacked & (ACKED | LOST | RETRANSMITTED) == ACKED;
        let size = |skb: &Skb| if skb.gso_size > 0 { skb.gso_size } else { skb.len() };
        let skb = self.rtx_queue[index];
        let Some(before) = index.checked_sub(1).map(|before| self.rtx_queue[before]) else {
            return;
        };
        if !is_sacked(&before) || size(&before) != size(&skb) {
            return;
        }
        self.free_head(index);
        if self
            .rtx_queue
            .get(index + 1)
            .is_some_and(|next| is_sacked(next) && size(next) == size(&skb))
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
}
