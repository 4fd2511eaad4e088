//! What an acknowledgement takes out of the queue of packets sent (`tcp_clean_rtx_queue`,
//! `net/ipv4/tcp_input.c`).

use super::Socket;
use super::chrono::Limit;
use super::flags::{
    ACKED as ANY_ACKED, CA_ALERT, DATA_ACKED, Flags, MAY_BE_DELAYED, ORIG_SACK_ACKED,
    RETRANS_DATA_ACKED, SACK_RENEGING, SET_XMIT_TIMER, SYN_ACKED,
};
use super::rate::RateSample;
use super::rtt::RoundTrips;
use super::sack::SackState;
use super::skb::{ACKED, ANY_RETRANSMISSION, LOST, RETRANSMITTED, Skb};

/// What was found while the queue was cleaned.
#[derive(Debug, Default)]
struct Cleaned {
    flags: Flags,
    /// When the first and the last packet without a retransmission were sent, in microseconds.
    first_sent: Option<u64>,
    last_sent: u64,
    segments: u64,
    lowest: u64,
    /// The last packet was acknowledged as a whole.
    fully: bool,
}

impl Socket {
    #[inline(always)]
    pub(super) fn clean_rtx_queue(
        &mut self,
        prior_fack: u64,
        prior_una: u64,
        sack: &SackState,
        sample: &mut RateSample,
    ) -> Flags {
        let prior_sacked = self.sacked_out;
        let mut cleaned = Cleaned { lowest: self.snd_nxt, fully: true, ..Cleaned::default() };
        while let Some(skb) = self.rtx_queue.front().filter(|skb| skb.seq < self.snd_una) {
            let skb = *skb;
            if skb.end_seq <= self.snd_una {
                self.take_acknowledged(skb, skb.segments, sample, &mut cleaned);
                self.drop_acknowledged(&skb);
                continue;
            }
            if skb.segments > 1 {
                self.trim_acknowledged(skb, sample, &mut cleaned);
            }
            break;
        }
        match self.rtx_queue.front() {
            Some(skb) if skb.is(ACKED) => cleaned.flags |= SACK_RENEGING,
            Some(_) => {}
            None => self.end_limit(Limit::Busy),
        }
        let mut flags = cleaned.flags;
        let now = self.clock.micros;
        let mut trips = RoundTrips::default();
        if let Some(first) = cleaned.first_sent
            && flags & RETRANS_DATA_ACKED == 0
        {
            trips.first = Some(now.saturating_sub(first));
            trips.last = Some(now.saturating_sub(cleaned.last_sent));
            if cleaned.segments == 1
                && cleaned.fully
                && prior_sacked == 0
                && self.snd_una - prior_una < self.mss_cache
                && sample.prior_delivered + 1 == self.delivered
                && flags & (CA_ALERT | SYN_ACKED) == 0
            {
                flags |= MAY_BE_DELAYED;
            }
        }
        if let Some(first) = sack.first_sent {
            trips.sacked = Some(now.saturating_sub(first));
            trips.last = Some(now.saturating_sub(sack.last_sent));
        }
        let (measured, last) =
            self.take_round_trips(trips, flags & ANY_ACKED != 0, flags & MAY_BE_DELAYED != 0);
        sample.rtt = last;
        if flags & ANY_ACKED != 0 {
            flags |= SET_XMIT_TIMER;
            self.look_for_passed_probe();
            flags = self.note_progress(flags, &cleaned, prior_fack, prior_sacked);
        } else if let (true, Some(sacked), Some(head)) =
            (measured, trips.sacked, self.rtx_queue.front())
            && sacked > now.saturating_sub(head.sent_micros())
        {
            // The head was sent after what is SACKed: its timeout counts from now.
            flags |= SET_XMIT_TIMER;
        }
        if let Some(last) = last {
            self.tell_round_trip(last);
        }
        flags
    }

    /// So many segments of a packet are acknowledged.
    #[inline]
    fn take_acknowledged(
        &mut self,
        mut skb: Skb,
        segments: u64,
        sample: &mut RateSample,
        cleaned: &mut Cleaned,
    ) {
        let sent = skb.sent_micros();
        if skb.is(ANY_RETRANSMISSION) {
            if skb.is(RETRANSMITTED) {
                self.retrans_out -= segments;
            }
            cleaned.flags |= RETRANS_DATA_ACKED;
        } else if !skb.is(ACKED) {
            cleaned.last_sent = sent;
            cleaned.first_sent.get_or_insert(sent);
            cleaned.lowest = cleaned.lowest.min(skb.seq);
            if skb.end_seq <= self.high_seq {
                cleaned.flags |= ORIG_SACK_ACKED;
            }
        }
        if skb.is(ACKED) {
            self.sacked_out -= segments;
        } else if self.sack_ok {
            self.delivered += segments;
            if !self.is_spurious(&skb) {
                self.advance_rack(skb.sacked, skb.end_seq, sent);
            }
        }
        if skb.is(LOST) {
            self.lost_out -= segments;
        }
        self.packets_out -= segments;
        cleaned.segments += segments;
        self.sample_delivery(&mut skb, sample);
        if skb.is_syn {
            cleaned.flags |= SYN_ACKED;
            self.retrans_stamp = 0;
        } else {
            cleaned.flags |= DATA_ACKED;
        }
    }

    /// The first packet of the queue is done with.
    #[inline]
    fn drop_acknowledged(&mut self, skb: &Skb) {
        self.move_hints(skb.seq, None);
        self.highest_sack = self.highest_sack.max(skb.end_seq);
        self.writer.queued -= skb.truesize;
        self.rtx_queue.pop_front();
    }

    /// A part of the first packet is done with (`tcp_tso_acked`, `tcp_trim_head`).
    fn trim_acknowledged(&mut self, skb: Skb, sample: &mut RateSample, cleaned: &mut Cleaned) {
        let mut rest = skb;
        rest.seq = self.snd_una;
        rest.truesize -= self.snd_una - skb.seq;
        rest.count_segments(skb.gso_size);
        let segments = skb.segments - rest.segments;
        self.writer.queued -= self.snd_una - skb.seq;
        if segments > 0 {
            cleaned.fully = false;
            self.take_acknowledged(skb, segments, sample, cleaned);
        }
        self.move_hints(skb.seq, Some(rest.seq));
        self.rtx_queue[0] = rest;
    }

    /// What was acknowledged tells of reordering.
    fn note_progress(
        &mut self,
        mut flags: Flags,
        cleaned: &Cleaned,
        prior_fack: u64,
        prior_sacked: u64,
    ) -> Flags {
        if self.is_reno() {
            self.remove_reno_sacks(cleaned.segments);
            // Without SACK nobody knows which copy is acknowledged.
            if flags & RETRANS_DATA_ACKED != 0 {
                flags &= !ORIG_SACK_ACKED;
            }
        } else {
            if cleaned.lowest < prior_fack {
                self.check_reordering(cleaned.lowest);
            }
            let gone = prior_sacked - self.sacked_out;
            self.lost_count_hint -= self.lost_count_hint.min(gone);
        }
        flags
    }
}
