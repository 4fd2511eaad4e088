//! The remedy for a limit or a finding: the change, the host, the command.

mod command;
mod connection;
mod ending;
pub(super) mod linux;
mod listener;
mod loss;
mod middlebox;
mod mtu;
pub(super) mod others;
mod requests;
mod socket;
mod subject;
mod timer;
mod window;

use std::cell::LazyCell;
use std::net::IpAddr;

pub use command::{Command, CommandKind, Remedy};
pub use linux::{NEXT_HOP_OBJECT, UNREADABLE_IN_ROUTE};
pub use listener::{ListenerCase, listener_verdict};
pub use socket::{SocketCase, SocketVerdict, socket_verdict};
pub use subject::{Subject, subject};

use super::path::ObservedPath;
use super::{Case, System};
use crate::diagnose::{FindingKind, LossCause, pauses_after_writes};
use crate::evidence::{Direction, DirectionStats};
use crate::outcome::LimitedBy;
use crate::units::Bytes;
use command::Host;

/// The input of every remedy: one direction of a connection, and its path where that is known.
struct Facts<'a> {
    case: &'a Case<'a>,
    direction: Direction,
    data: &'a DirectionStats,
    acks: &'a DirectionStats,
    path: Option<&'a ObservedPath>,
    /// A window that covers the path.
    covering: Option<Bytes>,
    sender: IpAddr,
    receiver: IpAddr,
    sender_host: Host,
    receiver_host: Host,
    client_host: Host,
    server_host: Host,
}

impl<'a> Facts<'a> {
    /// `path` is that of the direction with the data; another direction has none.
    fn of(case: &'a Case<'a>, direction: Direction, path: Option<&'a ObservedPath>) -> Self {
        let path = path.filter(|_| direction == case.diagnosis.direction);
        let evidence = case.evidence;
        let hosts = case.hosts();
        let client_host = Host::new(evidence.client.ip().to_canonical(), &hosts.client);
        let server_host = Host::new(evidence.server.ip().to_canonical(), &hosts.server);
        let (sender_host, receiver_host) = match direction {
            Direction::Forward => (client_host.clone(), server_host.clone()),
            Direction::Reverse => (server_host.clone(), client_host.clone()),
        };
        Self {
            case,
            direction,
            data: evidence.stats(direction),
            acks: evidence.stats(direction.other()),
            path,
            covering: path.map(ObservedPath::covering_window),
            sender: evidence.sender(direction).ip().to_canonical(),
            receiver: evidence.receiver(direction).ip().to_canonical(),
            sender_host,
            receiver_host,
            client_host,
            server_host,
        }
    }

    fn window_is_shut_for_good(&self) -> bool {
        self.case.evidence.window_shut_for_good(self.direction).is_some()
    }

    /// Whether marks, and no losses, kept the congestion window small.
    const fn is_marked(&self) -> bool {
        self.data.congestion_marks > 0 && self.data.needed_retransmissions() == 0
    }

    fn has(&self, kind: FindingKind) -> bool {
        let mut findings = self.case.diagnosis.findings.iter();
        findings.any(|finding| {
            finding.kind == kind && finding.direction.is_none_or(|of| of == self.direction)
        })
    }
}

/// The remedy for a subject in the direction with the data; `None` for an unknown limit. `path` is the observed path
/// of that direction, where the capture shows it.
pub fn remedy(subject: Subject, case: &Case<'_>, path: Option<&ObservedPath>) -> Option<Remedy> {
    let facts = Facts::of(case, case.diagnosis.direction, path);
    match subject {
        Subject::Limit(limit) => of_limit(limit, &facts),
        Subject::Finding(kind) => Some(of_finding(kind, &facts)),
    }
}

/// The remedy for each finding of a connection, in the order of its findings.
pub fn remedies(case: &Case<'_>) -> Vec<Remedy> {
    let findings = &case.diagnosis.findings;
    if findings.is_empty() {
        return Vec::new();
    }
    let path = ObservedPath::of(case).ok();
    let path = path.as_ref();
    // Most connections have findings of one direction.
    let [forward, reverse] = [Direction::Forward, Direction::Reverse]
        .map(|direction| LazyCell::new(move || Facts::of(case, direction, path)));
    findings
        .iter()
        .map(|finding| {
            let facts = match finding.direction.unwrap_or(case.diagnosis.direction) {
                Direction::Forward => &forward,
                Direction::Reverse => &reverse,
            };
            of_finding(finding.kind, facts)
        })
        .collect()
}

