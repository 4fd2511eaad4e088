//! Sending again (`net/ipv4/tcp_output.c`).

use super::Socket;
use super::skb::{ACKED, ANY_RETRANSMISSION, EVER_RETRANSMITTED, LOST, RETRANSMITTED, Skb};
use super::timers::Retransmit;

impl Socket {
    /// Sends a packet of the queue again, so many segments of it at most, and counts it as on its way
    /// (`tcp_retransmit_skb`).
    pub(super) fn retransmit_segment(&mut self, index: usize, segments: u64) -> bool {
        let sent = self.retransmit_unmarked(index, segments);
        let skb = &mut self.rtx_queue[index];
        let (count, stamp) = (skb.segments, super::clock::Clock::millis_of(skb.sent_nanos));
        if sent {
            skb.sacked |= ANY_RETRANSMISSION;
            self.retrans_out += count;
        }
        if self.retrans_stamp == 0 {
            self.retrans_stamp = stamp;
        }
        self.undo_retrans = self.undo_retrans.max(0) + count.cast_signed();
        sent
    }

    /// The same without counting it; gives whether it went (`__tcp_retransmit_skb`).
    pub(super) fn retransmit_unmarked(&mut self, index: usize, segments: u64) -> bool {
        self.forget_mtu_probe();
        let mss = self.current_mss();
        let skb = self.rtx_queue[index];
        if self.host.fq && self.is_held(&skb) {
            return false;
        }
        let mut room = self.window_end().saturating_sub(skb.seq);
        if room == 0 {
            if skb.seq != self.snd_una {
                return false;
            }
            room = mss;
        }
        let mut len = mss * segments;
        if len > room {
            len = if room >= mss { room - room % mss } else { room };
        }
        if skb.len() > len {
            if !self.may_split_sent(index) {
                return false;
            }
            self.split_sent(index, len, mss);
        } else {
            self.recount(index, mss);
            self.collapse(index, room.min(mss));
        }
        let mut skb = self.rtx_queue[index];
        self.counters.retransmitted_segments += skb.segments;
        self.counters.retransmitted_syns += u64::from(skb.len() == 0);
        self.counters.retransmitted_bytes += skb.len();
        let is_sent = self.transmit(&mut skb);
        skb.sacked |= EVER_RETRANSMITTED;
        skb.is_unsorted = false;
        self.untagged_from = self.untagged_from.max(skb.end_seq);
        self.rack.note_resent(&skb, self.snd_una);
        self.rtx_queue[index] = skb;
        is_sent
    }

    fn recount(&mut self, index: usize, mss: u64) {
        let skb = &mut self.rtx_queue[index];
        let before = skb.segments;
        skb.count_segments(mss);
        let (tags, after) = (skb.sacked, skb.segments);
        if before != after {
            self.adjust_counts(tags, before, after);
        }
    }

    /// A small packet takes the next ones along, as far as they fit a segment (`tcp_retrans_try_collapse`).
    fn collapse(&mut self, index: usize, space: u64) {
        while self.rtx_queue[index].len() < space {
            let to = self.rtx_queue[index];
            let Some(&next) = self.rtx_queue.get(index + 1) else { break };
            let fits = to.len() + next.len() <= space && next.end_seq <= self.window_end();
            let whole = |skb: &Skb| skb.segments <= 1 && !skb.is(ACKED) && !skb.is_syn;
            if !fits || !whole(&to) || !whole(&next) {
                break;
            }
            let skb = &mut self.rtx_queue[index];
            skb.end_seq = next.end_seq;
            skb.push |= next.push;
            skb.is_fin |= next.is_fin;
            skb.sacked |= next.sacked & EVER_RETRANSMITTED;
            skb.truesize += next.len();
            self.writer.queued -= next.truesize - next.len();
            self.lost_hint = None;
            self.move_hints(next.seq, Some(to.seq));
            self.adjust_counts(next.sacked, next.segments, 0);
            self.rtx_queue.remove(index + 1);
        }
    }

    /// Sends again what is lost, as far as the window allows (`tcp_xmit_retransmit_queue`).
    pub(super) fn retransmit_lost(&mut self) {
        if self.packets_out == 0 {
            return;
        }
        let size = self.burst_size(self.current_mss());
        let mut index =
            self.retransmit_hint.map_or(0, |hint| self.find_sent_near(hint, self.retransmit_index));
        self.retransmit_index = index;
        let mut found_hole = false;
        let mut sent_head = false;
        while let Some(skb) = self.rtx_queue.get(index) {
            let Skb { seq, truesize, sacked, .. } = *skb;
            if self.must_wait_for_pace() {
                break;
            }
            if !found_hole {
                self.retransmit_hint = Some(seq);
                self.retransmit_index = index;
            }
            let room = self.window.cwnd.saturating_sub(self.in_flight());
            if room == 0 || self.retrans_out >= self.lost_out {
                break;
            }
            let is_settled = sacked & (RETRANSMITTED | ACKED) != 0;
            if sacked & LOST == 0 {
                found_hole |= !is_settled;
            } else if !is_settled {
                if self.host.fq && self.is_queue_full(truesize, true) {
                    break;
                }
                if !self.retransmit_segment(index, self.within_burst(room, size)) {
                    break;
                }
                if self.in_cwnd_reduction() {
                    self.prr_out += self.rtx_queue[index].segments;
                }
                sent_head |= index == 0 && self.timers.pending != Some(Retransmit::Reordering);
            }
            index += 1;
        }
        if sent_head {
            self.reset_timer(Retransmit::Timeout, self.rto);
        }
    }
}
