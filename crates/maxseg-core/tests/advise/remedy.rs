//! Remedies, and subjects of headlines beside them.

use maxseg_core::advise::{
    Advice, Case, Change, CommandKind, Ends, Headline, ObservedPath, Remedy, Subject, System,
    remedies, remedy, subject,
};
use maxseg_core::diagnose::{
    CongestionAlgorithm, CongestionControl, Diagnosis, Finding, FindingKind, Loss, LossCause,
    Quality, Severity,
};
use maxseg_core::evidence::{Direction, Ending, Evidence, OptionKind, SynFacts};
use maxseg_core::outcome::{LimitShare, LimitedBy};
use maxseg_core::units::{Bytes, Time};
use maxseg_testkit::{at, black_hole_before, full_link, linux_syn, packet_too_big, windowed};

fn finding(kind: FindingKind, severity: Severity) -> Finding {
    Finding {
        kind,
        severity,
        direction: Some(Direction::Forward),
        from: at(400),
        to: at(29_000),
        evidence: Vec::new(),
        frames: Vec::new(),
        text: String::new(),
        why: "",
        source: "",
    }
}

pub(super) fn diagnosis(
    limits: &[(LimitedBy, f64)],
    findings: &[(FindingKind, Severity)],
) -> Diagnosis {
    Diagnosis {
        quality: Quality { fit: true, reasons: Vec::new(), wanted: None },
        direction: Direction::Forward,
        limits: limits
            .iter()
            .map(|(kind, share)| LimitShare { kind: *kind, share: *share })
            .collect(),
        spans: Vec::new(),
        limited_by: limits.first().map_or(LimitedBy::Unknown, |(kind, _)| *kind),
        unknown_because: None,
        leaves_window_unused: false,
        waits_for_room: false,
        may_wait_for_room: false,
        confidence: 0.9,
        loss: Loss { cause: LossCause::None, confidence: 0.9, evidence: String::new() },
        congestion_control: CongestionControl {
            name: CongestionAlgorithm::Unknown,
            confidence: 0.0,
            evidence: String::new(),
        },
        findings: findings.iter().map(|(kind, severity)| finding(*kind, *severity)).collect(),
    }
}

/// A server that refuses an upload closes with data that it has not read.
#[test]
fn a_reset_in_start_up_is_the_subject_where_data_is_missing() {
    use LimitedBy::{Bandwidth, StartUp};
    let of = |limit, outstanding| {
        let mut evidence = windowed(0);
        evidence.ending = Ending::ResetByServer;
        evidence.forward.outstanding_bytes = outstanding;
        let reset = [(FindingKind::Reset, Severity::Warning)];
        subject(&Case::diagnosed(&evidence, diagnosis(&[(limit, 0.9)], &reset)))
    };
    assert_eq!(of(StartUp, 52_048), Some(Subject::Finding(FindingKind::Reset)));
    assert_eq!(of(StartUp, 0), Some(Subject::Limit(StartUp)));
    assert_eq!(of(Bandwidth, 52_048), Some(Subject::Limit(Bandwidth)));
}

/// No larger buffer helps where the link is always busy; where it is idle in between, `ss` shows whether one does.
#[test]
fn beside_a_link_that_is_idle_in_between_the_send_buffer_is_looked_at() {
    let evidence = windowed(0);
    let change_of = |may_wait_for_room| {
        let diagnosis =
            Diagnosis { may_wait_for_room, ..diagnosis(&[(LimitedBy::Bandwidth, 0.9)], &[]) };
        let case = Case::diagnosed(&evidence, diagnosis);
        let path = ObservedPath::of(&case).unwrap();
        remedy(Subject::Limit(LimitedBy::Bandwidth), &case, Some(&path)).unwrap().change
    };
    assert!(change_of(false).contains("no TCP setting"), "{}", change_of(false));
    assert!(
        change_of(true).contains("`sndbuf_limited`, raise the send buffer"),
        "{}",
        change_of(true)
    );
}

/// Behind the narrow hop losses are of the sizes that the sender probes, and of a window that grows back.
#[test]
fn behind_a_narrow_hop_losses_on_a_full_link_are_no_subject() {
    use LimitedBy::{Bandwidth, Congestion, ReceiveWindow};
    let mut evidence = windowed(0);
    evidence.forward.black_hole = Some(black_hole_before());
    let hole = [(FindingKind::BlackHole, Severity::Problem)];
    for (second, want) in [
        (Congestion, Subject::Finding(FindingKind::BlackHole)),
        (ReceiveWindow, Subject::Limit(ReceiveWindow)),
    ] {
        let diagnosis = diagnosis(&[(Bandwidth, 0.6), (second, 0.4)], &hole);
        let case = Case::diagnosed(&evidence, diagnosis);
        assert_eq!(subject(&case), Some(want), "{second:?}");
    }
}

