//! The exhaustive sweep: segment size × window × congestion control, and its winner.

use anyhow::Result;
use maxseg_core::advise::{Change, as_run, changed};
use maxseg_core::scenario::Scenario;
use maxseg_core::settings::CongestionName;
use maxseg_core::units::{Bytes, Mss};
use serde::{Deserialize, Serialize};

use super::fresh::{Fresh, Standing};

/// Windows in shares of what the path holds.
const WINDOWS: [f64; 12] = [0.35, 0.6, 0.85, 1.05, 1.25, 1.5, 1.9, 2.5, 3.5, 5.0, 8.0, 16.0];
/// Segment sizes, where no frames say others.
const SIZES: [u64; 5] = [1460, 1220, 960, 536, 268];
/// Sizes that fill frames: so many are tried.
const FRAMES: u64 = 8;
/// So many of the best are run again, and so many of these until their mean is certain: the best of many single runs would be the
/// luckiest.
const FINALISTS: usize = 12;
const CERTAIN: usize = 4;
/// So many of the shortest round trips that keep their goodput are looked at.
const QUICKEST: usize = 6;

/// Points that may have the shortest round trip are run again until so many keep their goodput, and so many at most.
const CANDIDATES: usize = 40;

/// Draws that choose, and that choose among the best.
const CHOOSING: std::ops::Range<u64> = 0..1;
const SECOND: std::ops::Range<u64> = 500..503;

/// The means over runs with these numbers.
fn stand(scenario: &Scenario, numbers: std::ops::Range<u64>) -> Result<Standing> {
    let runs = numbers.map(|number| Standing::of(scenario, number));
    Ok(Standing::mean(&runs.collect::<Result<Vec<_>>>()?))
}

/// What the sweep found.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Swept {
    /// Points that were run.
    pub(super) points: usize,
    /// The most goodput, of the winner's scoring runs, and what it is.
    pub(super) most: Standing,
    pub(super) most_words: String,
    /// The shortest round trip of those with four fifths of the most goodput, of its scoring runs.
    pub(super) least: Standing,
    pub(super) least_words: String,
}

/// The runs of the two winners with fresh draws.
pub(super) struct Winners {
    pub(super) most: Fresh,
    pub(super) most_changes: Vec<Change>,
    pub(super) least: Fresh,
}

/// For the goal of short round trips this share of the most goodput is kept.
pub(super) const KEPT: f64 = 0.8;

/// Runs every point of a scenario, and the best again.
pub(super) fn sweep(scenario: &Scenario) -> Result<(Swept, Winners)> {
    let (base, _) = as_run(scenario);
    let points = points(&base);
    let with = |changes: &[Change]| changed(&base, changes);
    let mut all = Vec::new();
    for changes in points {
        let standing = stand(&with(&changes), CHOOSING)?;
        all.push((changes, standing));
    }
    let count = all.len();
    let again = |changes: Vec<Change>| -> Result<(Vec<Change>, Standing)> {
        let standing = stand(&with(&changes), SECOND)?;
        Ok((changes, standing))
    };
    all.sort_by(|(_, a), (_, b)| b.rate.total_cmp(&a.rate));
    let fastest = all.iter().take(FINALISTS).map(|(changes, _)| again(changes.clone()));
    let mut fastest: Vec<_> = fastest.collect::<Result<_>>()?;
    fastest.sort_by(|(_, a), (_, b)| b.rate.total_cmp(&a.rate));
    let certain = fastest.into_iter().take(CERTAIN).map(|(changes, _)| {
        let rate = Fresh::choosing(with(&changes)).certain_rate()?;
        Ok((changes, rate))
    });
    let certain: Vec<(Vec<Change>, f64)> = certain.collect::<Result<_>>()?;
    let fastest = certain.into_iter().max_by(|(_, a), (_, b)| a.total_cmp(b));
    let (most_changes, most_rate) = fastest.unwrap_or_default();
    let mut most = Fresh::of(with(&most_changes));
    all.retain(|(_, standing)| standing.rate >= KEPT * most_rate);
    all.sort_by(|(_, a), (_, b)| a.ping_s.total_cmp(&b.ping_s));
    let mut quickest = Vec::new();
    for (changes, _) in all.into_iter().take(CANDIDATES) {
        let (changes, standing) = again(changes)?;
        if standing.rate >= KEPT * most_rate {
            quickest.push((changes, standing));
        }
        if quickest.len() == QUICKEST {
            break;
        }
    }
    quickest.sort_by(|(_, a), (_, b)| a.ping_s.total_cmp(&b.ping_s));
    let mut least = None;
    for (changes, _) in quickest {
        // Other draws than those that chose it tell whether it keeps its goodput.
        let mut fresh = Fresh::of(with(&changes));
        if fresh.over(&mut most, |standing| standing.rate)?.value >= KEPT {
            least = Some((changes, fresh));
            break;
        }
    }
    let is_kept = least.is_some();
    let (least_changes, least) = least.unwrap_or_else(|| (most_changes.clone(), most.clone()));
    let mut least_words = Change::describe_all(&least_changes, AS_IT_IS);
    if !is_kept {
        least_words += " (the most goodput: no other keeps enough of it)";
    }
    let swept = Swept {
        points: count,
        most: most.mean()?,
        most_words: Change::describe_all(&most_changes, AS_IT_IS),
        least: Standing::default(),
        least_words,
    };
    Ok((swept, Winners { most, most_changes, least }))
}

