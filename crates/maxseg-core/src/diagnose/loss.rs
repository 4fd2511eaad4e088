//! Loss, timeouts, reordering, queueing, congestion marks.

use super::finding::{
    Finding, FindingKind, Number, Severity, counted, counted_times, number, were,
};
use super::joined;
use super::trip_view::is_at_sender;
use crate::evidence::{
    Bin, Cause, Direction, DirectionStats, Ending, Event, EventKind, Evidence, Passage,
};
use crate::units::{Time, approx};

/// A larger share of lost segments limits every loss-based congestion control (Mathis et al., 1997).
pub(crate) const MUCH_LOSS: f64 = 0.01;
/// A smaller share is the normal signal of a full queue.
const SOME_LOSS: f64 = 0.001;

/// The first packets of a kind, with the time of the first and the last.
fn first(
    stats: &DirectionStats,
    wanted: impl Fn(EventKind) -> bool,
) -> (Vec<u64>, Option<(Time, Time)>) {
    let events: Vec<&Event> = stats.events.of(wanted).collect();
    let frames = events.iter().map(|event| event.frame).take(8).collect();
    let times = events.first().zip(events.last()).map(|(first, last)| (first.at, last.at));
    (frames, times)
}

/// So many segments of each episode are lost where most losses come with others.
const SEVERAL: u64 = 3;

/// That each repair took a round trip: without SACK a sender learns of one lost segment at a time (RFC 6582).
fn one_by_one(evidence: &Evidence, stats: &DirectionStats) -> &'static str {
    let Evidence { handshake, forward, reverse, .. } = evidence;
    let is_seen = handshake.syn && handshake.syn_ack;
    let has_sack = forward.sack_permitted && reverse.sack_permitted;
    let episodes = stats.loss_episodes.count();
    let are_several = episodes > 0 && stats.needed_retransmissions() >= SEVERAL * episodes;
    if is_seen && !has_sack && are_several {
        "; without SACK one is repaired in a round trip"
    } else {
        ""
    }
}

/// So many segments that are outstanding behind a loss may hold many more losses.
const MUCH_LEFT: u64 = 20;
/// The capture ended while losses were repaired where the last retransmission was so many round trips before, or fewer.
const REPAIRING: f64 = 2.0;

/// What was not acknowledged when the capture ended in the middle of a repair: it may be lost as well.
fn left_at_the_end(evidence: &Evidence, stats: &DirectionStats) -> String {
    let mut repairs = stats.bins.as_slice().iter().filter(|bin| bin.resent_bytes > 0);
    let repaired = repairs.next_back().map(Bin::end);
    let (left, segment) = (stats.outstanding_bytes, u64::from(stats.full_segment()));
    let is_open = matches!(evidence.ending, Ending::StillOpen | Ending::GoneSilent);
    let is_repairing = repaired
        .zip(stats.path_rtt_loaded_s)
        .is_some_and(|(last, rtt)| evidence.end.since(last).as_secs_f64() <= REPAIRING * rtt);
    if !is_open || !is_repairing || evidence.marks.one_way || left < MUCH_LEFT * segment {
        return String::new();
    }
    format!("; the capture ended while losses were repaired, with {left} bytes outstanding")
}

/// The last retransmission, as far as is known: of many the events are the first, and then the interval tells that it was in.
fn last_repair(evidence: &Evidence, stats: &DirectionStats) -> Time {
    let causes = stats.events.of(|kind| matches!(kind, EventKind::Retransmission(_)));
    let mut repairs = stats.bins.as_slice().iter().filter(|bin| bin.resent_bytes > 0);
    let are_all = causes.count() as u64 >= stats.retransmitted_packets;
    let end = repairs.next_back().map(Bin::end).filter(|_| !are_all);
    end.map_or(Time::ZERO, |end| end.min(evidence.end))
}

