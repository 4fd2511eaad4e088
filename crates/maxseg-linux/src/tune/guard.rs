//! The process that undoes a plan at its deadline, or where the connections that it reaches do worse, whatever became of the one
//! that started it.

use std::path::Path;
use std::time::Duration;

use maxseg_core::tune::{COMPARISONS_S, Event, Place, UndoReason};

use super::here::{boot_s, moment};
use super::{Because, Journal, TuneError, UndoOutcome, Undone, effect, survey, undo};

/// How often to look whether it is still needed.
const LOOK: Duration = Duration::from_millis(250);
/// How long to wait after an undo that failed: each attempt has its line in the journal.
const AFTER_FAILURE: Duration = Duration::from_secs(60);

/// The plan of a guard.
struct Guarded<'f> {
    folder: &'f Path,
    plan: u64,
    place: Place,
    began_s: f64,
    /// How many of [`COMPARISONS_S`] were made.
    compared: usize,
}

/// Waits for the deadline of a plan, and undoes it then, unless it was confirmed or undone before. A plan that is to be undone
/// where connections do worse is judged from time to time.
///
/// A fault that may pass, such as too many open files, does not end it, and neither does a later plan on the same target: it
/// looks again until the plan is undone.
///
/// # Errors
/// The journal can be neither read nor written for a long time.
pub fn guard(folder: &Path, plan: u64) -> Result<(), TuneError> {
    let now = moment()?;
    let mut guarded = Guarded { folder, plan, place: now.place, began_s: now.boot_s, compared: 0 };
    let mut faults = 0;
    loop {
        match guarded.look() {
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

impl Guarded<'_> {
    /// After how long to look again; `None` where there is nothing to undo any more.
    fn look(&mut self) -> Result<Option<Duration>, TuneError> {
        let history = Journal::read(self.folder)?;
        let deadline = history.pending_deadline(self.plan, &self.place);
        let is_watched = history.is_watched(self.plan, &self.place);
        if deadline.is_none() && !is_watched {
            return Ok(None);
        }
        if !history.has_live(self.plan, &self.place) && !self.is_being_applied()? {
            return Ok(None);
        }
        let now_s = boot_s();
        if deadline.is_some_and(|deadline| deadline.boot_s <= now_s) {
            return self.undo(UndoReason::Expired.into());
        }
        let is_due = COMPARISONS_S
            .get(self.compared)
            .is_some_and(|after_s| is_watched && self.began_s + after_s <= now_s);
        if is_due {
            if let Some(numbers) = self.worse()? {
                let numbers = Some(numbers);
                return self.undo(Because { reason: UndoReason::Worse, numbers });
            }
            self.has_compared()?;
        }
        let left_s = deadline.map_or(f64::INFINITY, |deadline| deadline.boot_s - now_s);
        Ok(Some(Duration::try_from_secs_f64(left_s).unwrap_or(LOOK).min(LOOK)))
    }

    /// Whether the command that has begun the plan is at work still: it holds the lock.
    fn is_being_applied(&self) -> Result<bool, TuneError> {
        match Journal::open_to_undo(self.folder) {
            Ok(journal) => Ok(journal.history().has_live(self.plan, &journal.moment().place)),
            Err(TuneError::Busy { .. }) => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// What is worse since, of the connections that a change of the plan reaches.
    fn worse(&self) -> Result<Option<String>, TuneError> {
        let history = Journal::read(self.folder)?;
        let all = survey(&history, &moment()?);
        let mut of_plan = all.iter().filter(|one| one.entry.plan == self.plan);
        Ok(of_plan.find_map(|one| effect(one, &history, self.folder).worse()))
    }

    /// Counts a comparison that has shown nothing worse; the last one has its line in the journal.
    fn has_compared(&mut self) -> Result<(), TuneError> {
        if self.compared + 1 == COMPARISONS_S.len() {
            Journal::open(self.folder)?.append(Event::Judged { plan: self.plan })?;
        }
        self.compared += 1;
        Ok(())
    }

    /// Undoes the plan, unless somebody has confirmed or undone it meanwhile; when to look again.
    fn undo(&self, because: Because) -> Result<Option<Duration>, TuneError> {
        let mut journal = match Journal::open_to_undo(self.folder) {
            Err(TuneError::Busy { .. }) => return Ok(Some(LOOK)),
            opened => opened?,
        };
        let history = journal.history();
        let is_wanted = if because.reason == UndoReason::Expired {
            history.pending_deadline(self.plan, &self.place).is_some()
        } else {
            history.is_watched(self.plan, &self.place)
        };
        if !is_wanted {
            return Ok(Some(LOOK));
        }
        let live = history.live(&self.place);
        let of_plan = live.iter().filter(|entry| entry.plan == self.plan);
        let ids: Vec<u64> = of_plan.map(|entry| entry.id).collect();
        let undone = undo(&mut journal, &ids, because, false);
        let has_failed = |one: &Undone| matches!(one.outcome, UndoOutcome::Failed(_));
        // What a later plan has changed as well can be undone when that one is.
        let is_blocked = |one: &Undone| matches!(one.outcome, UndoOutcome::Blocked { .. });
        Ok(if undone.iter().any(has_failed) {
            Some(AFTER_FAILURE)
        } else {
            undone.iter().any(is_blocked).then_some(LOOK)
        })
    }
}
