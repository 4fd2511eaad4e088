//! What the sender's socket is said to show while a run lasts, beside what limited the run: `maxseg connections --interval` with
//! the truth known.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use maxseg_core::diagnose::{SocketDiagnosis, diagnose_socket};
use maxseg_core::outcome::LimitedBy;
use maxseg_wire::inet_diag::Sample;
use maxseg_workbench::connections::{Recording, Snapshot};

use super::run::{RECORDING, Run, SIMULATED, folder};
use super::score::{Grade, Scored};
use super::simulated_socket;
use super::stratum::Stratum;
use super::truth::Truth;
use super::words::{parameters, truth};
use crate::draws::{Application, Engine, Half, percent};

/// At least so many of 100 verdicts are right, and at most so many unknown.
pub(super) const LEAST_RIGHT: f64 = 0.85;
pub(super) const MOST_UNKNOWN: f64 = 0.12;
/// Each tells to set something that limits nothing.
pub(super) const MOST_FALSE: f64 = 0.05;
/// The two samples are this share of the recorded time apart at least: what limits a transfer's end only is not its limit.
const LEAST_SHARE: f64 = 0.5;
/// Slow start is left out where there is time: the first sample is taken after so many round trips.
const ROUND_TRIPS: f64 = 8.0;

/// The third number of `tcp_wmem`, the kernel's own: nothing sets it here.
const MOST_SEND_BUFFER: u32 = 4 << 20;

/// A sample with its time, seconds since 1970.
type Timed = (f64, Sample);

/// What the socket of a run shows.
#[derive(Debug, Clone)]
pub(super) struct Live<'r> {
    pub(super) run: &'r Run,
    pub(super) truth: &'r Truth,
    pub(super) said: SocketDiagnosis,
    pub(super) grade: Grade,
    /// From the first to the second sample.
    interval: Duration,
}

/// Every run whose sender's connection was there long enough for two samples.
///
/// # Errors
/// Samples of a simulated run cannot be read.
pub(super) fn live<'r>(scored: &'r [Scored], kept: &Path) -> Result<Vec<Live<'r>>> {
    let judged = |one: &'r Scored| -> Result<Option<Live<'r>>> {
        let folder = folder(kept, one.run.setup.stratum, one.run.number);
        let simulated = simulated_socket::read(&folder.join(SIMULATED))?;
        let samples = simulated.or_else(|| recorded(&folder.join(RECORDING)));
        Ok(samples.and_then(|samples| of(&one.run, &one.truth, &samples)))
    };
    scored.iter().filter_map(|one| judged(one).transpose()).collect()
}

fn of<'r>(run: &'r Run, truth: &'r Truth, samples: &[Timed]) -> Option<Live<'r>> {
    // A short transfer has ended before a second sample.
    if matches!(run.setup.application, Application::Bytes(_)) {
        return None;
    }
    let [first, last] = two(samples, ROUND_TRIPS * run.setup.rtt_s)?;
    let interval = Duration::try_from_secs_f64(last.0 - first.0).ok()?;
    let between = samples.iter().filter(|one| first.0 <= one.0 && one.0 <= last.0);
    let points: Vec<_> = between.map(|(_, sample)| sample.rate_point()).collect();
    let mut evidence = last.1.evidence(Some((&first.1, interval))).with_looks(&points);
    // `maxseg connections` reads it from the socket's options and the host's `tcp_wmem`.
    let has_room = last.1.memory.is_none_or(|memory| memory.send_buffer < MOST_SEND_BUFFER);
    evidence.state.send_buffer_is_set = Some(run.setup.send_buffer_bytes.is_some());
    evidence.state.send_buffer_grows = Some(run.setup.send_buffer_bytes.is_none() && has_room);
    let said = diagnose_socket(&evidence);
    let grade = if said.limited_by == LimitedBy::Unknown {
        Grade::Unknown
    } else if truth.limits.contains(&said.limited_by) {
        Grade::Right
    } else {
        Grade::False
    };
    Some(Live { run, truth, said, grade, interval })
}

/// The samples of the connection that has the first, each with its time.
fn recorded(file: &Path) -> Option<Vec<Timed>> {
    let recording = Recording::open(file).ok()?;
    let snapshots: Vec<Snapshot> =
        recording.play(0..recording.frames().len()).collect::<Result<_, _>>().ok()?;
    let cookie = snapshots.first()?.connections.first()?.cookie;
    let of = |snapshot: &Snapshot| {
        let one = snapshot.connections.iter().find(|one| one.cookie == cookie)?;
        Some((snapshot.time_s?, *one.sample.as_deref()?))
    };
    Some(snapshots.iter().filter_map(of).collect())
}

