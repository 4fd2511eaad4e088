//! The observed path.

use maxseg_core::advise::{Case, Confidence, ObservedPath, PathError};
use maxseg_core::evidence::{Direction, Evidence};
use maxseg_testkit::{full_link, packet_too_big, windowed};

#[test]
fn a_path_has_the_measured_values() {
    let evidence = windowed(0);
    let path = ObservedPath::of(&Case::of(&evidence)).unwrap();
    assert_eq!((path.segment.value, path.headers(), path.timestamps), (1448, 52, true));
    // 20 Mbit/s with headers: trains of 1448 bytes left at 1448/1500 of it.
    assert!((path.rate_bps.value / 20e6 - 1.0).abs() < 1e-3, "{:?}", path.rate_bps);
    assert!(path.rate_is_seen);
    assert!((path.rtt_s.value - 0.08).abs() < 1e-9);
    assert_eq!(path.window_bytes.value, 65_535);
    assert_eq!(path.loss.value.to_bits(), 0.0_f64.to_bits());
    assert_eq!((path.queue_bytes.value, path.queue_bytes.confidence), (200_000, Confidence::Low));
    assert!(path.send_buffer.is_none() && path.read_rate_bps.is_none());
}

#[test]
fn spurious_retransmissions_are_no_loss() {
    let mut evidence = windowed(0);
    evidence.forward.data_packets = 1000;
    evidence.forward.retransmitted_packets = 30;
    evidence.forward.spurious_retransmissions = 19;
    evidence.forward.resent.control = 1;
    let path = ObservedPath::of(&Case::of(&evidence)).unwrap();
    assert!((path.loss.value - 0.01).abs() < 1e-12);
}

#[test]
fn a_missing_value_is_named() {
    let mut evidence = windowed(0);
    evidence.forward.goodput_bps = None;
    assert_eq!(ObservedPath::of(&Case::of(&evidence)), Err(PathError::NoGoodput));
}

#[test]
fn the_path_mtu_of_the_reverse_direction_is_not_that_of_the_data() {
    let mut evidence = windowed(0);
    let mtu = |evidence: &Evidence| ObservedPath::of(&Case::of(evidence)).unwrap().mtu;
    let before = mtu(&evidence);
    evidence.path_mtu_events.push(packet_too_big(&evidence, Direction::Reverse));
    assert_eq!(mtu(&evidence), before);
    evidence.path_mtu_events.push(packet_too_big(&evidence, Direction::Forward));
    assert_eq!((mtu(&evidence).value, mtu(&evidence).confidence), (1400, Confidence::High));
}

/// Where a repaired loss, or one acknowledgement of many joined segments, makes an interval fast, and those around it slow, the link
/// that is full all the time is no faster than the connection.
#[test]
fn a_full_link_carries_what_the_connection_did() {
    let mut evidence = full_link(0);
    evidence.forward.capacity_bps = None;
    let begins: Vec<_> = evidence.forward.bins.as_slice().iter().map(|bin| bin.at).collect();
    for (n, at) in begins.into_iter().enumerate() {
        let times = [3, 0, 0, 1, 1, 1, 1, 1][n % 8];
        evidence.forward.bins.at(at).acked_bytes *= times;
    }
    let path = ObservedPath::of(&Case::of(&evidence)).unwrap();
    let rate = path.rate_bps.value / 20e6;
    assert!((0.95..1.15).contains(&rate), "{:?}", path.rate_bps);
}
