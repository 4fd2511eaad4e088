//! RACK: what was sent a round trip and some before a packet that has arrived is lost (RFC 8985;
//! `net/ipv4/tcp_recovery.c`).

use std::collections::VecDeque;

use super::CaState;
use super::Socket;
use super::rate::sent_after;
use super::skb::{ACKED, ANY_RETRANSMISSION, LOST, RETRANSMITTED, Skb};
use super::timers::Retransmit;

/// `TCP_RACK_RECOVERY_THRESH`: recoveries for which a wider window of reordering is kept.
pub(super) const RECOVERY_THRESHOLD: u64 = 16;
/// `TCP_TIMEOUT_MIN_US`: two milliseconds.
pub(super) const TIMEOUT_MIN_MICROS: u64 = 2000;

/// The packet sent last of those known to have arrived, and what reordering is expected.
#[derive(Debug, Clone)]
pub(super) struct Rack {
    sent_at: u64,
    end_seq: u64,
    /// Its round trip, in microseconds.
    rtt: u64,
    /// Quarters of the least round trip that packets may be late.
    reo_wnd_steps: u64,
    pub(super) reo_wnd_persist: u64,
    last_delivered: u64,
    pub(super) dsack_seen: bool,
    pub(super) advanced: bool,
    /// Packets sent once lie in the queue in the order of their sending. Below this number each of them has arrived
    /// or is taken for lost.
    settled: u64,
    /// Where in the queue that was, when it was looked at last.
    settled_index: usize,
    /// What was sent again, in the order of sending, until it has arrived or is taken for lost once more
    /// (`tsorted_sent_queue` has both kinds in one list).
    resent: VecDeque<Resent>,
}

/// Numbers that were sent again, and when, on the kernel's clock: one packet, or several since it was cut.
#[derive(Debug, Clone, Copy)]
struct Resent {
    seq: u64,
    end_seq: u64,
    sent_nanos: u64,
}

/// What became of a packet as far as RACK looks at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    /// It has arrived, or is taken for lost.
    Settled,
    /// It may still be on its way.
    Waits,
    /// It was sent after what is known to have arrived.
    SentLater,
}

impl Default for Rack {
    fn default() -> Self {
        Self {
            sent_at: 0,
            end_seq: 0,
            rtt: 0,
            reo_wnd_steps: 1,
            reo_wnd_persist: 0,
            last_delivered: 0,
            dsack_seen: false,
            advanced: false,
            settled: 0,
            settled_index: 0,
            resent: VecDeque::new(),
        }
    }
}

impl Rack {
    /// What was sent again at that time; `una` is acknowledged.
    pub(super) fn note_resent(&mut self, skb: &Skb, una: u64) {
        while self.resent.front().is_some_and(|front| front.end_seq <= una) {
            self.resent.pop_front();
        }
        let Skb { seq, end_seq, sent_nanos, .. } = *skb;
        self.resent.push_back(Resent { seq, end_seq, sent_nanos });
    }
}

impl Socket {
    /// How late a packet may be, in microseconds (`tcp_rack_reo_wnd`).
    fn reordering_window(&self) -> u64 {
        if self.reord_seen == 0
            && (self.ca_state >= CaState::Recovery || self.sacked_out >= self.reordering)
        {
            return 0;
        }
        ((self.rtt.min() >> 2) * self.rack.reo_wnd_steps).min(self.rtt.srtt8 >> 3)
    }

    /// A packet sent at `sent` has arrived (`tcp_rack_advance`). `tags` are those before.
    pub(super) fn advance_rack(&mut self, tags: u8, end_seq: u64, sent: u64) {
        let rtt = self.clock.micros.saturating_sub(sent);
        // So soon after a retransmission it is the first copy's acknowledgement.
        if rtt < self.rtt.min() && tags & ANY_RETRANSMISSION != 0 {
            return;
        }
        self.rack.advanced = true;
        self.rack.rtt = rtt;
        if sent_after(sent, self.rack.sent_at, end_seq, self.rack.end_seq) {
            self.rack.sent_at = sent;
            self.rack.end_seq = end_seq;
        }
    }

    /// Microseconds until a packet sent at `sent` is overdue (`tcp_rack_skb_timeout`).
    pub(super) fn rack_remaining(&self, sent: u64, window: u64) -> i64 {
        (self.rack.rtt + window).cast_signed()
            - self.clock.micros.saturating_sub(sent).cast_signed()
    }

    /// Marks what is overdue; gives the microseconds until more will be, 0 if none
    /// (`tcp_rack_detect_loss`).
    fn detect_rack_loss(&mut self) -> u64 {
        let window = self.reordering_window();
        let timeout = self.detect_loss_of_first_copies(window);
        timeout.max(self.detect_loss_of_resent(window))
    }

    /// The same of what was sent once. What has higher numbers was sent later.
    fn detect_loss_of_first_copies(&mut self, window: u64) -> u64 {
        let mut timeout = 0;
        let mut all_settled = true;
        let mut index = self.find_sent_near(self.rack.settled, self.rack.settled_index);
        self.rack.settled_index = index;
        while let Some(skb) = self.rtx_queue.get(index) {
            if !skb.is(ANY_RETRANSMISSION) {
                match self.look_for_loss(index, window, &mut timeout) {
                    Look::SentLater => break,
                    Look::Waits => all_settled = false,
                    Look::Settled => {}
                }
            }
            if all_settled {
                self.rack.settled = self.rtx_queue[index].end_seq;
                self.rack.settled_index = index + 1;
            }
            index += 1;
        }
        timeout
    }

