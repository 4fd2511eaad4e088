//! What a capture leaves open is asked for, not advised.

use maxseg_core::advise::{Case, CommandKind, Headline, Remedy, Subject, remedies, remedy};
use maxseg_core::diagnose::{FindingKind, HostSystems, ReasonCode, diagnose};
use maxseg_core::evidence::{
    BlackHole, Direction, Evidence, Requests, Silence, Translated, Waits, note_beside,
};
use maxseg_core::outcome::LimitedBy;
use maxseg_core::units::Time;
use maxseg_testkit::{at, black_hole_before, windowed};

/// The remedy for a finding of this kind.
fn of_finding(evidence: &Evidence, kind: FindingKind) -> Remedy {
    let case = Case::of(evidence);
    let place = case.diagnosis.findings.iter().position(|finding| finding.kind == kind);
    remedies(&case)[place.unwrap()].clone()
}

/// Of ten timeouts one was spurious.
#[test]
fn one_spurious_timeout_of_many_asks_for_no_longer_timer() {
    let mut evidence = windowed(0);
    let data = &mut evidence.forward;
    (data.timeouts, data.resent.rto, data.spurious_timeouts, data.spurious_expiries) =
        (10, 10, 1, 1);
    let remedy = of_finding(&evidence, FindingKind::SpuriousRto);
    assert!(remedy.change.starts_with("no change needed"), "{}", remedy.change);
    assert!(remedy.commands.is_empty() && remedy.advises.is_none());
}

#[test]
fn sack_that_was_seen_is_not_advised() {
    let change = |evidence: &Evidence| {
        let case = Case::of(evidence);
        let remedy = remedy(Subject::Limit(LimitedBy::Rto), &case, None).unwrap();
        let sets = remedy.commands.iter().any(|it| it.line.contains("tcp_sack="));
        (remedy.change, sets)
    };
    let mut evidence = windowed(0);
    (evidence.handshake.syn, evidence.handshake.syn_ack) = (false, false);
    for stats in [&mut evidence.forward, &mut evidence.reverse] {
        (stats.syn, stats.sack_permitted) = (None, false);
    }
    let (change_unknown, _) = change(&evidence);
    assert!(change_unknown.contains("check that SACK"), "{change_unknown}");
    evidence.forward.resent.sack = 3;
    let (change_seen, sets) = change(&evidence);
    assert!(change_seen.contains("SACK is in use") && !sets, "{change_seen}");
}

/// A capture that begins behind the handshake: the ping has the length of the packets that were lost.
#[test]
fn packets_have_the_timestamps_that_segments_carry() {
    let mut evidence = windowed(0);
    for stats in [&mut evidence.forward, &mut evidence.reverse] {
        (stats.syn, stats.timestamps) = (None, false);
    }
    let hole = BlackHole { segment_bytes: 1448, ..black_hole_before() };
    evidence.forward.black_hole = Some(hole);
    let pings = |evidence: &Evidence| {
        let remedy = of_finding(evidence, FindingKind::BlackHole);
        remedy.commands.iter().any(|command| command.line.contains("-s 1472"))
    };
    assert!(!pings(&evidence));
    evidence.forward.uses_timestamps = true;
    assert!(pings(&evidence));
}

/// Full segments are not answered, and nothing else comes: the host may be gone.
#[test]
fn a_silent_host_is_pinged_before_anything_is_set() {
    let mut evidence = windowed(0);
    let end = evidence.end;
    evidence.forward.black_hole = Some(BlackHole {
        from: at(300),
        to: end,
        frame: 9,
        segment_bytes: 1448,
        repeats: 5,
        passed_bytes: 0,
        passed_before_bytes: 0,
    });
    let told = |evidence: &Evidence| {
        let case = Case::of(evidence);
        let remedy = remedy(Subject::Limit(LimitedBy::PathMtu), &case, None).unwrap();
        let changes = remedy.commands.iter().filter(|it| it.kind == CommandKind::Change);
        let are_bound =
            changes.clone().count() > 0 && changes.clone().all(|it| it.only_where.is_some());
        (Headline::of(case, "made.pcap").text(), remedy.change, are_bound)
    };
    let (text, _, are_bound) = told(&evidence);
    assert!(text.contains("larger than the path MTU") && !are_bound, "{text}");
    evidence.silence = Some(Silence {
        direction: Direction::Forward,
        from: at(310),
        to: end,
        retransmissions: 5,
        probes: 0,
    });
    let (text, change, are_bound) = told(&evidence);
    assert!(text.contains("unless 10.0.0.2 has gone") && are_bound, "{text}");
    assert!(change.starts_with("clamp the MSS"), "{change}");
}

