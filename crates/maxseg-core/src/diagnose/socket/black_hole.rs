//! Signs of a path MTU black hole (RFC 2923 §2.1) in the state of one socket: full segments are lost again and again, smaller ones are not.

use crate::evidence::{SocketEvidence, SocketState};

/// A timeout may be chance; so many in a row, each with a segment of its own, hardly are.
const LEAST_TIMEOUTS: u32 = 2;

/// Whether what is lost is full segments while smaller ones, which were sent behind them, have arrived (SACK).
pub(super) fn loses_full_segments_alone(evidence: &SocketEvidence) -> bool {
    let state = &evidence.state;
    let Some(missing) = state.unacked_segments.checked_sub(state.sacked_segments) else {
        return false;
    };
    let mss = u64::from(state.mss_bytes);
    let full = u64::from(missing) * mss;
    // What is named is on average less than half a segment.
    let named = evidence.bin.in_flight_max.checked_sub(full);
    let is_small = |named: u64| 2 * named <= u64::from(state.sacked_segments) * mss;
    is_repeated(evidence) && missing > 0 && state.sacked_segments > 0 && named.is_some_and(is_small)
}

/// Whether a full segment is lost again and again, and what has arrived was small on average: a black hole, or a peer that has gone. Full
/// ones may be among many small ones.
pub(super) fn has_no_full_segment(evidence: &SocketEvidence) -> bool {
    let state = &evidence.state;
    let arrived = state.ever_acked_bytes.zip(state.ever_delivered_segments);
    let is_small = |(bytes, segments): (u64, u32)| {
        2 * bytes < u64::from(segments.max(1)) * u64::from(state.mss_bytes)
    };
    is_repeated(evidence)
        && !state.is_opening
        && evidence.bin.in_flight_max >= u64::from(state.mss_bytes)
        && arrived.is_some_and(is_small)
}

/// Mean payload of the segments that have arrived, in bytes; `None` where that is the handshake alone.
pub(super) fn arrived_on_average(state: &SocketState) -> Option<u64> {
    // The SYN counts as a segment, and as a byte.
    let bytes = state.ever_acked_bytes?.checked_sub(1)?;
    let segments = state.ever_delivered_segments?.checked_sub(1)?;
    (bytes > 0 && segments > 0).then(|| bytes.div_ceil(segments.into()))
}

fn is_repeated(evidence: &SocketEvidence) -> bool {
    evidence.state.timeouts_in_a_row >= LEAST_TIMEOUTS && evidence.state.mss_bytes > 0
}
