//! SYN, FIN and RST: how a connection begins, and where another begins.

use maxseg_core::units::Time;

use super::aside::{Aside, control_kind};
use super::{Connection, Reset, since};
use crate::flow::Seen;
use crate::flow::pair::Endpoint;
use crate::flow::seen_options::SeenOptions;
use crate::tcp::Flags;

impl Connection {
    /// An earlier connection of the file has its ports, perhaps with later times.
    pub(in crate::flow) fn reuse_ports(&mut self, is_behind_later: bool) {
        self.marks.ports_reused = true;
        self.is_beside_later = is_behind_later;
    }

    /// Whether it began after another of its ports, of which this is the first segment, although it comes before it in the file.
    pub(in crate::flow) fn is_later(&mut self, seen: &Seen<'_>) -> bool {
        let is_later = self.begin > seen.at_nanos;
        self.is_beside_later |= is_later;
        is_later
    }

    /// Whether a SYN begins another connection between the same endpoints: another initial sequence number, or this
    /// connection has ended.
    pub(in crate::flow) fn is_over_before(&self, seen: &Seen<'_>, sender: Endpoint) -> bool {
        let is_opening = seen.flags.contains(Flags::SYN);
        if !is_opening {
            return false;
        }
        let half = self.halves.of(sender);
        if half.counts.packets == 0 || half.recent.knows(seen) {
            // No packet of this endpoint yet: its SYN was captured after the SYN-ACK. Or a copy of its SYN.
            return false;
        }
        let is_same = half.offered.syn
            && half.sequence.is_some_and(|it| it.offset(seen.seq.wrapping_add(1), 0) == 0);
        if seen.flags.contains(Flags::ACK) {
            // A SYN-ACK with another initial sequence number: its SYN was not captured.
            return (half.offered.syn || half.stream.is_some()) && !is_same;
        }
        !is_same
            || self.reset.is_some()
            || self.halves.low.fin.is_some()
            || self.halves.high.fin.is_some()
    }

    /// Whether both ends count marks in the flags that are else ECE and CWR (AccECN, RFC 9768 §3.1): the SYN asks for it, and an
    /// answer of RFC 3168 or of none declines. Of a connection that began before the capture its third flag tells.
    #[inline]
    pub(super) fn on_ecn_flags(&mut self, seen: &Seen<'_>) {
        let [ae, cwr, ece] =
            [Flags::AE, Flags::CWR, Flags::ECE].map(|flag| seen.flags.contains(flag));
        if !seen.flags.contains(Flags::SYN) {
            self.marks.accurate_ecn |= ae;
        } else if seen.flags.contains(Flags::ACK) {
            let accepts = matches!(
                [ae, cwr, ece],
                [_, true, false] | [false, true, true] | [true, false, false]
            );
            self.marks.accurate_ecn &= accepts;
        } else {
            self.marks.accurate_ecn = ae && cwr && ece;
        }
    }

    /// SYN, FIN, RST, and options that concern the whole connection.
    pub(super) fn on_control(&mut self, seen: &Seen<'_>, options: &SeenOptions, s: Endpoint) {
        self.marks.mptcp |= options.multipath;
        self.marks.fast_open |= options.fast_open;
        let at = seen.at_nanos;
        if let Some(kind) = control_kind(seen.flags) {
            Aside::note(self.aside.as_deref_mut(), seen, s, kind);
        }
        if seen.flags.contains(Flags::RST) && self.reset.is_none() {
            let is_closed = self.halves.low.fin_is_acked() && self.halves.high.fin_is_acked();
            let is_other_path = self.halves.of(s).points.is_other_path(seen);
            self.reset = Some(Reset { by: s, at, is_closed, is_other_path });
        }
        if seen.flags.contains(Flags::SYN) {
            self.marks.fast_open |= seen.payload_len > 0;
            let is_answer = seen.flags.contains(Flags::ACK);
            let half = self.halves.of_mut(s);
            if half.offered.syn && half.offset(seen.seq) == -1 {
                half.on_control_resent(at);
            } else {
                half.on_syn(seen, options);
            }
            self.client = Some(if is_answer { s.other() } else { s });
            // A retransmitted SYN or SYN-ACK gives no round-trip sample (Karn).
            if is_answer {
                let is_first = !self.handshake.syn_ack;
                self.handshake.syn_ack = true;
                self.handshake.syn_ack_packets += 1;
                if is_first {
                    self.handshake.server_rtt = self.syn_at.map(|syn| since(syn, at));
                }
                self.answer_at = is_first.then_some(at);
            } else {
                self.syn_at = (!self.handshake.syn).then_some(at);
                self.handshake.syn = true;
                self.handshake.syn_packets += 1;
                self.handshake.last_syn = Some(Time::from_nanos(at));
            }
        } else {
            self.on_handshake_done(seen, s);
        }
    }

    /// The client's first segment after the SYN-ACK ends the handshake.
    pub(super) fn on_handshake_done(&mut self, seen: &Seen<'_>, s: Endpoint) {
        if self.handshake.done.is_some() || self.client != Some(s) || !self.handshake.syn_ack {
            return;
        }
        self.handshake.done = Some(Time::from_nanos(seen.at_nanos));
        if self.handshake.client_rtt.is_none()
            && let Some(answer) = self.answer_at
        {
            self.handshake.client_rtt = Some(since(answer, seen.at_nanos));
        }
    }
}
