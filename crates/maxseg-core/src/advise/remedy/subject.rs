//! The limit or finding that a connection's headline is about.

use crate::advise::case::{Case, LONG_SHARE};
use crate::diagnose::{Finding, FindingKind, Severity};
use crate::evidence::{Ending, EventKind, Silence};
use crate::outcome::LimitedBy;
use crate::units::Time;

/// The limit or finding that a remedy is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// A limit.
    Limit(LimitedBy),
    /// A finding.
    Finding(FindingKind),
}

/// A black hole with a larger share of the time ranks before every limit.
const BLACK_HOLE_SHARE: f64 = 0.1;

/// The limit that a setting removes, or else the most severe finding with a remedy, or else the largest limit.
pub fn subject(case: &Case<'_>) -> Option<Subject> {
    if !case.diagnosis.quality.fit {
        return None; // nothing is changed on what cannot be judged
    }
    let limits = &case.diagnosis.limits;
    let limited_by = case.diagnosis.limited_by;
    let has_black_hole =
        case.findings_of_data().any(|finding| finding.kind == FindingKind::BlackHole);
    let second = limits.iter().find(|limit| is_settable(limit.kind) && limit.share >= LONG_SHARE);
    let second = second.map(|limit| limit.kind);
    // Behind the narrow hop the time of the stall is not that of any data: what is seen is how the window grows back, up to the rate
    // of the link.
    let grows_back = |limit| matches!(limit, LimitedBy::Congestion | LimitedBy::Rto);
    let is_aftermath = case.is_behind_narrow_hop()
        && (grows_back(limited_by)
            || limited_by == LimitedBy::Unknown
            || limited_by == LimitedBy::Bandwidth && second.is_some_and(grows_back));
    let is_long = case.share(LimitedBy::PathMtu) > BLACK_HOLE_SHARE || limits.is_empty();
    if has_black_hole && (is_long || is_aftermath) {
        return Some(Subject::Finding(FindingKind::BlackHole));
    }
    let mut findings = case.diagnosis.findings.iter();
    if let Some(ending) = findings.find(|finding| is_whole_story(case, finding.kind)) {
        return Some(Subject::Finding(ending.kind));
    }
    let may_wait = case.diagnosis.leaves_window_unused || case.diagnosis.waits_for_room;
    let is_senders = may_wait || limited_by == LimitedBy::SendBuffer;
    if is_senders && case.waits_for_reader() {
        return Some(Subject::Finding(FindingKind::ZeroWindow));
    }
    if is_settable(limited_by) || may_wait {
        return Some(Subject::Limit(limited_by));
    }
    if let Some(second) = second {
        return Some(Subject::Limit(second));
    }
    let worst = case
        .findings_of_data()
        .filter(|finding| finding.severity >= Severity::Warning && is_fixable(finding.kind))
        // A program that has nothing to send gains little by less loss, unless much is lost.
        .filter(|finding| {
            let is_much = finding.severity >= Severity::Problem;
            let matters =
                (limited_by != LimitedBy::Application || is_much) && !lost_for_their_size(case);
            finding.kind != FindingKind::Loss || matters
        })
        .filter(|finding| finding.kind != FindingKind::PathMtuReduced || !was_heeded_at_once(case))
        .filter(|finding| {
            let direction = finding.direction.unwrap_or(case.diagnosis.direction);
            finding.kind != FindingKind::Reordering || !case.tolerates_reordering(direction)
        })
        // What interrupted the path, or makes SACK useless, is why the timer expired.
        .filter(|finding| finding.kind != FindingKind::Timeouts || !explains_timer(case))
        // Losses are how a full link is shared: what else is found there comes first.
        .max_by_key(|finding| (weight(finding, limited_by), finding.kind != FindingKind::Loss));
    let seen = (!limits.is_empty()).then_some(Subject::Limit(limited_by));
    worst.map(|finding| Subject::Finding(finding.kind)).or(seen)
}

/// Whether another finding says why the retransmission timer expired.
fn explains_timer(case: &Case<'_>) -> bool {
    let mut findings = case.findings_of_data();
    findings.any(|finding| matches!(finding.kind, FindingKind::Outage | FindingKind::UselessSack))
}

/// How much a finding matters. Of what a full link carries, headers are a part that larger segments win for certain.
fn weight(finding: &Finding, limited_by: LimitedBy) -> Severity {
    if finding.kind == FindingKind::SmallMss && limited_by == LimitedBy::Bandwidth {
        Severity::Problem
    } else {
        finding.severity
    }
}

