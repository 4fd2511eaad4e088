//! Where to look first: what the headline is about, where most was lost, and how Wireshark shows it.

use std::fmt::Write as _;

use maud::{Markup, html};
use maxseg_core::advise::{Case, Headline, Subject};
use maxseg_core::diagnose::Finding;
use maxseg_core::evidence::{Bin, DirectionStats, Evidence, SegmentPoint};
use maxseg_core::outcome::LimitedBy;
use maxseg_core::units::Time;

use super::super::words::{self, counted, size, whole_percent};
use super::filter::{frames_filter, range_filter, resent_filter};

/// Packets of a finding that its filter names.
const MOST_FRAMES: usize = 8;
/// Taken for a round trip where none was measured, in seconds.
const UNKNOWN_RTT_S: f64 = 0.1;

/// The places to look at first; `file` is the capture that the packets are numbered in.
pub(super) fn places(headline: &Headline<'_>, file: &str) -> Markup {
    let case = &headline.case;
    let file = if file == "-" { "the capture" } else { file };
    html! {
        h2 { "Where to look" }
        p.note { "Packet numbers and filters are for " (file) " in Wireshark." }
        dl.look { (named_finding(headline)) (longest_limit(case, headline.subject)) (most_lost(case)) }
    }
}

/// The finding that the headline names, where it is about one.
fn named_finding(headline: &Headline<'_>) -> Markup {
    let Some(Subject::Finding(_)) = headline.subject else { return Markup::default() };
    let Some(finding) = headline.finding() else { return Markup::default() };
    let case = &headline.case;
    // What was never open is about all of its packets.
    let is_all = case.diagnosis.limits.is_empty();
    let from = if is_all { case.evidence.begin } else { finding.from };
    let to = if is_all { case.evidence.end } else { finding.to };
    let mut said = finding.text.trim_end_matches('.').to_owned();
    if !is_all {
        let _ = write!(said, ", from {} to {}", since(case, from), since(case, to));
    }
    place(finding.kind.word(), &said, &link(case, from, to), packets_of(case.evidence, from, to))
}

/// The limit that the headline names, and the longest time under it.
fn longest_limit(case: &Case<'_>, subject: Option<Subject>) -> Markup {
    let named = match subject {
        Some(Subject::Limit(limit)) => limit,
        Some(Subject::Finding(_)) | None => case.diagnosis.limited_by,
    };
    // Where two limits share the time, neither is named: the larger stands for both.
    let largest = case.diagnosis.limits.first().map_or(named, |limit| limit.kind);
    let limit = if case.share(named) > 0.0 { named } else { largest };
    let Some((from, to)) = longest(case, limit) else { return Markup::default() };
    let said = format!(
        "{limit} for {} of {}; the longest time of it from {} to {}",
        whole_percent(case.share(limit)),
        words::time(case.data_seconds()),
        since(case, from),
        since(case, to)
    );
    place("limited by", &said, &link(case, from, to), packets_of(case.evidence, from, to))
}

/// The longest time under a limit, where the capture shows one.
fn longest(case: &Case<'_>, limit: LimitedBy) -> Option<(Time, Time)> {
    let outage = case.data().interruption().filter(|_| limit == LimitedBy::Rto);
    if let Some(outage) = outage {
        return Some((outage.from, outage.to));
    }
    let spans = case.diagnosis.spans.iter().filter(|span| span.kind == limit);
    let longest = spans.max_by_key(|span| span.to.since(span.from));
    if let Some(span) = longest {
        return Some((span.from, span.to));
    }
    if case.share(limit) <= 0.0 {
        return None;
    }
    // It held for less than the most of every interval: its finding knows where.
    let finding = case.finding_of(limit).map(|finding| (finding.from, finding.to));
    finding.or_else(|| longest_wait(case.data()).filter(|_| limit == LimitedBy::Rto))
}

/// The longest run of intervals in which the sender waited for its timer.
fn longest_wait(data: &DirectionStats) -> Option<(Time, Time)> {
    let bins = data.bins.as_slice();
    let waits = bins.chunk_by(|a, b| (a.rto_wait > Time::ZERO) == (b.rto_wait > Time::ZERO));
    let waits = waits.filter(|wait| wait.first().is_some_and(|bin| bin.rto_wait > Time::ZERO));
    let ends = |wait: &[Bin]| Some((wait.first()?.at, wait.last()?.end()));
    waits.filter_map(ends).max_by_key(|(from, to)| to.since(*from))
}

/// A filter for the packets of both ends within a time; where there are none, or a single one, for those on both sides as well.
fn packets_of(evidence: &Evidence, from: Time, to: Time) -> Option<String> {
    let packets = packet_numbers(evidence);
    let within = packets.iter().filter(|(at, _)| (from..=to).contains(at)).map(|(_, frame)| *frame);
    let (first, last) = (within.clone().min(), within.max());
    if let (Some(first), Some(last)) = (first, last)
        && first < last
    {
        return Some(range_filter(evidence, first, last));
    }
    let before = packets.iter().filter(|(at, _)| *at < from).max_by_key(|(at, _)| *at);
    let after = packets.iter().filter(|(at, _)| *at > to).min_by_key(|(at, _)| *at);
    let around = before.into_iter().chain(after).map(|(_, frame)| *frame).chain(first);
    Some(range_filter(evidence, around.clone().min()?, around.max()?))
}

