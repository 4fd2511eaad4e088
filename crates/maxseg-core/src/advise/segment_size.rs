//! The best segment size, after a sweep over it.

use serde_json::{Map, Value};

use crate::engine::EngineName;
use crate::results::{Group, Row, groups};
use crate::scenario::{FlowKind, Scenario};
use crate::stats::Summary;
use crate::units::Bytes;

/// Whether this advice is about a sweep over `key`: the segment size, or a datagram's.
pub fn is_size_key(key: &str) -> bool {
    key == "sender.mss" || flow_of_size_key(key).is_some()
}

/// The flow that `flow.N.size` is about.
fn flow_of_size_key(key: &str) -> Option<usize> {
    key.strip_prefix("flow.")?.strip_suffix(".size")?.parse().ok()
}

/// Sizes that everybody knows: what hosts use when they know nothing better, and what fits Ethernet.
const COMMON: [u64; 2] = [536, 1460];

/// The best segment size under one condition.
#[derive(Debug, Clone, PartialEq)]
pub struct SegmentSizeAdvice {
    /// Whose runs say so.
    pub engine: EngineName,
    /// The other swept keys with their values.
    pub condition: Map<String, Value>,
    /// The size with the highest mean goodput.
    pub best: u64,
    /// Its goodput in bits per second.
    pub goodput: Summary,
    /// Other sizes of the sweep that cannot be told from the best.
    pub as_good: Vec<u64>,
    /// Against the common sizes that the sweep has as well.
    pub versus: Vec<Versus>,
    /// How the best size meets the radio frames of the path; `None` where there are none.
    pub alignment: Option<Alignment>,
}

/// The best size against another one, paired by seed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Versus {
    /// The other size.
    pub size: u64,
    /// Best ÷ other − 1, of the means.
    pub gain: f64,
    /// Whether the mean difference of the pairs is above zero with 95% confidence; `None` where a
    /// single run cannot tell.
    pub stands_out: Option<bool>,
}

/// How a segment fills the radio frames that carry it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alignment {
    /// Frames of a full segment with its headers.
    pub frames: u64,
    /// Payload of a frame in bytes.
    pub frame: u64,
    /// Bytes of the last frame that stay empty.
    pub unused: u64,
}

/// The size key of a point, and its value.
fn size_of(point: &Map<String, Value>) -> Option<(String, u64)> {
    let (key, value) = point.iter().find(|(key, _)| is_size_key(key))?;
    Some((key.clone(), value.as_u64()?))
}

/// The sizes that were tried under one condition.
type Sizes<'a> = Vec<(u64, Group<'a>)>;

