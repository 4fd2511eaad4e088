//! The rules, in the order in which they are asked.

use super::flag::Flag;
use super::half::{HalfStream, Scale, after, before, up_to};
use super::marks::{Marks, shown, since};
use crate::flow::Seen;
use crate::tcp::Flags;

/// A duplicate acknowledgement asks for a fast retransmission no longer than this, in nanoseconds.
const FAST_WITHIN: u64 = 20_000_000;
/// How long a segment may be overtaken where the handshake's round trip is not known.
const OVERTAKEN_WITHIN: u64 = 3_000_000;
/// More than this in flight is an error of counting, in bytes.
const LEAST_ABSURD_FLIGHT: u32 = 2_000_000_000;

/// Why a segment that does not advance was sent, or seen, again.
enum Repeat {
    Spurious,
    Fast,
    OutOfOrder,
    Other,
}

/// Whether it is no SYN, FIN or RST.
fn is_plain(seen: &Seen<'_>) -> bool {
    ![Flags::SYN, Flags::FIN, Flags::RST].into_iter().any(|flag| seen.flags.contains(flag))
}

fn is_syn_or_fin(seen: &Seen<'_>) -> bool {
    seen.flags.contains(Flags::SYN) || seen.flags.contains(Flags::FIN)
}

/// What its number, length and window say against what its sender sent before.
pub(super) fn forward(
    own: &mut HalfStream,
    peer: &HalfStream,
    seen: &Seen<'_>,
    mptcp: Option<u8>,
    marks: &mut Marks,
) {
    let (window, len, plain) = (u32::from(seen.window), seen.payload_len, is_plain(seen));
    if len == 1 && seen.seq == own.next_seq && peer.window == 0 {
        marks.flag(Flag::ZeroWindowProbe);
        return;
    }
    if window == 0 && plain {
        marks.flag(Flag::ZeroWindow);
    }
    let gap = own.next_seq != 0 && after(seen.seq, own.next_seq);
    if gap && !seen.flags.contains(Flags::RST) {
        marks.flag(Flag::LostSegment);
        own.flight_is_known = false;
    }
    if len <= 1 && seen.seq == own.next_seq.wrapping_sub(1) && plain {
        marks.flag(Flag::KeepAlive);
    }
    let scale_known = peer.scale != Scale::Unknown;
    let end = seen.seq.wrapping_add(len);
    if len > 0 && plain && scale_known && end == peer.window_edge() {
        marks.flag(Flag::WindowFull);
    }
    let repeats = len == 0 && plain && seen.seq == own.next_seq && seen.ack == own.last_ack;
    if !repeats {
        return;
    }
    let same_window = window == own.window;
    if window != 0 && !same_window {
        marks.flag(Flag::WindowUpdate);
    } else if window != 0 && peer.last_flags.contains(Flag::KeepAlive) {
        marks.flag(Flag::KeepAliveAck);
    } else if window == 0 && same_window && peer.last_flags.contains(Flag::ZeroWindowProbe) {
        marks.flag(Flag::ZeroWindowProbeAck);
    } else if window != 0 && mptcp.is_none_or(|seen| seen == own.mptcp_operations) {
        // The highest number stands for "none, but no more remarks": see `acknowledgement`.
        own.duplicate_acks = own.duplicate_acks.wrapping_add(1).max(1);
        marks.flag(Flag::DuplicateAck);
    }
}

/// Whether it acknowledges what the capture does not hold.
pub(super) fn acknowledgement(
    own: &mut HalfStream,
    peer: &mut HalfStream,
    seen: &Seen<'_>,
    marks: &mut Marks,
) {
    if seen.ack != own.last_ack {
        own.duplicate_acks = 0;
    }
    let beyond = peer.gapless != 0 && after(seen.ack, peer.gapless);
    if !beyond || !seen.flags.contains(Flags::ACK) {
        return;
    }
    marks.noted = true;
    if before(peer.gapless, peer.next_seq) {
        peer.gapless = peer.next_seq;
        marks.flag(Flag::AckLostSegment);
    } else {
        // Said once until the peer's own acknowledgements move on.
        if peer.duplicate_acks == 0 {
            marks.flag(Flag::AckLostSegment);
        }
        peer.duplicate_acks = u32::MAX;
    }
}

