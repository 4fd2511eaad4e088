//! What hosts and links counted of a run, as an engine tells it.

use maxseg_core::outcome::{LabLink, LimitedBy, LinkOutcome, Outcome};

use super::facts::Facts;
use super::scenario::DATAGRAM_PAYLOAD;
use super::setup::{Cross, INITIAL_SEGMENTS, Setup};
use crate::draws::{Application, Engine};

/// A window is full most of the time from this share of it on, on the average of the time.
const FULL_WINDOW: f64 = 0.85;
/// A datagram of other traffic, with the headers of IPv4 and UDP.
const DATAGRAM_BYTES: f64 = DATAGRAM_PAYLOAD as f64 + 28.0;

/// What an engine tells of a run, as the truth needs it. What it does not tell is zero: then no limit is found.
pub(super) fn facts(setup: &Setup, outcome: &Outcome) -> Facts {
    let own = outcome.flows.first().unwrap_or(outcome);
    let (reply_bytes, ended_itself) = match setup.application {
        Application::Bulk => (None, false),
        Application::Bytes(_) => (None, true),
        Application::Requests { reply_bytes, .. } => (Some(reply_bytes as f64), false),
    };
    let counted = match setup.engine {
        Engine::Lab => Counted::by_kernel(setup, outcome),
        Engine::Sim => Counted::by_simulator(setup, outcome, own),
    };
    Facts {
        lasted_s: outcome.elapsed_s.unwrap_or(0.0) - setup.rtt_s,
        payload_bytes: own.payload_bytes.unwrap_or(0) as f64,
        link_bps: setup.link_payload_bps(),
        base_rtt_s: setup.base_rtt_s(),
        slow_start_s: setup.slow_start_s(setup.path_bytes()),
        initial_window_bytes: INITIAL_SEGMENTS * setup.segment_bytes(),
        segment_bytes: setup.segment_bytes(),
        window_bytes: counted.window_bytes,
        read_bps: setup.read_bps.map(|bps| bps as f64),
        has_send_buffer: setup.send_buffer_bytes.is_some(),
        reply_bytes,
        ended_itself,
        damaged_packets: counted.damaged,
        refused_packets: counted.refused,
        policed_packets: counted.policed,
        line_share: counted.line_share,
        timeouts: own.timeouts.unwrap_or(0),
        busy_s: counted.busy_s,
        window_limited_s: counted.window_limited_s,
        buffer_limited_s: counted.buffer_limited_s,
    }
}

/// What the engines tell in their own ways.
#[derive(Debug, Clone, Copy, Default)]
struct Counted {
    window_bytes: f64,
    damaged: u64,
    refused: u64,
    policed: u64,
    line_share: f64,
    busy_s: f64,
    window_limited_s: f64,
    buffer_limited_s: f64,
}

impl Counted {
    /// By `tcp_info` of the sender, and by the links that carry the lab's packets.
    fn by_kernel(setup: &Setup, outcome: &Outcome) -> Self {
        let Some(lab) = outcome.lab.as_deref() else { return Self::default() };
        let flow = lab.flows.first();
        let dropped = |count: fn(&LabLink) -> u64| -> u64 {
            lab.links.iter().filter(|link| carries_data(&link.link)).map(count).sum()
        };
        let window = flow.and_then(|flow| flow.window_asked.min(flow.window_advertised));
        let line = lab.links.iter().find(|link| link.link == LINE);
        Self {
            window_bytes: window.unwrap_or(0) as f64,
            damaged: dropped(|link| link.damaged),
            refused: dropped(|link| link.refused),
            policed: dropped(|link| link.policed),
            line_share: line.map_or(0.0, |line| share_of_line(line.bytes as f64, setup, outcome)),
            busy_s: flow.and_then(|flow| flow.busy_s).unwrap_or(0.0),
            window_limited_s: flow.and_then(|flow| flow.window_limited_s).unwrap_or(0.0),
            buffer_limited_s: flow.and_then(|flow| flow.buffer_limited_s).unwrap_or(0.0),
        }
    }

    /// By the limits of the simulated sender, and by the simulated links.
    fn by_simulator(setup: &Setup, outcome: &Outcome, own: &Outcome) -> Self {
        let lasted_s = outcome.elapsed_s.unwrap_or(0.0);
        let seconds_of = |kind: LimitedBy| -> f64 {
            let shares = own.limits.iter().filter(|limit| limit.kind == kind);
            shares.map(|limit| limit.share * lasted_s).sum()
        };
        let dropped = |count: fn(&LinkOutcome) -> u64| -> u64 {
            outcome.links.iter().filter(|link| carries_data(&link.link)).map(count).sum()
        };
        let window = setup.window_bytes as f64;
        let in_flight = own.in_flight_mean_bytes.unwrap_or(0.0);
        // As the kernel does, whatever the path carries.
        let window_limited_s = if in_flight >= FULL_WINDOW * window {
            lasted_s
        } else {
            seconds_of(LimitedBy::ReceiveWindow)
        };
        let line = outcome.links.iter().find(|link| link.link == LINE);
        let sent = line.map_or(0, |line| line.sent_packets) as f64;
        let datagrams = match setup.cross {
            Some(Cross::Datagrams(bps)) => (bps as f64 * lasted_s / 8.0 / DATAGRAM_BYTES).min(sent),
            Some(Cross::Transfers(_)) | None => 0.0,
        };
        let bytes = datagrams * DATAGRAM_BYTES + (sent - datagrams) * setup.packet_bytes();
        Self {
            window_bytes: window,
            damaged: dropped(|link| link.damaged),
            refused: dropped(|link| link.refused),
            policed: dropped(|link| link.policed),
            line_share: share_of_line(bytes, setup, outcome),
            busy_s: lasted_s - seconds_of(LimitedBy::Application),
            window_limited_s,
            buffer_limited_s: seconds_of(LimitedBy::SendBuffer),
        }
    }
}

const LINE: &str = "hop.line";

/// Whether a link is one of the data's, not of the acknowledgements'.
fn carries_data(link: &str) -> bool {
    !link.ends_with(".reverse")
}

/// How busy the line was with what it carried of all traffic.
fn share_of_line(bytes: f64, setup: &Setup, outcome: &Outcome) -> f64 {
    bytes * 8.0 / (setup.rate_bps as f64 * outcome.elapsed_s.unwrap_or(0.0).max(1e-3))
}
