//! The best segment size, after a sweep over it.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::advice::Advice;
use crate::compare::{Difference, Side};
use crate::engine::EngineName;
use crate::outcome::Outcome;
use crate::results::{Group, Row, groups, written};
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
    /// Whether that comes from a formula outside its range.
    pub is_doubtful: bool,
    /// Other sizes of the sweep that cannot be told from the best.
    pub as_good: Vec<u64>,
    /// Against the common sizes that the sweep has as well.
    pub versus: Vec<Versus>,
    /// How the best size meets the radio frames of the path; `None` where there are none.
    pub alignment: Option<Alignment>,
    /// The size as advice; `None` of datagrams, which no setting of a host cuts.
    pub advice: Option<Advice>,
}

/// The best size against another one, paired by seed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Versus {
    /// The other size.
    pub size: u64,
    /// Whether its goodput comes from a formula outside its range.
    pub is_doubtful: bool,
    /// Best ÷ other − 1, of the means.
    pub gain: f64,
    /// Whether the best one is above it by more than chance ([`Difference`]); `None` where so few runs cannot tell.
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

/// A condition under which no size is called the best: of its sizes, at most one was used as it was asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct LoweredSizes {
    /// The other swept keys with their values.
    pub condition: Map<String, Value>,
    /// The size that was used.
    pub kept: Option<u64>,
    /// The least and the largest MSS that were used instead of the others, in bytes (RFC 9293, section 3.7.1).
    pub used: (u64, u64),
}

/// The size key of a point, and its value in bytes.
fn size_of(point: &Map<String, Value>) -> Option<(String, u64)> {
    let (key, value) = point.iter().find(|(key, _)| is_size_key(key))?;
    let in_bytes = |text: &str| Some(text.parse::<Bytes>().ok()?.get());
    let size = value.as_u64().or_else(|| in_bytes(value.as_str()?))?;
    Some((key.clone(), size))
}

/// A size that was tried under one condition.
struct Candidate<'a> {
    size: u64,
    group: Group<'a>,
    goodput: Summary,
    scenario: &'a Scenario,
}

/// Advice for every condition of a sweep over a size ([`is_size_key`]), from the runs of `engine`;
/// empty where there are not two sizes to choose from. `scenario_of` gives the scenario of a row's hash.
pub fn segment_size<'a>(
    rows: &'a [Row],
    engine: EngineName,
    scenario_of: impl Fn(&str) -> Option<&'a Scenario>,
) -> Vec<SegmentSizeAdvice> {
    let candidate = |(size, group): (u64, Group<'a>)| {
        let scenario = scenario_of(&group.rows[0].hash)?;
        let goodput = group.goodput()?;
        // What a machine that could not keep up gave is no ground for advice.
        let counts = uses(&group, size, Some(scenario)) && !group.has_invalid();
        counts.then_some(Candidate { size, group, goodput, scenario })
    };
    conditions(rows, engine)
        .into_iter()
        .filter_map(|(condition, sizes)| {
            let candidates: Vec<_> = sizes.into_iter().filter_map(candidate).collect();
            advise(engine, condition, &candidates)
        })
        .collect()
}

/// The conditions of a sweep over a size under which there is nothing to choose from, because the path's MTU or the other
/// host's MSS lowered all sizes, or all but one, in the runs of `engine`. `scenario_of` gives the scenario of a row's hash.
pub fn lowered_sizes<'a>(
    rows: &'a [Row],
    engine: EngineName,
    scenario_of: impl Fn(&str) -> Option<&'a Scenario>,
) -> Vec<LoweredSizes> {
    let lowered = |(condition, sizes): Condition<'_>| {
        let (kept, lowered): (Vec<_>, Vec<_>) = sizes
            .into_iter()
            .partition(|(size, group)| uses(group, *size, scenario_of(&group.rows[0].hash)));
        let rows = lowered.iter().flat_map(|(_, group)| &group.rows);
        let used: Vec<u64> = rows.filter_map(|row| row.outcome.mss_used_bytes).collect();
        let used = (*used.iter().min()?, *used.iter().max()?);
        let kept_size = kept.first().map(|(size, _)| *size);
        (kept.len() < 2).then_some(LoweredSizes { condition, kept: kept_size, used })
    };
    conditions(rows, engine).into_iter().filter_map(lowered).collect()
}

/// A condition, and the groups that differ by their size alone.
type Condition<'a> = (Map<String, Value>, Vec<(u64, Group<'a>)>);

/// The conditions of a sweep over a size, in the order of the rows.
fn conditions(rows: &[Row], engine: EngineName) -> Vec<Condition<'_>> {
    let mut conditions: Vec<Condition<'_>> = Vec::new();
    let mut place: BTreeMap<String, usize> = BTreeMap::new();
    for group in groups(rows).into_iter().filter(|group| group.engine == engine) {
        let Some((key, size)) = size_of(group.point) else { continue };
        let mut condition = group.point.clone();
        condition.remove(&key);
        let index = *place.entry(written(&condition)).or_insert_with(|| {
            conditions.push((condition, Vec::new()));
            conditions.len() - 1
        });
        conditions[index].1.push((size, group));
    }
    conditions
}

