//! The advertised window, and what of it is in flight.

use maxseg_core::advise::{Case, Gain, Headline};
use maxseg_core::engine::EngineName;
use maxseg_core::evidence::{Direction, DirectionStats, Evidence, Trace};
use maxseg_core::units::{Bytes, Time};

use super::super::super::chart::{Layer, LayerKind, Panel, Unit};
use super::super::colors::{CWND, SENT};
use super::{Clock, bound, layer, not_captured, panel};

/// Window and bytes in flight.
pub(super) fn window(headline: &Headline<'_>, clock: Clock) -> Panel {
    let data = headline.case.data();
    let Case { evidence, diagnosis, .. } = &headline.case;
    let is_known = diagnosis.in_flight_max_bytes(evidence, diagnosis.direction).is_some();
    let sent = is_known.then(|| in_flight(data, clock, clock.s(evidence.end)));
    let layers = vec![
        bound(window_name(&headline.case), windows(data, clock)),
        layer("in flight", LayerKind::Steps, SENT, sent.unwrap_or_default()),
        Layer {
            is_bound: true,
            ..layer("cwnd of the rerun", LayerKind::Steps, CWND, cwnd(headline, clock))
        },
    ];
    let missing = not_captured(&headline.case)
        .unwrap_or("Not known: the scale of the window, and what was in flight.");
    let title = "Advertised window and bytes in flight";
    Panel { missing, ..panel("window", title, 170.0, Unit::Bytes, layers) }
}

