//! The process that undoes a plan at its deadline, whatever became of the one that started it.

use std::path::Path;
use std::time::Duration;

use maxseg_core::tune::{Place, UndoReason};

use super::here::{boot_s, moment};
use super::{Journal, TuneError, UndoOutcome, Undone, undo};

/// How often to look whether it is still needed.
const LOOK: Duration = Duration::from_millis(250);

/// Waits for the deadline of a plan, and undoes it then, unless it was confirmed or undone before.
///
/// A fault that may pass, such as too many open files, does not end it, and neither does a later plan on the same target: it
/// looks again until the plan is undone.
///
/// # Errors
/// The journal can be neither read nor written for a long time.
pub fn guard(folder: &Path, plan: u64) -> Result<(), TuneError> {
    let place = moment()?.place;
    let mut faults = 0;
    loop {
        match wait_s(folder, plan, &place).and_then(|left_s| look(folder, plan, left_s)) {
            Ok(None) => return Ok(()),
            Ok(Some(after)) => {
                faults = 0;
                std::thread::sleep(after);
            }
            Err(error) if faults >= MOST_FAULTS => return Err(error),
            Err(_) => {
                faults += 1;
                std::thread::sleep(LOOK);
            }
        }
    }
}

/// Ten minutes of faults, one after the other.
const MOST_FAULTS: u32 = 2400;

/// After how long to look again; `None` where there is nothing to undo any more.
fn look(folder: &Path, plan: u64, left_s: Option<f64>) -> Result<Option<Duration>, TuneError> {
    let Some(left_s) = left_s else { return Ok(None) };
    if left_s > 0.0 {
        return Ok(Some(Duration::from_secs_f64(left_s).min(LOOK)));
    }
    let undone = match Journal::open(folder) {
        Ok(mut journal) => end(&mut journal, plan),
        Err(TuneError::Busy { .. }) => return Ok(Some(LOOK)),
        Err(error) => return Err(error),
    };
    // What a later plan has changed as well can be undone when that one is.
    let may_pass =
        |one: &Undone| matches!(one.outcome, UndoOutcome::Blocked { .. } | UndoOutcome::Failed(_));
    Ok(undone.iter().any(may_pass).then_some(LOOK))
}

/// Seconds that are left; `None` where there is nothing to undo any more.
fn wait_s(folder: &Path, plan: u64, here: &Place) -> Result<Option<f64>, TuneError> {
    let history = Journal::read(folder)?;
    let Some(deadline) = history.pending_deadline(plan, here) else { return Ok(None) };
    if !history.has_live(plan, here) && !is_being_applied(folder, plan)? {
        return Ok(None);
    }
    Ok(Some(deadline.boot_s - boot_s()))
}

/// Whether the command that has begun the plan is at work still: it holds the lock.
fn is_being_applied(folder: &Path, plan: u64) -> Result<bool, TuneError> {
    match Journal::open(folder) {
        Ok(journal) => Ok(journal.history().has_live(plan, &journal.moment().place)),
        Err(TuneError::Busy { .. }) => Ok(true),
        Err(error) => Err(error),
    }
}

fn end(journal: &mut Journal, plan: u64) -> Vec<Undone> {
    if journal.history().pending_deadline(plan, &journal.moment().place).is_none() {
        return Vec::new();
    }
    let live = journal.history().live(&journal.moment().place);
    let of_plan = live.iter().filter(|entry| entry.plan == plan);
    let ids: Vec<u64> = of_plan.map(|entry| entry.id).collect();
    undo(journal, &ids, UndoReason::Expired, false)
}

/// When a process began, clock ticks since boot (field 22 of `/proc/PID/stat`); `None` where there is none.
pub(super) fn process_start(pid: u32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name, in parentheses, may have spaces and parentheses itself.
    let (_, after) = text.rsplit_once(')')?;
    let mut fields = after.split_whitespace();
    let state = fields.next()?;
    let is_dead = matches!(state, "Z" | "X");
    if is_dead { None } else { fields.nth(18)?.parse().ok() }
}