#[test]
fn commands_hold_the_numbers_and_the_host() {
    let mut evidence = windowed(0);
    let remedy_of = |evidence: &Evidence| {
        let case = Case::of(evidence);
        let path = ObservedPath::of(&case).unwrap();
        remedy(Subject::Limit(LimitedBy::ReceiveWindow), &case, Some(&path)).unwrap()
    };
    let scaling = |remedy: &Remedy| -> Vec<String> {
        let commands = remedy.commands.iter();
        let scales = commands.filter(|it| it.line.contains("-w net.ipv4.tcp_window_scaling=1"));
        scales.map(|command| command.on.clone()).collect()
    };
    let remedy = remedy_of(&evidence);
    assert_eq!(scaling(&remedy), ["10.0.0.1"], "an answer offers no scale that was not asked for");
    evidence.forward.syn = Some(SynFacts { window_scale: Some(7), ..SynFacts::default() });
    assert_eq!(scaling(&remedy_of(&evidence)), ["10.0.0.2"], "asked for, and not offered");
    let has_size = |size: &str| remedy.commands.iter().any(|command| command.line.contains(size));
    assert!(has_size("1048576"), "{remedy:?}");
    assert_eq!(remedy.what_if, [Change::Window(Bytes::new(1 << 19))]);
}

#[test]
fn every_settable_limit_and_every_finding_has_a_remedy() {
    let evidence = windowed(0);
    let case = Case::of(&evidence);
    for limit in [LimitedBy::SendBuffer, LimitedBy::PathMtu, LimitedBy::Rto, LimitedBy::Congestion]
    {
        let remedy = remedy(Subject::Limit(limit), &case, None).unwrap();
        assert!(!remedy.change.is_empty() && !remedy.commands.is_empty(), "{limit}: {remedy:?}");
    }
    for kind in FindingKind::ALL {
        let remedy = remedy(Subject::Finding(*kind), &case, None).unwrap();
        assert!(!remedy.change.is_empty(), "{kind:?}: {remedy:?}");
    }
}

#[test]
fn a_command_that_looks_precedes_or_a_capture_is_named() {
    let evidence = windowed(0);
    let case = Case::of(&evidence);
    for kind in FindingKind::ALL {
        let remedy = remedy(Subject::Finding(*kind), &case, None).unwrap();
        let hosts = |kind| {
            let commands = remedy.commands.iter().filter(move |command| command.kind == kind);
            commands.map(|command| (command.system, command.on.as_str()))
        };
        let places = |kind| remedy.commands.iter().position(move |command| command.kind == kind);
        if let Some(change) = places(CommandKind::Change) {
            let looks = remedy.commands.iter().rposition(|it| it.kind == CommandKind::Look);
            assert!(looks.is_some_and(|look| look < change), "{kind:?}: {remedy:?}");
        }
        for change in hosts(CommandKind::Change) {
            assert!(hosts(CommandKind::Look).any(|look| look == change), "{kind:?}: {change:?}");
        }
    }
}

#[test]
fn no_congestion_control_of_a_whole_host_is_set() {
    let evidence = windowed(0);
    let case = Case::of(&evidence);
    for kind in FindingKind::ALL {
        for command in remedy(Subject::Finding(*kind), &case, None).unwrap().commands {
            for setting in [
                "tcp_congestion_control=",
                "functions_default=",
                "congestionprovider=",
                "default_qdisc=",
            ] {
                assert!(!command.line.contains(setting), "{kind:?}: {command:?}");
            }
            assert!(!command.line.contains("ip route change"), "it drops attributes: {command:?}");
        }
    }
}

/// Who runs BBR is not told to.
#[test]
fn bbr_is_proposed_to_others() {
    let evidence = windowed(0);
    let commands = |name| {
        let mut case = Case::of(&evidence);
        case.diagnosis = diagnosis(&[(LimitedBy::Congestion, 0.9)], &[]);
        case.diagnosis.loss.cause = LossCause::Errors;
        case.diagnosis.congestion_control.name = name;
        remedy(Subject::Limit(LimitedBy::Congestion), &case, None).unwrap().commands
    };
    let proposes = |name| commands(name).iter().any(|command| command.line.contains("congctl bbr"));
    assert!(proposes(CongestionAlgorithm::Cubic) && proposes(CongestionAlgorithm::Unknown));
    assert!(!proposes(CongestionAlgorithm::Bbr));
}