/// Whether the runs used this size, and not a smaller one that the path or the other host allows. The options of every segment are
/// part of it (RFC 6691 §3).
fn uses(group: &Group<'_>, size: u64, scenario: Option<&Scenario>) -> bool {
    let flow = scenario.and_then(|scenario| scenario.flows.iter().find(|flow| flow.kind.is_tcp()));
    let decision = scenario.zip(flow).map(|(scenario, flow)| scenario.mss(flow));
    let options = decision.map_or(0, |decision| decision.options.get());
    let is_it = |used: u64| used == size || used + options == size;
    group.rows.iter().all(|row| row.outcome.mss_used_bytes.is_none_or(is_it))
}

fn advise(
    engine: EngineName,
    condition: Map<String, Value>,
    candidates: &[Candidate<'_>],
) -> Option<SegmentSizeAdvice> {
    let best = candidates.iter().max_by(|a, b| a.goodput.mean.total_cmp(&b.goodput.mean))?;
    if candidates.len() < 2 || best.goodput.mean <= 0.0 {
        return None;
    }
    let others = || candidates.iter().filter(|other| other.size != best.size);
    let as_good = others()
        .filter(|other| {
            best.group.rows.len() >= ENOUGH_SEEDS && best.stands_out(other) == Some(false)
        })
        .map(|other| other.size)
        .collect();
    let versus = others()
        .filter(|other| COMMON.contains(&other.size) && other.goodput.mean > 0.0)
        .map(|other| Versus {
            size: other.size,
            is_doubtful: other.group.is_doubtful(),
            gain: best.goodput.mean / other.goodput.mean - 1.0,
            stands_out: best.stands_out(other),
        })
        .collect();
    Some(SegmentSizeAdvice {
        engine,
        condition,
        best: best.size,
        goodput: best.goodput,
        is_doubtful: best.group.is_doubtful(),
        as_good,
        versus,
        alignment: alignment(best.scenario, best.size, headers(best.scenario, best.group.point)),
        advice: best
            .group
            .point
            .contains_key("sender.mss")
            .then(|| Advice::of_swept_size(best.size, best.scenario))
            .flatten(),
    })
}

/// Below so many seeds nearly everything is within the noise, which says nothing of the sizes.
pub const ENOUGH_SEEDS: usize = 5;

impl Candidate<'_> {
    /// Whether this one is above `other` by more than chance; `None` where the runs cannot tell.
    fn stands_out(&self, other: &Self) -> Option<bool> {
        let sides = [other, self]
            .map(|of| Side { rows: &of.group.rows, is_random: of.scenario.is_random() });
        Difference::of(sides, Outcome::headline_goodput_bps).is_higher()
    }
}

/// What a segment or datagram carries in front of its payload.
pub fn headers(scenario: &Scenario, point: &Map<String, Value>) -> Bytes {
    let flow = point.keys().find_map(|key| flow_of_size_key(key));
    match flow.and_then(|index| scenario.flows.get(index)).map(|flow| flow.kind) {
        Some(FlowKind::Cbr { header, .. } | FlowKind::Ping { header, .. }) => header,
        Some(FlowKind::Bulk | FlowKind::Request(_)) | None => scenario.tcp_ip_headers(),
    }
}

