//! Sequence numbers, throughput and round trips over time.

mod ladder;
mod others;
mod rates;
mod rows;
mod sequence;
mod tables;
mod window;

use maxseg_core::advise::{Case, Headline};
use maxseg_core::evidence::Direction;
use maxseg_core::units::Time;

use super::super::chart::{Layer, LayerKind, Packets, Panel, Timeline, Unit};
use super::super::words;
use super::colors::{ACKED, SENT, WINDOW};
use super::filter::{connection_filter, ends_filter};
use sequence::{sequence, sequence_back};
use window::window;

/// The graphs of the direction that carried the data, and the sequence numbers of the other one.
pub(super) fn graphs(headline: &Headline<'_>) -> Timeline {
    let case = &headline.case;
    let clock = Clock { begin: case.evidence.begin };
    let mut panels = vec![sequence(case, clock)];
    panels.extend(rows::limits(case, clock));
    panels.extend(rows::findings(case, clock));
    panels.extend(ladder::ladder(case, clock));
    let note = reckoned(case).unwrap_or_default();
    let with_note = |shown: Panel| {
        let notes = [not_captured(case).unwrap_or_default(), note.as_str()];
        Panel { note: notes.join(" ").trim().to_owned(), ..shown }
    };
    panels.push(with_note(rates::throughput(case, clock)));
    panels.push(round_trips(case, clock));
    panels.push(with_note(window(headline, clock)));
    let back = sequence_back(case, clock);
    let others = others::others(case, back.is_some(), clock);
    panels.extend(back);
    let end = clock.s(case.evidence.end).max(1e-6);
    Timeline {
        // Behind a clock that was set the capture's times are others.
        begin: (case.evidence.capture.clock_steps == 0).then_some(case.evidence.begin),
        from: 0.0,
        to: end,
        panels,
        packets: packets(case),
        others,
        filter: connection_filter(case.evidence),
        filter_in_range: ends_filter(case.evidence),
    }
}

/// Packets of both directions, each once however often it was captured.
fn packets(case: &Case<'_>) -> u64 {
    let ways = [case.data(), case.acks()];
    ways.iter().map(|way| way.packets.saturating_sub(way.capture_duplicates)).sum()
}

/// Seconds since a connection's first packet.
#[derive(Debug, Clone, Copy)]
struct Clock {
    begin: Time,
}

impl Clock {
    fn s(self, at: Time) -> f64 {
        at.since(self.begin).as_secs_f64()
    }
}

/// Who sends a direction's packets.
const fn end(direction: Direction) -> &'static str {
    match direction {
        Direction::Forward => "client",
        Direction::Reverse => "server",
    }
}

fn layer(label: &str, kind: LayerKind, color: &'static str, points: Vec<(f64, f64)>) -> Layer {
    Layer { label: label.to_owned(), kind, color, is_bound: false, points, packets: None }
}

/// A layer whose points are packets: when each passed, the byte where it stands, its number, and its bytes.
fn packet_layer(
    label: &str,
    kind: LayerKind,
    color: &'static str,
    what: String,
    places: impl Iterator<Item = (f64, f64, u64, u32)>,
) -> Layer {
    let mut packets = Packets { what, ..Packets::default() };
    let mut points = Vec::new();
    for (at, value, frame, bytes) in places {
        points.push((at, value));
        packets.frames.push(frame);
        packets.bytes.push(bytes);
    }
    Layer { packets: Some(packets), ..layer(label, kind, color, points) }
}

/// A window, which is far above what is sent where it limits nothing.
fn bound(label: &str, points: Vec<(f64, f64)>) -> Layer {
    Layer { is_bound: true, ..layer(label, LayerKind::Steps, WINDOW, points) }
}

/// A panel without rows, notes or a table.
fn panel(id: &'static str, title: &str, height: f64, unit: Unit, layers: Vec<Layer>) -> Panel {
    Panel {
        id,
        title: title.to_owned(),
        height,
        unit,
        layers,
        rows: Vec::new(),
        note: String::new(),
        missing: "Nothing of it was captured.",
        table: None,
    }
}

/// Whether the capture has packets of the data's sender.
fn is_sent_known(case: &Case<'_>) -> bool {
    case.data().packets > 0
}

/// Whether it has those of the receiver, which acknowledge.
fn is_acked_known(case: &Case<'_>) -> bool {
    case.acks().packets > 0
}

/// What of the packets was not captured: nothing of it is shown, rather than zero.
fn not_captured(case: &Case<'_>) -> Option<&'static str> {
    match (is_sent_known(case), is_acked_known(case)) {
        (true, true) => None,
        (true, false) => Some(
            "Not captured: the receiver's packets, which acknowledge the data and advertise the window.",
        ),
        (false, true) => Some("Not captured: the packets of the data's sender."),
        (false, false) => Some("Not captured: the packets of both ends."),
    }
}

/// A way to the sender that is shorter than this share of the path is none.
const NEAR: f64 = 0.1;

/// That acknowledgements count when they reach the sender, where the capture shows them earlier.
fn reckoned(case: &Case<'_>) -> Option<String> {
    let (handshake, path) = (case.evidence.handshake, case.evidence.handshake.rtt()?);
    let to_sender = match case.diagnosis.direction {
        Direction::Forward => handshake.client_rtt,
        Direction::Reverse => handshake.server_rtt,
    }?;
    let is_away = to_sender.as_secs_f64() > NEAR * path.as_secs_f64();
    is_away.then(|| {
        format!(
            "The capture was taken away from the sender, {} from it at first. What is acknowledged and in flight is as the sender \
             knows it, so much later than the acknowledgements of the time-sequence graph passed.",
            words::time(to_sender.as_secs_f64())
        )
    })
}

fn round_trips(case: &Case<'_>, clock: Clock) -> Panel {
    let data = case.data();
    let measured = data.trace.as_ref().filter(|trace| !trace.rtts.is_empty());
    let layers = if let Some(trace) = measured {
        let points = trace.rtts.iter().map(|(at, rtt)| (clock.s(*at), rtt.as_secs_f64()));
        vec![layer("each measured", LayerKind::Dots, SENT, points.collect())]
    } else {
        let means = data.bins.as_slice().iter();
        let mean =
            means.clone().filter_map(|bin| Some((clock.s(bin.at), bin.rtt_mean()?.as_secs_f64())));
        let least = means.filter_map(|bin| Some((clock.s(bin.at), bin.rtt_min?.as_secs_f64())));
        vec![
            layer("mean", LayerKind::Line, SENT, mean.collect()),
            layer("least", LayerKind::Line, ACKED, least.collect()),
        ]
    };
    let missing = not_captured(case)
        .unwrap_or("Not known: no packet tells how long a round trip of the whole path took.");
    let title = "Round trip of the whole path";
    Panel { missing, ..panel("round-trip", title, 150.0, Unit::Time, layers) }
}

#[cfg(test)]
mod tests {
    use maxseg_core::evidence::DirectionStats;
    use maxseg_testkit::{at, windowed};

    use super::*;

    #[test]
    fn graphs_of_what_was_not_captured_say_so() {
        let mut evidence = windowed(0);
        evidence.reverse = DirectionStats::default();
        for bin in 0..300 {
            evidence.forward.bins.at(at(100 * bin)).rtt_count = 0;
            evidence.forward.bins.at(at(100 * bin)).rtt_min = None;
        }
        let panel = round_trips(&Case::of(&evidence), Clock { begin: at(0) });
        assert!(panel.layers.iter().all(|layer| layer.points.is_empty()));
        assert!(panel.missing.contains("the receiver's packets"), "{}", panel.missing);
    }
}
