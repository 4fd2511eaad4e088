use super::*;
use crate::flow::segments::Echo;

/// A new segment that no acknowledgement clocked out.
fn segment(at: u64, end: i64, payload: i64, is_pushed: bool) -> NewSegment {
    NewSegment {
        at,
        end,
        payload,
        is_pushed,
        is_recovering: false,
        known: None,
        is_clocked: false,
        at_once: 300_000,
        waited: 0,
        ip_id: None,
    }
}

/// Segments of this payload, pushed or not, a millisecond apart, and a full one behind them.
fn app_limited(segments: &[(i64, bool)]) -> Time {
    app_limited_to_end(&[segments, &[(1448, false)]].concat(), false)
}

/// Segments of this payload, pushed or not, a millisecond apart, each acknowledged before the next or not.
fn app_limited_to_end(segments: &[(i64, bool)], is_acknowledged: bool) -> Time {
    let mut sender = SenderReplay::new(0, 10_000_000, 1448, 0, Some(1_000_000));
    let (mut at, mut end) = (0, 0);
    for (payload, is_pushed) in segments.iter().copied() {
        at += 1_000_000;
        if is_acknowledged {
            sender.on_ack(at, &AckUpdate { una: end, edge: Some(1_000_000), delivered: 0 });
        }
        end += payload;
        sender.on_send(segment(at, end, payload, is_pushed));
    }
    sender.finish(at + 1_000_000);
    let mut all = Time::ZERO;
    for bin in sender.bins.iter() {
        all = all.saturating_add(bin.app_limited);
    }
    all
}

#[test]
fn a_segment_that_carries_sack_blocks_as_well_is_full() {
    assert_eq!(app_limited(&[(1448, false), (1000, true)]), Time::from_millis(1));
    let blocks = [(1436, false), (1448, false), (2896, true), (1448, true), (2896, true)];
    assert_eq!(app_limited(&blocks), Time::ZERO, "12 bytes of options more in the first");
    let narrower = [(1200, false), (1200, false), (2400, true), (1200, true)];
    assert_eq!(app_limited(&narrower), Time::ZERO, "a narrower path");
}

/// Until its last segment is acknowledged, a sender that has sent all waits for nothing.
#[test]
fn a_short_segment_at_the_end_holds_nothing_up() {
    let segments = [(1448, false), (1000, true)];
    assert_eq!(app_limited_to_end(&segments, true), Time::ZERO);
    assert_eq!(app_limited_to_end(&segments, false), Time::from_millis(1), "all in one flight");
}

/// Ten segments, acknowledged; then a second of nothing, a segment, and a round trip later a hole of so many segments.
fn after_pause(first: i64, hole: i64, later_ms: u64) -> (bool, Time, Time) {
    const MILLI: u64 = 1_000_000;
    let mut sender = SenderReplay::new(0, 30 * MILLI, 1448, 0, Some(1_000_000));
    let mut end = 0;
    let mut send = |sender: &mut SenderReplay, at: u64| {
        end += 1448;
        sender.on_send(segment(at, end, 1448, false));
        end
    };
    for n in 0..10 {
        send(&mut sender, n * MILLI);
    }
    sender.on_ack(40 * MILLI, &AckUpdate { una: 14_480, edge: Some(1_000_000), delivered: 14_480 });
    let mut nxt = 14_480;
    for _ in 0..first {
        nxt = send(&mut sender, 1_040 * MILLI);
    }
    let at = (1_040 + later_ms) * MILLI;
    let is_lost = sender.on_hole(at, (nxt, nxt + hole * 1448), 30 * MILLI);
    sender.finish(at);
    let (mut idle, mut waited) = (Time::ZERO, Time::ZERO);
    for bin in sender.bins.iter() {
        (idle, waited) = (idle.saturating_add(bin.idle), waited.saturating_add(bin.rto_wait));
    }
    (is_lost, idle, waited)
}

#[test]
fn a_sender_whose_flight_was_lost_before_the_capture_point_was_not_idle() {
    let second = Time::from_secs(1);
    assert_eq!(after_pause(1, 90, 31), (true, Time::ZERO, second));
    assert_eq!(after_pause(8, 90, 31), (false, second, Time::ZERO), "it sent more at once");
    assert_eq!(after_pause(1, 1, 31), (false, second, Time::ZERO), "one was lost since");
    assert_eq!(after_pause(1, 90, 300), (false, second, Time::ZERO), "a flight was lost since");
}

/// An acknowledgement that opened the window was to have arrived by the least round trip, but a queue held it: its sender
/// echoes the one before.
#[test]
fn a_window_is_full_that_its_sender_knew_to_be() {
    let known = |window| Some(Echo { stamp: 7, window, una: 1448, at: 0 });
    let is_full = |known| {
        let mut sender = SenderReplay::new(0, 10_000_000, 1448, 0, Some(1_000_000));
        sender.on_send(NewSegment { known, ..segment(1_000_000, 10 * 1448, 1448, false) })
    };
    assert!(!is_full(None));
    assert!(is_full(known(9 * 1448)), "it ends where the window does");
    assert!(!is_full(known(10 * 1448)), "another fits in");
    assert!(!is_full(known(0)), "the window's scale is not known");
}
