//! Endings, and what requests and replies wait for.

use maxseg_core::advise::{Case, Subject, remedy};
use maxseg_core::diagnose::{FindingKind, Severity};
use maxseg_core::evidence::{
    Direction, Ending, Evidence, Requests, Silence, UnreachableCode, UnreachableEvent, Waits,
};
use maxseg_core::units::Time;

use maxseg_testkit::clean;

use super::{found, severities, text};

#[test]
fn a_refused_connection_names_the_server() {
    let refuse = |it: &mut Evidence| {
        it.ending = Ending::Refused;
        it.handshake.syn_ack = false;
        it.handshake.last_syn = Some(Time::ZERO);
        it.reset_at = Some(Time::from_millis(40));
    };
    assert_eq!(severities(refuse), [(FindingKind::Refused, Severity::Problem)]);
    let text = text(refuse);
    assert!(text.starts_with("10.0.0.2:80 refused") && text.ends_with("40.0 ms"), "{text}");
}

/// One SYN without an answer may be the end of the capture; one that was sent again is not.
#[test]
fn a_syn_without_an_answer_counts_its_attempts() {
    let attempts = |syns: u32| {
        severities(|it| {
            it.ending = Ending::NoAnswer;
            it.handshake.syn_ack = false;
            it.handshake.syn_packets = syns;
        })
    };
    assert_eq!(attempts(1), [(FindingKind::NoAnswer, Severity::Warning)]);
    let again = [FindingKind::NoAnswer, FindingKind::SynRetransmission];
    assert_eq!(attempts(5), again.map(|kind| (kind, Severity::Problem)));
}

/// A firewall that rejects the SYN is named, and a single SYN is no doubt then.
#[test]
fn a_syn_that_is_not_passed_on_names_who_says_so() {
    let rejected = |it: &mut Evidence| {
        it.ending = Ending::NoAnswer;
        it.handshake.syn_ack = false;
        it.unreachable = vec![UnreachableEvent {
            at: it.begin,
            frame: 2,
            from: [192, 0, 2, 1].into(),
            code: UnreachableCode { is_v4: true, number: 13 },
            quoted: (it.client, it.server),
        }];
    };
    assert_eq!(severities(rejected), [(FindingKind::NoAnswer, Severity::Problem)]);
    assert_eq!(
        text(rejected),
        "10.0.0.2:80 was not reached: 192.0.2.1 answered the SYN of 10.0.0.1:40000 with ICMP type 3, code 13: \
         administratively prohibited"
    );
}

#[test]
fn a_reset_with_another_ttl_may_be_a_devices_on_the_path() {
    let reset = |it: &mut Evidence| {
        it.ending = Ending::ResetByServer;
        it.reset_is_other_path = true;
    };
    assert_eq!(severities(reset), [(FindingKind::Reset, Severity::Warning)]);
    let text = text(reset);
    assert!(text.starts_with("A RST in the name of 10.0.0.2:80 (server)"), "{text}");
}

#[test]
fn a_reset_names_who_sent_it_and_what_was_lost() {
    for (ending, by) in [
        (Ending::ResetByClient, "10.0.0.1:40000 (client) reset"),
        (Ending::ResetByServer, "10.0.0.2:80 (server) reset"),
    ] {
        let of = |outstanding: u64| {
            let mut found = found(|it| {
                it.ending = ending;
                it.forward.outstanding_bytes = outstanding;
            });
            assert_eq!(found.len(), 1);
            found.remove(0)
        };
        assert!(of(0).text.starts_with(by), "{}", of(0).text);
        assert_eq!(of(0).severity, Severity::Note);
        assert_eq!(of(1).severity, Severity::Warning);
        assert!(of(1448).text.contains("1448 bytes were not acknowledged"), "{}", of(1448).text);
    }
}

fn silent(it: &mut Evidence) {
    it.ending = Ending::GoneSilent;
    it.silence = Some(Silence {
        direction: Direction::Forward,
        from: Time::from_millis(600),
        to: Time::from_secs(17),
        retransmissions: 5,
        probes: 0,
    });
}