/// Marks what does not advance.
pub(super) fn repeat(
    own: &HalfStream,
    peer: &HalfStream,
    seen: &Seen<'_>,
    initial_rtt: i64,
    marks: &mut Marks,
) {
    let takes_numbers = seen.payload_len > 0 || is_syn_or_fin(seen);
    if !takes_numbers || marks.is(Flag::KeepAlive) {
        return;
    }
    match why_again(own, peer, seen, initial_rtt) {
        None => {}
        Some(Repeat::OutOfOrder) => marks.flag(Flag::OutOfOrder),
        Some(Repeat::Spurious) => {
            marks.flag(Flag::SpuriousRetransmission);
            marks.flag(Flag::Retransmission);
        }
        Some(Repeat::Fast) => {
            marks.flag(Flag::FastRetransmission);
            marks.flag(Flag::Retransmission);
        }
        Some(Repeat::Other) => {
            marks.flag(Flag::Retransmission);
            let then = own.oldest_at().unwrap_or(own.next_seq_at);
            marks.rto_nanos = shown(since(then, seen.at_nanos));
        }
    }
}

fn why_again(
    own: &HalfStream,
    peer: &HalfStream,
    seen: &Seen<'_>,
    initial_rtt: i64,
) -> Option<Repeat> {
    let (seq, len) = (seen.seq, seen.payload_len);
    let end = seq.wrapping_add(len);
    if len > 0 && peer.last_ack != 0 && up_to(end, peer.last_ack) {
        return Some(Repeat::Spurious);
    }
    // More than the byte of a zero window's probe: new data.
    let takes_up_probe = len > 1 && own.next_seq.wrapping_sub(1) == seq;
    if own.next_seq == 0 || !before(seq, own.next_seq) || takes_up_probe {
        return None;
    }
    let after_ack = seen.at_nanos.wrapping_sub(peer.last_ack_at);
    if peer.duplicate_acks >= 2 && peer.last_ack == seq && after_ack < FAST_WITHIN {
        return Some(Repeat::Fast);
    }
    let after_highest = seen.at_nanos.wrapping_sub(own.next_seq_at);
    let overtaken_within =
        if initial_rtt == 0 { OVERTAKEN_WITHIN } else { initial_rtt.cast_unsigned() };
    let is_last = own.next_seq == end.wrapping_add(u32::from(is_syn_or_fin(seen)));
    if after_highest < overtaken_within && !is_last {
        return Some(Repeat::OutOfOrder);
    }
    Some(Repeat::Other)
}

/// Remembers the segment and how far it reaches.
pub(super) fn advance(own: &mut HalfStream, seen: &Seen<'_>, marks: &Marks) {
    let mut end = seen.seq.wrapping_add(seen.payload_len);
    if seen.payload_len > 0 || is_syn_or_fin(seen) {
        let past_flags = end.wrapping_add(u32::from(is_syn_or_fin(seen)));
        if own.remember(seen.seq, past_flags, seen.at_nanos) {
            end = past_flags;
        }
    }
    if marks.is(Flag::ZeroWindowProbe) {
        return;
    }
    if own.next_seq == 0 || after(end, own.next_seq) {
        own.next_seq = end;
        own.next_seq_at = seen.at_nanos;
    }
    if own.gapless == 0 || seen.seq == own.gapless {
        own.gapless = own.next_seq;
    }
}

/// `bytes` in flight, if they can be: the number that SYN and FIN take is no byte.
pub(super) fn in_flight(bytes: u32, seen: &Seen<'_>) -> Option<u32> {
    let possible = (1..LEAST_ABSURD_FLIGHT).contains(&bytes);
    let bytes = bytes.wrapping_sub(u32::from(is_syn_or_fin(seen)));
    (possible && bytes != 0).then_some(bytes)
}
