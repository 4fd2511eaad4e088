//! How a connection ended, where that is the story: refused, not answered, reset, silent.

use super::finding::{Finding, FindingKind, Severity, counted, counted_times, number};
use crate::evidence::{Ending, EventKind, Evidence, UnreachableEvent};
use crate::units::{Time, approx};

pub(super) fn refused(evidence: &Evidence) -> Option<Finding> {
    if evidence.ending != Ending::Refused {
        return None;
    }
    let at = evidence.reset_at.unwrap_or(evidence.end);
    let after = at.since(evidence.handshake.last_syn.unwrap_or(evidence.begin)).as_secs_f64();
    Some(Finding {
        kind: FindingKind::Refused,
        severity: Severity::Problem,
        direction: None,
        from: at,
        to: at,
        evidence: vec![
            number("syn_packets", evidence.handshake.syn_packets.into()),
            number("answered_after_s", after),
        ],
        frames: Vec::new(),
        text: format!(
            "{} refused the connection: its RST answered the SYN after {}",
            evidence.server,
            approx::time(after)
        ),
        why: "No program listens on this port, or a firewall rejects it",
        source: "RFC 9293 §3.10.7.1",
    })
}

pub(super) fn no_answer(evidence: &Evidence) -> Option<Finding> {
    if evidence.ending != Ending::NoAnswer {
        return None;
    }
    let syns = evidence.handshake.syn_packets;
    if let Some(event) = evidence.unreachable_for(evidence.client) {
        return Some(not_passed_on(evidence, event));
    }
    let seconds = evidence.end.since(evidence.begin).as_secs_f64();
    let sent = match syns {
        1 => "was sent once".to_owned(),
        _ => format!("was sent {} in {}", counted_times(syns.into()), approx::time(seconds)),
    };
    Some(Finding {
        kind: FindingKind::NoAnswer,
        // The capture may end before the answer to a single SYN.
        severity: if syns > 1 { Severity::Problem } else { Severity::Warning },
        direction: None,
        from: evidence.begin,
        to: evidence.end,
        evidence: vec![number("syn_packets", syns.into()), number("lasted_s", seconds)],
        frames: Vec::new(),
        text: format!("{} did not answer: the SYN of {} {sent}", evidence.server, evidence.client),
        why: "The host is down, the SYN or its answer was lost or filtered, or the listen queue was full",
        source: "RFC 9293 §3.8.1, RFC 6298 §5.7",
    })
}

/// Somebody on the way has the SYN, and says that it does not get on.
fn not_passed_on(evidence: &Evidence, event: &UnreachableEvent) -> Finding {
    Finding {
        kind: FindingKind::NoAnswer,
        severity: Severity::Problem,
        direction: None,
        from: evidence.begin,
        to: event.at,
        evidence: vec![
            number("syn_packets", evidence.handshake.syn_packets.into()),
            number("icmp_code", event.code.number.into()),
        ],
        frames: vec![event.frame],
        text: format!(
            "{} was not reached: {} answered the SYN of {} with {}: {}",
            evidence.server,
            event.from,
            evidence.client,
            event.code,
            event.code.meaning()
        ),
        why: "A firewall rejects the SYN, or a router has nowhere to send it",
        source: "RFC 9293 §3.9.2.2, RFC 1122 §3.2.2.1, RFC 4443 §3.1",
    }
}