/// Advice for every condition of a sweep over a size ([`is_size_key`]), from the runs of `engine`;
/// empty where there are not two sizes to choose from.
pub fn segment_size(
    rows: &[Row],
    engine: EngineName,
    scenario: &Scenario,
) -> Vec<SegmentSizeAdvice> {
    let mut conditions: Vec<(Map<String, Value>, Sizes<'_>)> = Vec::new();
    for group in groups(rows).into_iter().filter(|group| group.engine == engine) {
        let Some((key, size)) = size_of(group.point) else { continue };
        let mut condition = group.point.clone();
        condition.remove(&key);
        match conditions.iter_mut().find(|(known, _)| *known == condition) {
            Some((_, sizes)) => sizes.push((size, group)),
            None => conditions.push((condition, vec![(size, group)])),
        }
    }
    conditions
        .into_iter()
        .filter_map(|(condition, sizes)| advise(engine, condition, &sizes, scenario))
        .collect()
}

fn advise(
    engine: EngineName,
    condition: Map<String, Value>,
    sizes: &[(u64, Group<'_>)],
    scenario: &Scenario,
) -> Option<SegmentSizeAdvice> {
    let means: Vec<(u64, &Group<'_>, Summary)> =
        sizes.iter().filter_map(|(size, group)| Some((*size, group, group.goodput()?))).collect();
    let (best, best_group, goodput) =
        means.iter().max_by(|(_, _, a), (_, _, b)| a.mean.total_cmp(&b.mean)).copied()?;
    if means.len() < 2 || goodput.mean <= 0.0 {
        return None;
    }
    let others = || means.iter().filter(|(size, ..)| *size != best);
    let as_good = others()
        .filter(|(_, group, _)| stands_out(best_group, group) == Some(false))
        .map(|(size, ..)| *size)
        .collect();
    let versus = others()
        .filter(|(size, _, other)| COMMON.contains(size) && other.mean > 0.0)
        .map(|(size, group, other)| Versus {
            size: *size,
            gain: goodput.mean / other.mean - 1.0,
            stands_out: stands_out(best_group, group),
        })
        .collect();
    let headers = headers(scenario, best_group.point);
    let alignment = alignment(scenario, best, headers);
    Some(SegmentSizeAdvice { engine, condition, best, goodput, as_good, versus, alignment })
}

/// Whether `best` is above `other` by more than chance, seed by seed: both saw the same draws, so the
/// difference of a pair has less noise than either side. Runs without any noise speak for themselves.
fn stands_out(best: &Group<'_>, other: &Group<'_>) -> Option<bool> {
    let differences: Vec<f64> = best
        .rows
        .iter()
        .filter_map(|row| {
            let twin = other.rows.iter().find(|twin| twin.seed == row.seed)?;
            Some(row.outcome.goodput_bps? - twin.outcome.goodput_bps?)
        })
        .collect();
    let summary = Summary::of(&differences);
    if best.engine == EngineName::Model {
        return Some(summary.mean > 0.0);
    }
    summary.ci95().map(|half| summary.mean > half)
}

/// What a segment or datagram carries in front of its payload.
pub fn headers(scenario: &Scenario, point: &Map<String, Value>) -> Bytes {
    let flow = point.keys().find_map(|key| flow_of_size_key(key));
    match flow.and_then(|index| scenario.flows.get(index)).map(|flow| flow.kind) {
        Some(FlowKind::Cbr { header, .. } | FlowKind::Ping { header, .. }) => header,
        Some(FlowKind::Bulk) | None => scenario.tcp_ip_headers(),
    }
}

/// How a segment of `size` bytes meets the smallest frames on the way to the receiver.
fn alignment(scenario: &Scenario, size: u64, headers: Bytes) -> Option<Alignment> {
    let framed = scenario.path.hops.iter().filter_map(|hop| Some((hop, hop.forward.frame?)));
    let (hop, frame) = framed.min_by_key(|(_, frame)| *frame)?;
    let frame = u64::from(frame);
    let wire = hop.forward.framed(Bytes::new(size) + headers).get();
    let filled = wire.next_multiple_of(frame);
    Some(Alignment { frames: filled / frame, frame, unused: filled - wire })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Outcome;

    const FRAMED: &str = "[[hop]]\nrate = \"2 Mbit/s\"\ndelay = \"200 ms\"\nframe = 128";

    fn sweep(samples: &[(u64, &[f64])]) -> Vec<Row> {
        let row = |size: u64, seed: u64, goodput: f64| {
            let mut point = Map::new();
            point.insert("hop.0.errors.rate".to_owned(), Value::from(0.05));
            point.insert("sender.mss".to_owned(), Value::from(size));
            Row {
                engine: EngineName::Sim,
                point,
                hash: size.to_string(),
                seed: Some(seed),
                outcome: Outcome { goodput_bps: Some(goodput), ..Outcome::default() },
                caveats: Vec::new(),
            }
        };
        let seeds = |(size, goodputs): &(u64, &[f64])| -> Vec<Row> {
            (1..).zip(*goodputs).map(|(seed, goodput)| row(*size, seed, *goodput)).collect()
        };
        samples.iter().flat_map(seeds).collect()
    }

    fn advice(samples: &[(u64, &[f64])]) -> Vec<SegmentSizeAdvice> {
        let scenario = Scenario::from_toml("test", FRAMED).unwrap();
        segment_size(&sweep(samples), EngineName::Sim, &scenario)
    }

    #[test]
    fn the_best_size_with_its_gain_and_its_frames() {
        let advice = advice(&[
            (536, &[100.0, 120.0, 140.0]),
            (600, &[112.0, 131.0, 154.0]),
            (1460, &[50.0, 70.0, 60.0]),
        ]);
        let [only] = advice.as_slice() else { panic!("one condition: {advice:?}") };
        assert_eq!(only.best, 600);
        assert_eq!(only.alignment, Some(Alignment { frames: 5, frame: 128, unused: 0 }));
        assert_eq!(only.versus.len(), 2);
        // Each seed gains about 12: clear by pairs, though the means overlap widely.
        assert_eq!(only.versus[0].stands_out, Some(true));
        assert!((only.versus[0].gain - 0.1028).abs() < 1e-3);
    }

    #[test]
    fn noise_is_called_noise() {
        let advice = advice(&[(536, &[100.0, 140.0, 90.0]), (600, &[130.0, 100.0, 110.0])]);
        assert_eq!(advice[0].as_good, [536]);
        assert_eq!(advice[0].versus[0].stands_out, Some(false));
    }

    #[test]
    fn one_run_cannot_tell() {
        assert_eq!(advice(&[(536, &[100.0]), (600, &[130.0])])[0].versus[0].stands_out, None);
        assert!(advice(&[(536, &[100.0])]).is_empty(), "nothing to choose from");
    }
}
