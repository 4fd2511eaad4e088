//! Evidence of made-up connections: thirty seconds over 20 Mbit/s and 80 ms.

use maxseg_core::evidence::{
    AckPoint, Bin, Bins, BlackHole, CaptureFacts, Cause, Direction, DirectionStats, Ending, Event,
    EventKind, Events, Evidence, Handshake, Marks, OptionKind, PathMtuEvent, SegmentPoint,
    SynFacts, Trace,
};
use maxseg_core::units::Time;

/// The time of the first packet, in nanoseconds since 1970.
pub const BEGIN: u64 = 1_700_000_000_000_000_000;
const INTERVAL_MS: u64 = 100;
const INTERVALS: u64 = 300;
/// Intervals of slow start.
const START_UP: u64 = 15;
/// Payload that a link of 20 Mbit/s carries in an interval.
const LINK_BYTES: u64 = 20_000_000 / 8 * 1448 / 1500 * INTERVAL_MS / 1000;
/// Payload that a window of 65 535 bytes allows in an interval at a round trip of 80 ms.
const BYTES_AN_INTERVAL: u64 = 65_535 * INTERVAL_MS / 80;

/// A time so many milliseconds after [`BEGIN`].
pub fn at(ms: u64) -> Time {
    Time::from_nanos(BEGIN + ms * 1_000_000)
}

/// A SYN of Linux, or its answer, with or without a window scale.
pub fn linux_syn(is_answer: bool, window_scale: Option<u8>) -> SynFacts {
    use OptionKind::{Mss, NoOperation, SackPermitted, Timestamps, WindowScale};
    let scale: &[OptionKind] =
        if window_scale.is_some() { &[NoOperation, WindowScale] } else { &[] };
    let order = [Mss, SackPermitted, Timestamps].iter().chain(scale).copied().collect();
    let window = if is_answer { 65_160 } else { 64_240 };
    SynFacts {
        ttl: 64,
        window,
        mss: Some(1460),
        window_scale,
        order,
        is_answer,
        ..SynFacts::default()
    }
}

/// Thirty seconds over 20 Mbit/s and 80 ms with a window of 65 535 bytes without scaling: 4% in slow start, then limited
/// by the receive window.
///
/// # Panics
/// Never: the addresses are valid.
pub fn windowed(id: u32) -> Evidence {
    let mut in_flight = 2_000;
    let mut bins = Bins::new(at(0), Time::from_millis(INTERVAL_MS));
    for interval in 0..INTERVALS {
        let is_start_up = interval < START_UP;
        in_flight = if is_start_up { in_flight * 13 / 10 } else { 65_160 };
        *bins.at(at(interval * INTERVAL_MS)) = Bin {
            at: at(interval * INTERVAL_MS),
            duration: Time::from_millis(INTERVAL_MS),
            sent_bytes: BYTES_AN_INTERVAL,
            acked_bytes: BYTES_AN_INTERVAL,
            segments: 57,
            in_flight_max: in_flight.min(65_160),
            window_left_min: Some(65_535 - in_flight.min(65_160)),
            window_max: 65_535,
            rwnd_limited: Time::from_millis(if is_start_up { 0 } else { INTERVAL_MS }),
            rtt_count: 57,
            rtt_sum: Time::from_millis(57 * 81),
            rtt_min: Some(Time::from_millis(80)),
            ..Bin::default()
        };
    }
    let bytes = BYTES_AN_INTERVAL * INTERVALS;
    let events = two_events();
    let seconds = INTERVALS as f64 * INTERVAL_MS as f64 / 1e3;
    Evidence {
        id,
        client: "10.0.0.1:40000".parse().expect("a valid address"),
        server: "10.0.0.2:443".parse().expect("a valid address"),
        begin: at(0),
        end: at(INTERVALS * INTERVAL_MS + 100),
        handshake: Handshake {
            syn: true,
            syn_ack: true,
            server_rtt: Some(Time::from_millis(80)),
            client_rtt: Some(Time::ZERO),
            ..Handshake::default()
        },
        ending: Ending::Closed,
        reset_at: None,
        reset_is_other_path: false,
        silence: None,
        requests: None,
        forward: DirectionStats {
            packets: 17_000,
            data_packets: bytes / 1448,
            payload_bytes: bytes,
            ip_bytes: bytes / 1448 * 1500,
            mss_option_bytes: Some(1460),
            timestamps: true,
            sack_permitted: true,
            syn: Some(linux_syn(false, None)),
            largest_segment_bytes: 1448,
            mss_used_bytes: Some(1448),
            unique_bytes: bytes,
            acked_bytes: bytes,
            window_full: 2000,
            window_max_bytes: Some(64_240),
            path_rtt_min_s: Some(0.08),
            path_rtt_mean_s: Some(0.081),
            // Captured at the receiver.
            rtt_min_s: Some(0.0001),
            rtt_mean_s: Some(0.0002),
            in_flight_max_bytes: 65_160,
            goodput_bps: Some(8.0 * bytes as f64 / seconds),
            efficiency: Some(1448.0 / 1500.0),
            capacity_bps: Some(20e6 * 1448.0 / 1500.0),
            first_data: Some(at(0)),
            last_ack: Some(at(INTERVALS * INTERVAL_MS)),
            bins,
            events,
            trace: None,
            ..DirectionStats::default()
        },
        reverse: DirectionStats {
            packets: 8_500,
            mss_option_bytes: Some(1460),
            timestamps: true,
            sack_permitted: true,
            syn: Some(linux_syn(true, None)),
            window_min_bytes: Some(60_000),
            window_max_bytes: Some(65_535),
            ..DirectionStats::default()
        },
        path_mtu_events: Vec::new(),
        unreachable: Vec::new(),
        marks: Marks::default(),
        capture: CaptureFacts::default(),
        joined: None,
        beside: None,
    }
}

