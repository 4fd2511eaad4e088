//! The numbers of a connection, a line each; its limits, packets and marks as text.

use std::fmt::Write as _;
use std::net::SocketAddr;

use maxseg_core::advise::{CLOSE, Case, Headline, HostSystem, HostSystems, System};
use maxseg_core::diagnose::{CongestionAlgorithm, CongestionControl, Finding, ReasonCode};
use maxseg_core::engine::EngineName;
use maxseg_core::evidence::{DirectionStats, Marks};
use maxseg_core::outcome::LimitShare;
use maxseg_core::window::LARGEST_SHIFT;

use super::super::words::{self, counted, rounded, size};
use crate::explain::Explanation;

const NOT_CAPTURED: &str = "not captured";

/// The numbers of a connection: a label and a line each.
pub fn numbers(case: &Case<'_>) -> Vec<(&'static str, String)> {
    let data = case.data();
    let mut lines = Vec::new();
    if let Some(goodput) = data.goodput_bps {
        lines.push((
            "goodput",
            format!(
                "{}: {} acknowledged in {}",
                words::rate(goodput),
                size(data.acked_bytes),
                words::time(case.goodput_seconds())
            ),
        ));
    }
    if !case.diagnosis.limits.is_empty() {
        lines.push(("limits", shares(&case.diagnosis.limits)));
    }
    lines.extend(round_trip(data).map(|line| ("round trip", line)));
    lines.push(("window", window(case)));
    lines.push(("in flight", in_flight(case)));
    lines.push(("MSS", mss(case)));
    lines.push(("retransmitted", retransmitted(case)));
    lines.extend(congestion_control(case).map(|line| ("congestion", line)));
    lines
}

/// The sender's algorithm; nothing where so little was sent that none could show.
fn congestion_control(case: &Case<'_>) -> Option<String> {
    const LEAST_SEGMENTS: u64 = 50;
    let CongestionControl { name, confidence, evidence } = &case.diagnosis.congestion_control;
    if *name != CongestionAlgorithm::Unknown {
        return Some(format!("{}, confidence {confidence:.2}: {evidence}", name.word()));
    }
    if case.data().segments() < LEAST_SEGMENTS {
        return None;
    }
    let is_same = case.diagnosis.unknown_because.as_ref() == Some(evidence);
    Some(if is_same {
        "algorithm unknown for the same reason".to_owned()
    } else {
        format!("algorithm unknown: {evidence}")
    })
}

/// The numbers of a headline: with the path, the packets of its finding, and the runs.
pub fn headline_numbers(headline: &Headline<'_>) -> Vec<(&'static str, String)> {
    let mut lines = numbers(&headline.case);
    if let Some(rerun) = headline.rerun.as_ref().filter(|_| headline.shows_path) {
        let path = &rerun.path;
        let at_least = if path.rate_is_seen { "" } else { "at least " };
        lines.insert(
            1.min(lines.len()),
            (
                "path",
                format!(
                    "{at_least}{} on the wire, RTT {}: bandwidth-delay product {at_least}{}",
                    words::rate(path.rate_bps.value),
                    words::time(path.rtt_s.value),
                    counted(rounded(path.bdp_bytes()), "byte"),
                ),
            ),
        );
    }
    if let Some(finding) = headline.finding().filter(|finding| !finding.frames.is_empty()) {
        lines.push(("packets", packets(&finding.frames)));
    }
    if let Ok(gain) = &headline.gain {
        let after = if headline.is_without_loss() { "without any loss" } else { "after" };
        let words = gain.predictions.iter().map(|prediction| {
            let without = match prediction.without_bps {
                Some(without) => format!(
                    "{} {after}{}",
                    words::rate(without),
                    prediction
                        .then_limited_by
                        .map_or_else(String::new, |limit| format!(" (then {limit})"))
                ),
                None if prediction.engine == EngineName::Sim && !gain.misses.is_empty() => {
                    let misses: Vec<String> = gain.misses.iter().map(ToString::to_string).collect();
                    format!("no gain: {}", misses.join(", "))
                }
                None => without_prediction(prediction.baseline_bps / gain.observed_bps),
            };
            format!(
                "{}: {} before, {without}",
                prediction.engine,
                words::rate(prediction.baseline_bps)
            )
        });
        let mut text = words.collect::<Vec<_>>().join("; ");
        if let Some(bytes) = gain.shortened_to {
            let _ = write!(text, "; runs shortened to {}", size(bytes));
        }
        lines.push(("rerun", text));
    }
    lines
}

