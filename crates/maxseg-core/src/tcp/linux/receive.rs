//! What arrives (`tcp_rcv_established`, `net/ipv4/tcp_input.c`).

use super::Socket;
use super::State;
use super::ack::Verdict;
use super::delayed_ack::MAX_QUICK;
use super::packet::{Flags, Packet};
use super::settings::Memory;
use crate::units::Time;

/// `tcp_invalid_ratelimit`: two answers to packets out of the window are so far apart, in milliseconds.
const INVALID_RATE_LIMIT: u64 = 500;

/// A packet in order that waits to be read, or some in a row that were made one.
#[derive(Debug)]
pub(super) struct Unread {
    pub(super) end: u64,
    pub(super) truesize: u64,
    /// Room behind its data, in bytes.
    pub(super) room: u64,
}

impl Socket {
    /// A packet of this connection has come.
    #[inline(always)]
    pub fn on_packet(&mut self, now: Time, packet: &Packet) {
        self.clock.refresh(now);
        self.rcv_tsecr = packet.stamps.map_or(0, |stamps| stamps.echo);
        if self.state == State::Established {
            self.on_established(packet);
        } else {
            self.on_unestablished(packet);
        }
        self.wake_writer();
    }

    /// The same and [`Self::read`] of all that there is, if the packet is predicted, nothing waits to be read and nothing is
    /// out of order: it does not go through the queue of packets that wait for the application. Gives whether it was so.
    #[inline(always)]
    pub(crate) fn take_and_read(&mut self, now: Time, packet: &Packet) -> bool {
        let is_all_read = self.buffer.used == 0
            && self.copied_seq == self.rcv_nxt
            && self.out_of_order.sacks.is_empty();
        if self.state != State::Established || !is_all_read || !self.is_predicted(packet) {
            return false;
        }
        self.clock.refresh(now);
        self.rcv_tsecr = packet.stamps.map_or(0, |stamps| stamps.echo);
        self.take_stamp(packet);
        self.snd_wl1 = packet.seq;
        self.measure_receive_rtt_by_stamp(packet.len);
        self.dsack = None;
        self.rcv_nxt = packet.seq + packet.len;
        self.buffer.offered = None;
        self.buffer.used = self.memory_of(packet).counted;
        self.note_data_received(packet.len, packet.push, self.buffer.used);
        self.check_space();
        self.check_ack();
        self.wake_writer();
        self.copied_seq = self.rcv_nxt;
        self.buffer.offered = None;
        self.adjust_receive_space();
        self.buffer.used = 0;
        self.check_ack_after_read();
        true
    }

    /// While the handshake is not done, or nothing is left of the connection.
    #[cold]
    fn on_unestablished(&mut self, packet: &Packet) {
        match self.state {
            State::Established => {}
            State::Listen => self.on_syn(packet),
            State::SynSent => self.on_syn_ack(packet),
            State::SynReceived => self.on_handshake_ack(packet),
            State::Closed => self.reset(packet),
        }
    }

    #[inline(always)]
    fn on_established(&mut self, packet: &Packet) {
        if self.is_predicted(packet) {
            return self.take_predicted(packet);
        }
        if packet.syn.is_some() {
            return self.challenge();
        }
        if packet.end() < self.rcv_wup || packet.seq > self.rcv_nxt + self.receive_window() {
            return self.answer_out_of_window(packet);
        }
        self.process(packet);
    }

    /// Data in order, and nothing else that is new, while this end has nothing out (header prediction in
    /// `tcp_rcv_established`).
    #[inline(always)]
    fn is_predicted(&self, packet: &Packet) -> bool {
        packet.len > 0
            && packet.seq == self.rcv_nxt
            && packet.ack == self.snd_una
            && packet.window == self.snd_wnd
            && self.receive_window() > 0
            && packet.sack.is_empty()
            && packet.syn.is_none()
            && packet.flags.is_none()
            && self.packets_out == 0
            && self.write_queue.is_empty()
            && self.tlp_high_seq == 0
            && !self.ending.is_near
            && !self.ecn.ok
    }

    #[inline(always)]
    fn take_predicted(&mut self, packet: &Packet) {
        self.take_stamp(packet);
        self.snd_wl1 = packet.seq;
        self.measure_receive_rtt_by_stamp(packet.len);
        self.dsack = None;
        self.queue_in_order(packet, packet.seq + packet.len, false);
        self.check_space();
        self.check_ack();
    }

