//! From evidence to limits and findings; advice is in [`advise`](crate::advise).
//!
//! ```text
//! Evidence → limits (shares of the time) ─┬→ Diagnosis
//!         └→ findings, one rule a kind ───┘
//!
//! SocketEvidence → SocketDiagnosis
//! ```

mod ack_path;
mod alone;
mod beside;
mod capture;
mod clock;
mod congestion_control;
mod counts;
mod data_queue;
mod ending;
mod finding;
mod full_link;
mod host_system;
mod intervals;
mod joined;
mod known;
mod limits;
mod loss;
mod loss_cause;
mod lossy_stretch;
mod messages;
mod mtu;
mod one_way;
mod opening;
mod outweigh;
mod overtaken;
mod pace;
mod pauses;
mod quality;
mod queueing;
mod requests;
mod room_in_buffer;
mod round_trips;
mod send_buffer;
mod shrunk_window;
mod since_loss;
mod socket;
mod stops;
mod trip_view;
mod useless_sack;
mod verdict;
mod windows;

pub(crate) use beside::sent_meanwhile;
pub(crate) use congestion_control::is_overtaken;
pub use congestion_control::{CongestionAlgorithm, CongestionControl};
pub use finding::{Finding, FindingKind, Number, Severity};
pub(crate) use finding::{counted, were};
pub(crate) use full_link::FULL_LINK;
pub use host_system::{HostSystem, HostSystems, System};
pub use limits::{LimitSpan, Limits};
pub(crate) use loss::MUCH_LOSS;
pub use loss_cause::{Loss, LossCause};
pub(crate) use loss_cause::{policed_rate, rate_of_possible_policer};
pub(crate) use lossy_stretch::LossyStretch;
pub(crate) use pauses::pauses_after_writes;
pub use quality::{Quality, Reason, ReasonCode};
pub(crate) use queueing::QUEUEING;
pub(crate) use shrunk_window::{has_slow_reader, smaller_window};
pub use socket::{
    LimitsOverTime, SocketDiagnosis, SocketFinding, closed_and_still, closing_in_words,
    diagnose_socket, fills_receive_window, holds_small_segments, sends_in_vain, shares_queue,
    socket_findings, waits_for_reader, window_waits_in_queue,
};
pub(crate) use trip_view::{CLOCK_STEP, is_at_sender};

use crate::evidence::{CaptureFacts, Direction, DirectionStats, Evidence};
use crate::outcome::{LimitShare, LimitedBy};
use known::Known;
use pace::Pace;
use verdict::Verdict;

/// The limits and findings of a connection.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnosis {
    /// Whether the capture is fit to judge the connection by; where not, the limit is unknown.
    pub quality: Quality,
    /// The direction that the limits are of: the one with more payload.
    pub direction: Direction,
    /// Shares of the time from first data to last acknowledgement, largest first; they sum up to one, or are
    /// empty where there was no such time.
    pub limits: Vec<LimitShare>,
    /// The limit at each time.
    pub spans: Vec<LimitSpan>,
    /// The limit with the largest share; [`LimitedBy::Unknown`] where the evidence does not show it.
    pub limited_by: LimitedBy,
    /// Why the limit is unknown, with the fact or capture that would show it; a clause without a full stop.
    pub unknown_because: Option<String>,
    /// Whether, with the limit unknown, the sender uses less of its congestion window than acknowledgements open, besides its
    /// losses: as behind a small send buffer, or with a program that is late. `unknown_because` may name another reason.
    pub leaves_window_unused: bool,
    /// Whether the sender's program waits for room in its send buffer while acknowledgements come, and the link has room: a larger
    /// buffer brings more, whatever else limits.
    pub waits_for_room: bool,
    /// Whether it may, beside a link that is full while it sends: its flight falls to the same low mark now and then, and the link is
    /// idle meanwhile.
    pub may_wait_for_room: bool,
    /// An estimate from 0 to 1 of how sure `limited_by` is: by the lead of the largest share and the faults of the capture.
    pub confidence: f64,
    /// Why segments of the direction were lost.
    pub loss: Loss,
    /// The congestion control of the direction's sender.
    pub congestion_control: CongestionControl,
    /// The findings, the most severe first.
    pub findings: Vec<Finding>,
}

