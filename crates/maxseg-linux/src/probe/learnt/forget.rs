//! Removing what probes have taught the kernel, and nothing else.

use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;

use super::LearntMtu;
use super::file::{Event, Line, Remembered, TeachLog};
use super::remove::{remembered_for_s, remove, restore_sysctls};

/// What became of what the kernel had learnt about one destination.
#[derive(Debug)]
pub struct Forgetting {
    /// The destination.
    pub destination: IpAddr,
    /// What the kernel remembers, or did until now.
    pub learnt: Option<LearntMtu>,
    /// What became of it.
    pub outcome: ForgetOutcome,
}

/// What became of an exception.
#[derive(Debug)]
pub enum ForgetOutcome {
    /// The probes have taught nothing.
    NothingLearnt,
    /// The kernel remembers none any more: it has expired, or was removed.
    NothingThere,
    /// It is removed.
    Removed,
    /// It was there before the probes, or another connection has learnt it since: it stays.
    NotOurs,
    /// It could not be removed.
    Failed(io::Error),
}

/// Removes what the logged probes have taught about these destinations, or about all, in the calling thread's network namespace.
///
/// # Errors
/// The log cannot be read or written.
pub fn forget(log: &mut TeachLog, destinations: Option<&[IpAddr]>) -> io::Result<Vec<Forgetting>> {
    let lines = log.lines()?;
    restore_sysctls(log, &lines)?;
    let mut forgettings = Vec::new();
    for (destination, runs) in pending(&lines) {
        if destinations.is_some_and(|wanted| !wanted.contains(&destination)) {
            continue;
        }
        // A destination that has no route any more has no exception either.
        let learnt = LearntMtu::of(destination).ok().flatten();
        let outcome = match &learnt {
            None if runs.iter().all(|run| run.has_taught == Some(false)) => {
                ForgetOutcome::NothingLearnt
            }
            None => ForgetOutcome::NothingThere,
            Some(learnt) if !is_of_probes(&runs, learnt, destination) => ForgetOutcome::NotOurs,
            Some(learnt) => match remove(log, destination, learnt) {
                Ok(()) => ForgetOutcome::Removed,
                Err(error) => ForgetOutcome::Failed(error),
            },
        };
        match outcome {
            ForgetOutcome::NothingLearnt | ForgetOutcome::NothingThere | ForgetOutcome::Removed => {
                log.append(Event::Forgotten { destination })?;
            }
            ForgetOutcome::NotOurs | ForgetOutcome::Failed(_) => {}
        }
        forgettings.push(Forgetting { destination, learnt, outcome });
    }
    Ok(forgettings)
}

/// Probes to one destination, as they are logged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Run {
    /// When they began, seconds since 1970.
    pub(super) begun_s: f64,
    /// What was remembered then.
    pub(super) before: Option<Remembered>,
    /// When they ended; `None` of probes that were cut off.
    pub(super) ended_s: Option<f64>,
    /// Whether the kernel remembered something else at their end than before; `None` of probes that were cut off.
    pub(super) has_taught: Option<bool>,
}

/// The destinations whose probes may have taught the kernel something that nobody has removed since.
pub(super) fn pending(lines: &[Line]) -> BTreeMap<IpAddr, Vec<Run>> {
    let mut pending: BTreeMap<IpAddr, Vec<Run>> = BTreeMap::new();
    for line in lines {
        match &line.event {
            Event::Begin { destination, before } => {
                let run =
                    Run { begun_s: line.at_s, before: *before, ended_s: None, has_taught: None };
                pending.entry(*destination).or_default().push(run);
            }
            Event::End { destination, after } => {
                if let Some(run) = pending.get_mut(destination).and_then(|runs| runs.last_mut()) {
                    run.ended_s = Some(line.at_s);
                    let learnt = after.map(LearntMtu::from);
                    let before = run.before.map(LearntMtu::from);
                    let is_news = |learnt: LearntMtu| learnt.is_news(before.as_ref());
                    run.has_taught = Some(learnt.is_some_and(is_news));
                }
            }
            Event::Forgotten { destination } => {
                pending.remove(destination);
            }
            Event::SysctlChange { .. } | Event::SysctlRestored { .. } => {}
        }
    }
    pending
}

/// Whether what is remembered was learnt while one of these runs lasted: how long it will be remembered tells when that was.
fn is_of_probes(runs: &[Run], learnt: &LearntMtu, destination: IpAddr) -> bool {
    let Ok(remembered_s) = remembered_for_s(destination) else { return false };
    runs.iter().any(|run| run.is_of_time(learnt.mtu, learnt.until_s, remembered_s))
}

/// Probes that were cut off may have been answered for so long after they began, in seconds.
const LONGEST: f64 = 120.0;
/// By so many seconds times may differ: the kernel tells them in hundredths, and clocks are set.
const SLACK: f64 = 2.0;

impl Run {
    /// Whether an exception that expires then, and was to be remembered for so long, is of this run.
    pub(super) fn is_of_time(&self, mtu: u32, until_s: f64, remembered_s: f64) -> bool {
        let was_there = self
            .before
            .is_some_and(|before| before.mtu_bytes == mtu && until_s <= before.until_s + SLACK);
        let ended_s = self.ended_s.unwrap_or(self.begun_s + LONGEST);
        let ran = self.begun_s - SLACK..=ended_s + SLACK;
        !was_there && ran.contains(&(until_s - remembered_s))
    }
}
