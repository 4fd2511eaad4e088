//! Undoing changes.

use maxseg_core::tune::{Entry, Event, Progress, Target, UndoReason, Value};

use super::copies::{Copied, copied_of};
use super::dependence::{Dependent, dependent, heir};
use super::{Journal, TuneError, file, interface, read, socket, verify, write};

/// What became of undoing an entry.
#[derive(Debug)]
pub enum UndoOutcome {
    /// The value before is there again.
    Restored {
        /// What was there.
        from: Value,
    },
    /// It was there already.
    WasSo,
    /// What the entry was about is gone: route, interface or connection.
    Gone,
    /// Another program has changed it since, and it was left alone.
    Drifted {
        /// What is there.
        now: Value,
    },
    /// A later entry depends on it, and has to be undone first.
    Blocked {
        /// Its number.
        by: u64,
    },
    /// It was undone before.
    UndoneBefore,
    /// It holds in another network namespace, and stays.
    Elsewhere,
    /// It was set before the last boot, and has gone with it.
    BeforeBoot,
    /// It could not be undone.
    Failed(TuneError),
}

/// An entry, and what became of undoing it.
#[derive(Debug)]
pub struct Undone {
    /// As it was before.
    pub entry: Entry,
    /// What became of it.
    pub outcome: UndoOutcome,
    /// The name that its interface has by now, where that is another one.
    pub renamed: Option<String>,
    /// The change for whose sake it was undone, which depends on it being undone first.
    pub for_sake_of: Option<u64>,
}

impl UndoOutcome {
    /// Whether the change is no longer there.
    pub const fn is_undone(&self) -> bool {
        matches!(self, Self::Restored { .. } | Self::WasSo | Self::Gone | Self::UndoneBefore)
    }
}

/// Why something is undone.
#[derive(Debug, Clone)]
pub struct Because {
    /// Why.
    pub reason: UndoReason,
    /// With which numbers.
    pub numbers: Option<String>,
}

impl From<UndoReason> for Because {
    fn from(reason: UndoReason) -> Self {
        Self { reason, numbers: None }
    }
}

/// Undoes entries, the last first. What another program has changed since is left alone unless `force`. What nobody has asked to undo
/// ([`UndoReason::is_due`]) takes what depends on it with it, and leaves a route that it has made to later changes of it; else it is blocked.
pub fn undo(
    journal: &mut Journal,
    ids: &[u64],
    because: impl Into<Because>,
    force: bool,
) -> Vec<Undone> {
    let because = because.into();
    let mut ids = ids.to_vec();
    ids.sort_unstable();
    ids.dedup();
    let entries: Vec<Entry> =
        ids.iter().rev().filter_map(|id| journal.history().entry(*id)).collect();
    let mut undone: Vec<Undone> = Vec::new();
    for entry in entries {
        // One that a later one depended on is undone with that.
        if undone.iter().all(|one| one.entry.id != entry.id) {
            undone.extend(with_dependents(journal, &entry, &because, force));
        }
    }
    undone
}

/// Undoes an entry, and, where nobody is there to be told of them, those that depend on it before.
fn with_dependents(
    journal: &mut Journal,
    entry: &Entry,
    because: &Because,
    force: bool,
) -> Vec<Undone> {
    let (mut all, mut tried) = (Vec::new(), Vec::new());
    let outcome = loop {
        let (history, place) = (journal.history(), &journal.moment().place);
        // As it is by now: a route that it has made may be another one's.
        let entry = &history.entry(entry.id).unwrap_or_else(|| entry.clone());
        if entry.progress == Progress::Undone {
            break UndoOutcome::UndoneBefore;
        }
        if !entry.is_at(place) {
            let is_of_boot = entry.place.boot == place.boot;
            break if is_of_boot { UndoOutcome::Elsewhere } else { UndoOutcome::BeforeBoot };
        }
        let is_due = because.reason.is_due();
        let undone = match dependent(history, place, entry, &tried) {
            None => restore(journal, entry, because, force),
            Some(Dependent::Clamp(by)) if is_due => {
                let clamp = history.entry(by).map(|later| later.step.after);
                restore(journal, &keeping_clamp(entry, clamp.as_ref()), because, force)
            }
            Some(Dependent::OnRoute(_)) if is_due => leave_route(journal, entry, because, force),
            Some(Dependent::Fits(by)) if is_due => {
                tried.push(by);
                let numbers = Some(format!("change {}, on which it depends, ended", entry.id));
                let because = Because { reason: because.reason, numbers };
                let (id, later) = (entry.id, history.entry(by));
                let undone = later.map(|later| with_dependents(journal, &later, &because, force));
                let undone = undone.into_iter().flatten();
                all.extend(undone.map(|one| Undone { for_sake_of: Some(id), ..one }));
                continue;
            }
            Some(dependent) => break UndoOutcome::Blocked { by: dependent.id() },
        };
        break undone.unwrap_or_else(UndoOutcome::Failed);
    };
    let is_here = entry.is_at(&journal.moment().place);
    let step = journal.history().entry(entry.id).map_or_else(|| entry.step.clone(), |now| now.step);
    let entry = Entry { step, ..entry.clone() };
    let renamed = is_here.then(|| renamed(&entry)).flatten();
    all.push(Undone { entry, outcome, renamed, for_sake_of: None });
    all
}

