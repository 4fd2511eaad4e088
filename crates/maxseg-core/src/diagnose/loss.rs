//! Losses, timers, order and queues.

use super::finding::{Finding, FindingKind, Severity, number};
use crate::evidence::{Cause, Direction, DirectionStats, Event, EventKind, Evidence};
use crate::units::Time;

/// Above this share of the segments losses hold every loss-based congestion control down (Mathis et al., 1997).
const MUCH_LOSS: f64 = 0.01;
/// Below this they are what a queue needs to say that it is full.
const SOME_LOSS: f64 = 0.001;
/// Packets queue much when round trips are on average so many times the least, and so much longer.
const LONG_QUEUE: f64 = 3.0;
const LONG_QUEUE_S: f64 = 0.05;

/// The sender of a direction.
pub(super) fn look(evidence: &Evidence, way: Direction, findings: &mut Vec<Finding>) {
    let direction = evidence.direction(way);
    findings.extend(lost(evidence, way, direction));
    findings.extend(timeouts(evidence, way, direction));
    findings.extend(needless_timeouts(evidence, way, direction));
    findings.extend(needless(evidence, way, direction));
    findings.extend(overtaken(evidence, way, direction));
    findings.extend(queueing(evidence, way, direction));
    findings.extend(marked(evidence, way, direction));
}

fn so_often(count: u64) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

/// The first packets of a kind, and when it begins and ends.
fn first(
    direction: &DirectionStats,
    wanted: impl Fn(EventKind) -> bool,
) -> (Vec<u64>, Option<(Time, Time)>) {
    let events: Vec<&Event> = direction.events.of(wanted).collect();
    let frames = events.iter().map(|event| event.frame).take(8).collect();
    let times = events.first().zip(events.last()).map(|(first, last)| (first.at, last.at));
    (frames, times)
}

fn lost(evidence: &Evidence, way: Direction, direction: &DirectionStats) -> Option<Finding> {
    let lost = direction.needed_retransmissions();
    let share = lost as f64 / direction.data_packets.max(1) as f64;
    if lost < 3 || share < SOME_LOSS {
        return None;
    }
    let (frames, times) = first(direction, |kind| matches!(kind, EventKind::Retransmission(_)));
    let (from, to) = times.unwrap_or((evidence.begin, evidence.end));
    Some(Finding {
        kind: FindingKind::Loss,
        severity: if share >= MUCH_LOSS { Severity::Problem } else { Severity::Warning },
        way: Some(way),
        from,
        to: direction.last_ack.unwrap_or(to),
        evidence: vec![
            number("retransmitted_packets", direction.retransmitted_packets as f64),
            number("needed_packets", lost as f64),
            number("loss_share", share),
        ],
        frames,
        text: format!("{lost} segments had to be sent again: {:.2}% of them", share * 100.0),
        why: "Reno and CUBIC take each loss for a full queue and slow down; at 1% they reach about 12 segments in a \
              round trip",
        advice: "Find the hop that loses (a full queue, a policer, a bad radio link or cable); a congestion control \
                 that measures the rate (BBR) stands random losses better"
            .to_owned(),
        source: "RFC 5681 §3.2, Mathis et al. 1997",
    })
}

fn timeouts(evidence: &Evidence, way: Direction, direction: &DirectionStats) -> Option<Finding> {
    let count = direction.timeouts;
    if count == 0 {
        return None;
    }
    let mut stalled = Time::ZERO;
    for bin in direction.bins.as_slice() {
        stalled = stalled.saturating_add(bin.stalled);
    }
    let is_timer = |kind| kind == EventKind::Retransmission(Cause::Rto);
    let (frames, times) = first(direction, is_timer);
    let (from, to) = times.unwrap_or((evidence.begin, evidence.end));
    let lasted = direction
        .last_ack
        .unwrap_or(evidence.end)
        .since(direction.first_data.unwrap_or(evidence.begin));
    let is_long = stalled.as_secs_f64() > 0.1 * lasted.as_secs_f64();
    Some(Finding {
        kind: FindingKind::Timeouts,
        severity: if is_long { Severity::Problem } else { Severity::Warning },
        way: Some(way),
        from,
        to,
        evidence: vec![
            number("timeouts", count as f64),
            number("stalled_s", stalled.as_secs_f64()),
        ],
        frames,
        text: format!(
            "The retransmission timer expired {}, and {} segments were sent again for it; {:.3} s passed waiting",
            so_often(count),
            direction.resent.rto,
            stalled.as_secs_f64()
        ),
        why: "Nothing is sent while the timer runs, and behind it slow start begins anew",
        advice: "Losses at the end of a burst and of several segments at once lead here: selective acknowledgements \
                 and tail loss probes (tcp_sack, tcp_recovery, tcp_early_retrans) avoid most"
            .to_owned(),
        source: "RFC 6298 §5, RFC 8985 §7",
    })
}

