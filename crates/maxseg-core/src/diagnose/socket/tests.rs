use super::*;
use crate::diagnose::FindingKind;
use crate::evidence::{Bin, BufferFill, RateSpread};
use crate::units::Time;

/// A second of a transfer at 10 Mbit/s over 50 ms, its congestion window full, in an interval between two samples.
pub(super) fn transfer() -> SocketEvidence {
    let state = SocketState {
        mss_bytes: 1448,
        cwnd_segments: 43,
        cwnd_before_segments: Some(42),
        ssthresh_segments: Some(30),
        in_flight_segments: 43,
        unsent_bytes: Some(100_000),
        window_bytes: Some(3_000_000),
        rtt: Time::from_millis(51),
        min_rtt: Some(Time::from_millis(50)),
        is_app_limited: Some(false),
        has_sack: true,
        send_buffer: Some(BufferFill { used: 200_000, limit: 4_000_000 }),
        ..SocketState::default()
    };
    let bin = Bin {
        duration: Time::from_secs(1),
        sent_bytes: 1_250_000,
        acked_bytes: 1_250_000,
        ..Bin::default()
    };
    SocketEvidence { bin, state, ..SocketEvidence::default() }
}

pub(super) fn diagnosed(change: impl FnOnce(&mut SocketEvidence)) -> SocketDiagnosis {
    let mut evidence = transfer();
    change(&mut evidence);
    diagnose_socket(&evidence)
}

/// A second in which nothing moves.
pub(super) fn still(e: &mut SocketEvidence) {
    e.bin = Bin { duration: Time::from_secs(1), idle: Time::from_secs(1), ..Bin::default() };
    e.state.in_flight_segments = 0;
    e.state.unsent_bytes = Some(0);
}

pub(super) fn limit(change: impl FnOnce(&mut SocketEvidence)) -> LimitedBy {
    let diagnosis = diagnosed(change);
    let is_unknown = diagnosis.limited_by == LimitedBy::Unknown;
    assert_eq!(is_unknown, diagnosis.unknown_because.is_some());
    assert_eq!(is_unknown, diagnosis.confidence == 0.0);
    diagnosis.limited_by
}

/// A reply of one segment that was lost, and `rto_min 2s` of the route: `ss` has `unacked:1` and `timer:(on,1.796ms)` (Linux 6.18).
#[test]
fn what_waits_for_the_timer_is_not_the_applications_lack() {
    let waits = |for_ms| {
        move |e: &mut SocketEvidence| {
            (e.bin.sent_bytes, e.bin.acked_bytes) = (1_000, 0);
            (e.state.in_flight_segments, e.state.unacked_segments) = (1, 1);
            e.state.unsent_bytes = Some(0);
            e.state.is_app_limited = Some(true);
            e.state.unanswered_for = Some(Time::from_millis(for_ms));
        }
    };
    assert_eq!(limit(waits(900)), LimitedBy::Rto);
    assert_eq!(limit(waits(200)), LimitedBy::Application, "the acknowledgement may be delayed");
}

#[test]
fn what_the_kernel_counts_is_the_limit() {
    let window = |e: &mut SocketEvidence| e.bin.rwnd_limited = Time::from_millis(900);
    assert_eq!(limit(window), LimitedBy::ReceiveWindow);
    let buffer = |e: &mut SocketEvidence| e.bin.sndbuf_limited = Time::from_millis(900);
    assert_eq!(limit(buffer), LimitedBy::SendBuffer);
    assert_eq!(limit(|e| e.bin.idle = Time::from_millis(900)), LimitedBy::Application);
}

#[test]
fn an_empty_buffer_is_the_applications_only_where_it_was_not_the_limit() {
    let empty = |e: &mut SocketEvidence| {
        e.state.unsent_bytes = Some(0);
        e.state.in_flight_segments = 20;
        e.state.is_app_limited = Some(true);
    };
    assert_eq!(limit(empty), LimitedBy::Application);
    let was_full = |e: &mut SocketEvidence| {
        empty(e);
        e.bin.sndbuf_limited = Time::from_millis(400);
    };
    assert_eq!(limit(was_full), LimitedBy::Unknown);
}

