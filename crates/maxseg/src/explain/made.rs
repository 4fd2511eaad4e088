//! Evidence made by hand, for tests of what is shown of it.

use maxseg_core::diagnose::{Diagnosis, Finding, FindingKind, LimitSpan, Number, Severity};
use maxseg_core::evidence::{
    AckPoint, Bin, Bins, Cause, Direction, DirectionStats, Ending, Event, EventKind, Events,
    Evidence, Handshake, Marks, SegmentPoint, Trace,
};
use maxseg_core::outcome::{LimitShare, LimitedBy};
use maxseg_core::units::Time;
use maxseg_wire::capture_file::Format;
use maxseg_wire::flow::FragmentCounts;
use maxseg_wire::reading::{CaptureSummary, FileFacts};
use maxseg_wire::tshark::ConnectionCounts;

use super::Explanation;

/// When it begins.
pub(crate) const BEGIN: u64 = 1_700_000_000_000_000_000;
const INTERVAL_MS: u64 = 100;
const INTERVALS: u64 = 300;
/// What a window of 65 535 bytes lets through in an interval at a round trip of 80 ms.
const BYTES_AN_INTERVAL: u64 = 65_535 * INTERVAL_MS / 80;

pub(crate) fn at(ms: u64) -> Time {
    Time::from_nanos(BEGIN + ms * 1_000_000)
}

/// Thirty seconds over 20 Mbit/s and 80 ms with a window of 65 535 bytes, never scaled.
pub(crate) fn windowed(id: u32) -> Evidence {
    let mut bins = Bins::new(at(0), Time::from_millis(INTERVAL_MS));
    for interval in 0..INTERVALS {
        *bins.at(at(interval * INTERVAL_MS)) = Bin {
            at: at(interval * INTERVAL_MS),
            duration: Time::from_millis(INTERVAL_MS),
            sent_bytes: BYTES_AN_INTERVAL,
            acked_bytes: BYTES_AN_INTERVAL,
            segments: 57,
            in_flight_max: 65_160,
            window_left_min: Some(375),
            window_max: 65_535,
            window_shut: Time::from_millis(INTERVAL_MS),
            rtt_count: 57,
            rtt_sum: Time::from_millis(57 * 81),
            rtt_min: Some(Time::from_millis(80)),
            ..Bin::default()
        };
    }
    let bytes = BYTES_AN_INTERVAL * INTERVALS;
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
    let seconds = INTERVALS as f64 * INTERVAL_MS as f64 / 1e3;
    Evidence {
        id,
        client: "10.0.0.1:40000".parse().unwrap(),
        server: "10.0.0.2:443".parse().unwrap(),
        begin: at(0),
        end: at(INTERVALS * INTERVAL_MS + 100),
        handshake: Handshake {
            syn: true,
            syn_ack: true,
            server_rtt: Some(Time::from_millis(80)),
            client_rtt: Some(Time::ZERO),
        },
        ending: Ending::Closed,
        forward: DirectionStats {
            packets: 17_000,
            data_packets: bytes / 1448,
            payload_bytes: bytes,
            ip_bytes: bytes / 1448 * 1500,
            mss_option_bytes: Some(1460),
            timestamps: true,
            sack_permitted: true,
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
            window_min_bytes: Some(60_000),
            window_max_bytes: Some(65_535),
            ..DirectionStats::default()
        },
        path_mtu_events: Vec::new(),
        marks: Marks::default(),
    }
}

/// With a point for each of its segments in its first two seconds, one of them sent again.
pub(crate) fn traced(mut evidence: Evidence) -> Evidence {
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
        trace.segments.push(point);
        trace.acks.push(AckPoint { at: when, offset: n * 1448, edge: n * 1448 + 65_535 });
        trace.rtts.push((when, Time::from_millis(81)));
        trace.in_flight.push((when, 65_160));
    }
    evidence.forward.trace = Some(Box::new(trace));
    evidence
}

pub(crate) fn finding(kind: FindingKind, severity: Severity) -> Finding {
    Finding {
        kind,
        severity,
        way: Some(Direction::Forward),
        from: at(400),
        to: at(29_000),
        evidence: vec![
            Number { name: "window_bytes", value: 65_535.0 },
            Number { name: "share", value: 0.9 },
        ],
        frames: vec![50, 60, 70],
        text: "The window never exceeded 65 535 bytes, and the path holds 200 000.".to_owned(),
        why: "A sender may not have more in flight than the window.",
        advice: "Turn window scaling on at both ends.".to_owned(),
        source: "RFC 7323 §2",
    }
}

/// Limited by its window; by bandwidth where the capture stood before offload, so that tests have both.
pub(crate) fn judge(evidence: &Evidence) -> Diagnosis {
    let (kind, findings) = if evidence.marks.offloaded {
        (LimitedBy::Bandwidth, Vec::new())
    } else {
        (LimitedBy::ReceiveWindow, vec![finding(FindingKind::WindowClamped, Severity::Problem)])
    };
    Diagnosis {
        way: evidence.data_way(),
        limits: vec![
            LimitShare { kind, share: 0.9 },
            LimitShare { kind: LimitedBy::StartUp, share: 0.1 },
        ],
        spans: vec![LimitSpan { from: at(0), to: at(30_000), kind }],
        limited_by: Some(kind),
        findings,
    }
}

/// Whether shares sum up to one.
pub(crate) fn limited(diagnosis: &Diagnosis) -> bool {
    (diagnosis.limits.iter().map(|limit| limit.share).sum::<f64>() - 1.0).abs() < 1e-9
}

/// What a capture of these connections says.
pub(crate) fn explanation(connections: Vec<Evidence>) -> Explanation {
    let file = FileFacts {
        format: Format::Pcap,
        compression: None,
        packets: 25_500,
        bytes: 27_000_000,
        first: Some(at(0)),
        last: Some(at(30_100)),
        interfaces: Vec::new(),
        encapsulations: Vec::new(),
    };
    let capture = CaptureSummary {
        file,
        problems: Vec::new(),
        fragments: FragmentCounts::default(),
        path_mtu_events: Vec::new(),
        untracked_connections: 0,
        tshark: ConnectionCounts::default(),
    };
    let mut explanation = Explanation::new("made.pcap", capture);
    explanation.total_connections = connections.len() as u64;
    explanation.connections = connections;
    explanation.judge = judge;
    explanation
}
