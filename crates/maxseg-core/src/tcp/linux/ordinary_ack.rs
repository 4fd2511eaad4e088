//! The acknowledgement that most are: of new data that were sent once, while nothing is lost, out of order or
//! probed for. What `tcp_ack` and `tcp_clean_rtx_queue` (`net/ipv4/tcp_input.c`) come to then, without looking for
//! all that is not there: as header prediction spares the receiver of data.

use super::Socket;
use super::chrono::Limit;
use super::packet::Packet;
use super::rate::RateSample;
use super::skb::Skb;

/// What it takes out of the queue of packets sent.
#[derive(Debug, Clone, Copy, Default)]
struct Taken {
    segments: u64,
    /// The last packet was taken as a whole.
    fully: bool,
    /// When the first and the last were sent, in microseconds.
    first_sent: u64,
    last_sent: u64,
    /// Where the last ends, and segments delivered when it was sent.
    last_end: u64,
    prior_delivered: u64,
}

/// What it tells.
#[derive(Debug, Clone, Copy)]
struct Learned {
    segments: u64,
    /// The round trip for congestion control, in microseconds, and whether the receiver may have waited with its
    /// acknowledgement.
    round_trip: u64,
    may_be_delayed: bool,
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
            && self.mtu_probing.is_none()
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

    /// Takes it.
    #[inline(always)]
    pub(super) fn take_ordinary_ack(&mut self, packet: &Packet) {
        if self.rate.is_sampled {
            return self.take_sampled_ack(packet);
        }
        let Learned { segments, .. } = self.learn_of_ack(packet, |_| ());
        self.note_delivery(segments);
        self.raise_cwnd(segments);
        self.update_pacing_rate();
    }

    /// The same where the path is measured: the last packet, which was sent last, makes a sample of the delivery rate.
    #[inline(never)]
    fn take_sampled_ack(&mut self, packet: &Packet) {
        let prior_in_flight = self.packets_out;
        let (mut prior_delivered, mut prior_at, mut first_tx) = (0, 0, 0);
        let (mut sent, mut is_app_limited) = (0, false);
        let learned = self.learn_of_ack(packet, |skb| {
            prior_delivered = skb.delivered;
            prior_at = skb.delivered_micros;
            (sent, first_tx) = (skb.sent_micros(), skb.first_tx_micros);
            is_app_limited = skb.app_limited;
        });
        let mut sample = RateSample {
            prior_delivered,
            prior_at,
            interval_sent: sent - first_tx,
            is_app_limited,
            rtt: Some(learned.round_trip),
            may_be_delayed: learned.may_be_delayed,
            prior_in_flight,
            ..RateSample::default()
        };
        self.complete_sample(learned.segments, 0, self.is_sack_reneg, &mut sample);
        if self.congestion.is_rate_based() {
            return self.control_rate(&sample);
        }
        self.raise_cwnd(learned.segments);
        self.update_pacing_rate();
    }

    /// Queue, round trips and timers after it; each packet that it takes is shown to `note`. The timer for
    /// retransmissions is owed: what is sent now may set it as well.
    #[inline(always)]
    fn learn_of_ack(&mut self, packet: &Packet, note: impl FnMut(&Skb)) -> Learned {
        let prior_una = self.snd_una;
        self.retransmits = 0;
        self.take_stamp(packet);
        self.snd_wl1 = packet.seq;
        self.snd_una = packet.ack;
        let taken = self.take_first_copies(note);
        let Taken { segments, prior_delivered, .. } = taken;
        let now = self.clock.micros;
        let may_be_delayed = segments == 1
            && taken.fully
            && self.snd_una - prior_una < self.mss_cache
            && prior_delivered + 1 == self.delivered;
        let round_trip = now.saturating_sub(taken.last_sent);
        let first = now.saturating_sub(taken.first_sent);
        self.learn_round_trip(first, Some(round_trip), may_be_delayed);
        self.tell_round_trip(round_trip);
        self.update_reordering_window(prior_delivered);
        self.timers.is_owed = true;
        if self.packets_out == 0 {
            self.set_retransmit_timer();
        }
        Learned { segments, round_trip, may_be_delayed }
    }

    /// Takes out of the queue what is acknowledged, the whole segments of the last packet included.
    #[inline(always)]
    fn take_first_copies(&mut self, mut note: impl FnMut(&Skb)) -> Taken {
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
            note(skb);
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