#[test]
fn a_window_that_keeps_the_link_full_is_not_the_limit() {
    let queued = |e: &mut SocketEvidence| {
        e.bin.rwnd_limited = Time::from_millis(900);
        e.bin.in_flight_max = 60_000;
        e.state.window_bytes = Some(61_000);
        e.state.rtt = Time::from_millis(120);
    };
    assert_eq!(limit(queued), LimitedBy::Bandwidth);
    let read_slowly = |e: &mut SocketEvidence| {
        queued(e);
        e.bin.in_flight_max = 1_448;
    };
    assert_eq!(limit(read_slowly), LimitedBy::ReceiveWindow, "the path does not hold the window");
    let read_in_turns = |e: &mut SocketEvidence| {
        queued(e);
        e.state.delivery_bps = Some(30e6);
    };
    assert_eq!(limit(read_in_turns), LimitedBy::ReceiveWindow, "the link delivers faster");
    // At each look the buffer has another room (simulated, a reader of 21 Mbit/s behind 78).
    let varies = |e: &mut SocketEvidence| {
        queued(e);
        e.spread = Some(RateSpread {
            rtt_median: e.state.rtt,
            window_shrinks: true,
            ..RateSpread::default()
        });
    };
    assert_eq!(limit(varies), LimitedBy::ReceiveWindow, "its reader is behind");
    let unseen = |e: &mut SocketEvidence| {
        queued(e);
        e.state.has_sack = false;
    };
    assert_eq!(limit(unseen), LimitedBy::Unknown, "a packet may have overtaken others");
    let overtaken = |e: &mut SocketEvidence| {
        queued(e);
        e.state.reorderings = 4;
    };
    assert_eq!(limit(overtaken), LimitedBy::ReceiveWindow, "the least round trip is no packet's");
    let closed = |e: &mut SocketEvidence| {
        queued(e);
        e.state.window_bytes = Some(0);
    };
    assert_eq!(limit(closed), LimitedBy::ReceiveWindow, "a shut window fills no link");
}

/// 10 Mbit/s at most, of which a reader that takes 20 kB at a time leaves 1.6: numbers of Linux 6.18.
#[test]
fn a_slow_reader_delays_acknowledgements_and_no_queue_does() {
    let read = |e: &mut SocketEvidence| {
        e.bin.rwnd_limited = Time::from_millis(970);
        e.bin.acked_bytes = 195_000;
        e.bin.in_flight_max = 14 * 1_448;
        e.state.window_bytes = Some(21_376);
        e.state.delivery_bps = Some(1.66e6);
        (e.state.rtt, e.state.min_rtt) = (Time::from_millis(87), Some(Time::from_millis(40)));
        e.state.rtt_deviation = Time::from_millis(2);
    };
    assert_eq!(limit(read), LimitedBy::ReceiveWindow, "less than a window in each round trip");
    let full = |e: &mut SocketEvidence| {
        read(e);
        e.bin.acked_bytes = 246_000;
    };
    assert_eq!(limit(full), LimitedBy::Bandwidth, "a window in each round trip");
    let varies = |e: &mut SocketEvidence| {
        full(e);
        e.state.rtt_deviation = Time::from_millis(30);
    };
    assert_eq!(limit(varies), LimitedBy::ReceiveWindow, "a queue that a window holds stands still");
    let alone = |e: &mut SocketEvidence| {
        full(e);
        e.is_since_start = true;
    };
    assert_eq!(limit(alone), LimitedBy::Unknown, "one sample does not tell");
    let seldom = |e: &mut SocketEvidence| {
        read(e);
        e.bin.rwnd_limited = Time::from_millis(500);
    };
    assert_eq!(limit(seldom), LimitedBy::Bandwidth, "the window was full for half of the time");
}

/// 5 Mbit/s in writes of 8000 bytes, over a buffer that has its first size still.
#[test]
fn a_buffer_that_would_grow_has_held_nobody_up() {
    let clocked = |e: &mut SocketEvidence| {
        e.state.unsent_bytes = Some(72);
        e.state.in_flight_segments = 17;
        e.state.is_app_limited = Some(true);
        e.state.send_buffer = Some(BufferFill { used: 33_224, limit: 46_080 });
    };
    assert_eq!(limit(clocked), LimitedBy::Unknown, "who set the buffer is not known");
    let growing = |e: &mut SocketEvidence| {
        clocked(e);
        e.state.send_buffer_grows = Some(true);
    };
    assert_eq!(limit(growing), LimitedBy::Application);
    let set = |e: &mut SocketEvidence| {
        clocked(e);
        e.state.send_buffer_grows = Some(false);
    };
    assert_eq!(limit(set), LimitedBy::Unknown, "it has room for the next write");
    let counted = |e: &mut SocketEvidence| {
        clocked(e);
        e.bin.sndbuf_limited = Time::from_millis(300);
    };
    assert_eq!(limit(counted), LimitedBy::SendBuffer);
    let mut evidence = transfer();
    growing(&mut evidence);
    let inferred = diagnose_socket(&evidence).confidence;
    evidence.bin.idle = Time::from_secs(1);
    assert!(inferred < diagnose_socket(&evidence).confidence);
}

