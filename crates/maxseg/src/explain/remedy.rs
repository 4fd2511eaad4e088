//! What to change about a limit or a finding: on which host, with which command.

mod mtu;
mod timer;
mod window;

use std::fmt::Display;
use std::net::IpAddr;

use maxseg_core::advise::Change;
use maxseg_core::diagnose::{FindingKind, Severity};
use maxseg_core::outcome::LimitedBy;
use maxseg_core::units::Bytes;

use super::Case;
use super::path::ObservedPath;

/// What a remedy is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subject {
    /// What limited a connection.
    Limit(LimitedBy),
    /// Something else that it shows.
    Finding(FindingKind),
}

/// What to change.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Remedy {
    /// What to do, as a request: `let 10.0.0.2 offer a window of 1 MiB`.
    pub(crate) change: String,
    /// How, the best first.
    pub(crate) commands: Vec<Command>,
    /// What to know before doing it.
    pub(crate) note: Option<String>,
    /// What that is in a scenario; nothing where no scenario can say it.
    pub(crate) what_if: Vec<Change>,
}

/// A command for somebody to run.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub(crate) struct Command {
    /// For which operating system.
    pub(crate) system: System,
    /// On which host: an address, or in words.
    pub(crate) on: String,
    /// The command itself.
    pub(crate) line: String,
    /// Only where this holds: elsewhere the command would make it worse.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) only_where: Option<String>,
}

/// An operating system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum System {
    Linux,
    FreeBsd,
    MacOs,
    Windows,
}

impl System {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Linux => "Linux",
            Self::FreeBsd => "FreeBSD",
            Self::MacOs => "macOS",
            Self::Windows => "Windows",
        }
    }
}

impl Remedy {
    fn new(change: impl Into<String>) -> Self {
        Self { change: change.into(), ..Self::default() }
    }

    fn command(mut self, system: System, on: impl Display, line: impl Into<String>) -> Self {
        self.commands.push(Command {
            system,
            on: format!("{on}"),
            line: line.into(),
            only_where: None,
        });
        self
    }

    /// The last command is only for where this holds.
    fn only_where(mut self, condition: impl Into<String>) -> Self {
        if let Some(command) = self.commands.last_mut() {
            command.only_where = Some(condition.into());
        }
        self
    }

    fn linux(self, on: impl Display, line: impl Into<String>) -> Self {
        self.command(System::Linux, on, line)
    }

    fn note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }

    fn what_if(mut self, change: Change) -> Self {
        self.what_if.push(change);
        self
    }
}

/// What the remedies are made from.
struct Facts<'a> {
    case: &'a Case<'a>,
    path: Option<&'a ObservedPath>,
    /// A window that covers the path; `None` where the path is not known.
    covering: Option<Bytes>,
    sender: IpAddr,
    receiver: IpAddr,
}

/// What to change about a subject; `None` where there is nothing to do about it. `covering` is a window that
/// covers the path.
pub(crate) fn remedy(
    subject: Subject,
    case: &Case<'_>,
    path: Option<&ObservedPath>,
    covering: Option<Bytes>,
) -> Option<Remedy> {
    let way = case.diagnosis.way;
    let facts = Facts {
        case,
        path,
        covering,
        sender: case.evidence.sender(way).ip().to_canonical(),
        receiver: case.evidence.receiver(way).ip().to_canonical(),
    };
    match subject {
        Subject::Limit(limit) => of_limit(limit, &facts),
        Subject::Finding(kind) => of_finding(kind, &facts),
    }
}

fn of_limit(limit: LimitedBy, facts: &Facts<'_>) -> Option<Remedy> {
    match limit {
        LimitedBy::ReceiveWindow => Some(window::receive(facts)),
        LimitedBy::SendBuffer => Some(window::send_buffer(facts)),
        LimitedBy::PathMtu => Some(mtu::path_mtu(facts)),
        LimitedBy::Rto if has(facts, FindingKind::SpuriousRto) => Some(timer::spurious(facts)),
        LimitedBy::Rto => Some(timer::late(facts)),
        LimitedBy::Congestion => Some(congestion(facts)),
        LimitedBy::Bandwidth => Some(Remedy::new(
            "no setting of TCP makes a full line faster: send less, or get a faster line",
        )),
        LimitedBy::Application => Some(Remedy::new(format!(
            "look at the program on {}: it had nothing to send, and TCP waited for it",
            facts.sender
        ))),
        LimitedBy::Opportunity => Some(short(facts)),
        LimitedBy::Host => Some(Remedy::new("look at what the hosts' processors do")),
        LimitedBy::Unknown => None,
    }
}

