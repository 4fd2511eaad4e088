//! Segment sizes and the path MTU.

use super::finding::{Finding, FindingKind, Severity, counted, number};
use crate::evidence::{BlackHole, ChangedField, Direction, DirectionStats, EventKind, Evidence};
use crate::framing::Headers;
use crate::mss::default_mss;
use crate::units::{Mtu, approx};

/// The MTU of Ethernet.
const ETHERNET: u32 = Mtu::ETHERNET.octets();
/// Segments are small below this share of the possible size.
const SMALL: f64 = 0.85;
/// Fewer bytes show nothing about the segment size.
const ENOUGH_BYTES: u64 = 20_000;

/// The MSS of the smallest MTU that a link may have: of packets of 576 bytes with IPv4 (RFC 9293 §3.7.1), of 1280 with IPv6 (RFC 8200 §5).
fn least(evidence: &Evidence) -> u32 {
    default_mss(evidence.headers().ip)
}

/// Bytes of IP and TCP header without options.
fn plain(evidence: &Evidence) -> u32 {
    Headers::plain(evidence.headers().ip).octets()
}

pub(super) fn black_hole(evidence: &Evidence, direction: Direction) -> Option<Finding> {
    let hole = evidence.stats(direction).black_hole.filter(BlackHole::is_by_size)?;
    let seconds = hole.to.since(hole.from).as_secs_f64();
    let packet = hole.segment_bytes + evidence.headers().octets();
    let told = told(evidence, direction, packet);
    Some(Finding {
        kind: FindingKind::BlackHole,
        severity: if hole.passed_bytes > 0 { Severity::Problem } else { Severity::Warning },
        direction: Some(direction),
        from: hole.from,
        to: hole.to,
        evidence: vec![
            number("segment_bytes", hole.segment_bytes.into()),
            number("packet_bytes", packet.into()),
            number("repeats", hole.repeats.into()),
            number("passed_segment_bytes", hole.passed_bytes.into()),
            number("lasted_s", seconds),
        ],
        frames: vec![hole.frame],
        text: format!(
            "Packets of {packet} bytes are lost {}: {}, and {}",
            told.as_deref().unwrap_or("without ICMP"),
            if hole.is_seen_behind() {
                format!(
                    "nothing came for {seconds:.1} s, and then the first {} bytes in smaller segments",
                    hole.segment_bytes
                )
            } else {
                format!(
                    "a segment of {} bytes was retransmitted {} times in {seconds:.1} s",
                    hole.segment_bytes, hole.repeats
                )
            },
            match (hole.passed_bytes, hole.passed_before_bytes) {
                (0, 0) => "only packets without payload arrived".to_owned(),
                (0, before) =>
                    format!("none of this size ever arrived, segments of {before} bytes did"),
                (passed, _) => format!("segments of {passed} bytes arrive"),
            }
        ),
        why: if evidence.told_only_after(direction).is_some() {
            "The MTU of a hop is smaller, and its ICMP message (fragmentation needed, packet too big) reached the sender late"
        } else if hole.passed_bytes > 0 {
            "The MTU of a hop is smaller, and its ICMP message (fragmentation needed, packet too big) does not reach the sender"
        } else {
            "The MTU of a hop is smaller, and its ICMP message (fragmentation needed, packet too big) does not reach the sender, or \
             the other host has gone: both look the same"
        },
        source: "RFC 2923 §2.1, RFC 4821",
    })
}

/// What hops reported of packets of this size: messages that came late, or that the sender did not heed.
fn told(evidence: &Evidence, direction: Direction, packet: u32) -> Option<String> {
    let (mtu, event) = evidence.least_reported_mtu(direction).filter(|(mtu, _)| *mtu < packet)?;
    if let Some(after) = evidence.told_only_after(direction) {
        let after = approx::time(after.as_secs_f64());
        return Some(format!("until {} reports a next-hop MTU of {mtu}, after {after}", event.hop));
    }
    Some(format!(
        "although {} reports a next-hop MTU of {mtu}, which the sender does not heed",
        event.hop
    ))
}

pub(super) fn reduced(evidence: &Evidence, direction: Direction) -> Option<Finding> {
    let sender = evidence.sender(direction);
    let events: Vec<_> = evidence.path_mtu_events_of(direction).collect();
    let (first, last) = (events.first()?, events.last()?);
    let reported = evidence.least_reported_mtu(direction);
    let mtu = reported.map(|(mtu, _)| mtu);
    // A router that joins segments quotes what it joined: what was no larger than what it reports was not refused.
    let is_refused = |sent: &u32| mtu.is_none_or(|mtu| *sent > mtu);
    let sent = evidence.packet_on_wire(direction, first.packet_bytes).filter(is_refused);
    Some(Finding {
        kind: FindingKind::PathMtuReduced,
        severity: Severity::Warning,
        direction: Some(direction),
        from: first.at,
        to: last.at,
        evidence: vec![
            number("mtu_bytes", mtu.unwrap_or(0).into()),
            number("packet_bytes", sent.unwrap_or(0).into()),
            number("notices", events.len() as f64),
        ],
        frames: events.iter().map(|event| event.frame).take(8).collect(),
        text: match reported {
            Some((mtu, event)) => format!(
                "{} reports a next-hop MTU of {mtu}; {sender} sent {}",
                event.hop,
                sent.map_or_else(|| "larger packets".to_owned(), |sent| sent.to_string())
            ),
            None => format!(
                "{} refuses packets{} without a next-hop MTU (RFC 1191)",
                first.hop,
                sent.map_or_else(String::new, |sent| format!(" of {sent} bytes"))
            ),
        },
        why: "Every larger packet is lost and retransmitted until the sender has the path MTU, which expires after \
              minutes",
        source: "RFC 1191 §4, RFC 8201 §4",
    })
}