/// Each direction's window is judged by itself.
#[test]
fn the_window_that_shut_for_good_is_the_finding_s() {
    let mut evidence = windowed(0);
    for stats in [&mut evidence.forward, &mut evidence.reverse] {
        (stats.zero_windows, stats.window_shut_times) = (3, 1);
        stats.data_packets = stats.data_packets.max(1);
    }
    evidence.reverse.window_shut_since = Some(at(100));
    let case = Case::of(&evidence);
    let all = remedies(&case);
    let of = |direction| {
        let is_it = |it: &maxseg_core::diagnose::Finding| {
            it.kind == FindingKind::ZeroWindow && it.direction == Some(direction)
        };
        let place = case.diagnosis.findings.iter().position(is_it);
        all[place.unwrap()].change.clone()
    };
    let is_hung = |direction| of(direction).contains("does not read");
    assert!(is_hung(Direction::Forward) && !is_hung(Direction::Reverse));
}

/// Two hosts send to a third through one queue: each has it for the other's packets as well.
#[test]
fn transfers_of_another_host_are_known_beside_one() {
    let nearby = |client: &str, server: &str| {
        let mut both = [windowed(0), windowed(1)];
        both[1].client = client.parse().unwrap();
        both[1].server = server.parse().unwrap();
        note_beside(&mut both);
        (both[0].forward.nearby.is_some(), both[0].beside.is_some())
    };
    assert_eq!(nearby("10.0.2.1:40000", "10.0.0.2:443"), (true, false), "one receiver");
    assert_eq!(nearby("10.0.0.1:40001", "10.0.0.3:443"), (true, false), "one sender");
    assert_eq!(nearby("10.0.0.1:40001", "10.0.0.2:443"), (false, true), "the same hosts");
    assert_eq!(nearby("10.0.2.1:40000", "10.0.0.3:443"), (false, false));
    assert_eq!(nearby("10.0.0.2:443", "10.0.0.1:40001"), (false, false), "the other way");
}

/// Before and behind a hop that translates addresses it is one connection: what it sends is not sent beside it as well.
#[test]
fn a_connection_behind_address_translation_is_no_other_one() {
    let noted = |numbers: (u32, u32), begin: Time| {
        let mut both = [windowed(0), windowed(1)];
        both[1].client = "192.0.2.1:61000".parse().unwrap();
        both[1].begin = both[0].begin + begin;
        for evidence in &mut both {
            evidence.capture.numbers = Some(numbers);
        }
        note_beside(&mut both);
        let has_other = both.iter().any(|it| it.forward.nearby.is_some());
        let there = both.each_ref().map(|it| it.capture.translated.map(|there| there.id));
        (has_other, there)
    };
    let random = (0x1234_5678, 0x8765_4321);
    assert_eq!(noted(random, Time::from_millis(1)), (false, [Some(1), Some(0)]));
    assert_eq!(noted(random, Time::from_secs(2)), (true, [None; 2]), "sent again later");
    assert_eq!(noted((1, 1), Time::ZERO), (true, [None; 2]), "of a simulator");
}

/// What a command sets on a hop that translates addresses changes nothing: the connection does not end there.
#[test]
fn no_command_is_for_an_address_that_a_hop_translates() {
    let mut evidence = windowed(0);
    let remedy = Headline::of(Case::of(&evidence), "made.pcap").remedy.unwrap();
    assert!(remedy.for_hosts().any(|command| command.on == "10.0.0.2"));
    evidence.capture.translated = Some(Translated {
        id: 7,
        client: evidence.client,
        server: "10.9.9.9:80".parse().unwrap(),
        has_client: false,
        has_server: true,
    });
    let headline = Headline::of(Case::of(&evidence), "made.pcap");
    let remedy = headline.remedy.as_ref().unwrap();
    assert!(remedy.for_hosts().all(|command| command.on != "10.0.0.2"), "{remedy:?}");
    let why = HostSystems::of(&evidence).server.evidence;
    assert!(why.contains("connection 7 has the host's own, 10.9.9.9"), "{why}");
    let quality = diagnose(&evidence).quality;
    let text = &quality.reason(ReasonCode::Translated).unwrap().text;
    assert!(quality.fit && text.starts_with("Connection 7 has the same packets"), "{text}");
    assert!(text.ends_with(": 10.0.0.2:443 is 10.9.9.9:80 there"), "{text}");
}

/// A few replies that take as long as a retransmission, seen at the client.
#[test]
fn a_reply_may_have_been_lost_before_the_capture() {
    let why = |p50_s: f64, is_at_client: bool| {
        let mut evidence = windowed(0);
        let server =
            Waits { count: 100, total_s: 9.0, p50_s: Some(p50_s), p99_s: Some(1.2), unsure_s: 0.0 };
        evidence.requests =
            Some(Requests { turns: 100, span_s: 20.0, server, ..Requests::default() });
        let (near, far) = (Time::from_nanos(20_000), Time::from_millis(40));
        let (client, server) = if is_at_client { (near, far) } else { (far, near) };
        (evidence.handshake.client_rtt, evidence.handshake.server_rtt) =
            (Some(client), Some(server));
        let findings = diagnose(&evidence).findings;
        let found = findings.iter().find(|it| it.kind == FindingKind::ServerResponseTime);
        found.unwrap().why.to_owned()
    };
    assert!(why(0.01, true).contains("sent again"));
    assert!(why(1.0, true).contains("no setting of TCP"));
    assert!(why(0.01, false).contains("no setting of TCP"));
}
