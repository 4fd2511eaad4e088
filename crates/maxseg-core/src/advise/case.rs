//! One connection: its evidence with its diagnosis, and how much fixing it would matter.

use std::cell::OnceCell;

use crate::diagnose::{
    Diagnosis, Finding, FindingKind, HostSystems, MUCH_LOSS, Severity, diagnose,
};
use crate::evidence::{Beside, Direction, DirectionStats, Ending, Evidence};
use crate::outcome::LimitedBy;

/// A connection's evidence with its diagnosis.
#[derive(Debug, Clone)]
pub struct Case<'a> {
    /// The evidence.
    pub evidence: &'a Evidence,
    /// The limits and findings it shows.
    pub diagnosis: Diagnosis,
    hosts: OnceCell<HostSystems>,
}

/// A limit with this share of the time ranks first where nothing removes a longer one.
pub(super) const LONG_SHARE: f64 = 0.3;

/// From this share of the time on a reader that is behind comes before a send buffer, and before what is unknown: while the window is shut,
/// neither shows.
const READERS_SHARE: f64 = 0.2;

/// The payload that is counted for a connection that was never opened, in bytes: what it would have sent before any answer, ten segments
/// (RFC 6928 §2).
const FIRST_FLIGHT: u64 = 14_600;

/// Counted for the time under no limit that a change removes.
const LEAST_CHANGEABLE: f64 = 0.02;

impl<'a> Case<'a> {
    /// Diagnoses a connection.
    pub fn of(evidence: &'a Evidence) -> Self {
        Self::diagnosed(evidence, diagnose(evidence))
    }

    /// A connection with this diagnosis.
    pub const fn diagnosed(evidence: &'a Evidence, diagnosis: Diagnosis) -> Self {
        Self { evidence, diagnosis, hosts: OnceCell::new() }
    }

    /// The systems that both hosts probably are.
    pub fn hosts(&self) -> &HostSystems {
        self.hosts.get_or_init(|| HostSystems::of(self.evidence))
    }

