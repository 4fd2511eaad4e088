//! Sizes: what the path takes, and what was sent.

use super::finding::{Finding, FindingKind, Severity, number};
use crate::evidence::{Direction, EventKind, Evidence, PathMtuEvent};
use crate::framing::Headers;

/// The MTU of Ethernet.
const ETHERNET: u32 = 1500;
/// Segments are small below this share of what could be.
const SMALL: f64 = 0.85;
/// As few say nothing about segment sizes.
const ENOUGH_BYTES: u64 = 20_000;

/// The sender of a direction.
pub(super) fn look(evidence: &Evidence, way: Direction, findings: &mut Vec<Finding>) {
    findings.extend(black_hole(evidence, way));
    findings.extend(reduced(evidence, way));
    findings.extend(fragmented(evidence, way));
    findings.extend(small(evidence, way));
}

/// Bytes of IP and TCP header without options.
fn plain(evidence: &Evidence) -> u32 {
    Headers::plain(evidence.headers().ip).octets()
}

fn black_hole(evidence: &Evidence, way: Direction) -> Option<Finding> {
    let hole = evidence.direction(way).black_hole?;
    let seconds = hole.to.since(hole.from).as_secs_f64();
    let packet = hole.segment_bytes + evidence.headers().octets();
    let sender = evidence.sender(way);
    Some(Finding {
        kind: FindingKind::BlackHole,
        severity: if hole.passed_bytes > 0 { Severity::Problem } else { Severity::Warning },
        way: Some(way),
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
            "Packets of {packet} bytes vanish without a word: a segment of {} bytes was sent {} times again in \
             {seconds:.1} s, and {}",
            hole.segment_bytes,
            hole.repeats,
            if hole.passed_bytes > 0 {
                format!("segments of {} bytes arrive", hole.passed_bytes)
            } else {
                "nothing has arrived since: its size, or the other host, is the reason".to_owned()
            }
        ),
        why: "A hop takes less than the sender thinks, and its message (fragmentation needed, packet too big) does \
              not come back",
        advice: format!(
            "Let ICMP type 3 code 4 (ICMPv6 type 2) through to {sender}, or clamp the MSS on the way{}",
            if hole.passed_bytes > 0 {
                String::new()
            } else {
                format!("; until then, on {sender}: sysctl -w net.ipv4.tcp_mtu_probing=1")
            }
        ),
        source: "RFC 2923 §2.1, RFC 4821",
    })
}

fn reduced(evidence: &Evidence, way: Direction) -> Option<Finding> {
    let sender = evidence.sender(way);
    let mine = evidence
        .path_mtu_events
        .iter()
        .filter(|event| event.quoted.is_some_and(|(source, _)| source == sender));
    let events: Vec<_> = mine.collect();
    let (first, last) = (events.first()?, events.last()?);
    let mtu = events.iter().filter_map(|event| event.told_mtu()).min();
    Some(Finding {
        kind: FindingKind::PathMtuReduced,
        severity: Severity::Warning,
        way: Some(way),
        from: first.at,
        to: last.at,
        evidence: vec![
            number("mtu_bytes", mtu.unwrap_or(0).into()),
            number("packet_bytes", first.packet_bytes.into()),
            number("notices", events.len() as f64),
        ],
        frames: events.iter().map(|event| event.frame).take(8).collect(),
        text: match mtu {
            Some(mtu) => format!(
                "{} says that its next link takes {mtu} bytes; {sender} sent {}",
                first.hop, first.packet_bytes
            ),
            None => format!(
                "{} says that packets of {} bytes are too big for its next link, and not what it takes",
                first.hop, first.packet_bytes
            ),
        },
        why: "Every packet that is too big is lost and sent again, until the sender has learnt the size; it forgets \
              that after minutes",
        advice: match mtu {
            Some(mtu) => format!(
                "Set the MTU of the route on {sender} to {mtu}, or clamp the MSS where the small link begins, to {}",
                mtu.saturating_sub(plain(evidence))
            ),
            None => "Clamp the MSS where the small link begins, and mend the router: since RFC 1191 it says the MTU"
                .to_owned(),
        },
        source: "RFC 1191 §4, RFC 8201 §4",
    })
}