fn of_finding(kind: FindingKind, facts: &Facts<'_>) -> Option<Remedy> {
    match kind {
        FindingKind::BlackHole | FindingKind::PathMtuReduced | FindingKind::Fragmentation => {
            Some(mtu::path_mtu(facts))
        }
        FindingKind::SmallMss => Some(mtu::small_mss(facts)),
        FindingKind::ZeroWindow => Some(window::slow_reader(facts)),
        FindingKind::WindowClamped => Some(window::receive(facts)),
        FindingKind::SpuriousRto => Some(timer::spurious(facts)),
        FindingKind::Timeouts => Some(timer::late(facts)),
        FindingKind::Loss => Some(congestion(facts)),
        FindingKind::SpuriousRetransmission | FindingKind::Reordering => {
            Some(timer::reordering(facts))
        }
        FindingKind::Bufferbloat => Some(bufferbloat(facts)),
        FindingKind::OptionMissing => Some(options(facts)),
        FindingKind::SynRetransmission
        | FindingKind::BadOption
        | FindingKind::CaptureQuality
        | FindingKind::Reset
        | FindingKind::CongestionMarked => None,
    }
}

fn has(facts: &Facts<'_>, kind: FindingKind) -> bool {
    facts.case.findings_of_data().any(|finding| finding.kind == kind)
}

/// What a connection's first sentence is about: its limit where somebody can do something about it, or else its
/// gravest finding with a remedy.
pub(crate) fn subject(case: &Case<'_>) -> Option<Subject> {
    let limits = &case.diagnosis.limits;
    let findings = || case.findings_of_data();
    let found = |kind| findings().any(|finding| finding.kind == kind);
    let limited_by = case.diagnosis.limited_by;
    if found(FindingKind::BlackHole)
        && (case.share(LimitedBy::PathMtu) > 0.1 || limited_by.is_none())
    {
        return Some(Subject::Finding(FindingKind::BlackHole));
    }
    if let Some(limit) = limited_by.filter(|limit| is_settable(*limit)) {
        return Some(Subject::Limit(limit));
    }
    // Half as long as the longest is long enough to come first where nothing can be done about that one.
    let second = limits.iter().find(|limit| is_settable(limit.kind) && limit.share >= 0.3);
    if let Some(second) = second {
        return Some(Subject::Limit(second.kind));
    }
    let grave = findings()
        .filter(|finding| finding.severity >= Severity::Warning && is_mendable(finding.kind))
        .max_by_key(|finding| finding.severity);
    grave.map(|finding| Subject::Finding(finding.kind)).or(limited_by.map(Subject::Limit))
}

/// Whether a setting of hosts or path can change a limit.
const fn is_settable(limit: LimitedBy) -> bool {
    match limit {
        LimitedBy::ReceiveWindow
        | LimitedBy::SendBuffer
        | LimitedBy::PathMtu
        | LimitedBy::Rto
        | LimitedBy::Congestion => true,
        LimitedBy::Bandwidth
        | LimitedBy::Application
        | LimitedBy::Opportunity
        | LimitedBy::Host
        | LimitedBy::Unknown => false,
    }
}

/// Whether a finding has a remedy that makes a connection faster.
const fn is_mendable(kind: FindingKind) -> bool {
    match kind {
        FindingKind::BlackHole
        | FindingKind::PathMtuReduced
        | FindingKind::Fragmentation
        | FindingKind::SmallMss
        | FindingKind::ZeroWindow
        | FindingKind::WindowClamped
        | FindingKind::SpuriousRto
        | FindingKind::Timeouts
        | FindingKind::Loss
        | FindingKind::Reordering
        | FindingKind::Bufferbloat => true,
        FindingKind::SpuriousRetransmission
        | FindingKind::OptionMissing
        | FindingKind::SynRetransmission
        | FindingKind::BadOption
        | FindingKind::CaptureQuality
        | FindingKind::Reset
        | FindingKind::CongestionMarked => false,
    }
}