/// What is shown of the window: its field as it is, where the scale is not known.
fn window_name(case: &Case<'_>) -> &'static str {
    if is_unscaled(case.evidence, case.diagnosis.direction) {
        "advertised window, unscaled"
    } else {
        "advertised window"
    }
}

/// Whether the scale of the windows that a direction's data is sent into is unknown.
pub(super) fn is_unscaled(evidence: &Evidence, direction: Direction) -> bool {
    !evidence.has_syn_options() && evidence.stats(direction.other()).window_scale.is_none()
}

/// The window that each acknowledgement advertises. An interval without one tells none: the last that is known still holds.
fn windows(data: &DirectionStats, clock: Clock) -> Vec<(f64, f64)> {
    if let Some(trace) = &data.trace {
        return of_acks(trace, clock, |_, window| window);
    }
    let known = data.bins.as_slice().iter().filter(|bin| bin.window_left_min.is_some());
    known.map(|bin| (clock.s(bin.at), bin.window_max as f64)).collect()
}

/// The right edge of the window: the byte that may not be sent yet.
pub(super) fn edges(trace: &Trace, clock: Clock) -> Vec<(f64, f64)> {
    of_acks(trace, clock, u64::saturating_add)
}

/// A number of each window that is known, from what is acknowledged and the window's size. Where most are not known, none is
/// shown: a window of zero is known whatever the scale, and would seem to stay shut.
fn of_acks(trace: &Trace, clock: Clock, number: impl Fn(u64, u64) -> u64) -> Vec<(f64, f64)> {
    let known = trace.acks.iter().filter_map(|ack| Some((ack.at, ack.offset, ack.window()?)));
    if 2 * known.clone().count() < trace.acks.len() {
        return Vec::new();
    }
    let first = trace.first_window.map(|(at, window)| (at, 0, window));
    let all = first.into_iter().chain(known);
    all.map(|(at, acked, window)| (clock.s(at), number(acked, window) as f64)).collect()
}

/// Bytes in flight as their sender knows them, up to the last packet: acknowledgements reach it behind a capture point elsewhere.
fn in_flight(data: &DirectionStats, clock: Clock, end: f64) -> Vec<(f64, f64)> {
    let traced = data.trace.as_ref().filter(|trace| !trace.in_flight.is_empty());
    let points: Vec<(f64, f64)> = if let Some(trace) = traced {
        trace.in_flight.iter().map(|(at, bytes)| (clock.s(*at), *bytes as f64)).collect()
    } else {
        let bins = data.bins.as_slice().iter();
        bins.map(|bin| (clock.s(bin.at), bin.in_flight_max as f64)).collect()
    };
    points.into_iter().filter(|(at, _)| *at <= end).collect()
}

/// The congestion window of the simulator's run of the observed path as it is, laid on the time of the capture; nothing
/// where that run does not come close to the observed goodput.
fn cwnd(headline: &Headline<'_>, clock: Clock) -> Vec<(f64, f64)> {
    let leading = headline.gain.as_ref().ok().and_then(Gain::leading);
    let explains = leading.is_some_and(|prediction| prediction.engine == EngineName::Sim);
    let begin = headline.case.data().first_data;
    let (Some(rerun), Some(begin), true) = (&headline.rerun, begin, explains) else {
        return Vec::new();
    };
    let point = |(since, window): (Time, Bytes)| {
        (clock.s(begin) + since.as_secs_f64(), window.get() as f64)
    };
    let end = clock.s(headline.case.evidence.end);
    let points = rerun.congestion_window().into_iter().map(point);
    points.filter(|(at, _)| *at <= end).collect()
}

#[cfg(test)]
mod tests {
    use maxseg_core::advise::Case;
    use maxseg_core::evidence::{AckPoint, SegmentPoint};
    use maxseg_testkit::{at, traced, windowed};

    use super::*;

    const CLOCK: fn() -> Clock = || Clock { begin: at(0) };

    fn ack(ms: u64, offset: u64, window: Option<u64>) -> AckPoint {
        AckPoint { at: at(ms), frame: ms, offset, edge: window.map(|window| offset + window) }
    }

    /// Most intervals have no acknowledgement: the window is what the last one offered.
    #[test]
    fn a_window_holds_until_another_is_offered_and_zero_is_one_that_was() {
        let mut trace = Trace { first_window: Some((at(0), 65_535)), ..Trace::default() };
        for (ms, offset, window) in [(10, 1000, 65_535), (900, 2000, 0), (22_000, 2000, 30_000)] {
            trace.on_ack(ack(ms, offset, Some(window)));
        }
        let mut evidence = windowed(0);
        evidence.forward.trace = Some(Box::new(trace));
        let shown = windows(&evidence.forward, CLOCK());
        assert_eq!(shown, [(0.0, 65_535.0), (0.01, 65_535.0), (0.9, 0.0), (22.0, 30_000.0)]);
        let edges = edges(evidence.forward.trace.as_ref().unwrap(), CLOCK());
        assert_eq!(edges[1..], [(0.01, 66_535.0), (0.9, 2000.0), (22.0, 32_000.0)]);
    }

    #[test]
    fn a_window_of_unknown_scale_is_not_shown_as_zero() {
        let mut trace = Trace::default();
        for (ms, window) in [(10, None), (20, Some(0)), (30, None), (40, None)] {
            trace.on_ack(ack(ms, 0, window));
        }
        let mut evidence = windowed(0);
        evidence.forward.trace = Some(Box::new(trace));
        assert!(windows(&evidence.forward, CLOCK()).is_empty());
        // Without a trace, what an interval without segments lacks.
        evidence.forward.trace = None;
        evidence.forward.bins.at(at(500)).window_left_min = None;
        evidence.forward.bins.at(at(500)).window_max = 0;
        let shown = windows(&evidence.forward, CLOCK());
        assert!(shown.len() == 299 && shown.iter().all(|(_, window)| *window > 0.0));
    }

    #[test]
    fn what_is_acknowledged_is_not_in_flight() {
        let mut trace = Trace::default();
        let segment =
            SegmentPoint { at: at(0), frame: 1, offset: 0, bytes: 60_000, is_resent: false };
        trace.on_segment(segment, 60_000);
        trace.on_arrived(at(80), 0);
        // It reaches the sender when the capture is over.
        trace.on_arrived(at(99_000), 7);
        let mut evidence = traced(windowed(0));
        evidence.forward.trace = Some(Box::new(trace));
        let case = Case::of(&evidence);
        let end = CLOCK().s(case.evidence.end);
        assert_eq!(in_flight(case.data(), CLOCK(), end), [(0.0, 60_000.0), (0.08, 0.0)]);
    }
}