/// How a segment of `size` bytes meets the smallest frames on the way to the receiver.
fn alignment(scenario: &Scenario, size: u64, headers: Bytes) -> Option<Alignment> {
    let (link, frame) = scenario.path.smallest_frames()?;
    let frame = u64::from(frame);
    let wire = link.framed(Bytes::new(size) + headers).get();
    let filled = wire.next_multiple_of(frame);
    Some(Alignment { frames: filled / frame, frame, unused: filled - wire })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAMED: &str = "[[hop]]\nrate = \"2 Mbit/s\"\ndelay = \"200 ms\"\nframe = 128\n\
                          errors = { model = \"uniform\", per = \"frame\", rate = 0.05 }";

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
        advice_for(FRAMED, &sweep(samples))
    }

    fn advice_for(scenario: &str, rows: &[Row]) -> Vec<SegmentSizeAdvice> {
        let scenario = Scenario::from_toml("test", scenario).unwrap();
        segment_size(rows, EngineName::Sim, |_| Some(&scenario))
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
        let few = advice(&[(536, &[100.0, 140.0, 90.0]), (600, &[130.0, 100.0, 110.0])]);
        assert_eq!(few[0].versus[0].stands_out, Some(false));
        assert!(few[0].as_good.is_empty(), "three seeds cannot call a size as good");
        let seeds = [
            (536, &[100.0, 140.0, 90.0, 99.0, 98.0][..]),
            (600, &[130.0, 100.0, 110.0, 98.0, 99.0]),
        ];
        assert_eq!(advice(&seeds)[0].as_good, [536]);
    }

    #[test]
    fn where_nothing_is_random_a_difference_is_a_difference() {
        let clean = "[[hop]]\nrate = \"2 Mbit/s\"\ndelay = \"200 ms\"";
        let rows = sweep(&[(536, &[100.0]), (600, &[130.0])]);
        assert_eq!(advice_for(clean, &rows)[0].versus[0].stands_out, Some(true));
        // In real time chance is there all the same, and one run cannot tell it.
        let scenario = Scenario::from_toml("test", clean).unwrap();
        let lab: Vec<Row> =
            rows.into_iter().map(|row| Row { engine: EngineName::Lab, ..row }).collect();
        let advice = segment_size(&lab, EngineName::Lab, |_| Some(&scenario));
        assert_eq!(advice[0].versus[0].stands_out, None);
    }

    #[test]
    fn a_size_that_was_lowered_is_no_candidate() {
        let mut rows = sweep(&[(536, &[100.0]), (600, &[110.0]), (1460, &[130.0])]);
        rows[2].outcome.mss_used_bytes = Some(1380);
        assert_eq!(advice_for(FRAMED, &rows)[0].best, 600);
    }

    #[test]
    fn where_every_size_was_lowered_that_is_known() {
        let mut rows = sweep(&[(1400, &[100.0]), (1440, &[110.0]), (1460, &[130.0])]);
        let used = |rows: &mut [Row], used: [u64; 3]| {
            for (row, used) in rows.iter_mut().zip(used) {
                row.outcome.mss_used_bytes = Some(used);
            }
        };
        let lowered = |rows: &[Row]| {
            let lowered = lowered_sizes(rows, EngineName::Sim, |_| None);
            assert_eq!(advice_for(FRAMED, rows).is_empty(), !lowered.is_empty());
            lowered.first().map(|lowered| (lowered.kept, lowered.used))
        };
        used(&mut rows, [524, 524, 520]);
        assert_eq!(lowered(&rows), Some((None, (520, 524))));
        let of_path = lowered_sizes(&rows, EngineName::Sim, |_| None);
        assert_eq!(of_path[0].condition["hop.0.errors.rate"], 0.05);
        used(&mut rows, [1400, 1412, 1412]);
        assert_eq!(lowered(&rows), Some((Some(1400), (1412, 1412))));
        used(&mut rows, [1400, 1440, 1448]);
        assert_eq!(lowered(&rows), None, "two were used");
        assert!(lowered_sizes(&sweep(&[(536, &[1.0])]), EngineName::Sim, |_| None).is_empty());
    }

    /// Today's default: 12 bytes of timestamps in every segment, of whatever size was asked for.
    #[test]
    fn a_size_less_the_options_of_every_segment_was_not_lowered() {
        let mut rows = sweep(&[(536, &[100.0]), (600, &[130.0]), (1460, &[110.0])]);
        for (row, used) in rows.iter_mut().zip([524, 588, 1448]) {
            row.outcome.mss_used_bytes = Some(used);
        }
        let advice = advice_for(FRAMED, &rows);
        assert_eq!(advice[0].best, 600);
        assert_eq!(advice[0].alignment, Some(Alignment { frames: 5, frame: 128, unused: 0 }));
        let scenario = Scenario::from_toml("test", FRAMED).unwrap();
        assert!(lowered_sizes(&rows, EngineName::Sim, |_| Some(&scenario)).is_empty());
        rows[2].outcome.mss_used_bytes = Some(1380);
        assert_eq!(advice_for(FRAMED, &rows)[0].versus.len(), 1, "1460 was lowered");
    }

    #[test]
    fn datagram_sizes_may_carry_their_unit() {
        let mut rows = sweep(&[(536, &[100.0]), (600, &[110.0])]);
        for row in &mut rows {
            let size = row.point.remove("sender.mss").unwrap();
            row.point.insert("flow.0.size".to_owned(), Value::from(format!("{size} B")));
        }
        assert_eq!(advice_for(FRAMED, &rows)[0].best, 600);
    }

    #[test]
    fn one_run_cannot_tell() {
        assert_eq!(advice(&[(536, &[100.0]), (600, &[130.0])])[0].versus[0].stands_out, None);
        assert!(advice(&[(536, &[100.0])]).is_empty(), "nothing to choose from");
        let equal = advice(&[(536, &[100.0, 120.0]), (600, &[110.0, 130.0])]);
        assert_eq!(equal[0].versus[0].stands_out, None, "equal differences show no spread");
    }
}
