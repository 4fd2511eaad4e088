//! Facts of a connection that its socket shows, whatever limits it.

use super::super::finding::{FindingKind, counted, counted_times};
use super::super::loss::MUCH_LOSS;
use super::super::round_trips::{LONG_QUEUE, LONG_QUEUE_S};
use super::black_hole::{arrived_on_average, has_no_full_segment, loses_full_segments_alone};
use super::in_vain::{probes_are_keep_alives, sends_in_vain};
use crate::evidence::SocketEvidence;
use crate::units::approx;

/// A fact of a connection.
#[derive(Debug, Clone, PartialEq)]
pub struct SocketFinding {
    /// What kind of fact.
    pub kind: FindingKind,
    /// The fact in a sentence, with its numbers.
    pub text: String,
}

/// So few segments sent again are no share of anything.
const LEAST_RESENT: u32 = 5;

/// The facts of a connection, the gravest first.
pub fn socket_findings(evidence: &SocketEvidence) -> Vec<SocketFinding> {
    let rules = [timeouts, black_hole, shut_window, slow_reader, losses, long_queue];
    rules.into_iter().filter_map(|rule| rule(evidence)).collect()
}

const fn found(kind: FindingKind, text: String) -> SocketFinding {
    SocketFinding { kind, text }
}

fn timeouts(evidence: &SocketEvidence) -> Option<SocketFinding> {
    let times = evidence.state.timeouts_in_a_row;
    if times == 0 {
        return None;
    }
    let times = counted_times(times.into());
    Some(found(
        FindingKind::Timeouts,
        format!("the retransmission timer has expired {times} without an answer"),
    ))
}

/// A path MTU black hole, likely or possible. What the kernel has learnt of routers is beside it, with the route.
fn black_hole(evidence: &SocketEvidence) -> Option<SocketFinding> {
    let mss = evidence.state.mss_bytes;
    let text = if loses_full_segments_alone(evidence) {
        format!(
            "segments of {mss} bytes are lost again and again while smaller ones that were sent behind them arrive: a path MTU black \
             hole is likely"
        )
    } else if has_no_full_segment(evidence) {
        let arrived = arrived_on_average(&evidence.state).map_or_else(
            || "nothing has arrived since the handshake".to_owned(),
            |bytes| format!("those that arrived before had {} on average", counted(bytes, "byte")),
        );
        format!(
            "segments of {mss} bytes have no answer, and {arrived}: a path MTU black hole is possible, or the peer has gone"
        )
    } else {
        return None;
    };
    Some(found(FindingKind::BlackHole, text))
}

fn shut_window(evidence: &SocketEvidence) -> Option<SocketFinding> {
    let state = &evidence.state;
    // A host that cannot send probes nobody: that is its limit, and told there.
    if state.window_probes == 0 || sends_in_vain(state) {
        return None;
    }
    let probes = counted(state.window_probes.into(), "probe");
    if probes_are_keep_alives(state) {
        let text = format!("{probes} of an idle connection (keep-alive) had no answer");
        return Some(found(FindingKind::KeepAlive, text));
    }
    Some(found(
        FindingKind::ZeroWindow,
        format!("{probes} of the peer's closed window had no answer that opened it"),
    ))
}

fn slow_reader(evidence: &SocketEvidence) -> Option<SocketFinding> {
    let state = &evidence.state;
    let buffer =
        state.receive_buffer.filter(|buffer| buffer.share() >= super::receiving::UNREAD)?;
    if state.unread_bytes == 0 {
        return None;
    }
    let unread = counted(state.unread_bytes.into(), "byte");
    let share = approx::whole_percent(buffer.share());
    let text =
        format!("the process here has not read {unread}, and the receive buffer is {share} full");
    Some(found(FindingKind::ZeroWindow, text))
}

fn losses(evidence: &SocketEvidence) -> Option<SocketFinding> {
    let bin = &evidence.bin;
    let share = f64::from(bin.losses) / f64::from(bin.segments.max(1));
    if bin.losses < LEAST_RESENT || share < MUCH_LOSS {
        return None;
    }
    // Repeated SYNs and FINs are among them, and not among the segments, which have data: of how many data is unknown.
    if bin.losses > bin.segments {
        return None;
    }
    let (lost, all) = (bin.losses, counted(bin.segments.into(), "segment"));
    Some(found(
        FindingKind::Loss,
        format!("{lost} of {all} were sent again ({})", approx::percent(share)),
    ))
}

fn long_queue(evidence: &SocketEvidence) -> Option<SocketFinding> {
    let (rtt, least) = (evidence.state.rtt.as_secs_f64(), evidence.state.min_rtt?.as_secs_f64());
    let is_long = rtt >= LONG_QUEUE * least && rtt - least >= LONG_QUEUE_S;
    // Alone of a transfer: idle hosts are slow to answer.
    if !is_long || evidence.bin.acked_bytes == 0 || evidence.bin.in_flight_max == 0 {
        return None;
    }
    let (rtt, least) = (approx::time(rtt), approx::time(least));
    Some(found(
        FindingKind::Bufferbloat,
        format!("the round trip is {rtt} with data in flight, at least {least} without a queue"),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::tests::transfer;
    use super::*;

    #[test]
    fn segments_sent_again_are_a_share_of_those_with_data() {
        let told = |resent, segments| {
            let mut evidence = transfer();
            (evidence.bin.losses, evidence.bin.segments) = (resent, segments);
            let found = losses(&evidence);
            found.map(|found| found.text)
        };
        assert_eq!(told(5, 50).as_deref(), Some("5 of 50 segments were sent again (10.0%)"));
        assert_eq!(told(5, 0), None, "SYNs or FINs");
        assert_eq!(told(6, 4), None, "some of them");
    }
}