impl Diagnosis {
    /// When a link was full that limited: a sentence without its end.
    pub(crate) fn full_link(&self) -> &'static str {
        if self.waits_for_room || self.may_wait_for_room {
            "A link of the path was full while the sender sent, and idle in between"
        } else {
            "A link of the path was full"
        }
    }
}

/// How a kind of finding is found.
enum Rule {
    /// Once per connection.
    Connection(fn(&Evidence) -> Option<Finding>),
    /// Once per direction.
    Direction(fn(&Evidence, Direction) -> Option<Finding>),
}

/// The rule of each kind.
const fn rule(kind: FindingKind) -> Rule {
    match kind {
        FindingKind::CaptureQuality => Rule::Connection(capture::quality),
        FindingKind::SynRetransmission => Rule::Connection(opening::syn_retransmission),
        FindingKind::OptionMissing => Rule::Connection(opening::missing_option),
        FindingKind::Reset => Rule::Connection(ending::reset),
        FindingKind::Refused => Rule::Connection(ending::refused),
        FindingKind::NoAnswer => Rule::Connection(ending::no_answer),
        FindingKind::GoneSilent => Rule::Connection(ending::gone_silent),
        FindingKind::KeepAlive => Rule::Connection(ending::keep_alive),
        FindingKind::RequestResponse => Rule::Connection(requests::round_trips),
        FindingKind::ServerResponseTime => Rule::Connection(requests::server),
        FindingKind::ClientThinkTime => Rule::Connection(requests::client),
        FindingKind::ApplicationWindow => Rule::Direction(requests::application_window),
        FindingKind::SlowStartAfterIdle => Rule::Direction(requests::restarts),
        FindingKind::NagleDelayedAck => Rule::Connection(requests::nagle),
        FindingKind::Corked => Rule::Connection(requests::corked),
        FindingKind::BadOption => Rule::Direction(opening::bad_option),
        FindingKind::BlackHole => Rule::Direction(mtu::black_hole),
        FindingKind::PathMtuReduced => Rule::Direction(mtu::reduced),
        FindingKind::Fragmentation => Rule::Direction(mtu::fragmented),
        FindingKind::SmallMss => Rule::Direction(mtu::small),
        FindingKind::ZeroWindow => Rule::Direction(windows::zero_window),
        FindingKind::WindowClamped => Rule::Direction(windows::clamped),
        FindingKind::Loss => Rule::Direction(loss::loss),
        FindingKind::UselessSack => Rule::Direction(useless_sack::finding),
        FindingKind::Outage => Rule::Direction(loss::outage),
        FindingKind::Timeouts => Rule::Direction(loss::timeouts),
        FindingKind::SpuriousRto => Rule::Direction(loss::spurious_timeouts),
        FindingKind::SpuriousRetransmission => Rule::Direction(loss::spurious),
        FindingKind::Reordering => Rule::Direction(loss::reordering),
        FindingKind::Bufferbloat => Rule::Direction(round_trips::bufferbloat),
        FindingKind::LongerRoute => Rule::Direction(round_trips::longer_route),
        FindingKind::AckPath => Rule::Direction(ack_path::finding),
        FindingKind::CongestionMarked => Rule::Direction(loss::marked),
    }
}