/// Undoes the metric of an entry that has made its route, and leaves the route to the later entry that has a metric there.
fn leave_route(
    journal: &mut Journal,
    entry: &Entry,
    because: &Because,
    force: bool,
) -> Result<UndoOutcome, TuneError> {
    let (history, place) = (journal.history(), &journal.moment().place);
    let Some((to, before)) = heir(history, place, entry) else {
        return restore(journal, entry, because, force);
    };
    let mut entry = entry.clone();
    entry.step.before = before.clone();
    // What must not stay is undone, whether that can be noted or not.
    let _ = journal.append(Event::HandsOver { entry: entry.id, to, before });
    restore(journal, &entry, because, force)
}

/// A receive buffer whose restoring leaves the window clamp at what a later change has set.
fn keeping_clamp(entry: &Entry, clamp: Option<&Value>) -> Entry {
    let mut entry = entry.clone();
    let later = clamp.and_then(|clamp| Some((clamp.number()?, entry.step.image.as_deref()?)));
    if let Some((clamp, image)) = later {
        entry.step.image = Some(socket::with_clamp(image, clamp));
    }
    entry
}

fn renamed(entry: &Entry) -> Option<String> {
    interface::renamed(&entry.step.target, entry.step.image.as_deref())
}

/// Undoes what should not be there: plans that were cut off, and plans whose time is over.
pub fn recover(journal: &mut Journal) -> Vec<Undone> {
    recover_but(journal, |_| false)
}

/// The same but for the entries that are left out.
pub(super) fn recover_but(journal: &mut Journal, is_left_out: impl Fn(u64) -> bool) -> Vec<Undone> {
    let live = journal.history().live(&journal.moment().place);
    let mut undone = Vec::new();
    for entry in live.into_iter().rev().filter(|entry| !is_left_out(entry.id)) {
        let reason = if !entry.plan_is_complete {
            UndoReason::CutOff
        } else if journal.history().has_expired(&entry, journal.moment()) {
            UndoReason::Expired
        } else if entry.progress == Progress::Undoing {
            // Undoing was cut off: where it had taken effect, only the line is missing.
            let now = read(&entry.step.target, entry.step.image.as_deref());
            if now.is_ok_and(|now| now.value == entry.step.before)
                && interface::let_go(&entry.step).is_ok()
            {
                let _ = journal.append(Event::IsUndone { entry: entry.id });
            }
            continue;
        } else {
            continue;
        };
        undone.extend(undo(journal, &[entry.id], reason, false));
    }
    undone
}

/// Undoes one entry of a plan that has failed; what another program has changed meanwhile is left alone.
pub(super) fn back_out(journal: &mut Journal, entry: &Entry) -> Result<(), TuneError> {
    match restore(journal, entry, &UndoReason::RolledBack.into(), false)? {
        UndoOutcome::Drifted { now } => Err(TuneError::NotTaken {
            target: entry.step.target.clone(),
            asked: entry.step.after.clone(),
            found: now,
        }),
        UndoOutcome::Failed(error) => Err(error),
        UndoOutcome::Restored { .. }
        | UndoOutcome::WasSo
        | UndoOutcome::Gone
        | UndoOutcome::Blocked { .. }
        | UndoOutcome::UndoneBefore
        | UndoOutcome::Elsewhere
        | UndoOutcome::BeforeBoot => Ok(()),
    }
}

/// The same, whatever is there. A journal that cannot be written does not keep the value from being restored: the line that
/// announced the change is there, and what the kernel has tells that it was undone.
pub(super) fn restore_forced(journal: &mut Journal, entry: &Entry) -> Result<(), TuneError> {
    restore(journal, entry, &UndoReason::RolledBack.into(), true).map(|_| ())
}

fn restore(
    journal: &mut Journal,
    entry: &Entry,
    because: &Because,
    force: bool,
) -> Result<UndoOutcome, TuneError> {
    let (step, reason) = (&entry.step, because.reason);
    let image = step.image.as_deref();
    if let Target::File(path) = &step.target {
        file::sweep(path);
    }
    let found = read(&step.target, image)?.value;
    let copies = copied_of(journal.history(), &journal.moment().place, entry);
    // A full disk keeps no deadline from restoring.
    let may_do_without_a_line =
        matches!(reason, UndoReason::RolledBack | UndoReason::Expired | UndoReason::CutOff);
    let mut append = |event| match journal.append(event) {
        Err(_) if may_do_without_a_line => Ok(()),
        appended => appended,
    };
    let undo = |reason, found| {
        let because = because.numbers.clone();
        Event::Undo { entry: entry.id, reason, because, found }
    };
    if found == step.before {
        append(undo(reason, found))?;
        if matches!(entry.progress, Progress::Announced | Progress::Undoing) {
            interface::let_go(step)?;
        }
        append(Event::IsUndone { entry: entry.id })?;
        return Ok(UndoOutcome::WasSo);
    }
    // A file that was to be removed is not gone by itself.
    if found == Value::Absent && step.after != Value::Absent {
        append(undo(UndoReason::NothingLeft, found))?;
        append(Event::IsUndone { entry: entry.id })?;
        return Ok(UndoOutcome::Gone);
    }
    if found != step.after && !force {
        return Ok(UndoOutcome::Drifted { now: found });
    }
    append(undo(reason, found.clone()))?;
    // Before the route itself: until that has its value, the entry is not undone, and they are looked at again.
    copies.iter().try_for_each(Copied::follow)?;
    write(&step.target, &step.before, image)?;
    verify(&step.target, &step.before, image)?;
    append(Event::IsUndone { entry: entry.id })?;
    Ok(UndoOutcome::Restored { from: found })
}
