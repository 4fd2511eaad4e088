//! How a connection opens and ends.

use super::finding::{Finding, FindingKind, Severity, number};
use crate::evidence::{Direction, Ending, Evidence, PathMtuEvent};
use crate::window::LARGEST_SHIFT;

/// The least segment that every host takes over IPv4 (RFC 9293 §3.7.1), less room for options.
const LEAST_MSS: u16 = 500;

/// SYNs sent again, options that are missing or cannot be, a reset.
pub(super) fn look(evidence: &Evidence, findings: &mut Vec<Finding>) {
    findings.extend(repeated_syn(evidence));
    findings.extend(missing_option(evidence));
    for way in [Direction::Forward, Direction::Reverse] {
        findings.extend(bad_option(evidence, way));
    }
    findings.extend(reset(evidence));
}

fn repeated_syn(evidence: &Evidence) -> Option<Finding> {
    if !evidence.handshake.syn && !evidence.handshake.syn_ack {
        return None;
    }
    let again = evidence.forward.resent.control + evidence.reverse.resent.control;
    if again == 0 {
        return None;
    }
    let answered = evidence.handshake.syn_ack;
    Some(Finding {
        kind: FindingKind::SynRetransmission,
        severity: if answered { Severity::Warning } else { Severity::Problem },
        way: None,
        from: evidence.begin,
        to: evidence.forward.first_data.unwrap_or(evidence.end),
        evidence: vec![number("repeated_syn_or_fin", again as f64)],
        frames: Vec::new(),
        text: if answered {
            format!("SYN or FIN was sent {again} times more than once")
        } else {
            format!("The SYN was sent {again} times more and never answered")
        },
        why: "Each lost SYN costs a second and more before the first byte (RFC 6298 §2.1)",
        advice: "Look for a firewall or a full listen queue (nstat -az TcpExtListenDrops) at the server, and for \
                 losses on the way"
            .to_owned(),
        source: "RFC 9293 §3.8.1, RFC 6298 §5.7",
    })
}

fn missing_option(evidence: &Evidence) -> Option<Finding> {
    let (there, back) = (&evidence.forward, &evidence.reverse);
    if !evidence.handshake.syn || !evidence.handshake.syn_ack {
        return None;
    }
    let mut missing = Vec::new();
    if there.window_scale.is_none() || back.window_scale.is_none() {
        missing.push("window scale (no window above 64 KiB)");
    }
    if !there.sack_permitted || !back.sack_permitted {
        missing.push(
            "selective acknowledgements (several losses in a flight are repaired one by one)",
        );
    }
    if !there.timestamps || !back.timestamps {
        missing.push("timestamps (needless retransmissions are harder to tell and to undo)");
    }
    if missing.is_empty() {
        return None;
    }
    Some(Finding {
        kind: FindingKind::OptionMissing,
        severity: if missing.len() == 1 { Severity::Note } else { Severity::Warning },
        way: None,
        from: evidence.begin,
        to: evidence.begin,
        evidence: vec![number("options_missing", missing.len() as f64)],
        frames: Vec::new(),
        text: format!("Not agreed on in the handshake: {}", missing.join("; ")),
        why: "What the handshake does not agree on cannot be used later",
        advice: "Switch it on where it is off (net.ipv4.tcp_window_scaling, tcp_sack, tcp_timestamps), and look for \
                 a middlebox that strips options"
            .to_owned(),
        source: "RFC 7323 §1.3, RFC 2018 §2",
    })
}

fn bad_option(evidence: &Evidence, way: Direction) -> Option<Finding> {
    let direction = evidence.direction(way);
    let sender = evidence.sender(way);
    let text = match (direction.window_scale, direction.mss_option_bytes) {
        (Some(shift), _) if shift > LARGEST_SHIFT => {
            format!("{sender} asks for a window scale of {shift}; above 14 it counts as 14")
        }
        (_, Some(mss)) if mss < LEAST_MSS && !is_agreed(evidence, mss) => {
            format!("{sender} announces an MSS of {mss}, less than every host takes")
        }
        _ => return None,
    };
    Some(Finding {
        kind: FindingKind::BadOption,
        severity: Severity::Warning,
        way: Some(way),
        from: evidence.begin,
        to: evidence.begin,
        evidence: vec![
            number("window_scale", direction.window_scale.unwrap_or(0).into()),
            number("mss_option_bytes", direction.mss_option_bytes.unwrap_or(0).into()),
        ],
        frames: Vec::new(),
        text,
        why: "Peers treat such a value each in their own way",
        advice: "Find what sets it: the host's stack, or a middlebox that rewrites options"
            .to_owned(),
        source: "RFC 7323 §2.3, RFC 9293 §3.7.1",
    })
}

/// A small MSS that the path's MTU explains: the segments are no larger than that.
fn is_agreed(evidence: &Evidence, mss: u16) -> bool {
    evidence
        .path_mtu_events
        .iter()
        .filter_map(PathMtuEvent::told_mtu)
        .any(|mtu| mtu < u32::from(mss) + 200)
}

fn reset(evidence: &Evidence) -> Option<Finding> {
    if evidence.ending != Ending::Reset {
        return None;
    }
    Some(Finding {
        kind: FindingKind::Reset,
        severity: Severity::Note,
        way: None,
        from: evidence.end,
        to: evidence.end,
        evidence: Vec::new(),
        frames: Vec::new(),
        text: "One side broke the connection off (RST)".to_owned(),
        why: "What was on its way is lost; some programs end every connection so",
        advice: "Look at the log of the program that broke it off, and for a middlebox that forgot the connection"
            .to_owned(),
        source: "RFC 9293 §3.10.7",
    })
}