/// Diagnoses a connection.
pub fn diagnose(evidence: &Evidence) -> Diagnosis {
    let direction = evidence.data_direction();
    let (data, acks) = (evidence.stats(direction), evidence.stats(direction.other()));
    let known = Known::of(evidence, direction);
    let Limits { mut shares, mut spans } = Limits::of(data, acks, known);
    let mut findings = all_findings(evidence);
    if is_single_message(data) && !findings.iter().any(|finding| tells_limit(finding.kind)) {
        (shares, spans) = (Vec::new(), Vec::new());
    }
    if let Some(limit) = one_way::limit(evidence, direction) {
        (shares, spans) = all_of(limit, &shares, &spans);
    }
    // What is sent again into silence to the end fills no link.
    let is_silent = findings.iter().any(|finding| finding.kind == FindingKind::GoneSilent);
    if !is_silent && outweigh::link_does(data, acks, &shares, &spans) {
        (shares, spans) = instead(&shares, &spans, outweigh::is_loss, LimitedBy::Bandwidth);
    }
    let sender = HostSystem::of_sender(evidence, direction).name;
    let is_buffer = |kind| kind == LimitedBy::SendBuffer;
    let is_as_of_linux = shares.first().is_some_and(|limit| is_buffer(limit.kind));
    if !sender.may_be_linux() {
        (shares, spans) = instead(&shares, &spans, is_buffer, LimitedBy::Unknown);
    }
    let verdict = Verdict::of(evidence, direction, &shares);
    let quality = Quality::of(evidence, verdict.limited_by);
    let verdict = quality.unknown_because().map_or(verdict, Verdict::unknown);
    if !quality.fit {
        (shares, spans) = all_of(LimitedBy::Unknown, &shares, &spans);
        findings.retain(|finding| !is_inferred(finding.kind));
    }
    if evidence.capture.is_merged || overtaken::has_no_order(evidence) {
        findings.retain(|finding| !rests_on_repeats(finding.kind));
    }
    let doubt = beside::in_doubt(evidence, direction, verdict.limited_by);
    if doubt.is_some() {
        (shares, spans) = instead(&shares, &spans, beside::may_be_others, LimitedBy::Unknown);
    }
    let doubt = doubt.or_else(|| {
        let doubt = overtaken::in_doubt(data, &evidence.capture, verdict.limited_by)?;
        let is_link = verdict.limited_by == LimitedBy::Bandwidth;
        let is_it = if is_link { overtaken::needs_order } else { outweigh::is_loss };
        (shares, spans) = instead(&shares, &spans, is_it, LimitedBy::Unknown);
        Some(doubt)
    });
    let doubt = doubt.or_else(|| outweigh::in_doubt(data, acks, &shares, &spans));
    let doubt = doubt.or_else(|| {
        (verdict.limited_by == LimitedBy::StartUp).then(|| opening::never_started(data)).flatten()
    });
    let is_other = quality.fit && is_as_of_linux && !sender.may_be_linux();
    let doubt =
        doubt.or_else(|| is_other.then(|| send_buffer::of_other(evidence, direction, sender)));
    let verdict = doubt.map_or(verdict, Verdict::unknown);
    let Verdict { limited_by, unknown_because, confidence } = verdict;
    // Segments of a program that writes at equal distances are acknowledged at equal distances.
    findings.retain(|finding| {
        let is_of_data = finding.direction == Some(direction);
        finding.kind != FindingKind::AckPath || is_of_data && limited_by == LimitedBy::Bandwidth
    });
    let alone = match quality.reason(ReasonCode::Merged) {
        Some(merged) => Loss::unknown(merged.text.clone()),
        None => {
            Loss::of(data, limited_by, trip_view::sees_round_trips(data, acks), evidence.beside)
        }
    };
    let has_ack_path = findings.iter().any(|finding| finding.kind == FindingKind::AckPath);
    let congestion_control = {
        let seen = || CongestionControl::of(data, limited_by, has_ack_path);
        named(data, &evidence.capture, &quality, unknown_because.as_ref(), seen)
    };
    let leaves_window_unused = limited_by == LimitedBy::Unknown
        && quality.fit
        && evidence.beside.is_none()
        && !evidence.marks.one_way
        && !evidence.marks.mid_stream
        && trip_view::sees_round_trips(data, acks)
        && Pace::of(data, acks).leaves_window_unused;
    let (waits_for_room, may_wait_for_room) = if quality.fit && sender.may_be_linux() {
        room_in_buffer::waits(evidence, direction, limited_by)
    } else {
        (false, false)
    };
    Diagnosis {
        quality,
        direction,
        limits: shares,
        spans,
        limited_by,
        unknown_because,
        leaves_window_unused,
        waits_for_room,
        may_wait_for_room,
        confidence,
        loss: joined::loss(evidence, direction, alone),
        congestion_control,
        findings,
    }
}

