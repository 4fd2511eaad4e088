//! Two captures of one transfer: what was done to its packets on the way is what comes out.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

#[path = "joined/path.rs"]
mod path;

use std::io::Cursor;

use maxseg_core::evidence::{ChangedField, Evidence, Joined, Passage};
use maxseg_wire::joined::JoinError;
use maxseg_wire::reading::{PairError, ReadOptions, read_pair};
use path::{Clock, Options, Truth, Way, transfer};
use proptest::prelude::*;

/// Reads two captures; `swapped` gives the second first.
fn read(captures: [&[u8]; 2]) -> Result<Vec<Evidence>, PairError> {
    let reading = read_pair(
        &mut |capture| Ok(Cursor::new(captures[capture.index()].to_vec())),
        false,
        &ReadOptions::default(),
    )?;
    Ok(reading.connections.collect())
}

fn join(sender: &[u8], receiver: &[u8], swapped: bool) -> (Joined, Evidence) {
    let captures = if swapped { [receiver, sender] } else { [sender, receiver] };
    let mut connections = read(captures).unwrap();
    assert_eq!(connections.len(), 1);
    let evidence = connections.remove(0);
    let joined = evidence.joined.clone().unwrap();
    assert_eq!(joined.client_capture, usize::from(swapped), "the end of each capture");
    assert_eq!(joined.judged_in, usize::from(swapped));
    (*joined, evidence)
}

