//! Requests and replies: who waited for whom.

use super::finding::{Finding, FindingKind, Number, Severity, counted, counted_times, number};
use super::joined;
use super::messages::is_admitted;
use super::pace::Pace;
use crate::evidence::{Direction, Evidence, Handshake, Requests, Waits};
use crate::units::approx;

/// A wait is told from this share of the time on.
const TOLD: f64 = 0.1;
/// Or where one takes so long, in seconds: its user notices.
const NOTICED: f64 = 1.0;
/// It gets a warning from this share on.
const LARGE: f64 = 0.5;
/// Waits that are less than this in all, in seconds, matter to nobody: a program that sends one message.
const MATTER: f64 = 0.001;
/// More than this share of them may be of a queue on the way: then they are the program's at most.
const UNSURE: f64 = 0.1;
/// Fewer turns show no pattern of round trips.
const TURNS: u32 = 3;
/// The capture is at the server where that is nearer by so many times than the client.
const NEARER: u64 = 4;
/// Linux's least retransmission timeout (`TCP_RTO_MIN`), in seconds: most stacks wait longer.
const LEAST_RTO_S: f64 = 0.2;
/// Fewer held segments may be chance: a program that writes just when the acknowledgement arrives.
const HELD: u32 = 2;

/// The requests, where there is time between first and last payload, and no side sends them while the other's data is
/// under way.
fn requests(evidence: &Evidence) -> Option<&Requests> {
    let direction = evidence.data_direction();
    let (data, acks) = (evidence.stats(direction), evidence.stats(direction.other()));
    let requests = evidence.requests.as_ref().filter(|requests| requests.span_s > 0.0)?;
    (!is_admitted(data, acks)).then_some(requests)
}

pub(super) fn application_window(evidence: &Evidence, direction: Direction) -> Option<Finding> {
    let (data, acks) = (evidence.stats(direction), evidence.stats(direction.other()));
    // The pace needs the first, and is much to look at for each connection.
    if !is_admitted(data, acks) || !Pace::of(data, acks).has_application_window {
        return None;
    }
    let bytes = data.in_flight_max_bytes;
    let messages = acks.data_packets_once();
    let sender = evidence.sender(direction).ip().to_canonical();
    let receiver = evidence.receiver(direction).ip().to_canonical();
    Some(Finding {
        direction: Some(direction),
        ..finding(
            evidence,
            FindingKind::ApplicationWindow,
            Severity::Warning,
            vec![
                number("in_flight_max_bytes", bytes as f64),
                number("messages", messages as f64),
                number("receive_window_bytes", acks.window_max_bytes.unwrap_or(0) as f64),
            ],
            format!(
                "The programs have a window of their own, as SSH's channels and HTTP/2 have: {sender} kept at most {bytes} \
                 bytes in flight and sent on at each of {messages} messages of {receiver}, not at its acknowledgements"
            ),
            "At most one such window is sent per round trip, whatever TCP's windows and the link allow",
            "RFC 4254 §5.2, RFC 9113 §5.2",
        )
    })
}

/// Whether waits are told: by their share of the time, or where users notice one.
fn are_told(waits: &Waits, share: f64) -> bool {
    waits.count > 0
        && waits.total_s >= MATTER
        && (share >= TOLD || waits.p99_s.is_some_and(|worst| worst >= NOTICED))
}

/// ` at most` where a good part of the waits may be of a queue: neither an acknowledgement nor a round trip of the same message tells
/// when it arrived.
fn at_most(evidence: &Evidence, waits: &Waits) -> &'static str {
    if unsure_s(evidence, waits) > UNSURE * waits.total_s { " at most" } else { "" }
}

/// How much of the waits may be of a queue: where two captures show the longest of each way, no more than that each time.
fn unsure_s(evidence: &Evidence, waits: &Waits) -> f64 {
    let longest = |direction| Some(joined::known(evidence, direction)?.delay?.queue_max_s);
    let longest = longest(Direction::Forward).zip(longest(Direction::Reverse));
    let most =
        longest.map_or(f64::INFINITY, |(there, back)| f64::from(waits.count) * (there + back));
    waits.unsure_s.min(most)
}

/// By the share of the time in which an end waited for sure.
fn severity_of(evidence: &Evidence, waits: &Waits, seconds: f64) -> Severity {
    severity((waits.total_s - unsure_s(evidence, waits)) / seconds)
}

fn severity(share: f64) -> Severity {
    if share >= LARGE { Severity::Warning } else { Severity::Note }
}