/// No change, in words.
pub(super) const AS_IT_IS: &str = "as it is";

fn points(base: &Scenario) -> Vec<Vec<Change>> {
    let mut points = Vec::new();
    for size in sizes(base) {
        let sized = changed(base, size.as_slice());
        for window in windows(&sized) {
            for name in [CongestionName::Cubic, CongestionName::Bbr, CongestionName::Reno] {
                let mut changes: Vec<Change> = size.into_iter().chain(window).collect();
                if name != base.sender.congestion {
                    changes.push(Change::Congestion(name));
                }
                points.push(changes);
            }
        }
    }
    points
}

fn sizes(base: &Scenario) -> Vec<Option<Change>> {
    let largest = base.path.smallest_mtu().bytes().get() - 40;
    let mut sizes: Vec<u64> = match base.path.smallest_frames() {
        Some((link, frame)) => {
            let around = link.framed(Bytes::new(52)).get();
            let frame = u64::from(frame);
            let most = (largest + 40) / frame;
            let number = |step: u64| {
                let share = step as f64 / (FRAMES - 1) as f64;
                crate::draws::whole((most as f64).powf(share))
            };
            (0..FRAMES)
                .filter_map(|step| (number(step) * frame).checked_sub(around))
                .map(|payload| payload + 12)
                .collect()
        }
        None => SIZES.to_vec(),
    };
    sizes.push(largest);
    sizes.retain(|size| (60..=largest).contains(size));
    sizes.sort_unstable();
    sizes.dedup();
    let changes = sizes.into_iter().filter_map(|size| Mss::new(size).ok()).map(Change::SegmentSize);
    std::iter::once(None).chain(changes.map(Some)).collect()
}

fn windows(sized: &Scenario) -> Vec<Option<Change>> {
    let Some(flow) = sized.flows.first() else { return vec![None] };
    let mss = sized.mss(flow).effective.bytes();
    let packet = mss + sized.tcp_ip_headers();
    let on_wires: f64 =
        sized.path.hops.iter().map(|hop| hop.forward.airtime(packet).as_secs_f64()).sum();
    let slowest = sized
        .path
        .hops
        .iter()
        .map(|hop| hop.forward.airtime(packet).as_secs_f64())
        .fold(1e-9, f64::max);
    let held = mss.get() as f64 * (sized.path.propagation_rtt().as_secs_f64() + on_wires) / slowest;
    let windows = WINDOWS
        .iter()
        .map(|share| crate::draws::whole(share * held))
        .filter(|window| *window >= 4 * mss.get());
    let windows = windows.map(|window| Some(Change::Window(Bytes::new(window))));
    let buffer = Change::ReceiveBuffer(Bytes::new(
        crate::draws::whole(8.0 * held).next_power_of_two().max(1 << 17),
    ));
    [None, Some(buffer)].into_iter().chain(windows).collect()
}
