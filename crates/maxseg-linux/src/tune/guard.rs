//! The process that undoes a plan at its deadline, whatever became of the one that started it.

use std::path::Path;
use std::time::Duration;

use maxseg_core::tune::{Progress, UndoReason};

use super::here::{boot_s, moment};
use super::{Journal, TuneError, Undone, undo};

/// How a guard ended.
#[derive(Debug)]
pub enum GuardEnd {
    /// The plan was confirmed or undone by somebody else.
    NotNeeded,
    /// Its time was over, and it was undone.
    Undone(Vec<Undone>),
}

/// How often to look whether it is still needed.
const LOOK: Duration = Duration::from_millis(250);

/// Waits for the deadline of a plan, and undoes it then.
///
/// # Errors
/// The journal cannot be read or written.
pub fn guard(folder: &Path, plan: u64) -> Result<GuardEnd, TuneError> {
    loop {
        match wait_s(folder, plan)? {
            None => return Ok(GuardEnd::NotNeeded),
            Some(left_s) if left_s > 0.0 => {
                std::thread::sleep(Duration::from_secs_f64(left_s).min(LOOK));
            }
            Some(_) => match Journal::open(folder) {
                Ok(mut journal) => return Ok(GuardEnd::Undone(end(&mut journal, plan))),
                Err(TuneError::Busy { .. }) => {}
                Err(error) => return Err(error),
            },
        }
    }
}

/// Seconds that are left; `None` where there is nothing to undo any more.
fn wait_s(folder: &Path, plan: u64) -> Result<Option<f64>, TuneError> {
    let history = Journal::read(folder)?;
    let here = moment()?.place;
    let Some(deadline) = history.pending_deadline(plan, &here) else { return Ok(None) };
    if !history.has_live(plan, &here) && !is_being_applied(folder, plan)? {
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
    let ids: Vec<u64> =
        of_plan.filter(|entry| entry.progress != Progress::Undone).map(|entry| entry.id).collect();
    undo(journal, &ids, UndoReason::Expired, false)
}

/// When a process began, clock ticks since boot (field 22 of `/proc/PID/stat`); `None` where there is none.
pub fn process_start(pid: u32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name, in parentheses, may have spaces and parentheses itself.
    let (_, after) = text.rsplit_once(')')?;
    let mut fields = after.split_whitespace();
    let state = fields.next()?;
    let is_dead = matches!(state, "Z" | "X");
    if is_dead { None } else { fields.nth(18)?.parse().ok() }
}