pub(super) fn fragmented(evidence: &Evidence, direction: Direction) -> Option<Finding> {
    let stats = evidence.stats(direction);
    if stats.fragmented_packets == 0 {
        return None;
    }
    let fragments = stats.events.of(|kind| kind == EventKind::Fragmented);
    let frames: Vec<u64> = fragments.map(|event| event.frame).take(8).collect();
    let sender = evidence.sender(direction);
    Some(Finding {
        kind: FindingKind::Fragmentation,
        severity: Severity::Warning,
        direction: Some(direction),
        from: evidence.begin,
        to: evidence.end,
        evidence: vec![
            number("fragmented_packets", stats.fragmented_packets as f64),
            number("may_fragment_packets", stats.may_fragment_packets as f64),
        ],
        frames,
        text: format!(
            "{} of {sender} arrived in fragments",
            counted(stats.fragmented_packets, "packet")
        ),
        why: "The loss of any fragment loses the packet, and many firewalls drop fragments",
        source: "RFC 8900",
    })
}

/// The MSS option of the receiver as it was sent, where a second capture shows that a hop lowered it.
fn clamped(evidence: &Evidence, direction: Direction) -> Option<&str> {
    let change = evidence.joined.as_deref()?.change(direction.other(), ChangedField::Mss)?;
    (!change.sent.is_empty()).then_some(change.sent.as_str())
}

/// A sender that has so many segments under way does not wait for its program's next write.
const MANY_UNDER_WAY: u64 = 64;
/// Segments of a program's writes differ in size; all are full where their mean is this share of the largest.
const FULL: f64 = 0.98;

/// Whether many segments were under way, and all were as large as the largest.
fn are_all_full(stats: &DirectionStats, used: u32) -> bool {
    let sent = stats.unique_bytes + stats.retransmitted_bytes;
    let mean = sent as f64 / (stats.segments() as f64).max(1.0);
    stats.in_flight_max_bytes >= MANY_UNDER_WAY * u64::from(used) && mean >= FULL * f64::from(used)
}

pub(super) fn small(evidence: &Evidence, direction: Direction) -> Option<Finding> {
    let stats = evidence.stats(direction);
    let used = stats.mss_used_bytes?;
    if stats.unique_bytes < ENOUGH_BYTES || stats.data_packets_once() < 16 {
        return None;
    }
    let stamps = evidence.headers().octets() - plain(evidence);
    let ethernet = ETHERNET - plain(evidence);
    let option = stats.mss_option_bytes.map(u32::from);
    // The sender's own MSS option shows its link, unless it is below what every link allows: a program, a route or a router set it.
    let lowered = option.filter(|own| *own < least(evidence) && used + stamps + 8 >= *own);
    let own = option.filter(|_| lowered.is_none()).unwrap_or(ethernet).min(ethernet);
    let reported = evidence.reported_mtu(direction).map(|mtu| mtu.saturating_sub(plain(evidence)));
    let could = own.saturating_sub(stamps);
    if f64::from(used) >= SMALL * f64::from(could) {
        return None;
    }
    let syn = evidence.stats(direction.other());
    let sent_on = syn.mss_option_elsewhere.map(u32::from);
    let announced = sent_on.or(syn.mss_option_bytes.map(u32::from));
    let receiver = evidence.receiver(direction);
    // Small writes of an application make small segments, too.
    let is_announced =
        announced.is_some_and(|announced| announced < own && used + stamps + 8 >= announced);
    let is_reported = reported.is_some_and(|most| most < own && most.abs_diff(used + stamps) <= 8);
    let is_explained = is_announced || is_reported || lowered.is_some();
    let is_told = is_explained || 2 * used <= could && are_all_full(stats, used);
    if !is_told {
        return None;
    }
    let share =
        |payload: u32| f64::from(payload) / f64::from(payload + evidence.headers().octets());
    let gain = share(could) / share(used) - 1.0;
    Some(Finding {
        kind: FindingKind::SmallMss,
        severity: if is_explained { Severity::Warning } else { Severity::Note },
        direction: Some(direction),
        from: stats.first_data.unwrap_or(evidence.begin),
        to: stats.last_ack.unwrap_or(evidence.end),
        evidence: vec![
            number("mss_used_bytes", used.into()),
            number("mss_possible_bytes", could.into()),
            number("mss_option_bytes", announced.unwrap_or(0).into()),
            number("header_share", 1.0 - share(used)),
            number("gain_on_a_full_link", gain),
        ],
        frames: Vec::new(),
        text: format!(
            "Segments carry {used} bytes instead of {could}: {}",
            match (announced, lowered) {
                (Some(announced), _) if is_announced =>
                    match (clamped(evidence, direction), syn.mss_option_bytes) {
                        (Some(sent), _) =>
                            format!("{receiver} announced an MSS of {sent}, and {announced} arrived"),
                        (None, Some(sent)) if sent_on.is_some() => format!(
                            "{receiver} announced an MSS of {sent}, and the host of the capture sends {announced} on"
                        ),
                        (None, _) => format!("{receiver} announces an MSS of {announced}"),
                    },
                (_, Some(own)) =>
                    format!("the SYN of {} carries an MSS of {own}", evidence.sender(direction)),
                (_, None) if is_reported => "the MTU of a hop allows no more".to_owned(),
                (_, None) =>
                    "nothing here says why: a router beyond this capture lowers the MSS option, the sender's program or route does \
                     (TCP_MAXSEG, mtu), or the program writes so much at a time"
                        .to_owned(),
            }
        ),
        why: "Headers and per-packet work take a larger share: a full link carries less payload, and recovery after a \
              loss takes longer",
        source: "RFC 9293 §3.7.1, RFC 6691",
    })
}