pub(super) fn loss(evidence: &Evidence, direction: Direction) -> Option<Finding> {
    let stats = evidence.stats(direction);
    let known = joined::known(evidence, direction);
    let lost = known.map_or(stats.lost_segments(), |passage| passage.lost_data_packets);
    // The packets that an offloading sender handed over are fewer than those of the wire.
    let sent = known.map_or(stats.segments(), Passage::followed_packets);
    let share = lost as f64 / sent.max(1) as f64;
    if lost < 3 || share < SOME_LOSS {
        return None;
    }
    let (frames, times) = first(stats, |kind| matches!(kind, EventKind::Retransmission(_)));
    let (from, to) = times.unwrap_or((evidence.begin, evidence.end));
    Some(Finding {
        kind: FindingKind::Loss,
        severity: if share >= MUCH_LOSS { Severity::Problem } else { Severity::Warning },
        direction: Some(direction),
        from,
        to: last_repair(evidence, stats).max(to),
        evidence: vec![
            number("retransmitted_packets", stats.retransmitted_packets as f64),
            number("needed_packets", lost as f64),
            number("loss_share", share),
        ],
        frames,
        text: match known {
            Some(_) => format!(
                "{lost} segments were lost between the captures: {:.2}% of {sent}",
                share * 100.0
            ),
            None => format!(
                "{lost} segments were lost and retransmitted: {:.2}% of {}{sent}{}{}",
                share * 100.0,
                if sent == stats.data_packets { "" } else { "about " },
                one_by_one(evidence, stats),
                left_at_the_end(evidence, stats),
            ),
        },
        why: "Reno and CUBIC reduce the congestion window at each loss: at 1% loss the window averages about 12 segments, at 0.1% about 39",
        source: "RFC 5681 §3.2, Mathis et al. 1997",
    })
}

/// Nothing of one end arrived for a while, and then something did: what was sent meanwhile was lost or held, whatever the
/// timer.
pub(super) fn outage(evidence: &Evidence, direction: Direction) -> Option<Finding> {
    let stats = evidence.stats(direction);
    let outage = stats.interruption()?;
    let after = |at: Time| approx::time(at.since(evidence.begin).as_secs_f64());
    Some(Finding {
        kind: FindingKind::Outage,
        severity: Severity::Problem,
        direction: Some(direction),
        from: outage.from,
        to: outage.to,
        evidence: vec![
            number("lasted_s", outage.seconds()),
            number("retransmissions", outage.retransmissions.into()),
        ],
        frames: Vec::new(),
        text: if outage.of_payload {
            format!(
                "Nothing of {} passed between {} and {} after the first packet; a hole or a retransmission behind that shows that it had sent \
                 data",
                evidence.sender(direction),
                after(outage.from),
                after(outage.to)
            )
        } else {
            format!(
                "Nothing of {} passed between {} and {} after the first packet, while data waited for its acknowledgement",
                evidence.receiver(direction),
                after(outage.from),
                after(outage.to)
            )
        },
        why: "The path was interrupted, or held all packets: the retransmission timer was right to wait longer each time",
        source: "RFC 6298 §5.5, RFC 5682 §1",
    })
}

pub(super) fn timeouts(evidence: &Evidence, direction: Direction) -> Option<Finding> {
    let stats = evidence.stats(direction);
    let count = stats.timeouts;
    if count == 0 {
        return None;
    }
    let mut stalled = Time::ZERO;
    for bin in stats.bins.as_slice() {
        stalled = stalled.saturating_add(bin.rto_wait);
    }
    let is_timer = |kind| kind == EventKind::Retransmission(Cause::Rto);
    let (frames, times) = first(stats, is_timer);
    let (from, to) = times.unwrap_or((evidence.begin, evidence.end));
    let lasted =
        stats.last_ack.unwrap_or(evidence.end).since(stats.first_data.unwrap_or(evidence.begin));
    let is_long = stalled.as_secs_f64() > 0.1 * lasted.as_secs_f64();
    Some(Finding {
        kind: FindingKind::Timeouts,
        severity: if is_long { Severity::Problem } else { Severity::Warning },
        direction: Some(direction),
        from,
        to,
        evidence: vec![
            number("timeouts", count as f64),
            number("stalled_s", stalled.as_secs_f64()),
        ],
        frames,
        text: format!(
            "The retransmission timer expired {}{}: {} retransmitted, {:.3} s stalled",
            if misses_expiries(stats) { "at least " } else { "" },
            counted_times(count),
            counted(stats.resent.rto, "segment"),
            stalled.as_secs_f64()
        ),
        why: "The sender is silent until the timer expires, and continues in slow start",
        source: "RFC 6298 §5, RFC 8985 §7",
    })
}

/// Whether expiries may lack: elsewhere than at the sender a retransmission that was lost on its way does not pass.
fn misses_expiries(stats: &DirectionStats) -> bool {
    stats.rtt_min_s.is_some() && !is_at_sender(stats)
}