/// Why an engine predicts nothing, whose run of the path as it is has `ratio` times what was observed.
fn without_prediction(ratio: f64) -> String {
    if (ratio - 1.0).abs() > CLOSE {
        format!("off by more than {}", words::share(CLOSE))
    } else {
        "no gain: the change was not run".to_owned()
    }
}

fn round_trip(data: &DirectionStats) -> Option<String> {
    let written = |least: f64, mean: Option<f64>| {
        let mean = mean.map_or_else(String::new, |mean| format!(", mean {}", words::time(mean)));
        format!("minimum {}{mean}", words::time(least))
    };
    match data.path_rtt_min_s {
        Some(least) => Some(written(least, data.path_rtt_mean_s)),
        None => Some(format!(
            "not known: only from the capture point to the receiver, {}",
            written(data.rtt_min_s?, data.rtt_mean_s)
        )),
    }
}

fn window(case: &Case<'_>) -> String {
    let acks = case.acks();
    let offered = match acks.window_max_bytes {
        Some(most) => format!("largest advertised window {} B", words::grouped(most)),
        None => NOT_CAPTURED.to_owned(),
    };
    let scale = match acks.window_scale {
        Some(shift) => format!(" (scale {})", shift.min(LARGEST_SHIFT)),
        None if case.evidence.has_syn_options() => " (no scaling)".to_owned(),
        None => " (scale unknown)".to_owned(),
    };
    let full = match case.data().window_full {
        0 => String::new(),
        times => format!("; filled {}", counted(times, "time")),
    };
    let shut = match acks.zero_windows {
        0 => String::new(),
        times => format!("; zero window {}", counted(times, "time")),
    };
    format!("{offered}{scale}{full}{shut}")
}

fn in_flight(case: &Case<'_>) -> String {
    match case.diagnosis.in_flight_max_bytes(case.evidence, case.diagnosis.direction) {
        Some(most) => format!("at most {}", counted(most, "byte")),
        None => NOT_CAPTURED.to_owned(),
    }
}

fn mss(case: &Case<'_>) -> String {
    let option =
        |option: Option<u16>| option.map_or_else(|| NOT_CAPTURED.to_owned(), |mss| mss.to_string());
    let used =
        case.data().mss_used_bytes.map_or_else(|| "unknown".to_owned(), |used| used.to_string());
    format!(
        "sender announces {}, receiver {}; used {used}",
        option(case.data().mss_option_bytes),
        option(case.acks().mss_option_bytes)
    )
}

fn retransmitted(case: &Case<'_>) -> String {
    let data = case.data();
    if case.diagnosis.quality.reason(ReasonCode::Merged).is_some() {
        return "unknown: each packet is in the file as two places saw it".to_owned();
    }
    let count = case.diagnosis.retransmitted_packets(case.evidence, case.diagnosis.direction);
    if count.is_none() && case.diagnosis.quality.reason(ReasonCode::ClockJump).is_some() {
        return "unknown: the packets are not in the order of their times".to_owned();
    }
    match count {
        None => return NOT_CAPTURED.to_owned(),
        Some(0) => return "none".to_owned(),
        Some(_) => {}
    }
    let resent = data.resent;
    let causes = [
        (resent.rto, "timeout"),
        (resent.fast, "fast retransmit"),
        (resent.sack, "SACK"),
        (resent.tail_probe, "tail probe"),
        (resent.control, "SYN or FIN"),
        (resent.too_large, "too large for a hop"),
        (resent.unknown, "cause unknown"),
    ];
    let causes: Vec<String> = causes
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, cause)| format!("{cause} {count}"))
        .collect();
    let spurious = match data.spurious_retransmissions {
        0 => String::new(),
        spurious => format!("; {spurious} spurious"),
    };
    // A SYN or FIN that is repeated is no data packet, and what was too large for a hop was not lost.
    let again = data.resent_data();
    let of_them = match (resent.control, resent.too_large) {
        (0, 0) => String::new(),
        (_, 0) => format!(", {} of them with data", words::grouped(again)),
        (..) => format!(", {} of them for other reasons", words::grouped(again)),
    };
    let about = if data.segments() == data.data_packets { "" } else { "about " };
    let share = match data.segments() {
        sent if sent == 0 || again == 0 => String::new(),
        sent => {
            let segments = data.resent_segments();
            let joined = match segments {
                same if same == again => String::new(),
                more => format!(" of about {} segments", words::grouped(more)),
            };
            let share = words::percent(segments as f64 / sent as f64);
            format!("{of_them}{joined}, {share} of {about}{}", words::grouped(sent))
        }
    };
    let causes =
        if causes.is_empty() { String::new() } else { format!(" ({})", causes.join(", ")) };
    format!("{}{share}{causes}{spurious}", counted(data.retransmitted_packets, "packet"))
}