/// `SO_RCVBUF` before the handshake makes the scale 0: the first buffer is not what holds the window.
#[test]
fn a_tiny_window_whose_scale_is_0_is_no_first_buffer() {
    let change = |scale| {
        let mut evidence = windowed(0);
        evidence.reverse.window_scale = Some(scale);
        (evidence.reverse.window_min_bytes, evidence.reverse.window_max_bytes) =
            (Some(2896), Some(2896));
        // A buffer that is small from the beginning is so in the SYN.
        evidence.reverse.syn = evidence.reverse.syn.map(|syn| SynFacts { window: 2896, ..syn });
        let case = Case::of(&evidence);
        remedy(Subject::Limit(LimitedBy::ReceiveWindow), &case, None).unwrap().change
    };
    assert!(change(7).contains("first receive buffer"), "{}", change(7));
    assert!(change(0).contains("SO_RCVBUF"), "{}", change(0));
}

#[test]
fn commands_fit_the_system_of_the_host() {
    let shown = |evidence: &Evidence| -> Vec<(System, String)> {
        let headline = Headline::of(Case::of(evidence), "made.pcap");
        let remedy = headline.remedy.clone().unwrap();
        assert_eq!(headline.no_command().is_some(), remedy.for_hosts().next().is_none());
        remedy.for_hosts().map(|command| (command.system, command.on.clone())).collect()
    };
    let mut evidence = windowed(0);
    (evidence.forward.syn, evidence.reverse.syn) = (None, None);
    assert!(shown(&evidence).is_empty(), "no SYN is known");
    evidence.reverse.syn = Some(linux_syn(true, None));
    let linux = shown(&evidence);
    assert!(!linux.is_empty());
    assert!(
        linux.iter().all(|(system, on)| *system == System::Linux && on == "10.0.0.2"),
        "{linux:?}"
    );
    let order = [OptionKind::Mss].into_iter().collect();
    let printer = SynFacts { ttl: 64, window: 4096, order, is_answer: true, ..SynFacts::default() };
    evidence.forward.syn = Some(linux_syn(false, Some(7)));
    evidence.reverse.syn = Some(printer);
    let other = shown(&evidence);
    assert!(other.iter().all(|(_, on)| on == "10.0.0.1"), "nothing for a printer: {other:?}");
}

#[test]
fn a_document_names_one_minimum_rto() {
    let mut evidence = windowed(0);
    // Each after two intervals: what waits for much longer is no timer that is too short.
    let timeouts = evidence.forward.bins.as_slice().len() as u64 / 2;
    evidence.forward.timeouts = timeouts;
    evidence.forward.spurious_timeouts = timeouts;
    evidence.forward.spurious_expiries = timeouts;
    evidence.forward.resent.rto = timeouts;
    let mut bins = evidence.forward.bins.clone();
    for bin in evidence.forward.bins.as_slice() {
        let bin = bins.at(bin.at);
        bin.rto_wait = bin.duration;
        // A delay spike of 800 ms.
        bin.rtt_sum = Time::from_millis(800 * u64::from(bin.rtt_count));
    }
    evidence.forward.bins = bins;
    let headline = Headline::of(Case::of(&evidence), "made.pcap");
    let findings = headline.case.diagnosis.findings.iter();
    let place = findings.clone().position(|finding| finding.kind == FindingKind::SpuriousRto);
    let advice = remedies(&headline.case)[place.unwrap()].clone();
    let limit = Subject::Limit(LimitedBy::Rto);
    assert_eq!(headline.subject, Some(limit));
    assert_eq!(headline.remedy.as_ref(), Some(&advice));
    // 1.5 × the longest round trip.
    assert!(advice.change.contains("1200 ms"), "{advice:?}");
    for finding in findings {
        assert!(!finding.text.contains("rto_min") && !finding.why.contains("rto_min"));
    }
}

/// The changes of the headline and of every finding.
fn changes(evidence: &Evidence) -> Vec<String> {
    let case = Case::of(evidence);
    let findings = remedies(&case);
    let headline = Headline::of(case, "made.pcap").remedy;
    findings.into_iter().chain(headline).map(|remedy| remedy.change).collect()
}

