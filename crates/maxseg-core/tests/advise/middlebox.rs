//! What hops rewrote is no setting of the hosts, and a reader that is behind no setting of the sender.

use maxseg_core::advise::{Case, Change, CommandKind, Remedy, Subject, remedy, subject};
use maxseg_core::diagnose::{Diagnosis, FindingKind, LossCause, Severity};
use maxseg_core::evidence::{
    Change as HeaderChange, ChangedField, Direction, Evidence, Joined, Passage,
};
use maxseg_core::outcome::LimitedBy;
use maxseg_testkit::windowed;

use super::remedy::diagnosis;

/// A transfer of which two captures show that a hop changed a field.
fn changed(direction: Direction, field: ChangedField, sent: &str, received: &str) -> Evidence {
    let (sent, received) = (sent.to_owned(), received.to_owned());
    let mut evidence = windowed(0);
    evidence.joined = Some(Box::new(Joined {
        client_capture: 0,
        judged_in: 0,
        clock: None,
        forward: Passage::default(),
        reverse: Passage::default(),
        changes: vec![HeaderChange { direction, field, sent, received }],
    }));
    evidence
}

fn of_limit(evidence: &Evidence, limit: LimitedBy) -> Remedy {
    of(evidence, Subject::Limit(limit), diagnosis(&[(limit, 0.9)], &[]))
}

fn of(evidence: &Evidence, subject: Subject, diagnosis: Diagnosis) -> Remedy {
    remedy(subject, &Case::diagnosed(evidence, diagnosis), None).unwrap()
}

fn changes_nothing(remedy: &Remedy) -> bool {
    remedy.commands.iter().all(|command| command.kind == CommandKind::Look)
}

#[test]
fn what_the_captures_show_as_changed_is_no_setting_of_a_host() {
    use ChangedField::{Mss, SackPermitted, SequenceNumbers, Window, WindowScale};
    use Direction::{Forward, Reverse};
    let check = |remedy: &Remedy, says: &str| {
        assert!(remedy.change.contains(says), "{says}: {}", remedy.change);
        assert!(changes_nothing(remedy), "{:?}", remedy.commands);
    };
    let stripped = changed(Forward, WindowScale, "7", "");
    let remedy = of_limit(&stripped, LimitedBy::ReceiveWindow);
    check(&remedy, "removes the window scale option from the SYN of 10.0.0.1");
    assert!(matches!(remedy.what_if.as_slice(), [Change::Window(_)]));
    let capped = changed(Reverse, Window, "65160", "19968");
    let remedy = of_limit(&capped, LimitedBy::ReceiveWindow);
    check(&remedy, "rewrites the receive window of 10.0.0.2: 65160 bytes were sent, and 19968");
    let clamped = changed(Reverse, Mss, "1460", "300");
    let small = diagnosis(&[(LimitedBy::Bandwidth, 0.9)], &[]);
    let remedy = of(&clamped, Subject::Finding(FindingKind::SmallMss), small);
    check(&remedy, "lowers the MSS option: 10.0.0.2 sent 1460, and 300 arrived");
    let mut here = windowed(0);
    here.reverse.mss_option_bytes = Some(1460);
    here.reverse.mss_option_elsewhere = Some(300);
    let small = diagnosis(&[(LimitedBy::Bandwidth, 0.9)], &[]);
    let remedy = of(&here, Subject::Finding(FindingKind::SmallMss), small);
    check(&remedy, "let the host of the capture lower the MSS option by less: 1460 came from");
    let no_sack = changed(Forward, SackPermitted, "present", "");
    let missing = diagnosis(&[(LimitedBy::Congestion, 0.9)], &[]);
    let remedy = of(&no_sack, Subject::Finding(FindingKind::OptionMissing), missing);
    check(&remedy, "removes the SACK-permitted option");
    let mut renumbered = changed(Forward, SequenceNumbers, "1", "2");
    renumbered.forward.resent.rto = 237;
    let remedy = of_limit(&renumbered, LimitedBy::Rto);
    check(&remedy, "change those in SACK blocks as well");
    renumbered.forward.resent.sack = 300;
    let remedy = of_limit(&renumbered, LimitedBy::Rto);
    assert!(!remedy.change.contains("SACK blocks"), "they were of use: {}", remedy.change);
    let useless = [(FindingKind::UselessSack, Severity::Problem)];
    let alone = diagnosis(&[(LimitedBy::Rto, 0.9)], &useless);
    let remedy = of(&windowed(0), Subject::Limit(LimitedBy::Rto), alone);
    check(&remedy, "let the device on the way that changes the sequence numbers of 10.0.0.1");
}

/// A SYN-ACK that offers 65 160 bytes, and then never more than 19 968: a bandwidth manager's, as one capture shows it.
#[test]
fn no_host_takes_its_window_back() {
    let mut evidence = windowed(0);
    evidence.reverse.window_scale = Some(7);
    evidence.reverse.window_min_bytes = Some(19_968);
    evidence.reverse.window_max_bytes = Some(19_968);
    evidence.reverse.syn = evidence.reverse.syn.map(|mut syn| {
        syn.window = 65_160;
        syn
    });
    let taken_back = of_limit(&evidence, LimitedBy::ReceiveWindow);
    assert!(taken_back.change.contains("rewrites the receive window"), "{}", taken_back.change);
    assert!(changes_nothing(&taken_back));
    evidence.reverse.window_max_bytes = Some(63_744);
    let kept = of_limit(&evidence, LimitedBy::ReceiveWindow);
    assert!(!kept.change.contains("rewrites"), "{}", kept.change);
}

#[test]
fn a_policer_asks_for_no_faster_link() {
    let mut policed = diagnosis(&[(LimitedBy::Bandwidth, 0.9)], &[]);
    policed.loss.cause = LossCause::Policer;
    let remedy = of(&windowed(0), Subject::Limit(LimitedBy::Bandwidth), policed);
    assert!(remedy.change.contains("SO_MAX_PACING_RATE"), "{}", remedy.change);
}

/// A reader that takes a megabyte a second, beside a link that is full in between.
#[test]
fn a_reader_that_is_behind_comes_before_the_send_buffer() {
    use LimitedBy::{Bandwidth, ReceiveWindow, SendBuffer, Unknown};
    let evidence = windowed(0);
    let subject_of = |first, share, severity| {
        let shut = [(FindingKind::ZeroWindow, severity)];
        let mut found =
            diagnosis(&[(first, 0.45), (ReceiveWindow, share), (Bandwidth, 0.1)], &shut);
        found.leaves_window_unused = first == Unknown;
        subject(&Case::diagnosed(&evidence, found))
    };
    let reader = Some(Subject::Finding(FindingKind::ZeroWindow));
    assert_eq!(subject_of(Unknown, 0.4, Severity::Problem), reader);
    assert_eq!(subject_of(SendBuffer, 0.4, Severity::Problem), reader);
    assert_eq!(subject_of(Unknown, 0.4, Severity::Note), Some(Subject::Limit(Unknown)));
    assert_eq!(subject_of(SendBuffer, 0.1, Severity::Problem), Some(Subject::Limit(SendBuffer)));
}
