use super::*;

/// Segments of this payload, pushed or not, a millisecond apart.
fn app_limited(segments: &[(i64, bool)]) -> Time {
    let mut sender = SenderReplay::new(0, 10_000_000, 1448, 0, Some(1_000_000));
    let (mut at, mut end) = (0, 0);
    for (payload, is_pushed) in segments.iter().copied() {
        at += 1_000_000;
        end += payload;
        sender.on_send(NewSegment {
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
        });
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
