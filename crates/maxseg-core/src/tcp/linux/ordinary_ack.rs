//! The acknowledgement that most are: of new data that were sent once, while nothing is lost, out of order or
//! probed for. What `tcp_ack` and `tcp_clean_rtx_queue` (`net/ipv4/tcp_input.c`) come to then, without looking for
//! all that is not there: as header prediction spares the receiver of data.

use super::Socket;
use super::cc::CongestionControl;
use super::chrono::Limit;
use super::packet::Packet;
use super::rate::RateSample;

/// What it takes out of the queue of packets sent.
#[derive(Debug, Clone, Copy, Default)]
struct Taken {
    segments: u64,
    /// The last packet was taken as a whole.
    fully: bool,
    /// When the first and the last were sent, in microseconds.
    first_sent: u64,
    last_sent: u64,
    /// Where the last ends, which was sent last, and what the sample of the delivery rate takes from it
    /// ([`RateSample`]).
    last_end: u64,
    prior_delivered: u64,
    prior_at: u64,
    interval_sent: u64,
    is_app_limited: bool,
}

impl Socket {
    /// Whether an acknowledgement is such a one.
    #[inline(always)]
    pub(super) fn is_ordinary(&self, packet: &Packet) -> bool {
        let trouble = self.ca_state as u64
            | self.sacked_out
            | self.lost_out
            | self.retrans_out
            | self.tlp_high_seq
            | u64::from(self.retransmit_hint.is_some() | self.lost_hint.is_some());
        trouble == 0
            && packet.ack > self.snd_una
            && packet.ack <= self.snd_nxt
            && packet.window == self.snd_wnd
            && packet.sack.is_empty()
            && !self.ecn.ok
            && self.may_probe_tail()
            && self.snd_una >= self.untagged_from
            && self.takes_segments(packet.ack)
    }

    /// Whether the first packet's first segment is acknowledged, so that there is a round trip to learn from.
    #[inline(always)]
    fn takes_segments(&self, ack: u64) -> bool {
        self.rtx_queue.front().is_some_and(|skb| {
            let first_end = if skb.segments > 1 { skb.seq + skb.gso_size } else { skb.end_seq };
            first_end.min(skb.end_seq) <= ack && skb.delivered_micros > 0
        })
    }

    /// Takes it. The timer for retransmissions is owed: what is sent now may set it as well.
    #[inline(always)]
    pub(super) fn take_ordinary_ack(&mut self, packet: &Packet) {
        let (prior_una, prior_in_flight) = (self.snd_una, self.packets_out);
        self.retransmits = 0;
        self.take_stamp(packet);
        self.snd_wl1 = packet.seq;
        self.snd_una = packet.ack;
        let taken = self.take_first_copies();
        let Taken { segments, prior_delivered, .. } = taken;
        let now = self.clock.micros;
        let may_be_delayed = segments == 1
            && taken.fully
            && self.snd_una - prior_una < self.mss_cache
            && prior_delivered + 1 == self.delivered;
        let last = now.saturating_sub(taken.last_sent);
        let first = now.saturating_sub(taken.first_sent);
        self.learn_round_trip(first, Some(last), may_be_delayed);
        let view = self.view();
        self.congestion.on_round_trip(&mut self.window, &view, last);
        self.update_reordering_window(prior_delivered);
        self.timers.is_owed = true;
        if self.packets_out == 0 {
            self.set_retransmit_timer();
        }
        if self.congestion.is_rate_based() {
            let rtt = Some(last);
            let base = RateSample { rtt, may_be_delayed, prior_in_flight, ..RateSample::default() };
            self.sample_rate(taken, base);
        } else {
            self.note_delivery(segments);
            self.raise_cwnd(segments);
            self.update_pacing_rate();
        }
    }

    /// The sample of what was taken, for a congestion control that measures the path; `base` has the rest of it.
    #[inline(never)]
    fn sample_rate(&mut self, taken: Taken, base: RateSample) {
        let mut sample = RateSample {
            prior_delivered: taken.prior_delivered,
            prior_at: taken.prior_at,
            last_end_seq: taken.last_end,
            interval_sent: taken.interval_sent,
            is_app_limited: taken.is_app_limited,
            ..base
        };
        self.complete_sample(taken.segments, 0, self.is_sack_reneg, &mut sample);
        self.control_rate(&sample);
    }

    /// Takes out of the queue what is acknowledged, the whole segments of the last packet included.
    #[inline(always)]
    fn take_first_copies(&mut self) -> Taken {
        let una = self.snd_una;
        let mut taken = Taken { fully: true, ..Taken::default() };
        let mut first_sent = None;
        while let Some(skb) = self.rtx_queue.front_mut().filter(|skb| skb.seq < una) {
            let mut segments = skb.segments;
            if skb.end_seq > una {
                if skb.segments <= 1 {
                    break;
                }
                let bytes = una - skb.seq;
                skb.seq = una;
                skb.truesize -= bytes;
                skb.count_segments(skb.gso_size);
                self.writer.queued -= bytes;
                segments -= skb.segments;
                if segments == 0 {
                    break;
                }
                taken.fully = false;
            }
            taken.segments += segments;
            taken.last_sent = skb.sent_micros();
            taken.last_end = skb.end_seq;
            taken.prior_delivered = skb.delivered;
            taken.prior_at = skb.delivered_micros;
            taken.interval_sent = taken.last_sent - skb.first_tx_micros;
            taken.is_app_limited = skb.app_limited;
            first_sent.get_or_insert(taken.last_sent);
            if taken.fully {
                self.writer.queued -= skb.truesize;
                self.highest_sack = self.highest_sack.max(taken.last_end);
                self.rtx_queue.pop_front();
            }
            if taken.last_end >= una {
                break;
            }
        }
        taken.first_sent = first_sent.unwrap_or(0);
        self.packets_out -= taken.segments;
        self.delivered += taken.segments;
        self.rate.first_tx = taken.last_sent;
        self.advance_rack(0, taken.last_end, taken.last_sent);
        if self.rtx_queue.is_empty() {
            self.end_limit(Limit::Busy);
        }
        taken
    }
}
