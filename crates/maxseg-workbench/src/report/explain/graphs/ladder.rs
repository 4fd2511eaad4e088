//! Requests and replies as a ladder: what each end sent, and how long the other took to answer.

use std::fmt::Write as _;

use maxseg_core::advise::Case;
use maxseg_core::evidence::{Direction, Evidence, SegmentPoint};
use maxseg_core::units::Time;

use super::super::super::chart::{Layer, LayerKind, Packets, Panel, Unit};
use super::super::super::words::grouped;
use super::super::colors::{BACK, IDLE, SENT};
use super::{Clock, layer, panel};

/// Messages that are shown, the first ones.
const MOST_MESSAGES: usize = 4000;

/// What one end sent before the other did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Message {
    direction: Direction,
    from: Time,
    to: Time,
    bytes: u64,
}

/// The ladder of a connection with requests; `None` without any, or without a trace.
pub(super) fn ladder(case: &Case<'_>, clock: Clock) -> Option<Panel> {
    case.evidence.requests.as_ref()?;
    let mut messages = messages(case.evidence)?;
    let total = messages.len();
    messages.truncate(MOST_MESSAGES);
    if messages.len() < 2 {
        return None;
    }
    let data = case.diagnosis.direction;
    let of = |direction: Direction, label: &str| {
        let color = if direction == data { SENT } else { BACK };
        arrows(&messages, direction, label, color, clock)
    };
    let layers = vec![
        pauses(&messages, Direction::Forward, "server answers after", clock),
        pauses(&messages, Direction::Reverse, "client goes on after", clock),
        of(Direction::Forward, "requests"),
        of(Direction::Reverse, "replies"),
    ];
    let ends = ["client", "server"].map(str::to_owned);
    let mut note = "Times are those of the capture: what passes at an end includes the round trip between the capture \
                    and that end."
        .to_owned();
    if total > messages.len() {
        let _ = write!(
            note,
            " The first {} of {} messages are shown.",
            grouped(messages.len() as u64),
            grouped(total as u64)
        );
    }
    Some(Panel { note, ..panel("ladder", "Requests and replies", 120.0, Unit::Ends(ends), layers) })
}

/// The messages of both ends, in order of time; `None` without a trace of both, or where it does not have all segments: without a request
/// the replies around it would be one.
fn messages(evidence: &Evidence) -> Option<Vec<Message>> {
    let of = |direction| {
        let segments = &evidence.stats(direction).trace.as_ref()?.segments;
        if segments.is_thinned() {
            return None;
        }
        let new = segments.iter().filter(|segment| !segment.is_resent && segment.bytes > 0);
        Some(new.map(move |segment| (direction, *segment)))
    };
    let both = of(Direction::Forward)?.chain(of(Direction::Reverse)?);
    let mut segments: Vec<(Direction, SegmentPoint)> = both.collect();
    segments.sort_by_key(|(_, segment)| (segment.at, segment.frame));
    let mut messages: Vec<Message> = Vec::new();
    for (direction, segment) in segments {
        let bytes = u64::from(segment.bytes);
        match messages.last_mut().filter(|last| last.direction == direction) {
            Some(last) => {
                last.to = segment.at;
                last.bytes += bytes;
            }
            None => messages.push(Message { direction, from: segment.at, to: segment.at, bytes }),
        }
    }
    Some(messages)
}

/// An arrow from the sender's line to the other, as long as the message took.
fn arrows(
    messages: &[Message],
    direction: Direction,
    label: &str,
    color: &'static str,
    clock: Clock,
) -> Layer {
    let line = if direction == Direction::Forward { 0.0 } else { 1.0 };
    let mut points = Vec::new();
    let mut packets = Packets::default();
    for message in messages.iter().filter(|message| message.direction == direction) {
        points.push((clock.s(message.from), line));
        points.push((clock.s(message.to), 1.0 - line));
        packets.bytes.extend([u32::try_from(message.bytes).unwrap_or(u32::MAX); 2]);
    }
    Layer { packets: Some(packets), ..layer(label, LayerKind::Arrows, color, points) }
}

/// The times between a message of a direction and the answer of its receiver.
fn pauses(messages: &[Message], direction: Direction, label: &str, clock: Clock) -> Layer {
    let line = if direction == Direction::Forward { 1.0 } else { 0.0 };
    let before = messages.windows(2).filter(|pair| pair[0].direction == direction);
    let points =
        before.flat_map(|pair| [(clock.s(pair[0].to), line), (clock.s(pair[1].from), line)]);
    layer(label, LayerKind::Pieces, IDLE, points.collect())
}

#[cfg(test)]
mod tests {
    use maxseg_core::evidence::Trace;
    use maxseg_testkit::{at, windowed};

    use super::*;

    /// A request of 100 bytes and a reply of 1000, so many times.
    fn replies(count: u64) -> Evidence {
        let mut evidence = windowed(0);
        let [mut there, mut back] = [Trace::default(), Trace::default()];
        for n in 0..count {
            let segment = |ms, bytes: u32| SegmentPoint {
                at: at(100 * n + ms),
                frame: 2 * n + ms,
                offset: u64::from(bytes) * n,
                bytes,
                is_resent: false,
            };
            there.on_segment(segment(0, 100), 100);
            back.on_segment(segment(1, 1000), 1000);
        }
        (evidence.forward.trace, evidence.reverse.trace) =
            (Some(Box::new(there)), Some(Box::new(back)));
        evidence
    }

    #[test]
    fn without_all_segments_there_are_no_messages() {
        let few = messages(&replies(100)).unwrap();
        assert_eq!(few.len(), 200);
        assert!(few.iter().all(|message| [100, 1000].contains(&message.bytes)));
        assert_eq!(messages(&replies(100_000)), None);
    }
}