    /// The direction that carried the data.
    pub const fn data(&self) -> &'a DirectionStats {
        self.evidence.stats(self.diagnosis.direction)
    }

    /// The direction of its acknowledgements: the receiver's window and options.
    pub const fn acks(&self) -> &'a DirectionStats {
        self.evidence.stats(self.diagnosis.direction.other())
    }

    /// What others sent meanwhile, between the same two hosts or of one of them with another: the link may be theirs as well.
    pub(super) fn others_send(&self) -> Option<Beside> {
        self.evidence.beside.or(self.data().nearby)
    }

    /// Whether the capture is behind a hop that dropped packets for their size: they are not in it.
    pub(super) fn is_behind_narrow_hop(&self) -> bool {
        self.data().black_hole.is_some_and(|hole| hole.is_seen_behind())
    }

    /// Seconds that the limits are shares of: from the first data to the last acknowledgement, or to the last
    /// retransmission or probe without an answer; the connection's duration where it carried none.
    pub fn data_seconds(&self) -> f64 {
        let data = self.data();
        match (data.first_data, data.limits_end.or(data.last_ack)) {
            (Some(first), Some(last)) => last.since(first).as_secs_f64(),
            _ => self.evidence.end.since(self.evidence.begin).as_secs_f64(),
        }
    }

    /// Bytes of the data: acknowledged ones, or those that were captured where nothing is that acknowledges them.
    pub fn data_bytes(&self) -> u64 {
        let (data, direction) = (self.data(), self.diagnosis.direction);
        let is_alone = self.diagnosis.is_alone(self.evidence, direction);
        if is_alone { data.unique_bytes } else { data.acked_bytes }
    }

    /// The largest limit; `None` where there is no time that it could have a share of.
    pub fn limit(&self) -> Option<LimitedBy> {
        (!self.diagnosis.limits.is_empty()).then_some(self.diagnosis.limited_by)
    }

    /// Seconds from the first data to the last acknowledgement of data, which goodput is over; as
    /// [`data_seconds`](Self::data_seconds) where there is no goodput.
    pub fn goodput_seconds(&self) -> f64 {
        match self.data().goodput_bps.filter(|goodput| *goodput > 0.0) {
            Some(goodput) => self.data().acked_bytes as f64 * 8.0 / goodput,
            None => self.data_seconds(),
        }
    }

    /// The share of the time under a limit, from 0 to 1.
    pub fn share(&self, kind: LimitedBy) -> f64 {
        let limits = self.diagnosis.limits.iter();
        limits.filter(|limit| limit.kind == kind).map(|limit| limit.share).sum()
    }

    /// The findings about the direction of the data, or about both directions.
    pub fn findings_of_data(&self) -> impl Iterator<Item = &Finding> {
        let direction = self.diagnosis.direction;
        let findings = self.diagnosis.findings.iter();
        findings.filter(move |finding| finding.direction.is_none_or(|of| of == direction))
    }

    /// The most severe finding that gives details of a limit, in the direction of the data or in both; of several waits of a dialogue
    /// that are as severe, the longest.
    pub fn finding_of(&self, limit: LimitedBy) -> Option<&Finding> {
        let of_limit = || self.findings_of_data().filter(|it| it.kind.limit() == Some(limit));
        let worst = of_limit().next()?;
        if self.waited_s(worst).is_none() {
            return Some(worst);
        }
        let waits = of_limit().filter(|it| it.severity == worst.severity);
        let timed = waits.filter_map(|it| Some((it, self.waited_s(it)?)));
        timed.max_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(longest, _)| longest)
    }

    /// How long a dialogue waited for what a finding is about while it had the data's time, together, in seconds; `None` of other
    /// findings.
    fn waited_s(&self, finding: &Finding) -> Option<f64> {
        let requests = self.evidence.requests.as_ref()?;
        let by_server = (requests.server.total_s - self.last_reply_s()).max(0.0);
        let waits = [
            (FindingKind::RequestResponse, requests.round_trips_s),
            (FindingKind::ServerResponseTime, by_server),
            (FindingKind::ClientThinkTime, requests.think.total_s),
            (FindingKind::Corked, requests.corked.total_s),
        ];
        waits.into_iter().find(|(kind, _)| *kind == finding.kind).map(|(_, seconds)| seconds)
    }

    /// How long the last reply was waited for when all of the client's data was acknowledged, in seconds; 0 where the data is the
    /// server's.
    fn last_reply_s(&self) -> f64 {
        let is_of_client = self.diagnosis.direction == Direction::Forward;
        let data = self.diagnosis.spans.last().filter(|_| is_of_client).map(|span| span.to);
        data.zip(self.evidence.reverse.last_ack)
            .map_or(0.0, |(data, reply)| reply.since(data).as_secs_f64())
    }

    /// Whether the sender of a direction tells packets that were overtaken from lost ones, however many were: it repeats no more of its
    /// segments needlessly than losses may be that leave a congestion window large, and its window was not small for long. The few that
    /// Linux repeats at first are how it learns how far packets are overtaken: each SACK or D-SACK of one raises `tp->reordering` or
    /// widens RACK's window (`tcp_check_sack_reordering`, `net/ipv4/tcp_input.c`; `tcp_rack_update_reo_wnd`, `net/ipv4/tcp_recovery.c`).
    pub(super) fn tolerates_reordering(&self, direction: Direction) -> bool {
        let sent = self.evidence.stats(direction);
        let was_slowed = direction == self.diagnosis.direction
            && self.share(LimitedBy::Congestion) >= LONG_SHARE;
        let needless = sent.spurious_retransmissions as f64;
        !was_slowed && needless < MUCH_LOSS * sent.segments() as f64
    }

    /// Whether a reader that is behind shut the window for long, whatever else limited: a link that it lets rest is no full link.
    pub(super) fn waits_for_reader(&self) -> bool {
        let is_readers = |finding: &Finding| {
            finding.kind == FindingKind::ZeroWindow && finding.severity >= Severity::Problem
        };
        self.share(LimitedBy::ReceiveWindow) >= READERS_SHARE
            && self.findings_of_data().any(is_readers)
    }

    /// The severity of its worst finding.
    pub fn worst(&self) -> Option<Severity> {
        self.diagnosis.findings.iter().map(|finding| finding.severity).max()
    }

    /// How much a fix would matter: payload × seconds under limits that a change removes × severity. A long transfer
    /// limited by its window ranks before a longer one on a full link, and both before an idle connection. One that was
    /// never opened ranks by how long it was tried, as a small transfer that waited all that time: before what went well and
    /// carried little, behind a large transfer that was slow. The unit is arbitrary; only the order counts.
    pub fn impact(&self) -> f64 {
        let was_opened = self.evidence.ending != Ending::NoAnswer;
        let limits = self.diagnosis.limits.iter();
        let of_limits: f64 = limits.map(|limit| limit.share * changeable(limit.kind)).sum();
        let changeable = if was_opened { of_limits } else { 1.0 };
        let severity = match self.worst() {
            Some(Severity::Problem) => 10.0,
            Some(Severity::Warning) => 3.0,
            Some(Severity::Note) | None => 1.0,
        };
        let data = self.data();
        // A transfer that never got through has no acknowledged payload, and still matters.
        let least = if was_opened { 1 } else { FIRST_FLIGHT };
        let bytes = data.acked_bytes.max(data.unique_bytes).max(least) as f64;
        bytes * (self.data_seconds() * changeable.max(LEAST_CHANGEABLE)).max(1e-6) * severity
    }
}

/// How far a change of hosts or path removes a limit, roughly.
const fn changeable(kind: LimitedBy) -> f64 {
    match kind {
        LimitedBy::ReceiveWindow
        | LimitedBy::SendBuffer
        | LimitedBy::PathMtu
        | LimitedBy::Rto
        | LimitedBy::Congestion => 1.0,
        LimitedBy::Unknown | LimitedBy::Host => 0.5,
        LimitedBy::StartUp => 0.3,
        LimitedBy::Bandwidth | LimitedBy::Application | LimitedBy::Paced => 0.1,
    }
}
