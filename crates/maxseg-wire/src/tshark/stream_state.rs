//! What is remembered of a stream, and how a segment changes it.

use maxseg_core::window::LARGEST_SHIFT;

use super::flag::Flag;
use super::half::{HalfStream, Scale};
use super::marks::{Marks, shown, since};
use super::mptcp::{Connections, Subflow};
use super::options::TsharkOptions;
use super::rules::{acknowledgement, advance, forward, in_flight, repeat};
use crate::flow::Seen;
use crate::tcp::Flags;

/// A stream's memory.
#[derive(Debug, Clone)]
pub(super) struct StreamState {
    /// That of the endpoint that sorts first, and the other's.
    halves: [HalfStream; 2],
    /// When the last SYN without ACK passed; 0 before.
    syn_at: u64,
    /// From there to the first ACK without SYN; 0 before.
    initial_rtt: i64,
    /// Of which MPTCP connection it is a subflow, if it is one.
    mptcp: Subflow,
    /// A SYN brought a cookie and data.
    tfo_data: bool,
}

impl StreamState {
    pub(super) fn new() -> Self {
        Self {
            halves: [HalfStream::new(), HalfStream::new()],
            syn_at: 0,
            initial_rtt: 0,
            mptcp: Subflow::default(),
            tfo_data: false,
        }
    }

    /// Whose turn it is, and the peer. A segment from an endpoint to itself has the second half.
    fn sides(&mut self, seen: &Seen<'_>) -> (&mut HalfStream, &mut HalfStream) {
        let [first, second] = &mut self.halves;
        if is_first(seen) { (first, second) } else { (second, first) }
    }

    /// Whether `syn` (without ACK) begins another connection.
    pub(super) fn is_over(&mut self, syn: &Seen<'_>) -> bool {
        self.sides(syn).0.base_seq.is_some_and(|base| base != syn.seq)
    }

    /// Judges one segment; `reused` for the SYN of which [`StreamState::is_over`] was true of its forerunner.
    pub(super) fn judge(
        &mut self,
        seen: &Seen<'_>,
        reused: bool,
        mptcp: &mut Connections,
    ) -> Marks {
        let mut marks = Marks::default();
        if reused {
            marks.flag(Flag::ReusedPorts);
        }
        self.begin(seen, &mut marks);
        self.sequence(seen, mptcp, &mut marks);
        let window = u32::from(seen.window);
        let own = self.sides(seen).0;
        let is_syn = seen.flags.contains(Flags::SYN);
        marks.window_bytes = if is_syn { window } else { window << own.scale.shift() };
        self.handshake(seen, &mut marks);
        self.options(seen, mptcp, &mut marks);
        marks.initial_rtt_nanos = shown(self.initial_rtt).filter(|_| marks.noted);
        marks
    }

    /// Where counting begins, and what a repeated SYN puts right.
    fn begin(&mut self, seen: &Seen<'_>, marks: &mut Marks) {
        let (own, peer) = self.sides(seen);
        let (syn, ack) = (seen.flags.contains(Flags::SYN), seen.flags.contains(Flags::ACK));
        if syn && own.base_seq.is_some() {
            if !ack {
                // A reset may have moved it (Wireshark issue 17616).
                own.next_seq = own.gapless;
                marks.noted = true;
            } else if own.base_seq != Some(seen.seq) {
                own.base_seq = Some(seen.seq);
                marks.flag(Flag::ReusedPorts);
            }
        }
        own.sacked = 0;
        let before_first = if syn { seen.seq } else { seen.seq.wrapping_sub(1) };
        own.base_seq.get_or_insert(before_first);
        if ack {
            peer.base_seq.get_or_insert(seen.ack.wrapping_sub(1));
        }
    }

    /// The rules about sequence numbers, acknowledgements and windows.
    fn sequence(&mut self, seen: &Seen<'_>, mptcp: &Connections, marks: &mut Marks) {
        let initial_rtt = self.initial_rtt;
        let operations = mptcp.shown(self.mptcp);
        let (own, peer) = self.sides(seen);
        if seen.flags.contains(Flags::ACK) {
            peer.flight_is_known = true;
        }
        forward(own, peer, seen, operations, marks);
        acknowledgement(own, peer, seen, marks);
        repeat(own, peer, seen, initial_rtt, marks);
        advance(own, seen, marks);
        own.window = u32::from(seen.window);
        own.last_ack = seen.ack;
        own.last_ack_at = seen.at_nanos;
        own.mptcp_operations = operations.unwrap_or(own.mptcp_operations);
        own.last_flags = marks.flags;
        if let Some(then) = peer.acknowledge(seen.ack) {
            marks.noted = true;
            marks.ack_rtt_nanos = shown(since(then, seen.at_nanos));
        }
        let counted = seen.payload_len > 0 && own.flight_is_known;
        if let Some(span) = counted.then(|| own.span()).flatten() {
            marks.noted = true;
            marks.bytes_in_flight = in_flight(span.wrapping_sub(peer.sacked), seen);
        }
    }

    /// What is known when a handshake's segment has passed.
    fn handshake(&mut self, seen: &Seen<'_>, marks: &mut Marks) {
        let (syn, ack) = (seen.flags.contains(Flags::SYN), seen.flags.contains(Flags::ACK));
        let tfo_data = self.tfo_data;
        let (own, peer) = self.sides(seen);
        if syn {
            own.window_is_the_syns = true;
            let beyond_syn = seen.ack.wrapping_sub(peer.base_seq.unwrap_or(0)) > 1;
            if ack && beyond_syn {
                marks.flags.insert(Flag::TfoAck);
            } else if ack && tfo_data {
                marks.flags.insert(Flag::TfoIgnored);
            }
        } else if ack {
            own.window_is_the_syns = false;
        }
        if syn && !ack {
            self.syn_at = seen.at_nanos;
        }
        if ack && !syn && self.syn_at != 0 && self.initial_rtt == 0 {
            self.initial_rtt = since(self.syn_at, seen.at_nanos);
        }
    }

    /// What the options change; they are looked at last.
    fn options(&mut self, seen: &Seen<'_>, mptcp: &mut Connections, marks: &mut Marks) {
        let options = TsharkOptions::of(seen);
        mptcp.join(&mut self.mptcp, usize::from(!is_first(seen)), &options.mptcp);
        let (syn, ack) = (seen.flags.contains(Flags::SYN), seen.flags.contains(Flags::ACK));
        if options.tfo_cookie && syn && !ack {
            marks.flags.insert(Flag::TfoSyn);
            self.tfo_data |= seen.payload_len > 0;
        }
        let (own, peer) = self.sides(seen);
        if let Some(sack) = options.sack {
            own.sacked = sack.bytes;
            marks.dsack = sack.reports_duplicate;
        }
        if let Some(shift) = options.window_scale {
            own.scale = Scale::Shift(shift.min(LARGEST_SHIFT));
        }
        if seen.options_are_cut() {
            // tshark gives up here: it remembers the segment, and says nothing of it.
            marks.silence();
            return;
        }
        if syn && own.scale == Scale::Unknown {
            (own.scale, peer.scale) = (Scale::Unused, Scale::Unused);
        } else if syn && ack && peer.scale == Scale::Unused {
            own.scale = Scale::Unused;
        }
        mptcp.show(self.mptcp, &options.mptcp);
    }
}

/// Whether the sender is the endpoint that sorts first.
fn is_first(seen: &Seen<'_>) -> bool {
    seen.source < seen.destination
}