fn needless_timeouts(
    evidence: &Evidence,
    way: Direction,
    direction: &DirectionStats,
) -> Option<Finding> {
    let count = direction.spurious_timeouts;
    if count == 0 {
        return None;
    }
    let is_needless = |kind| kind == EventKind::Spurious(Cause::Rto);
    let (frames, times) = first(direction, is_needless);
    let (from, to) = times.unwrap_or((evidence.begin, evidence.end));
    let rtt = direction.path_rtt_mean_s.unwrap_or(0.0);
    Some(Finding {
        kind: FindingKind::SpuriousRto,
        severity: Severity::Problem,
        way: Some(way),
        from,
        to,
        evidence: vec![
            number("spurious_timeouts", count as f64),
            number("timeouts", direction.timeouts as f64),
            number("by_dsack", direction.spurious.dsack as f64),
            number("by_timestamps", direction.spurious.timestamps as f64),
            number("by_acknowledgement", direction.spurious.acknowledged as f64),
            number("by_arrival", direction.spurious.arrived as f64),
            number("rtt_mean_s", rtt),
        ],
        frames,
        text: format!(
            "The retransmission timer had {count} of {} segments sent again that were not lost",
            direction.resent.rto
        ),
        why: "The path was slow for longer than the timer waits; the sender takes it for a loss, sends again, and \
              begins with a small window",
        advice: format!(
            "Where delays jump (radio links, handovers), let the timer wait longer on {}: ip route change … rto_min \
             {:.0}ms; keep timestamps and F-RTO on (tcp_timestamps, tcp_frto), which undo it",
            evidence.sender(way),
            (rtt * 4000.0).clamp(400.0, 3000.0).ceil()
        ),
        source: "RFC 5682, RFC 3522, RFC 2883",
    })
}

fn needless(evidence: &Evidence, way: Direction, direction: &DirectionStats) -> Option<Finding> {
    let count = direction.spurious_retransmissions.checked_sub(direction.spurious_timeouts)?;
    if count == 0 {
        return None;
    }
    let is_needless = |kind| matches!(kind, EventKind::Spurious(cause) if cause != Cause::Rto);
    let (frames, times) = first(direction, is_needless);
    let (from, to) = times.unwrap_or((evidence.begin, evidence.end));
    Some(Finding {
        kind: FindingKind::SpuriousRetransmission,
        severity: Severity::Note,
        way: Some(way),
        from,
        to,
        evidence: vec![
            number("spurious_retransmissions", count as f64),
            number("by_dsack", direction.spurious.dsack as f64),
        ],
        frames,
        text: format!("{count} segments were sent again for nothing"),
        why: "They cost the link, and each may have halved the sender's window",
        advice: "Look for packets that overtake each other, and for acknowledgements that are lost"
            .to_owned(),
        source: "RFC 2883, RFC 3708",
    })
}

fn overtaken(evidence: &Evidence, way: Direction, direction: &DirectionStats) -> Option<Finding> {
    let count = direction.out_of_order_packets;
    if count == 0 {
        return None;
    }
    let (frames, times) = first(direction, |kind| kind == EventKind::OutOfOrder);
    let (from, to) = times.unwrap_or((evidence.begin, evidence.end));
    let share = count as f64 / direction.data_packets.max(1) as f64;
    Some(Finding {
        kind: FindingKind::Reordering,
        severity: if share >= MUCH_LOSS { Severity::Warning } else { Severity::Note },
        way: Some(way),
        from,
        to,
        evidence: vec![number("out_of_order_packets", count as f64), number("share", share)],
        frames,
        text: format!("{count} segments were overtaken by later ones: {:.2}%", share * 100.0),
        why: "Three that are overtaken look like a loss to a sender that counts duplicate acknowledgements",
        advice: "Look for links used in parallel packet by packet; senders with RACK bear it (tcp_recovery=1)"
            .to_owned(),
        source: "RFC 4737, RFC 8985",
    })
}

fn queueing(evidence: &Evidence, way: Direction, direction: &DirectionStats) -> Option<Finding> {
    let (least, mean) = (direction.path_rtt_min_s?, direction.path_rtt_mean_s?);
    if mean < LONG_QUEUE * least || mean - least < LONG_QUEUE_S {
        return None;
    }
    Some(Finding {
        kind: FindingKind::Bufferbloat,
        severity: Severity::Warning,
        way: Some(way),
        from: direction.first_data.unwrap_or(evidence.begin),
        to: direction.last_ack.unwrap_or(evidence.end),
        evidence: vec![number("rtt_min_s", least), number("rtt_mean_s", mean)],
        frames: Vec::new(),
        text: format!(
            "Under this load a round trip takes {:.0} ms on average, {:.0} ms at best",
            mean * 1000.0,
            least * 1000.0
        ),
        why: "A long queue delays everything else that shares the link",
        advice: "At the narrowest link, a queue that keeps delays short (fq_codel, CAKE), or a smaller one".to_owned(),
        source: "RFC 7567, RFC 8289",
    })
}

fn marked(evidence: &Evidence, way: Direction, direction: &DirectionStats) -> Option<Finding> {
    let count = direction.congestion_marks;
    if count == 0 {
        return None;
    }
    Some(Finding {
        kind: FindingKind::CongestionMarked,
        severity: Severity::Note,
        way: Some(way),
        from: evidence.begin,
        to: evidence.end,
        evidence: vec![number("congestion_marks", count as f64)],
        frames: Vec::new(),
        text: format!("Hops marked congestion on {count} packets instead of dropping them"),
        why: "The sender slows down as for a loss, without one",
        advice: "Nothing: this is how it should be".to_owned(),
        source: "RFC 3168 §6.1",
    })
}
