//! The exhaustive sweep: segment size × window × congestion control, and its winner.

use anyhow::Result;
use maxseg_core::advise::{Change, as_run, changed};
use maxseg_core::engine::{Engine as _, Unwatched};
use maxseg_core::scenario::Scenario;
use maxseg_core::settings::CongestionName;
use maxseg_core::sim::Sim;
use maxseg_core::stats::Summary;
use maxseg_core::units::{Bytes, Mss};

/// Windows in shares of what the path holds.
const WINDOWS: [f64; 12] = [0.35, 0.6, 0.85, 1.05, 1.25, 1.5, 1.9, 2.5, 3.5, 5.0, 8.0, 16.0];
/// Segment sizes, where no frames say others.
const SIZES: [u64; 5] = [1460, 1220, 960, 536, 268];
/// Sizes that fill frames: so many are tried.
const FRAMES: u64 = 8;
/// So many of the best are run again.
const FINALISTS: usize = 6;

/// Seeds that choose, that choose among the best, and that score.
const CHOOSING: std::ops::Range<u64> = 0..1;
const SECOND: std::ops::Range<u64> = 500..503;
pub(super) const SCORING: std::ops::Range<u64> = 900..905;

/// Goodput in bits per second and round trip under load in seconds.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Standing {
    pub(super) rate: f64,
    pub(super) ping_s: f64,
}

/// The means over runs with these seeds; each run.
pub(super) fn stand(
    scenario: &Scenario,
    seeds: std::ops::Range<u64>,
) -> Result<(Standing, Vec<Standing>)> {
    let mut runs = Vec::new();
    for number in seeds {
        let mut run = scenario.clone();
        run.seed = scenario.seed.wrapping_add(number);
        let outcome = Sim.run(&run, &mut Unwatched)?;
        runs.push(Standing {
            rate: outcome.headline_goodput_bps().unwrap_or(0.0),
            ping_s: outcome.ping_mean_s.unwrap_or(f64::NAN),
        });
    }
    let mean =
        |of: fn(&Standing) -> f64| Summary::of(&runs.iter().map(of).collect::<Vec<_>>()).mean;
    Ok((Standing { rate: mean(|run| run.rate), ping_s: mean(|run| run.ping_s) }, runs))
}

/// What the sweep found.
#[derive(Debug, Clone)]
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

/// For the goal of short round trips this share of the most goodput is kept.
pub(super) const KEPT: f64 = 0.8;

/// Runs every point of a scenario, and the best again.
pub(super) fn sweep(scenario: &Scenario) -> Result<Swept> {
    let (base, _) = as_run(scenario);
    let points = points(&base);
    let changed = |changes: &[Change]| changed(&base, changes);
    let mut all = Vec::new();
    for changes in points {
        let (standing, _) = stand(&changed(&changes), CHOOSING)?;
        all.push((changes, standing));
    }
    let count = all.len();
    let again = |chosen: Vec<(Vec<Change>, Standing)>| -> Result<Vec<(Vec<Change>, Standing)>> {
        chosen
            .into_iter()
            .take(FINALISTS)
            .map(|(changes, _)| {
                let standing = stand(&changed(&changes), SECOND)?.0;
                Ok((changes, standing))
            })
            .collect()
    };
    all.sort_by(|(_, a), (_, b)| b.rate.total_cmp(&a.rate));
    let mut fastest = again(all.clone())?;
    fastest.sort_by(|(_, a), (_, b)| b.rate.total_cmp(&a.rate));
    let (most_changes, _) = fastest.first().cloned().unwrap_or_default();
    let most = stand(&changed(&most_changes), SCORING)?.0;
    all.retain(|(_, standing)| standing.rate >= KEPT * most.rate);
    all.sort_by(|(_, a), (_, b)| a.ping_s.total_cmp(&b.ping_s));
    let mut quickest = again(all)?;
    quickest.retain(|(_, standing)| standing.rate >= KEPT * most.rate);
    quickest.sort_by(|(_, a), (_, b)| a.ping_s.total_cmp(&b.ping_s));
    let (least_changes, _) = quickest.first().cloned().unwrap_or((most_changes.clone(), most));
    let least = stand(&changed(&least_changes), SCORING)?.0;
    Ok(Swept {
        points: count,
        most,
        most_words: Change::describe_all(&most_changes, AS_IT_IS),
        least,
        least_words: Change::describe_all(&least_changes, AS_IT_IS),
    })
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