/// A full window, and a retransmission.
fn two_events() -> Events {
    let mut events = Events::default();
    events.note(Event {
        kind: EventKind::WindowFull,
        at: at(400),
        frame: 50,
        offset: 65_000,
        bytes: 1448,
        lasted: Time::from_millis(20),
    });
    events.note(Event {
        kind: EventKind::Retransmission(Cause::Fast),
        at: at(5000),
        frame: 900,
        offset: 400_000,
        bytes: 1448,
        lasted: Time::ZERO,
    });
    events
}

/// Thirty seconds over the same path with a window scale of 7, limited by the full link.
pub fn full_link(id: u32) -> Evidence {
    let mut evidence = windowed(id);
    let bytes = LINK_BYTES * INTERVALS;
    let mut bins = Bins::new(at(0), Time::from_millis(INTERVAL_MS));
    for bin in evidence.forward.bins.as_slice() {
        *bins.at(bin.at) = Bin {
            sent_bytes: LINK_BYTES,
            acked_bytes: LINK_BYTES,
            segments: 167,
            in_flight_max: 400_000,
            window_left_min: Some(600_000),
            window_max: 1_000_000,
            rwnd_limited: Time::ZERO,
            rtt_count: 167,
            rtt_sum: Time::from_millis(167 * 160),
            ..*bin
        };
    }
    let forward = &mut evidence.forward;
    forward.window_scale = Some(7);
    forward.syn = Some(linux_syn(false, Some(7)));
    forward.data_packets = bytes / 1448;
    (forward.payload_bytes, forward.unique_bytes, forward.acked_bytes) = (bytes, bytes, bytes);
    forward.window_full = 0;
    forward.in_flight_max_bytes = 400_000;
    forward.path_rtt_mean_s = Some(0.16);
    forward.goodput_bps = Some(8.0 * bytes as f64 / 30.0);
    forward.bins = bins;
    evidence.reverse.window_scale = Some(7);
    evidence.reverse.syn = Some(linux_syn(true, Some(7)));
    evidence.reverse.window_max_bytes = Some(1_000_000);
    evidence.reverse.window_min_bytes = Some(900_000);
    evidence
}

/// Adds a trace: the segments of the first two seconds, one of them retransmitted.
pub fn traced(mut evidence: Evidence) -> Evidence {
    let mut trace = Trace::default();
    for n in 0..1000_u64 {
        let when = at(n * 2);
        let point = SegmentPoint {
            at: when,
            frame: 10 + n,
            offset: n * 1448,
            bytes: 1448,
            is_resent: n == 500,
        };
        trace.on_segment(point, 65_160);
        trace.on_ack(AckPoint {
            at: when,
            frame: 2000 + n,
            offset: n * 1448,
            edge: Some(n * 1448 + 65_535),
        });
        trace.rtts.note((when, Time::from_millis(81)), false);
    }
    evidence.forward.trace = Some(Box::new(trace));
    evidence
}

/// A message that packets of this direction are too big for the next hop, which takes 1400 bytes.
///
/// # Panics
/// Never: the address is valid.
pub fn packet_too_big(evidence: &Evidence, direction: Direction) -> PathMtuEvent {
    PathMtuEvent {
        at: at(500),
        frame: 60,
        hop: "10.0.0.9".parse().expect("a valid address"),
        mtu_bytes: 1400,
        quoted: Some((evidence.sender(direction), evidence.receiver(direction))),
        packet_bytes: 1500,
        connection: Some(evidence.id),
    }
}

/// A hop before the capture dropped a full segment: it came in pieces, and no transmission of it whole.
pub const fn black_hole_before() -> BlackHole {
    BlackHole {
        from: Time::ZERO,
        to: Time::from_millis(1),
        frame: 3,
        segment_bytes: 1460,
        repeats: 0,
        passed_bytes: 1024,
        passed_before_bytes: 0,
    }
}