/// The counts that must be equal, with their names.
fn counts(passage: &Passage) -> [(&'static str, u64); 10] {
    [
        ("sent", passage.sent_packets),
        ("lost", passage.lost_packets),
        ("lost bytes", passage.lost_bytes),
        ("reordered", passage.reordered_packets),
        ("duplicated", passage.duplicated_packets),
        ("retransmitted", passage.retransmitted_packets),
        ("needless", passage.needless_retransmissions),
        ("missed at sender", passage.missed_at_sender),
        ("missed at receiver", passage.missed_at_receiver),
        ("marked", passage.marked_packets),
    ]
}

fn truths(truth: &Truth) -> [(&'static str, u64); 10] {
    [
        ("sent", truth.sent),
        ("lost", truth.lost),
        ("lost bytes", truth.lost_bytes),
        ("reordered", truth.reordered),
        ("duplicated", truth.duplicated),
        ("retransmitted", truth.retransmitted),
        ("needless", truth.needless),
        ("missed at sender", truth.missed_at_sender),
        ("missed at receiver", truth.missed_at_receiver),
        ("marked", truth.marked),
    ]
}

fn clocks() -> impl Strategy<Value = Clock> {
    let offset = prop_oneof![
        Just(0),
        -7200_i64 * 1_000_000_000..7200 * 1_000_000_000,
        -30_000_000_i64..30_000_000
    ];
    (offset, prop_oneof![Just(0.0), -100e-6..100e-6])
        .prop_map(|(offset, skew)| Clock { offset, skew })
}

fn shares() -> impl Strategy<Value = Way> {
    let share = || prop_oneof![Just(0.0), 0.001..0.05];
    (share(), share(), share(), share(), share()).prop_map(
        |(lost, delayed, duplicated, marked, needless)| Way {
            lost,
            delayed,
            duplicated,
            marked,
            needless,
        },
    )
}

fn options() -> impl Strategy<Value = Options> {
    let switches = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    let snap = prop_oneof![Just(54_u32), Just(96), Just(65_535)];
    (any::<u64>(), shares(), shares(), clocks(), switches, snap).prop_map(
        |(seed, there, back, clock, (timestamps, ids, translated, nanoseconds), snap_len)| {
            // One of both must tell a retransmission from what it repeats where packets overtake each other.
            let ids = ids || !timestamps;
            // Duplicate acknowledgements are equal but for the identification: nothing else tells which one is a copy.
            let plain = Way { delayed: 0.0, duplicated: 0.0, ..back };
            let back = if ids { back } else { plain };
            Options {
                seed,
                there,
                back,
                clock,
                timestamps,
                ids,
                translated,
                nanoseconds,
                snap_len,
                ..Options::default()
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_was_done_to_the_packets_is_what_comes_out(options in options(), swapped: bool) {
        let made = transfer(&options);
        let (joined, _) = join(&made.sender, &made.receiver, swapped);
        prop_assert_eq!(counts(&joined.forward), truths(&made.there), "there");
        prop_assert_eq!(counts(&joined.reverse), truths(&made.back), "back");
        let clock = joined.clock.unwrap();
        // Where nothing is asymmetric, the offset is right to the clocks' resolution and what skew adds in the transfer.
        let off = (clock.offset_s - made.offset_s).abs();
        prop_assert!(off <= clock.uncertainty_s, "off by {off}: {clock:?}");
        prop_assert!(off < 0.002, "off by {off}: {clock:?}");
        prop_assert!((clock.base_rtt_s - 0.040).abs() < 0.002, "{clock:?}");
    }

    #[test]
    fn what_a_capture_misses_is_not_lost(options in options(), share in 0.001..0.03) {
        // Of a packet that was missed, a copy would be captured instead.
        let there = Way { needless: 0.0, duplicated: 0.0, ..options.there };
        let back = Way { duplicated: 0.0, ..options.back };
        // Duplicate acknowledgements are told apart by the identification alone.
        let options = Options { back, missed: share, there, snap_len: 96, ids: true, ..options };
        let made = transfer(&options);
        let (joined, _) = join(&made.sender, &made.receiver, false);
        let (there, back) = (joined.forward, joined.reverse);
        // Of two transmissions of which neither is in the receiver's capture, nothing shows which one arrived; one that both
        // captures miss cannot be told at all.
        prop_assert_eq!(
            there.lost_packets + there.missed_at_receiver,
            made.there.lost + made.there.missed_at_receiver
        );
        let swapped = there.lost_packets.abs_diff(made.there.lost);
        prop_assert!(swapped <= 2, "{swapped}");
        prop_assert_eq!(there.missed_at_sender, made.there.missed_at_sender);
        prop_assert_eq!(back.missed_at_sender, made.back.missed_at_sender);
        // Nobody acknowledges an acknowledgement: one that the capture at its receiver missed seems to be lost.
        prop_assert_eq!(back.lost_packets, made.back.lost + made.back.missed_at_receiver);
    }

    /// Segmentation offload at the sender, receive offload at the receiver: packets are not the same, bytes are.
    #[test]
    fn offload_changes_no_count(options in options()) {
        let there = Way { delayed: 0.0, duplicated: 0.0, marked: 0.0, ..options.there };
        let options = Options { there, offload: true, snap_len: 96, ..options };
        let made = transfer(&options);
        let (joined, _) = join(&made.sender, &made.receiver, false);
        prop_assert_eq!(counts(&joined.forward), truths(&made.there));
    }
}

#[test]
fn packets_outside_the_common_time_are_not_lost() {
    let made = transfer(&Options { receiver_from: 0.4, receiver_until: 0.7, ..Options::default() });
    let (joined, _) = join(&made.sender, &made.receiver, false);
    let there = &joined.forward;
    assert_eq!((there.lost_packets, there.missed_at_sender), (0, 0), "{there:?}");
    assert!(there.outside_packets > there.sent_packets / 2, "{there:?}");
    let share = there.followed_packets() as f64 / there.sent_packets as f64;
    assert!(share > 0.2 && share < 0.6, "{share}");
}

#[test]
fn a_clamped_mss_is_told() {
    let made = transfer(&Options { clamp: Some(1360), ..Options::default() });
    let (joined, evidence) = join(&made.sender, &made.receiver, false);
    let change = joined.changes.iter().find(|change| change.field == ChangedField::Mss).unwrap();
    assert_eq!((change.sent.as_str(), change.received.as_str()), ("1460", "1360"));
    assert_eq!(evidence.forward.mss_option_bytes, Some(1460), "as the sender's capture has it");
    assert_eq!(joined.forward.hops, Some(3));
}

/// Firewalls that add a number to all sequence numbers of one end.
#[test]
fn renumbered_connections_are_joined_by_their_handshake() {
    let there = Way { lost: 0.02, ..Way::default() };
    let clock = Clock { offset: 3_600_000_000_000, skew: 0.0 };
    let made = transfer(&Options { renumbered: 123_456_789, there, clock, ..Options::default() });
    let (joined, _) = join(&made.sender, &made.receiver, false);
    assert_eq!(counts(&joined.forward), truths(&made.there));
    assert_eq!(counts(&joined.reverse), truths(&made.back));
    assert!(joined.changes.iter().any(|change| change.field == ChangedField::SequenceNumbers));
}

#[test]
fn the_queue_is_in_the_direction_whose_delay_grows() {
    for (there, back) in [(0.05, 0.0), (0.0, 0.05)] {
        let made = transfer(&Options { queue_s: (there, back), ..Options::default() });
        let (joined, _) = join(&made.sender, &made.receiver, false);
        let wanted = if there > back {
            maxseg_core::evidence::Direction::Forward
        } else {
            maxseg_core::evidence::Direction::Reverse
        };
        assert_eq!(joined.queued_direction(), Some(wanted));
        let most = joined.passage(wanted).delay.unwrap().queue_max_s;
        assert!((most - 0.05).abs() < 0.005, "{most}");
    }
}

#[test]
fn captures_that_do_not_fit_are_refused() {
    let made = transfer(&Options::default());
    let other = transfer(&Options { seed: 99, ..Options::default() });
    let refused = |first: &[u8], second: &[u8]| match read([first, second]) {
        Err(PairError::Join(error)) => error,
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(&made.sender, &made.sender), JoinError::SameCapture);
    assert_eq!(refused(&made.sender, &other.receiver), JoinError::NothingShared);
    let stepped = transfer(&Options { step_s: 5.0, ..Options::default() });
    assert_eq!(refused(&stepped.sender, &stepped.receiver), JoinError::ClockWasSet);
}