fn fragmented(evidence: &Evidence, way: Direction) -> Option<Finding> {
    let direction = evidence.direction(way);
    if direction.fragmented_packets == 0 {
        return None;
    }
    let fragments = direction.events.of(|kind| kind == EventKind::Fragmented);
    let frames: Vec<u64> = fragments.map(|event| event.frame).take(8).collect();
    let sender = evidence.sender(way);
    Some(Finding {
        kind: FindingKind::Fragmentation,
        severity: Severity::Warning,
        way: Some(way),
        from: evidence.begin,
        to: evidence.end,
        evidence: vec![
            number("fragmented_packets", direction.fragmented_packets as f64),
            number("may_fragment_packets", direction.may_fragment_packets as f64),
        ],
        frames,
        text: format!("{} packets of {sender} arrived in fragments", direction.fragmented_packets),
        why: "A packet is lost with any of its fragments, and many firewalls drop them",
        advice: format!(
            "Let {sender} send smaller segments: a smaller MSS or MTU, and DF set so that it finds out"
        ),
        source: "RFC 8900",
    })
}

fn small(evidence: &Evidence, way: Direction) -> Option<Finding> {
    let direction = evidence.direction(way);
    let used = direction.mss_used_bytes?;
    if direction.unique_bytes < ENOUGH_BYTES || direction.data_packets < 16 {
        return None;
    }
    let stamps = evidence.headers().octets() - plain(evidence);
    let ethernet = ETHERNET - plain(evidence);
    // What the sender itself would take, and so its own link.
    let own = direction.mss_option_bytes.map_or(ethernet, u32::from).min(ethernet);
    let could = own.saturating_sub(stamps);
    if f64::from(used) >= SMALL * f64::from(could) {
        return None;
    }
    let asked = evidence.direction(way.other()).mss_option_bytes.map(u32::from);
    let (sender, receiver) = (evidence.sender(way), evidence.receiver(way));
    // Segments that an application writes one by one are small without anybody asking for it.
    let is_asked = asked.is_some_and(|asked| asked < own && used + stamps + 8 >= asked);
    let is_told = evidence
        .path_mtu_events
        .iter()
        .filter_map(PathMtuEvent::told_mtu)
        .any(|mtu| mtu < own + plain(evidence));
    if !is_asked && !is_told {
        return None;
    }
    let share =
        |payload: u32| f64::from(payload) / f64::from(payload + evidence.headers().octets());
    let gain = share(could) / share(used) - 1.0;
    Some(Finding {
        kind: FindingKind::SmallMss,
        severity: Severity::Warning,
        way: Some(way),
        from: direction.first_data.unwrap_or(evidence.begin),
        to: direction.last_ack.unwrap_or(evidence.end),
        evidence: vec![
            number("mss_used_bytes", used.into()),
            number("mss_possible_bytes", could.into()),
            number("mss_option_bytes", asked.unwrap_or(0).into()),
            number("header_share", 1.0 - share(used)),
            number("gain_on_a_full_link", gain),
        ],
        frames: Vec::new(),
        text: format!(
            "Segments carry {used} bytes where {could} would fit: {}",
            match asked {
                Some(asked) if is_asked => format!("{receiver} announces an MSS of {asked}"),
                _ => "a hop on the path takes no more".to_owned(),
            }
        ),
        why: "Each segment costs its headers and the hosts' work: on a full link small ones carry less, and after a \
              loss they speed up more slowly",
        advice: if is_asked {
            format!(
                "On {receiver}, or on the middlebox that rewrites its SYN: announce {own} (ip route … advmss, \
                 TCP_MAXSEG, MSS clamping); {:.0}% more goodput where the link is full",
                gain * 100.0
            )
        } else {
            format!("Find out why the hop takes so little; {sender} does what it can")
        },
        source: "RFC 9293 §3.7.1, RFC 6691",
    })
}
