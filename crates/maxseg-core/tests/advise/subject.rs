//! Which limit or finding a headline is about.

use maxseg_core::advise::{Case, Subject, subject};
use maxseg_core::diagnose::{FindingKind, LimitSpan, Severity};
use maxseg_core::evidence::{Evidence, Requests, Waits};
use maxseg_core::outcome::LimitedBy;
use maxseg_core::units::Time;
use maxseg_testkit::windowed;

use super::remedy::diagnosis;

#[test]
fn the_subject_is_a_limit_that_a_setting_removes() {
    use FindingKind::{BlackHole, CaptureQuality, Loss, Outage, SmallMss, Timeouts};
    use LimitedBy::{Application, Bandwidth, PathMtu, ReceiveWindow, Rto};
    use Severity::{Note, Problem, Warning};
    let cases = [
        (diagnosis(&[(ReceiveWindow, 0.9)], &[]), Some(Subject::Limit(ReceiveWindow))),
        (diagnosis(&[(Bandwidth, 1.0)], &[(SmallMss, Warning)]), Some(Subject::Finding(SmallMss))),
        (diagnosis(&[(Bandwidth, 1.0)], &[(SmallMss, Note)]), Some(Subject::Limit(Bandwidth))),
        // A full link loses packets: that is how it is shared, and headers are a part of what it carries.
        (
            diagnosis(&[(Bandwidth, 1.0)], &[(SmallMss, Warning), (Loss, Problem)]),
            Some(Subject::Finding(SmallMss)),
        ),
        (
            diagnosis(&[(Application, 1.0)], &[(SmallMss, Warning), (Loss, Problem)]),
            Some(Subject::Finding(Loss)),
        ),
        // A program that has nothing to send gains little by less loss.
        (diagnosis(&[(Application, 1.0)], &[(Loss, Warning)]), Some(Subject::Limit(Application))),
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
        // An interruption is why the timer expired.
        (
            diagnosis(&[(Bandwidth, 0.8), (Rto, 0.2)], &[(Outage, Problem), (Timeouts, Problem)]),
            Some(Subject::Finding(Outage)),
        ),
        (diagnosis(&[], &[]), None),
    ];
    let evidence = windowed(0);
    for (diagnosis, want) in cases {
        let case = Case::diagnosed(&evidence, diagnosis);
        assert_eq!(subject(&case), want, "{:?}", case.diagnosis);
    }
}

#[test]
fn the_longest_of_a_dialogues_waits_comes_first() {
    use FindingKind::{ClientThinkTime, RequestResponse};
    let first = |round_trips_s, think_s, severity| {
        let think = Waits { total_s: think_s, ..Waits::default() };
        let requests = Requests { round_trips_s, think, ..Requests::default() };
        let evidence = Evidence { requests: Some(requests), ..windowed(0) };
        let findings = [(RequestResponse, severity), (ClientThinkTime, Severity::Note)];
        let case =
            Case::diagnosed(&evidence, diagnosis(&[(LimitedBy::Application, 0.9)], &findings));
        case.finding_of(LimitedBy::Application).map(|finding| finding.kind)
    };
    assert_eq!(first(1.8, 2.5, Severity::Note), Some(ClientThinkTime));
    assert_eq!(first(2.5, 1.8, Severity::Note), Some(RequestResponse));
    assert_eq!(first(1.8, 2.5, Severity::Warning), Some(RequestResponse));
}

/// What a server takes for its last reply is behind the client's data, and limits it nowhere.
#[test]
fn a_wait_behind_the_data_is_not_its_limit() {
    use FindingKind::{ClientThinkTime, ServerResponseTime};
    let longest = |replied: u64| {
        let waits = |total_s| Waits { total_s, ..Waits::default() };
        let requests = Requests { server: waits(2.2), think: waits(1.7), ..Requests::default() };
        let mut evidence = Evidence { requests: Some(requests), ..windowed(0) };
        evidence.reverse.last_ack = Some(Time::from_millis(replied));
        let findings = [(ServerResponseTime, Severity::Note), (ClientThinkTime, Severity::Note)];
        let mut diagnosis = diagnosis(&[(LimitedBy::Application, 0.9)], &findings);
        let (from, to) = (Time::ZERO, Time::from_millis(5300));
        diagnosis.spans = vec![LimitSpan { from, to, kind: LimitedBy::Application }];
        let case = Case::diagnosed(&evidence, diagnosis);
        case.finding_of(LimitedBy::Application).map(|finding| finding.kind)
    };
    assert_eq!(longest(5300), Some(ServerResponseTime));
    assert_eq!(longest(7500), Some(ClientThinkTime));
}
