//! A run in a line.

use std::fmt::Write as _;

use maxseg_core::outcome::LimitShare;

use super::run::Run;
use super::setup::{Cross, Pace, Setup};
use super::truth::Truth;

/// Right limits, with the direction of the link where that matters.
pub(super) fn truth(truth: &Truth) -> String {
    let words: Vec<&str> = truth
        .limits
        .iter()
        .map(|limit| match limit.word() {
            "bandwidth" if truth.is_either_way => "bandwidth (either way)",
            "bandwidth" if truth.is_ack_path => "bandwidth (acknowledgements)",
            word => word,
        })
        .collect();
    words.join(" or ")
}

/// Shares from a twentieth on.
pub(super) fn shares(limits: &[LimitShare]) -> String {
    let shown = limits.iter().filter(|limit| limit.share >= 0.05);
    let words: Vec<String> =
        shown.map(|limit| format!("{} {:.0}%", limit.kind, 100.0 * limit.share)).collect();
    if words.is_empty() { "nothing".to_owned() } else { words.join(", ") }
}

/// What a run's second runs gained, as multiples of its goodput.
pub(super) fn gains(run: &Run) -> String {
    let words: Vec<String> = run
        .second
        .iter()
        .map(|second| {
            let times = second.goodput_bps / run.facts.goodput_bps().max(1.0);
            format!("{} {times:.2}", second.lift.word())
        })
        .collect();
    words.join(", ")
}

/// A scenario in a line; what is ample or off is left out.
pub(super) fn parameters(setup: &Setup) -> String {
    let mut text = format!(
        "{}, {:.1} Mbit/s, {:.0} ms, queue {:.1}",
        setup.congestion.word(),
        setup.rate_bps as f64 / 1e6,
        1000.0 * setup.rtt_s,
        setup.queue_in_paths()
    );
    let path = setup.path_bytes();
    if setup.loss > 0.0 {
        let _ = write!(text, ", loss {:.2}%", 100.0 * setup.loss);
    }
    if (setup.window_bytes as f64) < 4.0 * path {
        let _ = write!(text, ", window {:.2}", setup.window_bytes as f64 / path);
    }
    if let Some(bytes) = setup.send_buffer_bytes {
        let _ = write!(text, ", buffer {:.2}", bytes as f64 / path);
    }
    if let Some(bps) = setup.read_bps {
        let _ = write!(text, ", reads {:.1} Mbit/s", bps as f64 / 1e6);
    }
    path_to(&mut text, setup);
    if let Some(mss) = setup.mss_bytes {
        let _ = write!(text, ", MSS {mss}");
    }
    for (on, word) in [(setup.sack, "SACK"), (setup.timestamps, "timestamps")] {
        if !on {
            let _ = write!(text, ", no {word}");
        }
    }
    text.push_str(&setup.application.in_words());
    text
}

/// What sender and path do beside.
fn path_to(text: &mut String, setup: &Setup) {
    let mega = |bps: u64| bps as f64 / 1e6;
    let _ = match setup.pace {
        Some(Pace::Writes(bps)) => write!(text, ", writes {:.2} Mbit/s", mega(bps)),
        Some(Pace::Socket(bps)) => write!(text, ", socket paced to {:.2} Mbit/s", mega(bps)),
        Some(Pace::Shaper { rate_bps, burst_bytes }) => write!(
            text,
            ", shaper {:.2} Mbit/s, burst {:.0} kB",
            mega(rate_bps),
            burst_bytes as f64 / 1e3
        ),
        None => Ok(()),
    };
    if let Some((rate, burst)) = setup.line.policer {
        let burst = burst as f64 / 1e3;
        let _ = write!(text, ", policer {:.2} Mbit/s, burst {burst:.0} kB", mega(rate));
    }
    if let Some((rate, queue)) = setup.line.reverse {
        let (rate, queue) = (rate as f64 / 1e3, queue as f64 / 1e3);
        let _ = write!(text, ", acknowledgements {rate:.0} kbit/s, queue {queue:.1} kB");
    }
    if setup.line.reorder > 0.0 {
        let _ = write!(text, ", {:.1}% reordered", 100.0 * setup.line.reorder);
    }
    if let Some(hop) = setup.other_hop {
        let place = if hop.is_first { "before" } else { "behind" };
        let _ = write!(text, ", {place} it {:.0} Mbit/s", mega(hop.rate_bps));
    }
    let _ = match setup.cross {
        Some(Cross::Datagrams(bps)) => write!(text, ", datagrams {:.1} Mbit/s", mega(bps)),
        Some(Cross::Transfers(count)) => write!(text, ", {count} other transfers"),
        None => Ok(()),
    };
}