/// The systems that client and server probably are, with what shows it.
pub fn host_systems(case: &Case<'_>) -> [(&'static str, String); 2] {
    let HostSystems { client, server } = case.hosts();
    let line = |end: SocketAddr, host: &HostSystem| {
        let (address, evidence) = (end.ip().to_canonical(), &host.evidence);
        if host.name == System::Unknown {
            return format!("{address}: unknown system: {evidence}");
        }
        let (name, confidence) = (host.name.word(), host.confidence);
        format!("{address}: {name}, confidence {confidence:.2}: {evidence}")
    };
    [("client", line(case.evidence.client, client)), ("server", line(case.evidence.server, server))]
}

/// `receive-window 90%, start-up 10%`.
pub fn shares(limits: &[LimitShare]) -> String {
    let shown = limits.iter().filter(|limit| limit.share >= 0.005);
    let words: Vec<String> = shown
        .map(|limit| format!("{} {}", limit.kind, words::whole_percent(limit.share)))
        .collect();
    words.join(", ")
}

/// The first packets of a list: `packets 50, 60, 70`.
pub fn packets(frames: &[u64]) -> String {
    const SHOWN: usize = 5;
    let numbers: Vec<String> = frames.iter().take(SHOWN).map(u64::to_string).collect();
    let word = if numbers.len() == 1 { "packet" } else { "packets" };
    let more = if frames.len() > SHOWN { " …" } else { "" };
    format!("{word} {}{more}", numbers.join(", "))
}

/// What a finding says. Where one of the connection's is not of the direction that the limits and numbers are of, each says of which it is.
pub fn finding_text(case: &Case<'_>, finding: &Finding) -> String {
    let data = case.diagnosis.direction;
    let is_other = |finding: &Finding| finding.direction.is_some_and(|direction| direction != data);
    match finding.direction.filter(|_| case.diagnosis.findings.iter().any(is_other)) {
        Some(of) => {
            let (sender, receiver) = (case.evidence.sender(of), case.evidence.receiver(of));
            format!("{sender} → {receiver}: {}", finding.text)
        }
        None => finding.text.clone(),
    }
}

/// What is peculiar about a connection's capture, and its marks, in words.
pub fn marks(case: &Case<'_>) -> Vec<String> {
    let Marks { mptcp, fast_open, ports_reused, ecn, .. } = case.evidence.marks;
    let words = [
        (ports_reused, "an earlier connection had the same ports"),
        (mptcp, "a subflow of Multipath TCP (RFC 8684)"),
        (fast_open, "TCP Fast Open (RFC 7413)"),
        (ecn, "ECN in use (RFC 3168)"),
    ];
    let reasons = case.diagnosis.quality.reasons.iter().map(|reason| reason.text.clone());
    let words = words.iter().filter(|(is, _)| *is).map(|(_, word)| (*word).to_owned());
    reasons.chain(words).collect()
}

/// That there is no TCP connection, and what there is instead.
pub fn no_connection(explanation: &Explanation) -> String {
    match not_followed(explanation) {
        others if others.is_empty() => "The capture holds no TCP connection.".to_owned(),
        others => format!("The capture holds no TCP connection: {others}."),
    }
}

/// Packets that are not of TCP: `12 QUIC flows, 340 packets; ICMP: 2 packets`.
pub fn not_followed(explanation: &Explanation) -> String {
    let others = explanation.capture.not_followed.iter().map(|other| {
        let packets = counted(other.packets, "packet");
        match other.flows {
            Some(flows) => {
                format!("{} {}, {packets}", words::grouped(flows), plural(&other.protocol, flows))
            }
            None => format!("{}: {packets}", other.protocol),
        }
    });
    others.collect::<Vec<_>>().join("; ")
}

fn plural(protocol: &str, flows: u64) -> String {
    if flows == 1 { format!("{protocol} flow") } else { format!("{protocol} flows") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_run_that_is_off_is_called_off() {
        assert_eq!(without_prediction(0.8), "off by more than 15%");
        assert!(!without_prediction(0.9).contains("off by"));
    }
}