    /// The same of what was sent again.
    fn detect_loss_of_resent(&mut self, window: u64) -> u64 {
        let mut timeout = 0;
        let mut at = 0;
        // They lie in the order of their sending: behind the first that was sent later all were.
        let later = 1000 * (self.rack.sent_at + 1);
        while let Some(&resent) =
            self.rack.resent.get(at).filter(|resent| resent.sent_nanos < later)
        {
            match self.look_at_resent(resent, window, &mut timeout) {
                Look::SentLater => break,
                Look::Waits => at += 1,
                Look::Settled => {
                    self.rack.resent.remove(at);
                }
            }
        }
        timeout
    }

    fn look_at_resent(&mut self, resent: Resent, window: u64, timeout: &mut u64) -> Look {
        let mut found = Look::Settled;
        let mut index = self.find_sent(resent.seq);
        while let Some(skb) = self.rtx_queue.get(index).filter(|skb| skb.seq < resent.end_seq) {
            if skb.sent_nanos == resent.sent_nanos && skb.is(ANY_RETRANSMISSION) {
                match self.look_for_loss(index, window, timeout) {
                    Look::Settled => {}
                    look @ (Look::Waits | Look::SentLater) => found = look,
                }
            }
            index += 1;
        }
        found
    }

    /// Marks a packet of the queue if it is overdue; else it may have the longest time left of all.
    fn look_for_loss(&mut self, index: usize, window: u64, timeout: &mut u64) -> Look {
        let skb = &self.rtx_queue[index];
        if skb.is(ACKED) || skb.is_unsorted || (skb.is(LOST) && !skb.is(RETRANSMITTED)) {
            return Look::Settled;
        }
        let sent = skb.sent_micros();
        if !sent_after(self.rack.sent_at, sent, self.rack.end_seq, skb.end_seq) {
            return Look::SentLater;
        }
        let remaining = self.rack_remaining(sent, window);
        if remaining > 0 {
            *timeout = (*timeout).max(remaining.unsigned_abs());
            return Look::Waits;
        }
        self.mark_lost(index);
        self.rtx_queue[index].is_unsorted = true;
        Look::Settled
    }

    /// Marks of losses were taken back: all but what RACK itself had marked is to be looked at again.
    pub(super) fn look_again_for_losses(&mut self) {
        self.rack.settled = 0;
        self.rack.resent.clear();
        for skb in
            self.rtx_queue.iter().filter(|skb| skb.is(ANY_RETRANSMISSION) && !skb.is_unsorted)
        {
            self.rack.note_resent(skb, 0);
        }
        self.rack.resent.make_contiguous().sort_by_key(|resent| (resent.sent_nanos, resent.seq));
    }

    /// After an acknowledgement; gives whether the timer now waits for packets that may be late
    /// (`tcp_rack_mark_lost`).
    pub(super) fn mark_rack_losses(&mut self) -> bool {
        if !self.rack.advanced {
            return false;
        }
        self.rack.advanced = false;
        let timeout = self.detect_rack_loss();
        if timeout > 0 {
            let jiffies = self.clock.jiffies_of_micros(timeout + TIMEOUT_MIN_MICROS);
            self.timers.set_retransmit(&self.clock, Retransmit::Reordering, jiffies.min(self.rto));
        }
        timeout > 0
    }

    /// The timer for late packets has expired (`tcp_rack_reo_timeout`).
    pub(super) fn on_reordering_timer(&mut self) {
        let (lost, in_flight) = (self.lost, self.in_flight());
        self.detect_rack_loss();
        if in_flight != self.in_flight() {
            if self.ca_state != CaState::Recovery {
                self.enter_recovery();
                if !self.congestion.is_rate_based() {
                    self.reduce_cwnd(1, self.lost - lost, false);
                }
            }
            self.retransmit_lost();
        }
        if self.timers.pending != Some(Retransmit::Timeout) {
            self.rearm_rto();
        }
    }

    /// Duplicates that the receiver SACKs widen the window of reordering (`tcp_rack_update_reo_wnd`).
    /// `prior_delivered` is the sample's of the delivery rate.
    #[inline]
    pub(super) fn update_reordering_window(&mut self, prior_delivered: u64) {
        if prior_delivered == 0 {
            return;
        }
        let rack = &mut self.rack;
        if prior_delivered < rack.last_delivered {
            rack.dsack_seen = false;
        }
        if rack.dsack_seen {
            rack.reo_wnd_steps = (rack.reo_wnd_steps + 1).min(0xff);
            rack.dsack_seen = false;
            rack.last_delivered = self.delivered;
            rack.reo_wnd_persist = RECOVERY_THRESHOLD;
        } else if rack.reo_wnd_persist == 0 {
            rack.reo_wnd_steps = 1;
        }
    }

    /// Without SACK three duplicates, and in recovery each partial acknowledgement, tell that the first
    /// packet is lost (`tcp_newreno_mark_lost`).
    pub(super) fn mark_newreno_loss(&mut self, una_advanced: bool) {
        let enters = self.ca_state < CaState::Recovery && self.sacked_out >= self.reordering;
        let goes_on = self.ca_state == CaState::Recovery && una_advanced;
        let Some(head) = self.rtx_queue.front() else { return };
        if !(enters || goes_on) || head.is(LOST) {
            return;
        }
        let mss = if head.gso_size > 0 { head.gso_size } else { head.len() };
        if head.segments > 1 && head.len() > mss {
            self.split_sent(0, mss, mss);
        }
        self.mark_lost(0);
    }
}
