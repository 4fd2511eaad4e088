//! Closing a connection (`tcp_close`, `tcp_send_fin`, `tcp_fin`).

use super::Socket;
use super::State;
use super::constants::{Nagle, Push};
use super::packet::{Flags, Packet};
use super::skb::Skb;
use crate::units::Time;

/// Which ends have said that nothing more comes from them.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each came at a time of its own")]
pub(super) struct Ending {
    /// This end's FIN is queued, and may have been sent.
    pub(super) is_said: bool,
    /// The peer's has come.
    pub(super) is_heard: bool,
    /// The peer's came first: once this end's is acknowledged, nothing is left of the connection (`LAST_ACK`).
    is_last: bool,
    /// The program has closed the socket and reads no more (`RCV_SHUTDOWN`).
    is_closed: bool,
    /// Either: what comes may end the connection at once.
    pub(super) is_near: bool,
}

impl Socket {
    /// The application closes: what it has written still goes, then the FIN. Where it has not read all that came, or
    /// the connection is not open yet, the connection ends at once (`__tcp_close`).
    pub fn close(&mut self, now: Time) {
        self.clock.refresh(now);
        if !self.is_established() {
            return self.end();
        }
        if self.readable() > 0 {
            let last = *self.header_now(self.snd_nxt);
            self.put(Packet { flags: Flags::RST, window: 0, ..last });
            return self.end();
        }
        self.shut_down(now);
        self.ending.is_closed = true;
        self.ending.is_near = true;
    }

    /// Nothing more is to be sent: a FIN goes behind what is written (`tcp_send_fin`).
    pub fn shut_down(&mut self, now: Time) {
        self.clock.refresh(now);
        if self.ending.is_said {
            return;
        }
        self.ending.is_said = true;
        self.ending.is_last = self.ending.is_heard;
        self.ending.is_near |= self.ending.is_last;
        if self.write_queue.is_empty() {
            let (seq, truesize) = (self.write_seq, self.skb_overhead);
            self.write_queue.push_back(Skb { seq, end_seq: seq, truesize, ..Skb::default() });
            self.writer.queued += truesize;
        }
        if let Some(tail) = self.write_queue.back_mut() {
            tail.end_seq += 1;
            tail.is_fin = true;
        }
        self.write_seq += 1;
        let mss = self.current_mss();
        self.push_pending(mss, Nagle::Off, Push::All);
    }

    /// Whether a packet that was taken in ends the connection: it acknowledges the last FIN, or brings data that nobody reads any more
    /// (`TCPAbortOnData`; `tcp_rcv_state_process`, `net/ipv4/tcp_input.c`), upon which it is reset.
    #[cold]
    pub(super) fn ends_by(&mut self, packet: &Packet) -> bool {
        if self.ending.is_closed && (self.readable() > 0 || !self.out_of_order.is_empty()) {
            self.end();
            self.reset(packet);
            return true;
        }
        let is_over = self.ending.is_last && self.snd_una == self.write_seq;
        if is_over {
            self.end();
        }
        is_over
    }

    /// The connection is no more.
    pub(super) fn end(&mut self) {
        self.state = State::Closed;
        self.timers = super::Timers::default();
        self.write_queue.clear();
        self.rtx_queue.clear();
        self.packets_out = 0;
    }

    /// A packet for a connection that is no more (`tcp_v4_send_reset`, `net/ipv4/tcp_ipv4.c`).
    pub(super) fn reset(&mut self, packet: &Packet) {
        if packet.flags.has(Flags::RST) {
            return;
        }
        let flags = Flags::RST;
        let reset = Packet { flags, window: 0, stamps: None, ..*self.header_now(0) };
        self.put(if packet.ack > 0 {
            Packet { seq: packet.ack, ack: 0, ..reset }
        } else {
            Packet { seq: 0, ack: packet.end(), ..reset }
        });
    }

    /// The peer's FIN comes in order (`tcp_fin`).
    pub(super) fn on_fin(&mut self) {
        self.ack.scheduled = true;
        if self.ending.is_heard {
            return;
        }
        self.ending.is_heard = true;
        if self.ending.is_said {
            self.send_ack();
        } else {
            self.ack.pingpong = self.ack.pingpong.saturating_add(1);
        }
    }
}