/// One after slow start, and the last but one: at the last the transfer may be over already.
fn two(samples: &[Timed], slow_start_s: f64) -> Option<[&Timed; 2]> {
    let [first, .., last, _] = samples else { return None };
    let latest = last.0 - LEAST_SHARE * (last.0 - first.0);
    let from = samples.iter().rfind(|one| one.0 <= (first.0 + slow_start_s).min(latest))?;
    (from.0 < last.0).then_some([from, last])
}

/// How many are right, unknown and false.
pub(super) fn grades(of: &[&Live<'_>]) -> [usize; 3] {
    [Grade::Right, Grade::Unknown, Grade::False]
        .map(|grade| of.iter().filter(|live| live.grade == grade).count())
}

/// The bars that are missed, in words.
pub(super) fn missed(all: &[Live<'_>]) -> Vec<String> {
    let [right, unknown, wrong] = grades(&all.iter().collect::<Vec<_>>());
    let share = |count: usize| count as f64 / all.len().max(1) as f64;
    let mut short = Vec::new();
    if share(wrong) > MOST_FALSE {
        short.push(format!("live: {wrong} of {} false", all.len()));
    }
    if share(right) < LEAST_RIGHT {
        short.push(format!("live: {right} of {} right", all.len()));
    }
    if share(unknown) > MOST_UNKNOWN {
        short.push(format!("live: {unknown} of {} unknown", all.len()));
    }
    short
}

/// What was asked, by whom the run was made.
const fn origin(engine: Engine) -> &'static str {
    match engine {
        Engine::Lab => {
            "Written by `cargo xtask validate explain` together with the page on captures, from the same runs and with the same \
             truth (`docs/validation-explain.md` has the ranges): while each run lasted, the kernel was asked for the sender's socket"
        }
        Engine::Sim => {
            "Written by `cargo xtask validate explain --engine sim` together with the page on captures, from the same runs and with the \
             same truth (`docs/validation-explain-sim.md` has the ranges): while each run lasted, the socket of the stack `linux` was \
             asked for what a kernel tells of one"
        }
    }
}

const INTRODUCTION: &str = "\
four times a second, and what is judged is the verdict over two of these samples, the first after eight round trips, where half of the time is left \
then, with those between them, which show how rate and window vary: `maxseg connections --interval` looks sixteen times, `maxseg top` at \
every refresh. A socket does not tell which way a link is full: bandwidth is \
right for both.

Not drawn: transfers that end before a second sample, receivers (what limits a peer's data only the peer knows), several \
connections, other kernels.";

/// The page.
pub(super) fn page(engine: Engine, half: &Half, all: &[Live<'_>]) -> String {
    let title = match engine {
        Engine::Lab => "What a live connection is said to be limited by",
        Engine::Sim => "What a simulated socket is said to be limited by",
    };
    let (origin, drawn) = (origin(engine), half.drawn());
    let mut text = format!("# {title}\n\n{origin} {INTRODUCTION}\n\nThe seed is {drawn}.\n\n");
    text.push_str("| stratum | runs | right | unknown | false |\n|---|---|---|---|---|\n");
    for stratum in Stratum::ALL {
        let of: Vec<&Live<'_>> =
            all.iter().filter(|live| live.run.setup.stratum == stratum).collect();
        row(&mut text, stratum.word(), &of);
    }
    row(&mut text, "all", &all.iter().collect::<Vec<_>>());
    text.push_str("\n## Every verdict that is false or unknown\n\n| run | parameters | truth | said | shares | seconds |\n|---|---|---|---|---|---|\n");
    for live in all.iter().filter(|live| live.grade != Grade::Right) {
        let shares: Vec<String> = live
            .said
            .limits
            .iter()
            .map(|limit| format!("{} {:.0}%", limit.kind, 100.0 * limit.share))
            .collect();
        let _ = writeln!(
            text,
            "| {} {:03} | {} | {} | {} | {} | {:.1} |",
            live.run.setup.stratum.word(),
            live.run.number,
            parameters(&live.run.setup),
            truth(live.truth),
            live.said.unknown_because.as_deref().unwrap_or(live.said.limited_by.word()),
            shares.join(", "),
            live.interval.as_secs_f64()
        );
    }
    text
}

fn row(text: &mut String, name: &str, of: &[&Live<'_>]) {
    let [right, unknown, wrong] = grades(of);
    let share = (1e3 * right as f64 / of.len().max(1) as f64).round() / 1e3;
    let _ = writeln!(
        text,
        "| {name} | {} | {right} ({}) | {unknown} | {wrong} |",
        of.len(),
        percent(share)
    );
}
