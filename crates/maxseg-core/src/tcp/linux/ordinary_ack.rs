//! The acknowledgement that most are: of new data that were sent once, while nothing is lost, out of order or
//! probed for. What `tcp_ack` and `tcp_clean_rtx_queue` (`net/ipv4/tcp_input.c`) come to then, without looking for
//! all that is not there: as header prediction spares the receiver of data.

use super::Socket;
use super::cc::CongestionControl;
use super::chrono::Limit;
use super::packet::Packet;
use super::rate::RateSample;

/// What it takes out of the queue of packets sent.
#[derive(Debug, Clone, Copy)]
struct Taken {
    segments: u64,
    /// The last packet was taken as a whole.
    fully: bool,
    /// When the first and the last were sent, in microseconds.
    first_sent: u64,
    last_sent: u64,
    /// What the sample of the delivery rate takes from the last, which was sent last.
    sample: RateSample,
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
        let Taken { segments, fully, first_sent, last_sent, mut sample } = self.take_first_copies();
        let now = self.clock.micros;
        sample.may_be_delayed = segments == 1
            && fully
            && self.snd_una - prior_una < self.mss_cache
            && sample.prior_delivered + 1 == self.delivered;
        let last = now.saturating_sub(last_sent);
        let first = now.saturating_sub(first_sent);
        self.learn_round_trip(first, Some(last), sample.may_be_delayed);
        let view = self.view();
        self.congestion.on_round_trip(&mut self.window, &view, last);
        self.update_reordering_window(&sample);
        self.timers.is_owed = true;
        if self.packets_out == 0 {
            self.set_retransmit_timer();
        }
        if self.congestion.is_rate_based() {
            sample.rtt = Some(last);
            sample.prior_in_flight = prior_in_flight;
            self.complete_sample(segments, 0, self.is_sack_reneg, &mut sample);
            self.control_rate(&sample);
        } else {
            self.note_delivery(segments);
            self.raise_cwnd(segments);
            self.update_pacing_rate();
        }
    }

    /// Takes out of the queue what is acknowledged, the whole segments of the last packet included.
    #[inline(always)]
    fn take_first_copies(&mut self) -> Taken {
        let una = self.snd_una;
        let (mut segments, mut fully) = (0, true);
        let mut first_sent = None;
        let (mut last_sent, mut last_end) = (0, 0);
        let mut sample = RateSample::default();
        while let Some(skb) = self.rtx_queue.front_mut().filter(|skb| skb.seq < una) {
            let mut taken = skb.segments;
            if skb.end_seq > una {
                if skb.segments <= 1 {
                    break;
                }
                let bytes = una - skb.seq;
                skb.seq = una;
                skb.truesize -= bytes;
                skb.count_segments(skb.gso_size);
                self.writer.queued -= bytes;
                taken -= skb.segments;
                if taken == 0 {
                    break;
                }
                fully = false;
            }
            last_sent = skb.sent_micros();
            last_end = skb.end_seq;
            first_sent.get_or_insert(last_sent);
            sample.prior_delivered = skb.delivered;
            sample.prior_at = skb.delivered_micros;
            sample.is_app_limited = skb.app_limited;
            sample.last_end_seq = last_end;
            sample.interval_sent = last_sent - skb.first_tx_micros;
            segments += taken;
            if fully {
                self.writer.queued -= skb.truesize;
                self.highest_sack = self.highest_sack.max(last_end);
                self.rtx_queue.pop_front();
            }
        }
        self.packets_out -= segments;
        self.delivered += segments;
        self.rate.first_tx = last_sent;
        self.advance_rack(0, last_end, last_sent);
        if self.rtx_queue.is_empty() {
            self.end_limit(Limit::Busy);
        }
        Taken { segments, fully, first_sent: first_sent.unwrap_or(0), last_sent, sample }
    }
}