fn congestion(facts: &Facts<'_>) -> Remedy {
    let on = facts.sender;
    let by_queue = facts.path.is_some_and(|path| path.loss_with_queue);
    let change = if by_queue {
        "give the narrowest link a fair queue, or the sender pacing: its losses come from a full queue"
    } else {
        "find where packets are lost: nothing waited, so it is errors or a policer rather than a full queue"
    };
    Remedy::new(change)
        .linux(
            on,
            "sysctl -w net.core.default_qdisc=fq && sysctl -w net.ipv4.tcp_congestion_control=bbr",
        )
        .linux("each hop", "ip -s link; ethtool -S DEVICE | grep -iE 'err|drop|crc'; tc -s qdisc")
        .command(
            System::FreeBsd,
            on,
            "kldload tcp_bbr && sysctl net.inet.tcp.functions_default=bbr",
        )
        .command(System::Windows, on, "netsh int tcp set supplemental internet congestionprovider=bbr2")
        .note(
            "The first command treats the symptom: BBR does not slow down at every loss. It can take more than \
             its share from Reno and CUBIC on a shared line, and it hides the loss.",
        )
        .what_if(Change::NoErrors)
}

fn short(facts: &Facts<'_>) -> Remedy {
    Remedy::new("keep connections open and reuse them: this one ended before it was up to speed")
        .linux(facts.sender, "sysctl -w net.ipv4.tcp_slow_start_after_idle=0")
        .linux(facts.sender, "ip route change ROUTE initcwnd 20")
        .note(
            "A larger initial window helps short transfers and can overflow a short queue: RFC 6928 allows 10 \
             segments.",
        )
}

fn bufferbloat(facts: &Facts<'_>) -> Remedy {
    Remedy::new(
        "keep the queue before the narrowest link short: let that router use fq_codel or CAKE",
    )
    .linux(
        "the router before the narrowest link",
        "tc qdisc replace dev DEVICE root cake bandwidth RATE",
    )
    .command(
        System::FreeBsd,
        "the router before the narrowest link",
        "dnctl pipe 1 config bw RATE && dnctl sched 1 config pipe 1 type fq_codel",
    )
    .note(format!(
        "This does not make {} faster alone; it makes everything else beside it faster.",
        facts.sender
    ))
}

fn options(facts: &Facts<'_>) -> Remedy {
    let forward = &facts.case.evidence.forward;
    let reverse = &facts.case.evidence.reverse;
    let (client, server) = (facts.case.evidence.client.ip(), facts.case.evidence.server.ip());
    let lacks = |has_client: bool, has_server: bool| match (has_client, has_server) {
        (false, false) => Some(format!("{client} and {server}")),
        (false, true) => Some(client.to_string()),
        (true, false) => Some(server.to_string()),
        (true, true) => None,
    };
    let mut remedy = Remedy::new("turn the missing options on; a firewall may also take them out");
    for (who, key) in [
        (
            lacks(forward.window_scale.is_some(), reverse.window_scale.is_some()),
            "tcp_window_scaling",
        ),
        (lacks(forward.sack_permitted, reverse.sack_permitted), "tcp_sack"),
        (lacks(forward.timestamps, reverse.timestamps), "tcp_timestamps"),
    ] {
        if let Some(who) = who {
            remedy = remedy.linux(who, format!("sysctl -w net.ipv4.{key}=1"));
        }
    }
    remedy.command(
        System::FreeBsd,
        "the same host",
        "sysctl net.inet.tcp.rfc1323=1 net.inet.tcp.sack.enable=1",
    )
}

#[cfg(test)]
mod tests {
    use maxseg_core::diagnose::Diagnosis;
    use maxseg_core::outcome::LimitShare;