/// A finding about the whole connection.
fn finding(
    evidence: &Evidence,
    kind: FindingKind,
    severity: Severity,
    numbers: Vec<Number>,
    text: String,
    why: &'static str,
    source: &'static str,
) -> Finding {
    Finding {
        kind,
        severity,
        direction: None,
        from: evidence.begin,
        to: evidence.end,
        evidence: numbers,
        frames: Vec::new(),
        text,
        why,
        source,
    }
}

fn median_and_worst(waits: &Waits) -> String {
    let (Some(median), Some(worst)) = (waits.p50_s, waits.p99_s) else { return String::new() };
    match waits.count {
        1 => approx::time(median),
        _ => format!("{} (median; 99th percentile {})", approx::time(median), approx::time(worst)),
    }
}

/// Whether the longest of the server's waits may be those for a retransmission of its reply: of a reply that is lost on its way to where it is
/// captured nothing else shows.
fn may_be_lost(evidence: &Evidence, waits: &Waits) -> bool {
    let Handshake { client_rtt, server_rtt, .. } = evidence.handshake;
    let is_at_server = server_rtt
        .zip(client_rtt)
        .is_some_and(|(server, client)| server.as_nanos() < client.as_nanos() / NEARER);
    let (median, worst) = (waits.p50_s.unwrap_or(0.0), waits.p99_s.unwrap_or(0.0));
    let is_single = worst >= LEAST_RTO_S && median < worst / 2.0;
    is_single && !is_at_server && evidence.joined.is_none()
}

pub(super) fn server(evidence: &Evidence) -> Option<Finding> {
    let requests = requests(evidence)?;
    let seconds = requests.span_s;
    let waits = requests.server;
    let share = waits.total_s / seconds;
    if !are_told(&waits, share) {
        return None;
    }
    let of = if requests.turns == 1 { "the request" } else { "each request" };
    Some(finding(
        evidence,
        FindingKind::ServerResponseTime,
        severity_of(evidence, &waits, seconds),
        vec![
            number("turns", requests.turns.into()),
            number("server_p50_s", waits.p50_s.unwrap_or(0.0)),
            number("server_p99_s", waits.p99_s.unwrap_or(0.0)),
            number("server_total_s", waits.total_s),
            number("share", share),
        ],
        format!(
            "The server {} took{} {} to the first byte of the reply to {of}: {} of {} over {}",
            evidence.server.ip().to_canonical(),
            at_most(evidence, &waits),
            median_and_worst(&waits),
            approx::time(waits.total_s),
            approx::time(seconds),
            counted(requests.turns.into(), "request"),
        ),
        if may_be_lost(evidence, &waits) {
            "The time lies in the program on the server or behind it, and of single long waits perhaps in a reply that was lost before it \
             came to where it was captured, and was sent again"
        } else {
            "The time lies in the program on the server or behind it; no setting of TCP shortens it"
        },
        "RFC 9293 §3.9.1.2",
    ))
}

pub(super) fn client(evidence: &Evidence) -> Option<Finding> {
    let requests = requests(evidence)?;
    let seconds = requests.span_s;
    let waits = requests.think;
    let share = waits.total_s / seconds;
    if !are_told(&waits, share) {
        return None;
    }
    Some(finding(
        evidence,
        FindingKind::ClientThinkTime,
        severity_of(evidence, &waits, seconds),
        vec![
            number("pauses", waits.count.into()),
            number("think_p50_s", waits.p50_s.unwrap_or(0.0)),
            number("think_p99_s", waits.p99_s.unwrap_or(0.0)),
            number("think_total_s", waits.total_s),
            number("share", share),
        ],
        format!(
            "The client {} waited{} {} before its {} request: {} of {}",
            evidence.client.ip().to_canonical(),
            at_most(evidence, &waits),
            median_and_worst(&waits),
            if requests.turns > 1 { "next" } else { "first" },
            approx::time(waits.total_s),
            approx::time(seconds),
        ),
        "The time lies in the program on the client or its user",
        "RFC 9293 §3.9.1.2",
    ))
}

pub(super) fn round_trips(evidence: &Evidence) -> Option<Finding> {
    let requests = requests(evidence)?;
    let seconds = requests.span_s;
    let share = requests.round_trips_s / seconds;
    if requests.turns < TURNS || share < TOLD {
        return None;
    }
    Some(finding(
        evidence,
        FindingKind::RequestResponse,
        severity(share),
        vec![
            number("turns", requests.turns.into()),
            number("round_trips_s", requests.round_trips_s),
            number("share", share),
        ],
        format!(
            "{} and replies, one after the other: their round trips took {} of {}",
            counted(requests.turns.into(), "request"),
            approx::time(requests.round_trips_s),
            approx::time(seconds)
        ),
        "A request that waits for the reply to the one before costs a round trip; pipelining or parallel connections \
         share it",
        "RFC 9112 §9.3.2",
    ))
}