#[test]
fn what_holds_the_congestion_window_down() {
    assert_eq!(limit(|_| ()), LimitedBy::Unknown, "no loss, no queue");
    assert_eq!(limit(|e| e.state.rtt = Time::from_millis(90)), LimitedBy::Bandwidth);
    assert_eq!(limit(|e| e.bin.losses = 4), LimitedBy::Congestion);
    assert_eq!(limit(|e| e.state.timeouts_in_a_row = 3), LimitedBy::Rto);
    assert_eq!(limit(|e| e.state.bbr_pacing_gain = Some(1.0)), LimitedBy::Bandwidth);
    assert_eq!(limit(|e| e.state.bbr_pacing_gain = Some(2.89)), LimitedBy::StartUp);
    assert_eq!(limit(|e| e.state.pacing_limit_bps = Some(10.5e6)), LimitedBy::Paced);
    let slow_start = |e: &mut SocketEvidence| {
        e.state.ssthresh_segments = None;
        e.state.cwnd_before_segments = Some(20);
    };
    assert_eq!(limit(slow_start), LimitedBy::StartUp);
}

#[test]
fn room_in_the_congestion_window_is_left_by_the_buffer_or_the_application() {
    let room = |e: &mut SocketEvidence| {
        e.state.unsent_bytes = Some(0);
        e.state.in_flight_segments = 12;
        e.bin.losses = 3;
    };
    let small = |e: &mut SocketEvidence| {
        room(e);
        e.state.send_buffer = Some(BufferFill { used: 48_000, limit: 46_080 });
        e.state.send_buffer_grows = Some(false);
    };
    assert_eq!(limit(small), LimitedBy::SendBuffer);
    let writes_little = |e: &mut SocketEvidence| {
        room(e);
        e.state.is_app_limited = Some(true);
    };
    assert_eq!(limit(writes_little), LimitedBy::Application);
    assert_eq!(
        limit(room),
        LimitedBy::Application,
        "the buffer has room, and the kernel asks for more"
    );
    let unsure = |e: &mut SocketEvidence| {
        room(e);
        e.state.send_buffer = None;
    };
    assert_eq!(limit(unsure), LimitedBy::Unknown);
    let rest = |e: &mut SocketEvidence| {
        room(e);
        e.state.unsent_bytes = Some(300);
    };
    assert_eq!(limit(rest), LimitedBy::Application, "less than a segment waits for more");
    let repairs = |e: &mut SocketEvidence| {
        small(e);
        e.state.is_recovering = true;
    };
    assert_eq!(limit(repairs), LimitedBy::Congestion, "the buffer holds what was lost");
}

#[test]
fn a_queue_that_drains_between_losses_is_no_full_link() {
    let losses = |e: &mut SocketEvidence| {
        e.bin.losses = 40;
        e.state.rtt = Time::from_millis(120);
        e.state.delivery_bps = Some(10e6);
    };
    assert_eq!(limit(losses), LimitedBy::Bandwidth);
    let seldom_full = |e: &mut SocketEvidence| {
        losses(e);
        e.state.delivery_bps = Some(20e6);
    };
    assert_eq!(limit(seldom_full), LimitedBy::Congestion);
}

#[test]
fn what_arrives_is_limited_here_only_by_a_reader_that_is_behind() {
    let receives = |e: &mut SocketEvidence| {
        e.bin = Bin { duration: Time::from_secs(1), ..Bin::default() };
        e.received_bytes = 1_000_000;
    };
    assert_eq!(limit(receives), LimitedBy::Unknown);
    let behind = |e: &mut SocketEvidence| {
        receives(e);
        e.state.unread_bytes = 60_000;
        e.state.receive_buffer = Some(BufferFill { used: 100_000, limit: 131_072 });
    };
    assert_eq!(limit(behind), LimitedBy::ReceiveWindow);
    let keeps_up = |e: &mut SocketEvidence| {
        behind(e);
        e.state.unread_bytes = 0;
    };
    assert_eq!(limit(keeps_up), LimitedBy::Unknown);
}

#[test]
fn a_connection_that_is_not_established_has_no_limit() {
    let opening = |e: &mut SocketEvidence| e.state.is_opening = true;
    assert_eq!(limit(opening), LimitedBy::Unknown);
}