#[test]
fn the_path_mtu_of_the_reverse_direction_changes_no_verdict_on_the_data() {
    let mut small = full_link(0);
    small.forward.mss_used_bytes = Some(524);
    small.reverse.mss_option_bytes = Some(536);
    let limited = |mut evidence: Evidence| {
        // Small by the application's writes: the SYN allows more.
        evidence.forward.mss_used_bytes = Some(524);
        evidence.reverse.mss_option_bytes = Some(1460);
        evidence
    };
    for mut evidence in [small, limited(full_link(0)), windowed(0)] {
        let about_data = |evidence: &Evidence| {
            let case = Case::of(evidence);
            case.findings_of_data().cloned().collect::<Vec<Finding>>()
        };
        let (before, findings) = (changes(&evidence), about_data(&evidence));
        evidence.path_mtu_events.push(packet_too_big(&evidence, Direction::Reverse));
        assert_eq!(about_data(&evidence), findings);
        let after = changes(&evidence);
        assert!(before.iter().all(|change| after.contains(change)), "{before:?} {after:?}");
    }
}

#[test]
fn an_icmp_message_without_mtu_is_no_mtu_of_zero() {
    let mut evidence = windowed(0);
    let mut event = packet_too_big(&evidence, Direction::Forward);
    event.mtu_bytes = 0;
    evidence.path_mtu_events.push(event);
    assert_eq!(evidence.reported_mtu(Direction::Forward), None);
    let case = Case::of(&evidence);
    let kinds: Vec<FindingKind> = case.diagnosis.findings.iter().map(|f| f.kind).collect();
    let place = kinds.iter().position(|kind| *kind == FindingKind::PathMtuReduced).unwrap();
    let remedy = &remedies(&case)[place];
    assert!(!remedy.change.contains(" 0"), "{remedy:?}");
}

/// Most packets overtaken, 12 of 15 000 sent again needlessly, the link full: the sender knows how far packets are overtaken.
#[test]
fn reordering_that_the_sender_tolerates_asks_for_no_change() {
    let reordering = [(FindingKind::Reordering, Severity::Warning)];
    let of = |needless: u64, limit: LimitedBy| {
        let mut evidence = full_link(0);
        (evidence.forward.data_packets, evidence.forward.spurious_retransmissions) =
            (15_000, needless);
        let case = Case::diagnosed(&evidence, diagnosis(&[(limit, 1.0)], &reordering));
        (subject(&case), remedies(&case)[0].change.clone())
    };
    let (headline, change) = of(12, LimitedBy::Bandwidth);
    assert_eq!(headline, Some(Subject::Limit(LimitedBy::Bandwidth)));
    assert!(change.starts_with("no change needed") && change.contains("12 segments"), "{change}");
    let (_, without) = of(0, LimitedBy::Bandwidth);
    assert!(without.ends_with("from lost ones"), "{without}");
    for (needless, limit) in [(150, LimitedBy::Bandwidth), (12, LimitedBy::Congestion)] {
        let (_, change) = of(needless, limit);
        assert!(change.contains("RACK"), "{needless} {limit}: {change}");
    }
    let (headline, _) = of(150, LimitedBy::Bandwidth);
    assert_eq!(headline, Some(Subject::Finding(FindingKind::Reordering)));
}

/// A capture that ends before its connection does not show that it ended.
#[test]
fn only_a_connection_that_ended_is_said_to_have() {
    let mut evidence = windowed(0);
    let mut of = |ending| {
        evidence.ending = ending;
        remedy(Subject::Limit(LimitedBy::StartUp), &Case::of(&evidence), None).unwrap().change
    };
    assert!(of(Ending::Closed).contains("ended during start-up"));
    assert!(!of(Ending::StillOpen).contains("ended"));
}

#[test]
fn one_host_of_both_ends_is_named_once() {
    let mut evidence = windowed(0);
    (evidence.forward.syn, evidence.reverse.syn) = (None, None);
    let hosts = |evidence: &Evidence| {
        let said = Headline::of(Case::of(evidence), "made.pcap").no_command();
        said.unwrap().matches("is unknown").count()
    };
    assert_eq!(hosts(&evidence), 2);
    evidence.server.set_ip(evidence.client.ip());
    assert_eq!(hosts(&evidence), 1);
}

#[test]
fn a_note_is_no_risk() {
    let evidence = windowed(0);
    let case = Case::of(&evidence);
    let remedy = remedy(Subject::Finding(FindingKind::BlackHole), &case, None).unwrap();
    let note = remedy.note.clone().unwrap();
    assert!(note.starts_with("Allow ICMP"), "{note}");
    let advice = Advice::of_remedy(&remedy, String::new(), &Ends::default(), None, 1).unwrap();
    assert_eq!(advice.note, Some(note));
    assert!(!advice.risk.contains("ICMP"), "{}", advice.risk);
}