/// What every rule finds, the gravest first.
fn all_findings(evidence: &Evidence) -> Vec<Finding> {
    let mut findings = Vec::new();
    for kind in FindingKind::ALL {
        if let Rule::Connection(rule) = rule(*kind) {
            findings.extend(rule(evidence));
        }
    }
    for direction in [Direction::Forward, Direction::Reverse] {
        for kind in FindingKind::ALL {
            if let Rule::Direction(rule) = rule(*kind) {
                findings.extend(rule(evidence, direction));
            }
        }
    }
    findings.sort_by(|a, b| b.severity.cmp(&a.severity).then(a.from.cmp(&b.from)));
    findings
}

/// The congestion control that is seen, where the capture has flights as the sender had them.
fn named(
    data: &DirectionStats,
    capture: &CaptureFacts,
    quality: &Quality,
    unknown_because: Option<&String>,
    seen: impl FnOnce() -> CongestionControl,
) -> CongestionControl {
    let hidden = overtaken::hides_flights(data, capture);
    match (unknown_because.filter(|_| !quality.fit), hidden) {
        (Some(why), None) if lacks_handshake(quality) => {
            let seen = Some(seen()).filter(|control| !control.is_unknown());
            seen.unwrap_or_else(|| CongestionControl::unknown(why.clone()))
        }
        (Some(why), _) => CongestionControl::unknown(why.clone()),
        (None, Some(why)) => CongestionControl::unknown(why),
        (None, None) => seen(),
    }
}

/// Whether it is the handshake that is missing: flights at losses, and those that timestamps tell, show the congestion control without its window scale
/// and round trip.
fn lacks_handshake(quality: &Quality) -> bool {
    quality.wanted.as_deref() == Some(quality::wanted_capture(ReasonCode::MidStream))
}

/// Whether so little was sent that nothing limited it: what has no rate, and was neither sent again nor held up.
const fn is_single_message(data: &DirectionStats) -> bool {
    data.goodput_bps.is_none() && data.acked_bytes > 0 && data.retransmitted_packets == 0
}

/// Whether a finding says what the time of a single message is about.
const fn tells_limit(kind: FindingKind) -> bool {
    kind.limit().is_some()
}

/// Whether a finding rests on round trips or windows of the whole connection, more than on packets.
const fn is_inferred(kind: FindingKind) -> bool {
    matches!(kind, FindingKind::Bufferbloat | FindingKind::SmallMss | FindingKind::WindowClamped)
}

/// Whether a finding counts packets that come again or out of order, as every packet does that two places saw.
const fn rests_on_repeats(kind: FindingKind) -> bool {
    matches!(
        kind,
        FindingKind::Loss
            | FindingKind::Timeouts
            | FindingKind::SpuriousRto
            | FindingKind::SpuriousRetransmission
            | FindingKind::Reordering
            | FindingKind::SynRetransmission
            | FindingKind::KeepAlive
            | FindingKind::ApplicationWindow
    )
}

/// The same time, with this limit instead of some others.
fn instead(
    shares: &[LimitShare],
    spans: &[LimitSpan],
    is_other: fn(LimitedBy) -> bool,
    limit: LimitedBy,
) -> (Vec<LimitShare>, Vec<LimitSpan>) {
    let known = |kind| if is_other(kind) { limit } else { kind };
    let mut joined: Vec<LimitShare> = Vec::new();
    for LimitShare { kind, share } in
        shares.iter().map(|it| LimitShare { kind: known(it.kind), ..*it })
    {
        match joined.iter_mut().find(|other| other.kind == kind) {
            Some(other) => other.share += share,
            None => joined.push(LimitShare { kind, share }),
        }
    }
    joined.sort_by(|a, b| b.share.total_cmp(&a.share));
    let spans = spans.iter().map(|span| LimitSpan { kind: known(span.kind), ..*span });
    (joined, spans.collect())
}

/// The same time with one limit.
fn all_of(
    kind: LimitedBy,
    shares: &[LimitShare],
    spans: &[LimitSpan],
) -> (Vec<LimitShare>, Vec<LimitSpan>) {
    let is_timed = !shares.is_empty() || kind != LimitedBy::Unknown;
    let shares = is_timed.then_some(LimitShare { kind, share: 1.0 });
    let ends = spans.first().zip(spans.last());
    let span = ends.map(|(first, last)| LimitSpan { from: first.from, to: last.to, kind });
    (shares.into_iter().collect(), span.into_iter().collect())
}