pub(super) fn reset(evidence: &Evidence) -> Option<Finding> {
    let (by, role) = match evidence.ending {
        Ending::ResetByClient => (evidence.client, "client"),
        Ending::ResetByServer => (evidence.server, "server"),
        Ending::Refused
        | Ending::NoAnswer
        | Ending::GoneSilent
        | Ending::Closed
        | Ending::HalfClosed
        | Ending::StillOpen => return None,
    };
    let at = evidence.reset_at.unwrap_or(evidence.end);
    let after = at.since(evidence.begin).as_secs_f64();
    // Of a direction that was not captured, neither were the acknowledgements.
    let lost = if evidence.marks.one_way {
        0
    } else {
        evidence.forward.outstanding_bytes + evidence.reverse.outstanding_bytes
    };
    let is_foreign = evidence.reset_is_other_path;
    let in_flight = match lost {
        0 => String::new(),
        1 => ", 1 byte was not acknowledged".to_owned(),
        bytes => format!(", {bytes} bytes were not acknowledged"),
    };
    Some(Finding {
        kind: FindingKind::Reset,
        severity: if lost > 0 || is_foreign { Severity::Warning } else { Severity::Note },
        direction: None,
        from: at,
        to: at,
        evidence: vec![number("after_s", after), number("unacknowledged_bytes", lost as f64)],
        frames: Vec::new(),
        text: if is_foreign {
            format!(
                "A RST in the name of {by} ({role}) ended the connection after {}{in_flight}; its TTL is not that of the other \
                 packets of {by}, so a device on the path may have sent it",
                approx::time(after)
            )
        } else {
            format!(
                "{by} ({role}) reset the connection after {} (RST){in_flight}",
                approx::time(after)
            )
        },
        why: "Data in flight is lost; some programs close every connection this way",
        source: "RFC 9293 §3.10.7",
    })
}

pub(super) fn gone_silent(evidence: &Evidence) -> Option<Finding> {
    let silence = evidence.silence?;
    let silent = evidence.receiver(silence.direction);
    let seconds = silence.to.since(silence.from).as_secs_f64();
    let mut attempts = Vec::new();
    if silence.retransmissions > 0 {
        attempts.push(counted(silence.retransmissions.into(), "retransmission"));
    }
    if silence.probes > 0 {
        attempts.push(counted(silence.probes.into(), "probe"));
    }
    Some(Finding {
        kind: FindingKind::GoneSilent,
        severity: Severity::Problem,
        direction: Some(silence.direction),
        from: silence.from,
        to: silence.to,
        evidence: vec![
            number("silent_s", seconds),
            number("retransmissions", silence.retransmissions.into()),
            number("probes", silence.probes.into()),
        ],
        frames: Vec::new(),
        text: format!(
            "{silent} stopped answering {} after the first packet: no packet of it since, {} in {}{}",
            approx::time(silence.from.since(evidence.begin).as_secs_f64()),
            attempts.join(" and "),
            approx::time(seconds),
            evidence.unreachable_for(evidence.sender(silence.direction)).map_or_else(
                String::new,
                |event| format!(
                    "; {} says by {}: {}",
                    event.from,
                    event.code,
                    event.code.meaning()
                )
            )
        ),
        why: "The host or the path is down, or a middlebox dropped the connection's state",
        source: "RFC 9293 §3.8.3, RFC 5482",
    })
}

pub(super) fn keep_alive(evidence: &Evidence) -> Option<Finding> {
    let count = evidence.forward.keep_alives + evidence.reverse.keep_alives;
    if count == 0 {
        return None;
    }
    let events = [&evidence.forward, &evidence.reverse]
        .into_iter()
        .flat_map(|stats| stats.events.of(|kind| kind == EventKind::KeepAlive));
    let mut frames = Vec::new();
    let mut times: Option<(Time, Time)> = None;
    for event in events {
        frames.push(event.frame);
        let (first, last) = times.unwrap_or((event.at, event.at));
        times = Some((first.min(event.at), last.max(event.at)));
    }
    frames.sort_unstable();
    frames.truncate(8);
    let (from, to) = times.unwrap_or((evidence.begin, evidence.end));
    Some(Finding {
        kind: FindingKind::KeepAlive,
        severity: Severity::Note,
        direction: None,
        from,
        to,
        evidence: vec![number("keep_alives", count as f64)],
        frames,
        text: format!("A keep-alive was sent {}: the connection was idle", counted_times(count)),
        why: "Keep-alives are not retransmissions, and their answers are not round trips under load",
        source: "RFC 9293 §3.8.4, RFC 1122 §4.2.3.6",
    })
}