/// Times and numbers of the packets of both directions that are known: payload, acknowledgements and all else.
fn packet_numbers(evidence: &Evidence) -> Vec<(Time, u64)> {
    let traces = [&evidence.forward, &evidence.reverse].into_iter().flat_map(|way| &way.trace);
    let mut packets = Vec::new();
    for trace in traces {
        packets.extend(trace.segments.iter().map(|segment| (segment.at, segment.frame)));
        packets.extend(trace.acks.iter().map(|ack| (ack.at, ack.frame)));
        packets.extend(trace.controls.iter().map(|control| (control.at, control.frame)));
    }
    packets
}

/// The round trip in which most was sent again, and the filter for all of it.
fn most_lost(case: &Case<'_>) -> Markup {
    let data = case.data();
    if case.evidence.capture.is_merged {
        return Markup::default();
    }
    if data.retransmitted_packets == 0 {
        return html! { dt { "most lost" } dd { "nothing: no segment was sent again" } };
    }
    let twice = if data.capture_duplicates > 0 {
        "; it counts copies too: the capture holds packets twice"
    } else {
        ""
    };
    let all = place(
        "all of it",
        &format!("what Wireshark takes for sent again or out of order{twice}"),
        &Markup::default(),
        Some(resent_filter(case.evidence)),
    );
    let Some(burst) = Burst::densest(data) else { return all };
    let is_needless = 2 * data.spurious_retransmissions >= data.retransmitted_packets;
    let needless = if is_needless { "; most of the connection's were without need" } else { "" };
    let first = match burst.original {
        Some(frame) => format!(", first sent in packet {frame}"),
        None => String::new(),
    };
    let within = match burst.last.at.since(burst.first.at).as_secs_f64() {
        _ if burst.packets == 1 => String::new(),
        seconds => format!(" within {}, up to packet {}", words::time(seconds), burst.last.frame),
    };
    let said = format!(
        "at packet {} ({}){first}: {} ({}) sent again{within}{needless}",
        burst.first.frame,
        since(case, burst.first.at),
        counted(burst.packets, "packet"),
        size(burst.bytes),
    );
    let from = burst.original.unwrap_or(burst.first.frame).min(burst.first.frame);
    let filter = range_filter(case.evidence, from, burst.last.frame);
    let label = if is_needless { "most sent again" } else { "most lost" };
    html! { (place(label, &said, &link(case, burst.first.at, burst.last.at), Some(filter))) (all) }
}

/// Retransmissions within a round trip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Burst {
    first: SegmentPoint,
    last: SegmentPoint,
    /// Captured ones, each of which may stand for several segments.
    packets: u64,
    bytes: u64,
    /// The packet that carried the first of them before.
    original: Option<u64>,
}

impl Burst {
    /// The round trip with most retransmitted payload; `None` without a trace of any.
    fn densest(data: &DirectionStats) -> Option<Self> {
        let trace = data.trace.as_ref()?;
        let resent: Vec<SegmentPoint> =
            trace.segments.iter().filter(|segment| segment.is_resent).copied().collect();
        let rtt = data.path_rtt_loaded_s.or(data.path_rtt_mean_s).unwrap_or(UNKNOWN_RTT_S);
        let rtt = Time::from_secs_f64(rtt);
        let mut densest = (0, 0);
        let (mut begin, mut bytes, mut most) = (0, 0, 0);
        for (end, segment) in resent.iter().enumerate() {
            bytes += u64::from(segment.bytes);
            while segment.at.since(resent[begin].at) > rtt {
                bytes -= u64::from(resent[begin].bytes);
                begin += 1;
            }
            if bytes > most {
                (densest, most) = ((begin, end + 1), bytes);
            }
        }
        let of = &resent[densest.0..densest.1];
        let (first, last) = (*of.first()?, *of.last()?);
        let is_original = |segment: &&SegmentPoint| {
            let end = segment.offset + u64::from(segment.bytes);
            !segment.is_resent && segment.offset <= first.offset && first.offset < end
        };
        Some(Self {
            first,
            last,
            packets: of.len() as u64,
            bytes: most,
            original: trace.segments.iter().find(is_original).map(|segment| segment.frame),
        })
    }
}

/// Where a finding is in the graphs and in Wireshark.
pub(super) fn finding_place(case: &Case<'_>, finding: &Finding) -> Markup {
    let frames = &finding.frames[..finding.frames.len().min(MOST_FRAMES)];
    let filter = (!frames.is_empty()).then(|| frames_filter(frames));
    place("where", "", &link(case, finding.from, finding.to), filter)
}

/// A term with what there is to say of it, a link into the graphs, and a filter.
fn place(term: &str, said: &str, link: &Markup, filter: Option<String>) -> Markup {
    html! {
        dt { (term) }
        dd {
            (said) " " (link)
            @if let Some(filter) = filter { span.filter-line { code.filter { (filter) } } }
        }
    }
}

/// A link that shows a time in the graphs, with a quarter of it on both sides.
fn link(case: &Case<'_>, from: Time, to: Time) -> Markup {
    let begin = case.evidence.begin;
    let all = case.evidence.end.since(begin).as_secs_f64();
    let (from, to) = (from.since(begin).as_secs_f64(), to.since(begin).as_secs_f64());
    let air = (0.25 * (to - from)).max(all * 1e-3);
    let view = format!("#t={:.6}..{:.6}&at={from:.6}", (from - air).max(0.0), (to + air).min(all));
    html! { a href=(view) { "show in the graphs" } }
}

fn since(case: &Case<'_>, at: Time) -> String {
    words::time(at.since(case.evidence.begin).as_secs_f64())
}

#[cfg(test)]
#[path = "look_tests.rs"]
mod tests;
