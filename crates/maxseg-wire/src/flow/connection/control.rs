//! SYN, FIN and RST: how a connection begins, and where another begins.

use maxseg_core::units::Time;

use super::aside::{Aside, control_kind};
use super::{Connection, Reset, since};
use crate::flow::Seen;
use crate::flow::pair::Endpoint;
use crate::flow::seen_options::SeenOptions;
use crate::tcp::Flags;

/// Data that is acknowledged so long after a RST shows that neither end has heeded it (RFC 5961 §3.2), in nanoseconds: no packet
/// from before it is on its way any more.
pub(super) const HEEDED: u64 = 3_000_000_000;

impl Connection {
    /// An earlier connection of the file has its ports, perhaps with later times.
    pub(in crate::flow) fn reuse_ports(&mut self, is_behind_later: bool) {
        self.marks.ports_reused = true;
        self.shares_ports = true;
        self.is_beside_later = is_behind_later;
    }

    /// Another connection of its ports begins with this segment. Gives whether this one began after it, although it comes before it in
    /// the file.
    pub(in crate::flow) fn on_ports_reused(&mut self, seen: &Seen<'_>) -> bool {
        self.shares_ports = true;
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

    /// Whether both ends count marks in the flags that are else ECE and CWR (`AccECN`, RFC 9768 §3.1): a SYN asks for it, and an answer
    /// of RFC 3168 or of none declines.
    fn on_ecn_of_syn(&mut self, flags: Flags, is_answer: bool) {
        let [ae, cwr, ece] = [Flags::AE, Flags::CWR, Flags::ECE].map(|flag| flags.contains(flag));
        if is_answer {
            let accepts = matches!(
                [ae, cwr, ece],
                [_, true, false] | [false, true, true] | [true, false, false]
            );
            self.marks.accurate_ecn &= accepts;
        } else {
            self.marks.accurate_ecn = ae && cwr && ece;
        }
    }

    /// Whether the number of a RST may lie in the other end's receive window: beyond, a device on the path or a stranger has made it, and no
    /// end heeds it (RFC 9293 §3.10.7.4, RFC 5961 §3.2). A window more on either side is for what the capture lacks.
    fn may_be_heeded(&self, seen: &Seen<'_>, s: Endpoint) -> bool {
        let (own, peer) = (self.halves.of(s), self.halves.of(s.other()));
        let window = peer.largest_window(self.shift(s.other()));
        own.sequence.zip(window).is_none_or(|(sequence, window)| {
            let number = sequence.offset(seen.seq, own.nxt);
            (own.una - window..=own.nxt + 2 * window).contains(&number)
        })
    }

    /// A host that closes with unread payload resets the connection and acknowledges all that it has received (RFC 1122 §4.2.2.13).
    fn on_reset_ack(&mut self, seen: &Seen<'_>, s: Endpoint) {
        let peer = self.halves.of_mut(s.other());
        if seen.flags.contains(Flags::ACK) && peer.stream.is_some() {
            let una = peer.offset(seen.ack);
            if una <= peer.nxt {
                peer.una = peer.una.max(una);
            }
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
        if seen.flags.contains(Flags::RST) && self.reset.is_none() && self.may_be_heeded(seen, s) {
            let is_closed = self.halves.low.fin_is_acked() && self.halves.high.fin_is_acked();
            let is_other_path = self.halves.of(s).points.is_other_path(seen);
            self.reset = Some(Reset { by: s, at, is_closed, is_other_path });
            if !is_other_path {
                self.on_reset_ack(seen, s);
            }
        }
        if seen.flags.contains(Flags::SYN) {
            self.marks.fast_open |= seen.payload_len > 0;
            self.on_syn(seen, options, s);
        } else {
            self.on_handshake_done(seen, s);
        }
    }

    fn on_syn(&mut self, seen: &Seen<'_>, options: &SeenOptions, s: Endpoint) {
        let at = seen.at_nanos;
        let is_answer = seen.flags.contains(Flags::ACK);
        self.on_ecn_of_syn(seen.flags, is_answer);
        let crosses = self.crosses(seen, s);
        let half = self.halves.of_mut(s);
        if !half.offered.syn || half.offset(seen.seq) != -1 {
            half.on_syn(seen, options);
        } else if !crosses {
            half.on_control_resent(at);
        }
        if crosses && (self.client == Some(s) || !is_answer) {
            return;
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
    }

    /// Whether a SYN is of two that cross: both ends open at once, and each answers the other's with its own number again (RFC 9293
    /// §3.5, figure 7). The one that passed first is taken for the client's, and nothing is sent again.
    fn crosses(&self, seen: &Seen<'_>, s: Endpoint) -> bool {
        let (own, peer) = (&self.halves.of(s).offered, &self.halves.of(s.other()).offered);
        let asks = peer.syn && !peer.facts.is_answer;
        match seen.flags.contains(Flags::ACK) {
            false => asks && !own.syn,
            true if self.client == Some(s) => asks,
            true => asks && own.syn && !own.facts.is_answer && !self.handshake.syn_ack,
        }
    }

    /// A hop refused a segment with this sequence number as too large.
    pub(in crate::flow) fn on_too_large(&mut self, at: u64, sender: Endpoint, number: u32) {
        let half = self.halves.of_mut(sender);
        let start = half.offset(number);
        if let Some(stream) = &mut half.stream {
            stream.on_too_large(at, start);
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

#[cfg(test)]
mod tests {
    use maxseg_core::evidence::{Ending, Evidence, Resent};

    use super::*;
    use crate::flow::key::FlowKey;
    use crate::flow::made::{answer, segment};

    const LOW: Endpoint = Endpoint::Low;

    fn connection(packets: &[Seen<'_>]) -> Connection {
        let sender = |seen: &Seen<'_>| FlowKey::of(seen.source, seen.destination).1;
        let mut connection = Connection::new(&packets[0], sender(&packets[0]), false);
        for (seen, frame) in packets.iter().zip(1..) {
            connection.on_segment(&Seen { frame, ..*seen }, sender(seen));
        }
        connection
    }

    fn evidence(packets: &[Seen<'_>]) -> Evidence {
        connection(packets).into_evidence(0)
    }

    /// A handshake with these flags besides SYN and ACK.
    fn handshake(asked: Flags, answered: Flags) -> Vec<Seen<'static>> {
        let syn = Seen { seq: 999, ack: 0, flags: Flags::SYN | asked, ..segment(0) };
        let syn_ack =
            Seen { seq: 4999, flags: Flags::SYN | Flags::ACK | answered, ..answer(1_000) };
        vec![syn, syn_ack]
    }

    /// Both ends open at once: each sends a SYN, and answers the other's.
    #[test]
    fn syns_that_cross_are_not_sent_again() {
        let syn = Flags::SYN;
        let packets = [
            Seen { seq: 999, ack: 0, flags: syn, ..segment(0) },
            Seen { seq: 4999, ack: 0, flags: syn, ..answer(1_000) },
            Seen { seq: 999, ack: 5000, flags: syn | Flags::ACK, ip_id: Some(7), ..segment(2_000) },
            Seen { seq: 4999, ack: 1000, flags: syn | Flags::ACK, ip_id: Some(8), ..answer(3_000) },
            Seen { seq: 1000, ack: 5000, flags: Flags::ACK, ..segment(4_000) },
        ];
        let all = evidence(&packets);
        assert_eq!(all.client, packets[0].source);
        let handshake = all.handshake;
        assert_eq!((handshake.syn_packets, handshake.syn_ack_packets), (1, 1));
        assert_eq!((all.forward.resent.control, all.reverse.resent.control), (0, 0));
        // What is sent again counts all the same.
        let again =
            Seen { ip_id: Some(9), at_nanos: packets[3].at_nanos + 1_000_000_000, ..packets[3] };
        let all = evidence(&[&packets[..4], &[again]].concat());
        assert_eq!((all.handshake.syn_ack_packets, all.reverse.resent.control), (2, 1));
    }

    fn data(millis: u64, at: u32, len: u32) -> Seen<'static> {
        let ip_id = Some(u16::try_from(millis).unwrap());
        Seen {
            seq: at.wrapping_add(1000),
            payload_len: len,
            ip_len: 40 + len,
            ip_id,
            ..segment(1_000 * millis)
        }
    }

    fn ack(millis: u64, to: u32) -> Seen<'static> {
        Seen {
            ack: 1000 + to,
            ip_id: Some(u16::try_from(millis).unwrap()),
            ..answer(1_000 * millis)
        }
    }

    #[test]
    fn a_counter_of_marks_is_no_mark() {
        let marks = |asked: Flags, answered: Flags, flags: Flags| {
            let mut packets = handshake(asked, answered);
            packets.push(Seen { flags: Flags::ACK | flags, ..data(2, 0, 100) });
            packets.push(Seen { flags: Flags::ACK | Flags::ECE, ..ack(3, 100) });
            packets.push(Seen { flags: Flags::ACK | Flags::CWR, ..data(4, 100, 100) });
            evidence(&packets).forward.congestion_marks
        };
        let none = Flags::ACK;
        let accurate = Flags::AE | Flags::CWR | Flags::ECE;
        assert_eq!(marks(Flags::CWR | Flags::ECE, Flags::ECE, none), 1, "RFC 3168");
        assert_eq!(marks(accurate, Flags::CWR, none), 0, "RFC 9768");
        assert_eq!(marks(accurate, Flags::AE, Flags::CWR), 0, "RFC 9768");
        assert_eq!(marks(accurate, Flags::ECE, none), 1, "declined");
        assert_eq!(marks(none, none, Flags::AE), 0, "by its third flag");
    }

    #[test]
    fn a_fast_open_that_asks_for_ecn_carries_no_mark() {
        let mut packets = handshake(Flags::CWR | Flags::ECE, Flags::ECE);
        packets[0] = Seen { payload_len: 100, ip_len: 140, ..packets[0] };
        assert_eq!(evidence(&packets).forward.congestion_marks, 0);
    }

    #[test]
    fn a_reset_leaves_nothing_outstanding() {
        let mut packets = handshake(Flags::ACK, Flags::ACK);
        packets.extend([data(2, 0, 100), ack(3, 100)]);
        packets.push(Seen { flags: Flags::RST, ..data(9, 200_000_000, 0) });
        assert_eq!(evidence(&packets).forward.outstanding_bytes, 0);
    }

    /// Data that the host had acknowledged with a reset only, behind an acknowledgement that was delayed.
    #[test]
    fn a_reset_acknowledges_what_was_received() {
        let outstanding = |reset: Seen<'_>| {
            let mut packets = handshake(Flags::ACK, Flags::ACK);
            packets.extend([data(2, 0, 100), ack(3, 100), data(4, 100, 200), data(5, 300, 100)]);
            packets.push(reset);
            evidence(&packets).forward.outstanding_bytes
        };
        let reset = Seen { flags: Flags::RST | Flags::ACK, ..ack(6, 300) };
        assert_eq!(outstanding(reset), 100);
        assert_eq!(outstanding(Seen { flags: Flags::RST, ..reset }), 300, "it has no number");
        assert_eq!(outstanding(Seen { ttl: 9, ..reset }), 300, "a device on the path made it");
        assert_eq!(outstanding(ack(6, 300)), 100, "an acknowledgement");
    }

    /// As a receiver that closes its direction while the program behind does not read.
    #[test]
    fn a_fin_does_not_open_a_window() {
        let mut packets = handshake(Flags::ACK, Flags::ACK);
        packets.extend([data(2, 0, 100), Seen { window: 0, ..ack(3, 100) }]);
        packets.push(Seen { window: 0, flags: Flags::ACK | Flags::FIN, ..ack(5, 100) });
        let shut = |packets: &[Seen<'_>]| {
            let stats = evidence(packets).reverse;
            (stats.window_shut_since.is_some(), stats.window_shut_briefly)
        };
        assert_eq!(shut(&packets), (true, 0));
        packets.push(Seen { seq: 5001, ..ack(6, 100) });
        assert_eq!(shut(&packets), (false, 1));
    }

    /// The ending after a RST with this number, with data and its acknowledgement some milliseconds later.
    fn ending_with(opening: &[Seen<'static>], number: u32, later: u64) -> Ending {
        let mut packets = opening.to_vec();
        packets.extend([data(2, 0, 100), ack(3, 100)]);
        packets.push(Seen { flags: Flags::RST, ..data(9, number, 0) });
        packets.extend([data(later, 100, 100), ack(later + 1, 200)]);
        evidence(&packets).ending
    }

    /// As one whose number is in the window, but not the next (RFC 5961 §3.2).
    #[test]
    fn a_reset_that_nobody_heeds_ends_nothing() {
        let opening = handshake(Flags::ACK, Flags::ACK);
        assert_eq!(ending_with(&opening, 200, 5000), Ending::StillOpen);
        assert_eq!(ending_with(&opening, 200, 10), Ending::ResetByClient, "it was on its way");
    }

    #[test]
    fn a_reset_beyond_the_window_ends_nothing() {
        let opening = handshake(Flags::ACK, Flags::ACK);
        for number in [200_000_000, 0_u32.wrapping_sub(200_000_000), 1 << 31] {
            assert_eq!(ending_with(&opening, number, 10), Ending::StillOpen, "{number}");
        }
        // Where the scale of the window is unknown it may hold 1 GiB.
        assert_eq!(ending_with(&[], 200_000_000, 10), Ending::ResetByClient);
    }

    #[test]
    fn a_window_probe_that_was_taken_was_not_lost_by_the_capture() {
        let mut packets = handshake(Flags::ACK, Flags::ACK);
        packets.extend([data(2, 0, 100), Seen { window: 0, ..ack(3, 100) }]);
        packets.extend([data(300, 100, 1), ack(301, 101), data(302, 101, 100), ack(303, 201)]);
        let evidence = evidence(&packets);
        assert_eq!(evidence.forward.zero_window_probes, 1);
        assert_eq!(evidence.forward.unseen_bytes, 0);
    }

    /// A SYN-ACK with another number is another connection's, whether the first one's SYN-ACK was captured or not.
    #[test]
    fn another_initial_number_begins_another_connection() {
        let of_first = connection(&[data(2, 0, 100), data(3, 100, 100)]);
        let syn_ack = Seen {
            seq: 777_000_000,
            flags: Flags::SYN | Flags::ACK,
            ip_id: Some(9),
            ..segment(9_000)
        };
        assert!(of_first.is_over_before(&syn_ack, LOW));
    }

    /// What was in flight when a hop refused a segment is sent again in smaller ones: no loss. The second time it is one.
    #[test]
    fn what_a_hop_refuses_as_too_large_was_not_lost() {
        let mut packets = handshake(Flags::ACK, Flags::ACK);
        packets.extend([data(2, 0, 1000), data(3, 1000, 1000), data(4, 2000, 1000)]);
        let mut connection = connection(&packets);
        connection.on_too_large(data(5, 0, 0).at_nanos, LOW, 1000);
        let again = [data(6, 0, 500), data(7, 500, 500), data(8, 1000, 500)];
        let duplicates = [51, 52, 53].map(|millis| ack(millis, 1000));
        let lost = [data(54, 1000, 500), ack(60, 3000)];
        let later = [&again[..], &[ack(50, 1000)], &duplicates, &lost].concat();
        for seen in &later {
            let sender = FlowKey::of(seen.source, seen.destination).1;
            connection.on_segment(seen, sender);
        }
        let evidence = connection.into_evidence(0);
        let stats = &evidence.forward;
        let Resent { too_large, fast, .. } = stats.resent;
        assert_eq!((stats.retransmitted_packets, too_large, fast), (4, 3, 1));
        assert_eq!((stats.needed_retransmissions(), stats.loss_episodes.count()), (1, 1));
        assert_eq!(stats.bins.as_slice().iter().map(|bin| bin.losses).sum::<u32>(), 1);
    }
}