/// An end that is silent before it has everything is the subject; one that is silent after its data is not.
#[test]
fn silence_is_the_subject_where_data_is_missing() {
    assert_eq!(severities(silent), [(FindingKind::GoneSilent, Severity::Problem)]);
    let subject = |outstanding: u64| {
        let mut evidence = clean();
        silent(&mut evidence);
        evidence.handshake.client_rtt = Some(Time::ZERO);
        evidence.forward.outstanding_bytes = outstanding;
        maxseg_core::advise::subject(&Case::of(&evidence))
    };
    assert_eq!(subject(1448), Some(Subject::Finding(FindingKind::GoneSilent)));
    assert_ne!(subject(0), Some(Subject::Finding(FindingKind::GoneSilent)));
}

/// Shut for a second and to the last packet: no window of any size helps.
#[test]
fn a_window_that_stays_shut_is_a_program_that_does_not_read() {
    let shut = |before_end: Time| {
        let mut evidence = clean();
        evidence.end = Time::from_secs(10);
        evidence.reverse.zero_windows = 1;
        evidence.reverse.window_shut_times = 1;
        evidence.reverse.window_shut_since = Some(Time::from_secs(10).since(before_end));
        let case = Case::of(&evidence);
        let finding = case.findings_of_data().find(|it| it.kind == FindingKind::ZeroWindow);
        let remedy = remedy(Subject::Finding(FindingKind::ZeroWindow), &case, None).unwrap();
        (finding.unwrap().text.clone(), remedy.what_if.is_empty())
    };
    let (text, has_no_change) = shut(Time::from_secs(1));
    assert!(text.contains("stayed shut for the last 1.00 s") && has_no_change, "{text}");
    let (text, has_no_change) = shut(Time::from_millis(999));
    assert!(!text.contains("stayed shut") && !has_no_change, "{text}");
}

fn waits(count: u32, each: f64) -> Waits {
    Waits {
        count,
        total_s: f64::from(count) * each,
        p50_s: Some(each),
        p99_s: Some(each),
        unsure_s: 0.0,
    }
}

/// A tenth of the time is told; so is a second, however long the connection lasts.
#[test]
fn waits_are_told_by_their_share_or_where_users_notice() {
    let of = |span_s: f64, server: f64, think: f64| {
        severities(|it| {
            it.requests = Some(Requests {
                turns: 10,
                span_s,
                server: waits(10, server),
                think: waits(9, think),
                ..Requests::default()
            });
        })
    };
    assert_eq!(of(10.0, 0.099, 0.1), []);
    assert_eq!(of(10.0, 0.1, 0.1), [(FindingKind::ServerResponseTime, Severity::Note)]);
    assert_eq!(of(10.0, 0.5, 0.1), [(FindingKind::ServerResponseTime, Severity::Warning)]);
    assert_eq!(of(1000.0, 1.0, 0.1), [(FindingKind::ServerResponseTime, Severity::Note)]);
    assert_eq!(of(10.0, 0.05, 0.2), [(FindingKind::ClientThinkTime, Severity::Note)]);
}

/// Round trips make a pattern from the third request on; a held segment from the second on.
#[test]
fn round_trips_and_held_segments_need_repetition() {
    let of = |turns: u32, held: u32| {
        severities(|it| {
            it.requests = Some(Requests {
                turns,
                span_s: 1.0,
                round_trips_s: 0.3,
                nagle: waits(held, 0.04),
                ..Requests::default()
            });
        })
    };
    assert_eq!(of(2, 1), []);
    assert_eq!(of(3, 1), [(FindingKind::RequestResponse, Severity::Note)]);
    assert_eq!(of(2, 2), [(FindingKind::NagleDelayedAck, Severity::Warning)]);
}

/// What a timer lets go is as late each time; a program that writes the rest late is not.
#[test]
fn rests_that_a_cork_holds_are_alike() {
    let of = |count: u32, worst: f64, of_client: u32| {
        let found = found(|it| {
            it.requests = Some(Requests {
                turns: 2,
                span_s: 10.0,
                corked: Waits { p99_s: Some(worst), ..waits(count, 0.246) },
                corked_of_client: of_client,
                ..Requests::default()
            });
        });
        let corked = found.into_iter().find(|finding| finding.kind == FindingKind::Corked);
        corked.map(|finding| finding.text.split(' ').next().unwrap().to_owned())
    };
    assert_eq!(of(22, 0.25, 0), Some("10.0.0.2".to_owned()));
    assert_eq!(of(22, 0.25, 22), Some("10.0.0.1".to_owned()));
    assert_eq!(of(22, 0.9, 0), None);
    assert_eq!(of(1, 0.246, 0), None);
    assert_eq!(of(2, 0.246, 0), None, "less than a twentieth of the time");
}
