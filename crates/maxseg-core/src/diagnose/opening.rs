//! Handshake, options, reset.

use super::finding::{Finding, FindingKind, Severity, counted, counted_times, number};
use crate::evidence::{Direction, DirectionStats, Evidence, Handshake, PathMtuEvent};
use crate::mss::default_mss;
use crate::units::approx;
use crate::window::LARGEST_SHIFT;

/// A host that announces its MSS less the room for options may be so far below what is assumed without the option: timestamps take
/// 12 bytes, MD5 signatures 20.
const ROOM_FOR_OPTIONS: u32 = 36;

/// Payload of which nothing is ever acknowledged is no start-up: behind a gap that stays open, or sent again and again. A clause.
pub(super) fn never_started(data: &DirectionStats) -> Option<String> {
    if data.acked_bytes > 0 || data.data_packets == 0 {
        return None;
    }
    let missing = data.outstanding_bytes.saturating_sub(data.unique_bytes);
    let again = data.needed_retransmissions();
    let what = if missing > 0 {
        format!("{missing} bytes before what came here never did")
    } else if again >= LEAST_REPEATS {
        format!("{} of it were sent again", counted(again, "segment"))
    } else {
        return None;
    };
    Some(format!(
        "nothing of the payload was acknowledged, and {what}: larger segments may be lost on the way to this point, or answers on the way \
         back; `maxseg path`, or a capture at the sender, shows which"
    ))
}

/// A segment may be sent again for many reasons, but hardly so often.
const LEAST_REPEATS: u64 = 3;

pub(super) fn syn_retransmission(evidence: &Evidence) -> Option<Finding> {
    let Handshake { syn_packets, syn_ack_packets, .. } = evidence.handshake;
    let again = syn_packets.saturating_sub(1) + syn_ack_packets.saturating_sub(1);
    if again == 0 {
        return None;
    }
    Some(Finding {
        kind: FindingKind::SynRetransmission,
        severity: if evidence.handshake.syn_ack && evidence.slow_handshake_s().is_none() {
            Severity::Warning
        } else {
            Severity::Problem
        },
        direction: None,
        from: evidence.begin,
        to: evidence.forward.first_data.unwrap_or(evidence.end),
        evidence: vec![number("repeated_syns", again.into())],
        frames: Vec::new(),
        text: repeated(evidence, again.into()),
        why: "Each lost SYN delays the first byte by at least a second (RFC 6298 §2.1)",
        source: "RFC 9293 §3.8.1, RFC 6298 §5.7",
    })
}

/// What was sent again, and how long the handshake took with that.
fn repeated(evidence: &Evidence, again: u64) -> String {
    let Handshake { syn_packets, syn_ack_packets, done, .. } = evidence.handshake;
    let Some(done) = done.filter(|_| syn_packets + syn_ack_packets > 2) else {
        return format!("The SYN or its answer was retransmitted {}", counted_times(again));
    };
    let answer = match syn_ack_packets {
        0 | 1 => String::new(),
        times => format!(", its answer {}", counted_times(times.into())),
    };
    format!(
        "The handshake with {} took {}: the SYN was sent {}{answer}",
        evidence.server,
        approx::time(done.since(evidence.begin).as_secs_f64()),
        counted_times(syn_packets.into())
    )
}

pub(super) fn missing_option(evidence: &Evidence) -> Option<Finding> {
    let (there, back) = (&evidence.forward, &evidence.reverse);
    if !evidence.has_syn_options() {
        return None;
    }
    let mut missing = Vec::new();
    if there.window_scale.is_none() || back.window_scale.is_none() {
        missing.push("window scale (no window above 64 KiB)");
    }
    if !there.sack_permitted || !back.sack_permitted {
        missing.push("SACK (several losses in a flight are repaired one per round trip)");
    }
    if !there.timestamps || !back.timestamps {
        missing.push("timestamps (spurious retransmissions are harder to detect and undo)");
    }
    if missing.is_empty() {
        return None;
    }
    Some(Finding {
        kind: FindingKind::OptionMissing,
        severity: if missing.len() == 1 { Severity::Note } else { Severity::Warning },
        direction: None,
        from: evidence.begin,
        to: evidence.begin,
        evidence: vec![number("options_missing", missing.len() as f64)],
        frames: Vec::new(),
        text: format!("Not negotiated: {}", missing.join("; ")),
        why: "Options that the handshake does not negotiate stay unused",
        source: "RFC 7323 §1.3, RFC 2018 §2",
    })
}

pub(super) fn bad_option(evidence: &Evidence, direction: Direction) -> Option<Finding> {
    let stats = evidence.stats(direction);
    let sender = evidence.sender(direction);
    let assumed = default_mss(sender.ip().into());
    let text = match (stats.window_scale, stats.mss_option_bytes) {
        (Some(shift), _) if shift > LARGEST_SHIFT => {
            format!("{sender} offers a window scale of {shift}; values above 14 count as 14")
        }
        (_, Some(mss))
            if u32::from(mss) < assumed - ROOM_FOR_OPTIONS && !is_agreed(evidence, mss) =>
        {
            format!(
                "{sender} announces an MSS of {mss}, below {assumed}, which is assumed without the option"
            )
        }
        _ => return None,
    };
    Some(Finding {
        kind: FindingKind::BadOption,
        severity: Severity::Warning,
        direction: Some(direction),
        from: evidence.begin,
        to: evidence.begin,
        evidence: vec![
            number("window_scale", stats.window_scale.unwrap_or(0).into()),
            number("mss_option_bytes", stats.mss_option_bytes.unwrap_or(0).into()),
        ],
        frames: Vec::new(),
        text,
        why: "Stacks treat such a value differently",
        source: "RFC 7323 §2.3, RFC 9293 §3.7.1",
    })
}

/// Whether a small path MTU explains a small MSS: that of either direction, as routers clamp both SYNs.
fn is_agreed(evidence: &Evidence, mss: u16) -> bool {
    evidence
        .path_mtu_events
        .iter()
        .filter_map(PathMtuEvent::next_hop_mtu)
        .any(|mtu| mtu < u32::from(mss) + 200)
}