pub(super) fn spurious_timeouts(evidence: &Evidence, direction: Direction) -> Option<Finding> {
    let stats = evidence.stats(direction);
    let count = stats.spurious_timeouts;
    if count == 0 {
        return None;
    }
    let is_spurious = |kind| kind == EventKind::Spurious(Cause::Rto);
    let (frames, times) = first(stats, is_spurious);
    let (from, to) = times.unwrap_or((evidence.begin, evidence.end));
    let mut numbers = vec![
        number("spurious_timeouts", count as f64),
        number("timeouts", stats.timeouts as f64),
        number("rtt_mean_s", stats.path_rtt_mean_s.unwrap_or(0.0)),
    ];
    if stats.spurious_retransmissions == count {
        numbers.extend(told_by(stats));
    }
    Some(Finding {
        kind: FindingKind::SpuriousRto,
        severity: if stats.expires_too_early() { Severity::Problem } else { Severity::Note },
        direction: Some(direction),
        from,
        to,
        evidence: numbers,
        frames,
        text: format!(
            "{count} of {} by timeout {} spurious",
            counted(stats.resent.rto, "retransmission"),
            were(count)
        ),
        why: "A delay longer than the retransmission timeout looks like a loss: the sender retransmits and reduces its \
              congestion window to one segment",
        source: "RFC 5682, RFC 3522, RFC 2883",
    })
}

/// What shows that retransmissions were spurious: counted of all of them, whatever caused them.
fn told_by(stats: &DirectionStats) -> [Number; 5] {
    let by = &stats.spurious;
    [
        number("by_dsack", by.dsack as f64),
        number("by_timestamps", by.timestamps as f64),
        number("by_early_ack", by.early_ack as f64),
        number("by_acknowledgement", by.acknowledged as f64),
        number("by_arrival", by.arrived as f64),
    ]
}

pub(super) fn spurious(evidence: &Evidence, direction: Direction) -> Option<Finding> {
    let stats = evidence.stats(direction);
    let count = stats.spurious_retransmissions.checked_sub(stats.spurious_timeouts)?;
    if count == 0 {
        return None;
    }
    let is_spurious = |kind| matches!(kind, EventKind::Spurious(cause) if cause != Cause::Rto);
    let (frames, times) = first(stats, is_spurious);
    let (from, to) = times.unwrap_or((evidence.begin, evidence.end));
    let mut numbers = vec![number("spurious_retransmissions", count as f64)];
    if stats.spurious_timeouts == 0 {
        numbers.extend(told_by(stats));
    }
    Some(Finding {
        kind: FindingKind::SpuriousRetransmission,
        severity: Severity::Note,
        direction: Some(direction),
        from,
        to,
        evidence: numbers,
        frames,
        text: format!("{} {} spurious", counted(count, "retransmission"), were(count)),
        why: "They use the link, and each may have reduced the congestion window",
        source: "RFC 2883, RFC 3708",
    })
}

pub(super) fn reordering(evidence: &Evidence, direction: Direction) -> Option<Finding> {
    let stats = evidence.stats(direction);
    let known = joined::known(evidence, direction);
    let count = known.map_or(stats.out_of_order_packets, |passage| passage.reordered_packets);
    if count == 0 || known.is_none() && is_at_sender(stats) {
        return None;
    }
    let (frames, times) = first(stats, |kind| kind == EventKind::OutOfOrder);
    let (from, to) = times.unwrap_or((evidence.begin, evidence.end));
    let sent = known.map_or(stats.data_packets, Passage::followed_packets);
    let share = count as f64 / sent.max(1) as f64;
    Some(Finding {
        kind: FindingKind::Reordering,
        severity: if share >= MUCH_LOSS { Severity::Warning } else { Severity::Note },
        direction: Some(direction),
        from,
        to,
        evidence: vec![number("out_of_order_packets", count as f64), number("share", share)],
        frames,
        text: format!(
            "{} arrived out of order: {:.2}% of {sent}",
            counted(count, "segment"),
            share * 100.0
        ),
        why: "Three duplicate acknowledgements look like a loss to a sender without RACK",
        source: "RFC 4737, RFC 8985",
    })
}

pub(super) fn marked(evidence: &Evidence, direction: Direction) -> Option<Finding> {
    let stats = evidence.stats(direction);
    let count = stats.congestion_marks;
    if count == 0 {
        return None;
    }
    Some(Finding {
        kind: FindingKind::CongestionMarked,
        severity: Severity::Note,
        direction: Some(direction),
        from: evidence.begin,
        to: evidence.end,
        evidence: vec![number("congestion_marks", count as f64)],
        frames: Vec::new(),
        text: format!(
            "Routers mark congestion instead of dropping packets (ECN): {} carried CE, or CWR in answer to ECE",
            counted(count, "packet")
        ),
        // By less than for a loss, where its algorithm says so (DCTCP, RFC 8511).
        why: "The sender reduces its congestion window, without a loss",
        source: "RFC 3168 §6.1",
    })
}