/// Whether nothing else matters: the connection was never open, or an end stopped answering before it had everything.
fn is_whole_story(case: &Case<'_>, kind: FindingKind) -> bool {
    let has_all = |silence: Silence| case.evidence.stats(silence.direction).outstanding_bytes == 0;
    // A RST after probes without an answer.
    let is_reset = matches!(case.evidence.ending, Ending::ResetByClient | Ending::ResetByServer);
    let has_given_up = case.evidence.silence.is_some() && is_reset;
    // A host that closes what it has not read resets the connection (RFC 1122 §4.2.2.13): it wanted no more, as of an upload that it refuses.
    let (evidence, receiver) = (case.evidence, case.evidence.receiver(case.diagnosis.direction));
    let is_by_receiver = evidence.ending == Ending::ResetByClient && receiver == evidence.client
        || evidence.ending == Ending::ResetByServer && receiver == evidence.server;
    let is_cut_off = is_by_receiver
        && case.diagnosis.limited_by == LimitedBy::StartUp
        && case.data().outstanding_bytes > 0;
    matches!(kind, FindingKind::Refused | FindingKind::NoAnswer)
        || kind == FindingKind::Reset && is_cut_off
        || kind == FindingKind::SynRetransmission && case.evidence.slow_handshake_s().is_some()
        || kind == FindingKind::GoneSilent
            && (case.evidence.handshake.syn && case.evidence.handshake.client_rtt.is_none()
                || has_given_up
                || case.evidence.silence.is_some_and(|silence| !has_all(silence)))
}

/// Whether what was lost was too large for a hop that said so: all retransmissions follow such a message.
fn lost_for_their_size(case: &Case<'_>) -> bool {
    let told = case.evidence.path_mtu_events_of(case.diagnosis.direction);
    let (first, last) = told.fold((Time::NEVER, Time::ZERO), |(first, last), event| {
        (first.min(event.at), last.max(event.at))
    });
    let mut resent =
        case.data().events.of(|kind| matches!(kind, EventKind::Retransmission(_))).peekable();
    resent.peek().is_some()
        && resent.all(|event| event.at >= first && event.at <= last.saturating_add(AFTER_MESSAGE))
}

/// Whether path MTU discovery (RFC 1191) worked as it should: the messages came at once, and what is sent since has the size that they
/// name.
fn was_heeded_at_once(case: &Case<'_>) -> bool {
    let (evidence, direction) = (case.evidence, case.diagnosis.direction);
    let mut messages = evidence.path_mtu_events_of(direction).map(|event| event.at);
    let Some(first) = messages.next() else { return false };
    let came_at_once = messages.all(|at| at.since(first) <= AFTER_MESSAGE);
    let packet = case.data().mss_used_bytes.map(|used| used + evidence.headers().octets());
    came_at_once
        && evidence
            .path_mtu_reported(direction)
            .is_some_and(|mtu| packet.is_some_and(|packet| packet <= mtu))
}

/// What a hop refused is sent again so soon after its message, even where a timer has to do it.
const AFTER_MESSAGE: Time = Time::from_secs(1);

/// Whether a setting of hosts or path removes a limit.
const fn is_settable(limit: LimitedBy) -> bool {
    match limit {
        LimitedBy::ReceiveWindow
        | LimitedBy::SendBuffer
        | LimitedBy::PathMtu
        | LimitedBy::Rto
        | LimitedBy::Congestion => true,
        LimitedBy::Bandwidth
        | LimitedBy::Application
        | LimitedBy::Paced
        | LimitedBy::StartUp
        | LimitedBy::Host
        | LimitedBy::Unknown => false,
    }
}

/// Whether a finding comes before a limit that no setting removes.
const fn is_fixable(kind: FindingKind) -> bool {
    match kind {
        FindingKind::BlackHole
        | FindingKind::PathMtuReduced
        | FindingKind::Fragmentation
        | FindingKind::SmallMss
        | FindingKind::ZeroWindow
        | FindingKind::WindowClamped
        | FindingKind::UselessSack
        | FindingKind::Outage
        | FindingKind::SpuriousRto
        | FindingKind::Timeouts
        | FindingKind::Loss
        | FindingKind::Reordering
        | FindingKind::SlowStartAfterIdle
        | FindingKind::AckPath
        | FindingKind::Bufferbloat => true,
        FindingKind::Refused
        | FindingKind::NoAnswer
        | FindingKind::GoneSilent
        | FindingKind::KeepAlive
        | FindingKind::ApplicationWindow
        | FindingKind::RequestResponse
        | FindingKind::ServerResponseTime
        | FindingKind::ClientThinkTime
        | FindingKind::NagleDelayedAck
        | FindingKind::Corked
        | FindingKind::SpuriousRetransmission
        | FindingKind::LongerRoute
        | FindingKind::OptionMissing
        | FindingKind::SynRetransmission
        | FindingKind::BadOption
        | FindingKind::CaptureQuality
        | FindingKind::Reset
        | FindingKind::CongestionMarked => false,
    }
}
