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
            && self.acknowledges_first_copies(packet.ack)
    }

    /// Whether it takes whole segments, none of which was sent again.
    #[inline(always)]
    fn acknowledges_first_copies(&self, ack: u64) -> bool {
        let mut index = 0;
        while let Some(skb) = self.rtx_queue.get(index).filter(|skb| skb.seq < ack) {
            let takes_segments =
                skb.end_seq <= ack || (skb.segments > 1 && ack - skb.seq >= skb.gso_size);
            if skb.sacked != 0 || skb.is_syn || skb.delivered_micros == 0 || !takes_segments {
                return false;
            }
            index += 1;
        }
        index > 0
    }

    /// Takes it. The timer for retransmissions is owed: what is sent now may set it as well.
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
            last_sent = skb.sent_micros();
            last_end = skb.end_seq;
            first_sent.get_or_insert(last_sent);
            sample.prior_delivered = skb.delivered;
            sample.prior_at = skb.delivered_micros;
            sample.is_app_limited = skb.app_limited;
            sample.last_end_seq = last_end;
            sample.interval_sent = last_sent - skb.first_tx_micros;
            if last_end <= una {
                segments += skb.segments;
                self.writer.queued -= skb.truesize;
                self.highest_sack = self.highest_sack.max(last_end);
                self.rtx_queue.pop_front();
            } else {
                fully = false;
                let taken = una - skb.seq;
                let before = skb.segments;
                skb.seq = una;
                skb.truesize -= taken;
                skb.count_segments(skb.gso_size);
                segments += before - skb.segments;
                self.writer.queued -= taken;
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