fn of_limit(limit: LimitedBy, facts: &Facts<'_>) -> Option<Remedy> {
    match limit {
        LimitedBy::ReceiveWindow if facts.window_is_shut_for_good() => {
            Some(window::dead_reader(facts))
        }
        LimitedBy::ReceiveWindow => Some(window::receive(facts)),
        LimitedBy::SendBuffer | LimitedBy::Unknown if facts.case.waits_for_reader() => {
            Some(of_finding(FindingKind::ZeroWindow, facts))
        }
        LimitedBy::SendBuffer if pauses_after_writes(facts.data) => {
            Some(window::maybe_send_buffer(facts))
        }
        LimitedBy::SendBuffer => Some(window::send_buffer(facts)),
        LimitedBy::PathMtu => Some(mtu::path_mtu(facts)),
        LimitedBy::Rto if facts.has(FindingKind::GoneSilent) => Some(ending::gone_silent(facts)),
        LimitedBy::Rto if facts.has(FindingKind::UselessSack) => Some(timer::late(facts)),
        LimitedBy::Rto if facts.has(FindingKind::Outage) => Some(timer::outage(facts)),
        LimitedBy::Rto if facts.data.expires_too_early() => Some(timer::spurious(facts)),
        LimitedBy::Rto => Some(timer::late(facts)),
        LimitedBy::Congestion if facts.is_marked() => Some(loss::slowed_by_marks(facts)),
        LimitedBy::Congestion => Some(loss::congestion(facts)),
        LimitedBy::Bandwidth | LimitedBy::Unknown if facts.case.diagnosis.waits_for_room => {
            Some(window::send_buffer_as_well(facts))
        }
        LimitedBy::Bandwidth if facts.case.diagnosis.loss.cause == LossCause::Policer => {
            Some(loss::congestion(facts))
        }
        LimitedBy::Bandwidth if facts.has(FindingKind::AckPath) => Some(loss::ack_path(facts)),
        LimitedBy::Bandwidth if facts.case.diagnosis.may_wait_for_room => {
            Some(window::maybe_send_buffer(facts))
        }
        LimitedBy::Bandwidth => Some(Remedy::new(
            "no TCP setting speeds up a full link: send less, or get a faster link",
        )),
        LimitedBy::Application => Some(match facts.case.finding_of(limit) {
            Some(finding) => of_finding(finding.kind, facts),
            None => Remedy::new(format!(
                "examine the application on {}: it had no data to send",
                facts.sender
            )),
        }),
        LimitedBy::Paced => Some(connection::paced(facts)),
        LimitedBy::StartUp if facts.has(FindingKind::SlowStartAfterIdle) => {
            Some(requests::restarts(facts))
        }
        LimitedBy::StartUp => Some(connection::start_up(facts)),
        LimitedBy::Host => Some(Remedy::new("examine the CPU load of both hosts")),
        LimitedBy::Unknown => {
            facts.case.diagnosis.leaves_window_unused.then(|| window::maybe_send_buffer(facts))
        }
    }
}

fn of_finding(kind: FindingKind, facts: &Facts<'_>) -> Remedy {
    match kind {
        FindingKind::BlackHole | FindingKind::PathMtuReduced | FindingKind::Fragmentation => {
            mtu::path_mtu(facts)
        }
        FindingKind::SmallMss => mtu::small_mss(facts),
        FindingKind::ZeroWindow if facts.window_is_shut_for_good() => window::dead_reader(facts),
        FindingKind::ZeroWindow => window::slow_reader(facts),
        FindingKind::WindowClamped => window::receive(facts),
        FindingKind::SpuriousRto if facts.data.expires_too_early() => timer::spurious(facts),
        FindingKind::SpuriousRto => timer::seldom_spurious(facts),
        FindingKind::Outage => timer::outage(facts),
        FindingKind::Timeouts
            if facts.has(FindingKind::Outage) && !facts.has(FindingKind::UselessSack) =>
        {
            timer::outage(facts)
        }
        FindingKind::UselessSack | FindingKind::Timeouts => timer::late(facts),
        FindingKind::Loss => loss::congestion(facts),
        FindingKind::SpuriousRetransmission | FindingKind::Reordering
            if facts.case.tolerates_reordering(facts.direction) =>
        {
            loss::tolerated(facts)
        }
        FindingKind::SpuriousRetransmission | FindingKind::Reordering => loss::reordering(facts),
        FindingKind::Bufferbloat => loss::bufferbloat(facts),
        FindingKind::LongerRoute => loss::longer_route(facts),
        FindingKind::AckPath => loss::ack_path(facts),
        FindingKind::CongestionMarked => loss::marked(),
        FindingKind::OptionMissing => connection::options(facts),
        FindingKind::SynRetransmission => connection::syn(facts),
        FindingKind::BadOption => connection::bad_option(facts),
        FindingKind::CaptureQuality => connection::capture_quality(facts),
        FindingKind::Reset => ending::reset(facts),
        FindingKind::Refused => ending::refused(facts),
        FindingKind::NoAnswer => ending::no_answer(facts),
        FindingKind::GoneSilent => ending::gone_silent(facts),
        FindingKind::KeepAlive => ending::keep_alive(),
        FindingKind::RequestResponse => requests::round_trips(facts),
        FindingKind::ServerResponseTime => requests::server(facts),
        FindingKind::ClientThinkTime => requests::client(facts),
        FindingKind::ApplicationWindow => requests::application_window(facts),
        FindingKind::SlowStartAfterIdle => requests::restarts(facts),
        FindingKind::NagleDelayedAck => requests::nagle(facts),
        FindingKind::Corked => requests::corked(facts),
    }
}
