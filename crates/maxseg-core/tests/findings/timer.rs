//! Timers that expire too early, and paths that were interrupted.

use maxseg_core::diagnose::{FindingKind, Severity};
use maxseg_core::evidence::Outage;
use maxseg_core::units::Time;

use super::{found, severities};

/// Whatever the timer, what is sent while nothing passes is not acknowledged; and half of the expiries have to be spurious.
#[test]
fn a_timer_expires_too_early_only_where_the_path_is_not_interrupted() {
    let expiries = |spurious: u64, silent_ms: u64, retransmissions: u32| {
        severities(|it| {
            it.forward.timeouts = 4;
            it.forward.spurious_timeouts = spurious;
            it.forward.spurious_expiries = spurious;
            let (from, to) = (Time::from_secs(3), Time::from_millis(3000 + silent_ms));
            it.forward.outage = Some(Outage { from, to, retransmissions, of_payload: false });
        })
        .into_iter()
        .filter(|(kind, _)| *kind != FindingKind::Timeouts)
        .collect::<Vec<_>>()
    };
    let (spurious, outage) = (FindingKind::SpuriousRto, FindingKind::Outage);
    assert_eq!(expiries(2, 300, 1), [(spurious, Severity::Problem)]);
    assert_eq!(expiries(2, 300, 2), [(spurious, Severity::Problem)], "a probe, and one timeout");
    assert_eq!(expiries(1, 300, 1), [(spurious, Severity::Note)]);
    for (silent_ms, retransmissions) in [(700, 2), (1600, 1)] {
        assert_eq!(
            expiries(4, silent_ms, retransmissions),
            [(outage, Severity::Problem), (spurious, Severity::Note)]
        );
    }
}

/// A policer that drops a quarter of the data drops retransmissions, too.
#[test]
fn losses_like_all_others_are_no_interruption() {
    let is_outage = |retransmissions: u32, retransmitted: u64, timeouts: u64| {
        let found = severities(|it| {
            it.forward.timeouts = timeouts;
            (it.forward.data_packets, it.forward.retransmitted_packets) = (448, retransmitted);
            let (from, to) = (Time::from_secs(3), Time::from_millis(4100));
            it.forward.outage = Some(Outage { from, to, retransmissions, of_payload: false });
        });
        found.contains(&(FindingKind::Outage, Severity::Problem))
    };
    assert!(!is_outage(1, 106, 5) && !is_outage(2, 106, 4));
    assert!(is_outage(1, 20, 5), "few are lost");
    assert!(is_outage(1, 106, 1), "the timer expired then alone");
    assert!(is_outage(3, 106, 9), "three in a row");
}

/// Elsewhere than at the sender retransmissions that were lost on their way do not pass.
#[test]
fn what_the_receiver_sees_of_expiries_is_a_lower_bound() {
    let told = |behind_s: f64| {
        let found = found(|it| {
            it.forward.timeouts = 1;
            (it.forward.rtt_min_s, it.forward.path_rtt_min_s) = (Some(behind_s), Some(0.04));
        });
        found.iter().any(|finding| finding.text.contains("expired at least once"))
    };
    assert!(told(0.000_02));
    assert!(!told(0.04), "at the sender");
}

/// A few blocks that lie outside may be of a packet that broke; without expiries they cost little.
#[test]
fn blocks_that_a_sender_can_make_nothing_of_are_told() {
    let of = |outside: u64, timeouts: u64| {
        let found = severities(|it| {
            (it.forward.sacks_outside, it.forward.timeouts) = (outside, timeouts);
        });
        found.into_iter().find(|(kind, _)| *kind == FindingKind::UselessSack)
    };
    assert_eq!(of(2, 1), None);
    assert_eq!(of(3, 0), Some((FindingKind::UselessSack, Severity::Warning)));
    assert_eq!(of(3, 1), Some((FindingKind::UselessSack, Severity::Problem)));
}
