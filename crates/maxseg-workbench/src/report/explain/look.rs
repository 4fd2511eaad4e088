//! Where to look first: what the headline is about, where most was lost, and how Wireshark shows it.

use std::fmt::Write as _;

use maud::{Markup, html};
use maxseg_core::advise::{Case, Headline, Subject};
use maxseg_core::diagnose::Finding;
use maxseg_core::evidence::{Bin, DirectionStats, Evidence, SegmentPoint};
use maxseg_core::outcome::LimitedBy;
use maxseg_core::units::Time;

use super::super::words::{self, counted, size, whole_percent};
use super::burst::Burst;
use super::filter::{
    frames_filter, named_resent, range_filter, resent_alone, resent_filter, resent_in_filter,
};

/// Packets of a finding that its filter names.
const MOST_FRAMES: usize = 8;

/// The places to look at first; `file` is the capture that the packets are numbered in.
pub(super) fn places(headline: &Headline<'_>, file: &str) -> Markup {
    let case = &headline.case;
    let name = if file == "-" { "the capture" } else { file };
    html! {
        h2 { "Where to look" }
        p.note { "Packet numbers and filters are for " (name) " in Wireshark." }
        dl.look { (named_finding(headline)) (longest_limit(case, headline.subject)) (most_lost(case, file)) }
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
        "{limit} for {} of {}; the longest stretch from {} to {}",
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

/// All that was sent again: by Wireshark's own analysis, or one by one where the file has copies of the packets.
fn all_resent(case: &Case<'_>, file: &str) -> Markup {
    const ALL: &str = "all sent again";
    let (evidence, data) = (case.evidence, case.data());
    let named = || named_resent(data, (0, u64::MAX));
    // Copies in the same interface come along.
    if (evidence.capture.interface.is_some() || data.capture_duplicates > 0)
        && let Some((count, filter)) = named()
    {
        let said = format!("{} with data", counted(count, "packet"));
        return place(ALL, &said, &Markup::default(), Some(filter));
    }
    if evidence.capture.interface.is_some() {
        let [command, filter] = resent_alone(case, file);
        let said = "what Wireshark takes for retransmitted or out of order, in a file of this connection at this interface alone: it \
                    takes the same packet at another one for sent again";
        return html! {
            (place(ALL, said, &Markup::default(), None))
            dd { pre { code { (command) } } span.filter-line { code.filter { (filter) } } }
        };
    }
    let twice = if data.capture_duplicates > 0 {
        "; it counts copies too: the capture holds packets twice"
    } else {
        ""
    };
    let said = format!("what Wireshark takes for retransmitted or out of order{twice}");
    place(ALL, &said, &Markup::default(), Some(resent_filter(case)))
}

/// The flight of which most was sent again, and the filter for all that was.
fn most_lost(case: &Case<'_>, file: &str) -> Markup {
    let data = case.data();
    if case.evidence.capture.is_merged {
        return Markup::default();
    }
    if data.retransmitted_packets == 0 {
        return html! { dt { "most lost" } dd { "nothing: no segment was sent again" } };
    }
    let all = all_resent(case, file);
    let Some(burst) = Burst::densest(data) else { return all };
    let is_needless = 2 * data.spurious_retransmissions >= data.retransmitted_packets;
    let needless = if is_needless { "; most of the connection's were without need" } else { "" };
    let from_to = |first: SegmentPoint, last: SegmentPoint| {
        if first.frame == last.frame {
            return format!("packet {} ({})", first.frame, since(case, first.at));
        }
        let times = format!("{} to {}", since(case, first.at), since(case, last.at));
        format!("packets {} to {} ({times})", first.frame, last.frame)
    };
    // Where first transmissions are left out, a repair may be told of no flight.
    let is_thinned = data.trace.as_ref().is_some_and(|trace| trace.segments.is_thinned());
    let bound = if is_thinned { "at least " } else { "" };
    let count = format!("{bound}{} ({})", counted(burst.packets, "packet"), size(burst.bytes));
    let again = from_to(burst.first, burst.last);
    let was = if burst.packets == 1 { "was" } else { "were" };
    let unseen = match burst.unseen {
        0 => String::new(),
        unseen => format!(" ({unseen} of them not captured when they were sent first)"),
    };
    let said = match burst.sent {
        Some((first, last)) => format!(
            "the flight of {}: {count} of it {was} sent again, in {again}{unseen}{needless}",
            from_to(first, last)
        ),
        None => format!("{count} {was} sent again in {again}{needless}"),
    };
    let from = burst.sent.map_or(burst.first.at, |(first, _)| first.at);
    let sent = burst.sent.map(|(a, b)| range_filter(case.evidence, a.frame, b.frame));
    let (first, last) = (burst.first.frame, burst.last.frame);
    // Wireshark takes copies of packets for sent again, at another interface or in the same.
    let has_copies = case.evidence.capture.interface.is_some() || data.capture_duplicates > 0;
    let again = if has_copies {
        let named = named_resent(data, (first, last));
        named.map_or_else(|| range_filter(case.evidence, first, last), |(_, filter)| filter)
    } else {
        resent_in_filter(case, first, last)
    };
    let label = if is_needless { "most sent again" } else { "most lost" };
    html! { (place(label, &said, &link(case, from, burst.last.at), sent.into_iter().chain([again]))) (all) }
}

/// Where a finding is in the graphs and in Wireshark.
pub(super) fn finding_place(case: &Case<'_>, finding: &Finding) -> Markup {
    let frames = &finding.frames[..finding.frames.len().min(MOST_FRAMES)];
    let filter = (!frames.is_empty()).then(|| frames_filter(frames));
    let said = if frames.len() == MOST_FRAMES { "its first packets" } else { "" };
    // What the handshake shows is no place in a graph of the data.
    let is_of_handshake = finding.to == case.evidence.begin;
    let link =
        if is_of_handshake { Markup::default() } else { link(case, finding.from, finding.to) };
    place("where", said, &link, filter)
}

/// A term with what there is to say of it, a link into the graphs, and filters.
fn place(
    term: &str,
    said: &str,
    link: &Markup,
    filters: impl IntoIterator<Item = String>,
) -> Markup {
    html! {
        dt { (term) }
        dd {
            (said) " " (link)
            @for filter in filters { span.filter-line { code.filter { (filter) } } }
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
    words::moment(at.since(case.evidence.begin).as_secs_f64())
}

#[cfg(test)]
#[path = "look_tests.rs"]
mod tests;
