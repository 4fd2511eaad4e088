//! What a sending half does where its host receives data as well.

use super::{PendingControl, Segment, Sender};

impl Sender {
    /// From now on a SYN of its own answers the peer's: the passive open (RFC 9293 §3.5), of which the peer
    /// acknowledges number 0 with no packet of this side's to follow.
    pub(in crate::tcp) fn open_passively(&mut self) {
        self.handshake_ack = false;
    }

    /// The peer's SYN has come again, so the answer to it was lost or is late.
    pub(in crate::tcp) fn repeat_syn(&mut self) {
        self.timed = None; // Karn
        self.pending_control = PendingControl::Syn;
    }

    /// Whether the handshake is done as far as this side knows.
    pub(in crate::tcp) fn is_established(&self) -> bool {
        self.established
    }

    /// The number of a segment without payload (SND.MAX): the highest ever sent and not, as RFC 9293 has it,
    /// the next to send. After a timeout has gone back that one would look like an old one at the peer, who
    /// would answer it, and be answered (4.4BSD, `tcp_output.c`).
    pub(in crate::tcp) fn number_of_pure_ack(&self) -> u64 {
        self.max
    }

    /// RFC 5681 §2: a duplicate acknowledgement has no payload and no SYN; by RFC 6675 §2 one that names
    /// what was received beyond counts nevertheless.
    pub(super) fn may_be_duplicate(&self, segment: &Segment) -> bool {
        !segment.syn && (segment.len == 0 || (self.sack.is_some() && !segment.sack().is_empty()))
    }
}