    /// A packet within the window.
    #[inline(always)]
    pub(super) fn process(&mut self, packet: &Packet) {
        if self.is_ordinary(packet) {
            self.take_ordinary_ack(packet);
        } else if self.tells_nothing_new(packet) {
            self.take_stamp(packet);
            self.snd_wl1 = self.snd_wl1.max(packet.seq);
        } else if self.on_ack(packet) == Verdict::Invalid {
            return;
        }
        self.measure_receive_rtt_by_stamp(packet.len);
        if packet.len > 0 || packet.flags.has(Flags::FIN) {
            self.take_marks(packet);
            self.queue_data(packet);
        }
        if self.ending.is_near && self.ends_by(packet) {
            return;
        }
        self.send_pending();
        if self.timers.is_owed {
            self.set_retransmit_timer();
        }
        self.check_ack();
    }

    /// Whether it acknowledges and offers what the one before did, while this end has nothing out and nothing to send:
    /// most data out of order do.
    #[inline(always)]
    fn tells_nothing_new(&self, packet: &Packet) -> bool {
        self.packets_out == 0
            && packet.ack == self.snd_una
            && packet.window == self.snd_wnd
            && packet.window > 0
            && packet.sack.is_empty()
            && self.write_queue.is_empty()
            && self.tlp_high_seq == 0
            && !self.ecn.ok
    }

    /// `tcp_send_challenge_ack`.
    fn challenge(&mut self) {
        self.send_ack();
    }

    /// `tcp_send_dupack`, as often as `tcp_oow_rate_limited` allows.
    fn answer_out_of_window(&mut self, packet: &Packet) {
        let now = self.clock.nanos / 1_000_000;
        if packet.len == 0 {
            if self.last_oow_ack.is_some_and(|last| now - last < INVALID_RATE_LIMIT) {
                return;
            }
            self.last_oow_ack = Some(now);
        } else if packet.seq < self.rcv_nxt {
            self.note_duplicate(packet.len.min(self.rcv_nxt - packet.seq), true);
            self.enter_quick_mode(MAX_QUICK);
            self.set_dsack(packet.seq, packet.end().min(self.rcv_nxt));
        }
        self.send_ack();
    }

    /// Data: in order, old, beyond the window, or too early (`tcp_data_queue`).
    #[inline(always)]
    fn queue_data(&mut self, packet: &Packet) {
        let (seq, end) = (packet.seq, packet.end());
        self.dsack = None;
        self.buffer.offered = None;
        if end <= self.rcv_nxt {
            self.note_duplicate(packet.len, true);
            self.set_dsack(seq, end);
            return self.acknowledge_unwanted();
        }
        if seq >= self.rcv_nxt + self.receive_window() {
            return self.acknowledge_unwanted();
        }
        if seq > self.rcv_nxt {
            let memory = self.memory_of(packet);
            return self.queue_out_of_order(packet, memory);
        }
        if seq < self.rcv_nxt {
            self.note_duplicate(self.rcv_nxt - seq, false);
            self.set_dsack(seq, self.rcv_nxt);
            // Of the rest a closed window takes nothing.
            if self.receive_window() == 0 {
                return self.acknowledge_unwanted();
            }
        }
        self.queue_in_order(packet, end, packet.flags.has(Flags::FIN));
    }

    /// What a packet of data takes of the receive buffer.
    #[inline(always)]
    fn memory_of(&self, packet: &Packet) -> Memory {
        self.host.received(packet.len, packet.alone, self.skb_overhead)
    }

    /// Bytes that came before, with nothing else or not.
    pub(super) fn note_duplicate(&mut self, bytes: u64, whole: bool) {
        self.counters.duplicate_bytes += bytes;
        self.counters.duplicate_packets += u64::from(whole);
    }

    /// The sender does not know what this end has: it is told at once.
    fn acknowledge_unwanted(&mut self) {
        self.enter_quick_mode(MAX_QUICK);
        self.ack.scheduled = true;
    }

    /// Data that begin where those before ended, or before, and go up to `end`; whether a FIN is the last of it.
    #[inline(always)]
    fn queue_in_order(&mut self, packet: &Packet, end: u64, has_fin: bool) {
        if !self.make_room(packet.seq) {
            self.ack.no_memory = true;
            self.ack.now = true;
            self.ack.scheduled = true;
            if self.readable() > 0 {
                return;
            }
        }
        self.rcv_nxt = end;
        self.buffer.offered = None;
        if packet.len > 0 {
            let memory = self.memory_of(packet);
            let end = packet.seq + packet.len;
            self.buffer.queue(end, packet.len, memory.counted, memory.room);
            self.note_data_received(packet.len, packet.push, memory.counted);
        }
        if has_fin {
            self.on_fin();
        }
        if !self.out_of_order.is_empty() {
            self.take_over_early();
            // The gap is closed: RFC 5681 §4.2.
            self.ack.now |= self.out_of_order.is_empty();
        }
        if !self.out_of_order.sacks.is_empty() {
            self.remove_sacks();
        }
    }
}