    use super::*;
    use crate::explain::made::{explanation, finding, windowed};

    fn diagnosis(limits: &[(LimitedBy, f64)], findings: &[(FindingKind, Severity)]) -> Diagnosis {
        Diagnosis {
            way: maxseg_core::evidence::Direction::Forward,
            limits: limits
                .iter()
                .map(|(kind, share)| LimitShare { kind: *kind, share: *share })
                .collect(),
            spans: Vec::new(),
            limited_by: limits.first().map(|(kind, _)| *kind),
            findings: findings.iter().map(|(kind, severity)| finding(*kind, *severity)).collect(),
        }
    }

    #[test]
    fn the_first_sentence_is_about_what_can_be_changed() {
        use FindingKind::{BlackHole, CaptureQuality, SmallMss};
        use LimitedBy::{Application, Bandwidth, PathMtu, ReceiveWindow, Rto};
        use Severity::{Note, Problem, Warning};
        let cases = [
            (diagnosis(&[(ReceiveWindow, 0.9)], &[]), Some(Subject::Limit(ReceiveWindow))),
            (
                diagnosis(&[(Bandwidth, 1.0)], &[(SmallMss, Warning)]),
                Some(Subject::Finding(SmallMss)),
            ),
            (diagnosis(&[(Bandwidth, 1.0)], &[(SmallMss, Note)]), Some(Subject::Limit(Bandwidth))),
            (
                diagnosis(&[(Bandwidth, 1.0)], &[(CaptureQuality, Problem)]),
                Some(Subject::Limit(Bandwidth)),
            ),
            (
                diagnosis(&[(Application, 0.6), (ReceiveWindow, 0.4)], &[]),
                Some(Subject::Limit(ReceiveWindow)),
            ),
            (
                diagnosis(&[(PathMtu, 0.6), (Rto, 0.4)], &[(BlackHole, Problem)]),
                Some(Subject::Finding(BlackHole)),
            ),
            (diagnosis(&[], &[]), None),
        ];
        let explained = explanation(vec![windowed(0)]);
        for (diagnosis, want) in cases {
            let case = Case { evidence: &explained.connections[0], diagnosis };
            assert_eq!(subject(&case), want, "{:?}", case.diagnosis);
        }
    }

    #[test]
    fn commands_hold_the_numbers_and_the_host() {
        let explained = explanation(vec![windowed(0)]);
        let case = explained.connection(0).unwrap();
        let path = ObservedPath::of(&case).unwrap();
        let subject = Subject::Limit(LimitedBy::ReceiveWindow);
        let scaled = Some(Bytes::new(1 << 19));
        let remedy = remedy(subject, &case, Some(&path), scaled).unwrap();
        let first = &remedy.commands[0];
        assert_eq!(
            (first.system, first.on.as_str()),
            (System::Linux, "10.0.0.2 and 10.0.0.1"),
            "neither SYN offers a scale"
        );
        assert!(first.line.contains("tcp_window_scaling=1"), "{first:?}");
        assert!(
            remedy.commands.iter().any(|command| command.line.contains("1048576")),
            "{remedy:?}"
        );
        assert_eq!(remedy.what_if, [Change::Window(Bytes::new(1 << 19))]);
    }

    #[test]
    fn every_limit_and_finding_has_words_and_none_panics() {
        let explained = explanation(vec![windowed(0)]);
        let case = explained.connection(0).unwrap();
        for limit in
            [LimitedBy::SendBuffer, LimitedBy::PathMtu, LimitedBy::Rto, LimitedBy::Congestion]
        {
            let remedy = remedy(Subject::Limit(limit), &case, None, None).unwrap();
            assert!(
                !remedy.change.is_empty() && !remedy.commands.is_empty(),
                "{limit}: {remedy:?}"
            );
        }
        for kind in [FindingKind::SmallMss, FindingKind::ZeroWindow, FindingKind::SpuriousRto] {
            let remedy = remedy(Subject::Finding(kind), &case, None, None).unwrap();
            assert!(!remedy.commands.is_empty(), "{kind:?}: {remedy:?}");
        }
    }
}