#[test]
fn two_limits_that_share_the_time_are_unknown() {
    let mixed = |e: &mut SocketEvidence| {
        e.bin.rwnd_limited = Time::from_millis(500);
        e.bin.sndbuf_limited = Time::from_millis(500);
    };
    assert_eq!(limit(mixed), LimitedBy::Unknown);
    let nothing = |e: &mut SocketEvidence| e.bin.duration = Time::ZERO;
    assert_eq!(limit(nothing), LimitedBy::Unknown);
}

#[test]
fn full_segments_that_vanish_alone_are_too_large_for_the_path() {
    // Four full segments and a small one behind them, which SACK names.
    let hole = |e: &mut SocketEvidence| {
        e.bin.acked_bytes = 0;
        e.bin.in_flight_max = 4 * 1448 + 100;
        e.state.timeouts_in_a_row = 3;
        (e.state.unacked_segments, e.state.sacked_segments) = (5, 1);
        (e.state.ever_acked_bytes, e.state.ever_delivered_segments) = (Some(101), Some(3));
    };
    assert_eq!(limit(hole), LimitedBy::PathMtu);
    let told = |change: &dyn Fn(&mut SocketEvidence)| {
        let mut evidence = transfer();
        hole(&mut evidence);
        change(&mut evidence);
        let found = socket_findings(&evidence);
        let hole = found.into_iter().find(|found| found.kind == FindingKind::BlackHole);
        (diagnose_socket(&evidence).limited_by, hole.map(|found| found.text))
    };
    let found = |change: &dyn Fn(&mut SocketEvidence)| {
        let (limit, hole) = told(change);
        (limit, hole.is_some())
    };
    let one_timeout = |e: &mut SocketEvidence| e.state.timeouts_in_a_row = 1;
    assert_eq!(found(&one_timeout), (LimitedBy::Rto, false), "a loss");
    let large_arrive = |e: &mut SocketEvidence| {
        e.bin.in_flight_max = 5 * 1448;
        e.state.ever_acked_bytes = Some(3 * 1448);
    };
    assert_eq!(found(&large_arrive), (LimitedBy::Rto, false), "what SACK names is full");
    let nothing_back = |e: &mut SocketEvidence| e.state.sacked_segments = 0;
    assert_eq!(found(&nothing_back), (LimitedBy::Rto, true), "possible");
    let text = told(&nothing_back).1.unwrap();
    assert!(text.contains("those that arrived before had 50 bytes on average"), "{text}");
    let handshake = |e: &mut SocketEvidence| {
        nothing_back(e);
        (e.state.ever_acked_bytes, e.state.ever_delivered_segments) = (Some(1), Some(1));
    };
    let text = told(&handshake).1.unwrap();
    assert!(text.contains("nothing has arrived since the handshake"), "{text}");
    let went_later = |e: &mut SocketEvidence| {
        e.state.sacked_segments = 0;
        (e.state.ever_acked_bytes, e.state.ever_delivered_segments) = (Some(900_000), Some(640));
    };
    assert_eq!(found(&went_later), (LimitedBy::Rto, false), "full segments have arrived");
}

#[test]
fn probes_are_of_a_closed_window_only_where_the_window_has_no_room() {
    let probes = |window: u32, unsent: u32| {
        let mut evidence = transfer();
        evidence.bin.acked_bytes = 0;
        evidence.state.window_probes = 4;
        (evidence.state.in_flight_segments, evidence.state.unacked_segments) = (0, 0);
        (evidence.state.window_bytes, evidence.state.unsent_bytes) = (Some(window), Some(unsent));
        let findings = socket_findings(&evidence);
        let kinds: Vec<_> = findings.iter().map(|found| found.kind).collect();
        (diagnose_socket(&evidence), kinds)
    };
    let (closed, kinds) = probes(0, 100_000);
    assert_eq!(
        (closed.limited_by, kinds),
        (LimitedBy::ReceiveWindow, vec![FindingKind::ZeroWindow])
    );
    let (small, _) = probes(700, 100_000);
    assert_eq!(small.limited_by, LimitedBy::ReceiveWindow, "no full segment fits");
    for (window, unsent) in [(2_126_848, 100_000), (70_656, 1_000), (1_000, 1_000)] {
        let (failed, kinds) = probes(window, unsent);
        let why = failed.unknown_because.unwrap();
        assert!(why.starts_with("this host cannot send: it has tried 4 times"), "{why}");
        assert_eq!(kinds, [], "nothing is the peer's");
    }
    let (idle, kinds) = probes(70_656, 0);
    assert_ne!(idle.limited_by, LimitedBy::ReceiveWindow);
    assert_eq!(kinds, [FindingKind::KeepAlive], "an idle connection whose peer does not answer");
}
