//! Where to look first: what limited the connection most, where most of it was lost, and how Wireshark shows it.

use maud::{Markup, html};
use maxseg_core::advise::Case;
use maxseg_core::diagnose::{Finding, LimitSpan};
use maxseg_core::evidence::{DirectionStats, SegmentPoint};
use maxseg_core::units::Time;

use super::super::words::{self, counted, size, whole_percent};
use super::filter::{frames_filter, range_filter, resent_filter};

/// Packets of a finding that its filter names.
const MOST_FRAMES: usize = 8;
/// Taken for a round trip where none was measured, in seconds.
const UNKNOWN_RTT_S: f64 = 0.1;

/// The places to look at first; `file` is the capture that the packets are numbered in.
pub(super) fn places(case: &Case<'_>, file: &str) -> Markup {
    html! {
        h2 { "Where to look" }
        p.note { "Packet numbers and filters are for " (file) " in Wireshark." }
        dl.look { (longest_limit(case)) (most_lost(case)) }
    }
}

/// The longest time under the limit that held longest.
fn longest_limit(case: &Case<'_>) -> Markup {
    let limit = case.diagnosis.limited_by;
    let spans = case.diagnosis.spans.iter().filter(|span| span.kind == limit);
    let Some(longest) = spans.max_by_key(|span| span.to.since(span.from)) else {
        return Markup::default();
    };
    let said = format!(
        "{limit} for {} of {}; the longest time of it from {} to {}",
        whole_percent(case.share(limit)),
        words::time(case.data_seconds()),
        since(case, longest.from),
        since(case, longest.to)
    );
    let filter = segments_within(case.data(), longest)
        .map(|(first, last)| range_filter(case.evidence, first.frame, last.frame));
    place("limited by", &said, &link(case, longest.from, longest.to), filter)
}

/// The first and the last segment within a time.
fn segments_within(
    data: &DirectionStats,
    span: &LimitSpan,
) -> Option<(SegmentPoint, SegmentPoint)> {
    let segments = &data.trace.as_ref()?.segments;
    let within = |segment: &&SegmentPoint| segment.at >= span.from && segment.at <= span.to;
    let first = segments.iter().find(within)?;
    let last = segments.iter().rfind(within)?;
    Some((*first, *last))
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
    let all = place(
        "all of it",
        "what Wireshark takes for sent again or out of order",
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
    let within = words::time(burst.last.at.since(burst.first.at).as_secs_f64());
    let said = format!(
        "at packet {} ({}){first}: {} ({}) sent again within {within}, up to packet {}{needless}",
        burst.first.frame,
        since(case, burst.first.at),
        counted(burst.segments, "segment"),
        size(burst.bytes),
        burst.last.frame,
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
    segments: u64,
    bytes: u64,
    /// The packet that carried the first of them before.
    original: Option<u64>,
}

impl Burst {
    /// The round trip with most retransmitted segments; `None` without a trace of any.
    fn densest(data: &DirectionStats) -> Option<Self> {
        let trace = data.trace.as_ref()?;
        let resent: Vec<SegmentPoint> =
            trace.segments.iter().filter(|segment| segment.is_resent).copied().collect();
        let rtt = data.path_rtt_loaded_s.or(data.path_rtt_mean_s).unwrap_or(UNKNOWN_RTT_S);
        let rtt = Time::from_secs_f64(rtt);
        let mut densest = (0, 0);
        let mut begin = 0;
        for (end, segment) in resent.iter().enumerate() {
            while segment.at.since(resent[begin].at) > rtt {
                begin += 1;
            }
            if end + 1 - begin > densest.1 - densest.0 {
                densest = (begin, end + 1);
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
            segments: of.len() as u64,
            bytes: of.iter().map(|segment| u64::from(segment.bytes)).sum(),
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
mod tests {
    use maxseg_testkit::{at, traced, windowed};

    use super::*;

    /// Three retransmissions within a round trip, and two that are further apart.
    #[test]
    fn most_was_lost_where_most_was_sent_again_in_a_round_trip() {
        let mut evidence = traced(windowed(0));
        let segments = &mut evidence.forward.trace.as_mut().unwrap().segments;
        for (frame, ms, n) in
            [(5000, 100, 3), (5001, 300, 4), (5002, 1000, 7), (5003, 1040, 8), (5004, 1080, 9)]
        {
            let again =
                SegmentPoint { at: at(ms), frame, offset: n * 1448, bytes: 1448, is_resent: true };
            segments.push(again);
        }
        segments.retain(|segment| !segment.is_resent || segment.frame >= 5000);
        segments.sort_by_key(|segment| segment.at);
        let burst = Burst::densest(&evidence.forward).unwrap();
        assert_eq!((burst.first.frame, burst.last.frame, burst.segments), (5002, 5004, 3));
        assert_eq!(burst.original, Some(17), "packet 10 carries the first byte");
        evidence.forward.retransmitted_packets = 5;
        let text = places(&Case::of(&evidence), "slow.pcap").into_string();
        assert!(
            text.contains("at packet 5002 (1.00 s), first sent in packet 17: 3 segments"),
            "{text}"
        );
        assert!(
            text.contains(
                "frame.number &gt;= 17 &amp;&amp; frame.number &lt;= 5004 &amp;&amp; ip.addr == 10.0.0.1 \
                 &amp;&amp; tcp.port == 40000"
            ),
            "{text}"
        );
    }
}
