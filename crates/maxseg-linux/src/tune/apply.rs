//! Making the changes of a plan: all of them, or none.

use std::io;

use maxseg_core::tune::{Author, Deadline, Event, Plan, Step, Target, Value};

use super::here::process_start;
use super::interface::held_by_v6;
use super::undo::{back_out, restore_forced};
use super::watch::moved;
use super::{Journal, TuneError, before, read, sysctl, verify, write};

/// A plan that is to be applied.
pub struct Applying<'a> {
    /// What.
    pub plan: &'a Plan,
    /// Who asked for it.
    pub by: Author,
    /// When it ends by itself.
    pub ends: Option<Deadline>,
    /// Whether it is undone where the connections that it reaches do worse.
    pub reverts_if_worse: bool,
    /// Whether a route's MTU was allowed on a host that forwards.
    pub allows_router: bool,
    /// Starts the process that undoes the plan of this number then, and gives the process's ID.
    pub start_guard: &'a dyn Fn(u64) -> io::Result<u32>,
}

/// A plan that was applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// Its number.
    pub plan: u64,
    /// The numbers of its entries, in the order of the steps.
    pub entries: Vec<u64>,
}

/// Applies a plan. Where a step fails, those before it are undone.
///
/// # Errors
/// Another program has changed a value since the plan was made; the journal cannot be written, or the kernel refuses: nothing is
/// changed then, unless the error says so.
pub fn apply(journal: &mut Journal, applying: &Applying<'_>) -> Result<Applied, TuneError> {
    for step in &applying.plan.steps {
        check(step, applying.plan)?;
    }
    journal.reserve()?;
    let (plan, first) = journal.history().next_numbers();
    before::keep(journal, plan, first, &applying.plan.steps);
    journal.append(Event::Plan {
        plan,
        steps: applying.plan.steps.len(),
        by: applying.by.clone(),
        why: applying.plan.why.clone(),
        ends: applying.ends,
        reverts_if_worse: applying.reverts_if_worse,
        allows_router: applying.allows_router,
    })?;
    if applying.ends.is_some() || applying.reverts_if_worse {
        let pid = (applying.start_guard)(plan).map_err(TuneError::Guard)?;
        let started = process_start(pid)
            .ok_or_else(|| TuneError::Guard(io::Error::other("it ended at once")))?;
        journal.append(Event::Guard { plan, pid, started })?;
    }
    let mut entries = Vec::new();
    for (entry, step) in (first..).zip(&applying.plan.steps) {
        entries.push(entry);
        let mut may_have_acted = false;
        let why = applying.plan.reason(&step.target).map(str::to_owned);
        let set = Event::Set { entry, plan, step: step.clone(), why };
        if let Err(error) = make(journal, set, entry, step, &mut may_have_acted) {
            return Err(roll_back(journal, &entries, error, may_have_acted));
        }
    }
    match journal.append(Event::Applied { plan }) {
        Ok(()) => Ok(Applied { plan, entries }),
        Err(error) => Err(roll_back(journal, &entries, error, true)),
    }
}

/// That a step can be made as it was planned.
fn check(step: &Step, plan: &Plan) -> Result<(), TuneError> {
    if let Target::Sysctl(name) = &step.target {
        sysctl::may_write(name, step.image.as_deref())?;
    }
    held_by_v6(step).iter().try_for_each(|held| sysctl::may_write(&held.sysctl(), None))?;
    // A later step on a route that an earlier one makes: there is nothing to look at yet.
    let is_made_before = plan
        .steps
        .iter()
        .take_while(|earlier| *earlier != step)
        .any(|earlier| earlier.target.shares_a_route_with(&step.target));
    let found = read(&step.target, step.image.as_deref())?.value;
    if let Some(why) = moved(step) {
        return Err(TuneError::RouteMoved { target: step.target.clone(), why });
    }
    if found == step.before || is_made_before {
        return Ok(());
    }
    if found == Value::Absent && matches!(step.target, Target::InterfaceMtu(_)) {
        return Err(TuneError::NoSuch { target: step.target.clone(), near: None, retired: None });
    }
    let (target, planned) = (step.target.clone(), step.before.clone());
    Err(TuneError::ChangedMeanwhile { target, planned, found })
}

/// Makes a step, which the line `set` announces. `may_have_acted` tells, after an error, whether the value may be from this attempt, and is not what another
/// program has set meanwhile.
fn make(
    journal: &mut Journal,
    set: Event,
    entry: u64,
    step: &Step,
    may_have_acted: &mut bool,
) -> Result<(), TuneError> {
    let image = step.image.as_deref();
    journal.append(set)?;
    // An option of a socket may take two calls.
    *may_have_acted = matches!(step.target, Target::Socket { .. });
    write(&step.target, &step.after, image)?;
    *may_have_acted = true;
    verify(&step.target, &step.after, image)?;
    journal.append(Event::IsSet { entry })
}

/// Undoes what was done of a plan that failed, the last step first; gives the error to tell.
fn roll_back(
    journal: &mut Journal,
    entries: &[u64],
    error: TuneError,
    may_have_acted: bool,
) -> TuneError {
    let mut failed = None;
    for (number, id) in entries.iter().rev().enumerate() {
        // One that could not be announced was not made.
        let Some(entry) = journal.history().entry(*id) else { continue };
        let undone = match number {
            // Whatever the last one has now, it has from this attempt.
            0 if may_have_acted => restore_forced(journal, &entry),
            // It was not made: what is there is what was, or another program's.
            0 => back_out(journal, &entry).or(Ok(())),
            _ => back_out(journal, &entry),
        };
        if let Err(undo) = undone {
            failed = failed.or(Some(undo));
        }
    }
    match failed {
        None => error,
        Some(undo) => TuneError::HalfDone { error: Box::new(error), undo: Box::new(undo) },
    }
}