pub(super) fn nagle(evidence: &Evidence) -> Option<Finding> {
    // Whatever passes meanwhile, a delayed acknowledgement shows what waited for it.
    let requests = evidence.requests.as_ref().filter(|requests| requests.span_s > 0.0)?;
    let seconds = requests.span_s;
    let waits = requests.nagle;
    let share = waits.total_s / seconds;
    if waits.count < HELD || share < TOLD / 2.0 {
        return None;
    }
    Some(finding(
        evidence,
        FindingKind::NagleDelayedAck,
        Severity::Warning,
        vec![
            number("held_segments", waits.count.into()),
            number("delayed_ack_p50_s", waits.p50_s.unwrap_or(0.0)),
            number("waited_s", waits.total_s),
            number("share", share),
        ],
        format!(
            "Nagle's algorithm held a small segment back {}, until the delayed ACK of the one before arrived, after {} \
             (median): {} of {}",
            counted_times(waits.count.into()),
            approx::time(waits.p50_s.unwrap_or(0.0)),
            approx::time(waits.total_s),
            approx::time(seconds)
        ),
        "Two small writes and then a read: the second write waits for the acknowledgement of the first (TCP_NODELAY, or \
         one write)",
        "RFC 9293 §3.7.4, RFC 9293 §3.8.6.3, RFC 896",
    ))
}

/// A timer releases all about as late: so many times the median at most.
const ALIKE: f64 = 1.5;

/// Rests of messages that left when a timer of their host let them go, and not Nagle's algorithm: all before them had been acknowledged.
pub(super) fn corked(evidence: &Evidence) -> Option<Finding> {
    let requests = evidence.requests.as_ref().filter(|requests| requests.span_s > 0.0)?;
    let (seconds, held) = (requests.span_s, requests.corked);
    let (median, worst) = held.p50_s.zip(held.p99_s)?;
    let share = held.total_s / seconds;
    if held.count < HELD || share < TOLD / 2.0 || worst > ALIKE * median {
        return None;
    }
    let (client, server) =
        (evidence.client.ip().to_canonical(), evidence.server.ip().to_canonical());
    let by = match requests.corked_of_client {
        0 => server.to_string(),
        of_client if of_client == held.count => client.to_string(),
        _ => format!("{client} or {server}"),
    };
    Some(finding(
        evidence,
        FindingKind::Corked,
        Severity::Warning,
        vec![
            number("corked_segments", held.count.into()),
            number("corked_p50_s", median),
            number("corked_total_s", held.total_s),
            number("share", share),
        ],
        format!(
            "{by} held the small rest of a message back {}, for {} (median) after all before it was acknowledged, as TCP_CORK or MSG_MORE \
             does until a timer ends it: {} of {}",
            counted_times(held.count.into()),
            approx::time(median),
            approx::time(held.total_s),
            approx::time(seconds)
        ),
        "A cork holds what is less than a segment until it is removed, or for an RTO when nothing is in flight; Nagle's algorithm would \
         have let it go with the acknowledgement",
        "tcp(7)",
    ))
}

/// Fewer restarts may be chance: a program that writes more just when the first acknowledgement arrives.
const RESTARTS: u64 = 2;

pub(super) fn restarts(evidence: &Evidence, direction: Direction) -> Option<Finding> {
    let stats = evidence.stats(direction);
    let (first, last) = (stats.first_data?, stats.limits_end?);
    // Far from the sender and without the path's round trip, flights cannot be told apart.
    stats.path_rtt_min_s?;
    let busy = last.since(first).as_secs_f64() - stats.idle_s;
    let share = stats.idle_restart_s / busy;
    if stats.idle_restarts < RESTARTS || busy <= 0.0 || !(TOLD..=1.0).contains(&share) {
        return None;
    }
    let sender = evidence.sender(direction).ip().to_canonical();
    Some(Finding {
        direction: Some(direction),
        from: first,
        to: last,
        ..finding(
            evidence,
            FindingKind::SlowStartAfterIdle,
            Severity::Warning,
            vec![
                number("idle_restarts", stats.idle_restarts as f64),
                number("restarts_s", stats.idle_restart_s),
                number("share_of_busy_time", share),
            ],
            format!(
                "{sender} began with a smaller congestion window {} after a pause (slow start after idle): {} of the {} \
                 in which it had data to send",
                counted_times(stats.idle_restarts),
                approx::time(stats.idle_restart_s),
                approx::time(busy)
            ),
            "A burst after a pause of an RTO takes several round trips, although the path carried as much at once before",
            "RFC 5681 §4.1, RFC 7661",
        )
    })
}
