//! The sending half of a host that receives data as well.

use super::{PendingControl, Segment, Sender};

impl Sender {
    /// Passive open (RFC 9293 §3.5): the SYN of this side answers the peer's, and no acknowledgement of this side
    /// follows.
    pub(in crate::tcp) fn open_passively(&mut self) {
        self.handshake_ack = false;
    }

    /// Repeats the SYN after the peer repeated its own, since the first was lost or is late.
    pub(in crate::tcp) fn repeat_syn(&mut self) {
        self.timed = None; // Karn's algorithm
        self.pending_control = PendingControl::Syn;
    }

    /// Whether the handshake is complete for this side.
    pub(crate) fn is_established(&self) -> bool {
        self.established
    }

    /// Sequence number of a pure acknowledgement: SND.MAX instead of SND.NXT (RFC 9293). After a timeout SND.NXT is
    /// old for the peer, which would answer such a segment, and the answer would be answered (4.4BSD,
    /// `tcp_output.c`).
    pub(in crate::tcp) fn number_of_pure_ack(&self) -> u64 {
        self.max
    }

    /// RFC 5681 §2: a duplicate acknowledgement has no payload and no SYN; by RFC 6675 §2 one with new SACK blocks
    /// counts nevertheless.
    pub(super) fn may_be_duplicate(&self, segment: &Segment) -> bool {
        !segment.syn && (segment.len == 0 || (self.sack.is_some() && !segment.sack().is_empty()))
    }
}
