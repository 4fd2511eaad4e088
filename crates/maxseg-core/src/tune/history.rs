//! What the lines of a journal amount to.

use std::collections::BTreeMap;

use super::plan::{Step, Value};
use super::record::{Author, Deadline, Event, Place, Record, UndoReason};
use super::target::Target;

/// All changes that a journal tells of.
#[derive(Debug, Clone, Default)]
pub struct History {
    entries: BTreeMap<u64, Entry>,
    plans: BTreeMap<u64, PlanRecord>,
}

#[derive(Debug, Clone)]
struct PlanRecord {
    by: Author,
    why: Option<String>,
    /// `None` once it is confirmed.
    ends: Option<Deadline>,
    is_applied: bool,
    reverts_if_worse: bool,
    allows_router: bool,
    guard: Option<(u32, u64)>,
}

/// One change, from its announcement to its end.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Its number.
    pub id: u64,
    /// The plan that it is of.
    pub plan: u64,
    /// What was changed.
    pub step: Step,
    /// Where.
    pub place: Place,
    /// Who changed it.
    pub by: Author,
    /// When, seconds since 1970.
    pub set_at_s: f64,
    /// Why.
    pub why: Option<String>,
    /// When it ends by itself; `None` once it is confirmed.
    pub ends: Option<Deadline>,
    /// Whether it is undone where the connections that it reaches do worse; false once they were judged for the last time.
    pub reverts_if_worse: bool,
    /// Whether a route's MTU was allowed on a host that forwards.
    pub allows_router: bool,
    /// The process that is to undo it then, and when that process began.
    pub guard: Option<(u32, u64)>,
    /// How far it got.
    pub progress: Progress,
    /// Whether its plan was made as a whole.
    pub plan_is_complete: bool,
    /// Why it was undone, or is being undone, and when.
    pub undone: Option<Undoing>,
}

/// Why and when a change was undone.
#[derive(Debug, Clone, PartialEq)]
pub struct Undoing {
    /// Why.
    pub reason: UndoReason,
    /// With which numbers.
    pub because: Option<String>,
    /// When, seconds since 1970.
    pub at_s: f64,
}

impl Undoing {
    /// In words.
    pub fn words(&self) -> String {
        match &self.because {
            Some(because) => format!("{}: {because}", self.reason.words()),
            None => self.reason.words().to_owned(),
        }
    }
}

/// How far a change got, by the journal alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// It was announced: the kernel may have it.
    Announced,
    /// It was read back.
    Set,
    /// Undoing it was announced: the kernel may have the value before.
    Undoing,
    /// The value before was read back, or there is nothing left to undo.
    Undone,
}

/// What a change is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryState {
    /// The kernel has the value.
    Set,
    /// The kernel has another one: somebody else has changed it, or undoing it could not be noted.
    Drifted,
    /// Its time is over, and the kernel still has the value.
    Expired,
    /// A later change of the same target holds, or one that sets this target with its own.
    Superseded {
        /// Its number.
        by: u64,
    },
    /// It was undone, or never made, or the machine was booted since.
    Undone,
    /// What the kernel has cannot be read.
    Unknown,
}

/// When and where a history is looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct Moment {
    /// The boot and the namespace.
    pub place: Place,
    /// Seconds since boot (`CLOCK_BOOTTIME`).
    pub boot_s: f64,
}

impl EntryState {
    /// As JSON and tables have it.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Set => "set",
            Self::Drifted => "drifted",
            Self::Expired => "expired",
            Self::Superseded { .. } => "superseded",
            Self::Undone => "undone",
            Self::Unknown => "unknown",
        }
    }
}

impl History {
    /// Of the lines of a journal, in their order.
    pub fn of<'r>(records: impl IntoIterator<Item = &'r Record>) -> Self {
        let mut history = Self::default();
        for record in records {
            history.add(record);
        }
        history
    }

    /// Adds a line.
    pub fn add(&mut self, record: &Record) {
        match &record.event {
            Event::Plan { plan, by, why, ends, reverts_if_worse, allows_router, .. } => {
                let of = PlanRecord {
                    by: by.clone(),
                    why: why.clone(),
                    ends: *ends,
                    is_applied: false,
                    reverts_if_worse: *reverts_if_worse,
                    allows_router: *allows_router,
                    guard: None,
                };
                self.plans.insert(*plan, of);
            }
            Event::Guard { plan, pid, started } => {
                self.of_plan(*plan, |of| of.guard = Some((*pid, *started)));
            }
            Event::Set { entry, plan, step, why } => {
                self.announce(*entry, *plan, (step, why.as_ref()), record);
            }
            Event::IsSet { entry } => self.progress(*entry, Progress::Set),
            Event::Applied { plan } => self.of_plan(*plan, |of| of.is_applied = true),
            Event::Confirmed { plan } => self.of_plan(*plan, |of| of.ends = None),
            Event::Judged { plan } => self.of_plan(*plan, |of| of.reverts_if_worse = false),
            Event::Undo { entry, reason, because, .. } => {
                self.progress(*entry, Progress::Undoing);
                if let Some(entry) = self.entries.get_mut(entry) {
                    let (reason, because) = (*reason, because.clone());
                    entry.undone = Some(Undoing { reason, because, at_s: record.at_s });
                }
            }
            Event::HandsOver { entry, to, before } => self.hand_over(*entry, *to, before),
            Event::IsUndone { entry } => self.progress(*entry, Progress::Undone),
            Event::Other => {}
        }
    }

    fn announce(
        &mut self,
        id: u64,
        plan: u64,
        (step, why): (&Step, Option<&String>),
        record: &Record,
    ) {
        let of = self.plans.get(&plan);
        let unknown = || Author { user: "?".to_owned(), pid: 0 };
        let entry = Entry {
            id,
            plan,
            step: step.clone(),
            place: record.place.clone(),
            by: of.map_or_else(unknown, |of| of.by.clone()),
            set_at_s: record.at_s,
            why: why.or(of.and_then(|of| of.why.as_ref())).cloned(),
            ends: None,
            reverts_if_worse: false,
            allows_router: false,
            guard: None,
            progress: Progress::Announced,
            plan_is_complete: false,
            undone: None,
        };
        self.entries.insert(id, entry);
    }

    /// The route that `from` has made is removed with `to` from now on.
    fn hand_over(&mut self, from: u64, to: u64, before: &Value) {
        let Some(from) = self.entries.get_mut(&from) else { return };
        let (made, image) = (from.step.before.clone(), from.step.image.clone());
        from.step.before = before.clone();
        if let Some(to) = self.entries.get_mut(&to) {
            (to.step.before, to.step.image) = (made, image);
        }
    }

    fn of_plan(&mut self, plan: u64, change: impl FnOnce(&mut PlanRecord)) {
        if let Some(of) = self.plans.get_mut(&plan) {
            change(of);
        }
    }

    fn progress(&mut self, id: u64, progress: Progress) {
        if let Some(entry) = self.entries.get_mut(&id) {
            entry.progress = progress;
        }
    }

    /// Every change, in the order of their numbers.
    pub fn entries(&self) -> impl DoubleEndedIterator<Item = Entry> {
        self.entries.values().map(|entry| self.completed(entry))
    }

    /// The change with this number.
    pub fn entry(&self, id: u64) -> Option<Entry> {
        self.entries.get(&id).map(|entry| self.completed(entry))
    }

    /// With what its plan says of it.
    fn completed(&self, entry: &Entry) -> Entry {
        let mut entry = entry.clone();
        if let Some(of) = self.plans.get(&entry.plan) {
            entry.ends = of.ends;
            entry.reverts_if_worse = of.reverts_if_worse;
            entry.allows_router = of.allows_router;
            entry.guard = of.guard.filter(|_| of.ends.is_some() || of.reverts_if_worse);
            entry.plan_is_complete = of.is_applied;
        }
        entry
    }

    /// Those of this boot and namespace that were not undone, in the order of their numbers.
    pub fn live(&self, place: &Place) -> Vec<Entry> {
        let live = |entry: &Entry| entry.progress != Progress::Undone && entry.is_at(place);
        self.entries().filter(live).collect()
    }

    /// The number of a live entry that came later and set the same target.
    pub fn superseding(&self, entry: &Entry) -> Option<u64> {
        let later = self.entries.range(entry.id + 1..).map(|(_, later)| later);
        let mut same = later.filter(|later| {
            later.progress != Progress::Undone
                && later.step.sets_the_same_as(&entry.step)
                && later.is_at(&entry.place)
        });
        same.next_back().map(|later| later.id)
    }

    /// Plans whose deadline is over and that nobody has confirmed.
    pub fn has_expired(&self, entry: &Entry, now: &Moment) -> bool {
        entry.place.boot == now.place.boot
            && entry.ends.is_some_and(|ends| now.boot_s >= ends.boot_s)
    }

    /// Plans of this place that are waiting to be confirmed.
    pub fn unconfirmed(&self, now: &Moment) -> Vec<u64> {
        let mut plans: Vec<u64> = self
            .live(&now.place)
            .iter()
            .filter(|entry| {
                entry.ends.is_some_and(|ends| ends.unless_confirmed)
                    && !self.has_expired(entry, now)
            })
            .map(|entry| entry.plan)
            .collect();
        plans.dedup();
        plans
    }

    /// Whether a change of a plan was announced and not undone.
    pub fn has_live(&self, plan: u64, place: &Place) -> bool {
        self.entries.values().any(|entry| {
            entry.plan == plan && entry.progress != Progress::Undone && entry.is_at(place)
        })
    }

    /// The deadline of a plan that nobody has confirmed, and of which something is or will be there to undo.
    pub fn pending_deadline(&self, plan: u64, place: &Place) -> Option<Deadline> {
        let of = self.plans.get(&plan)?;
        of.ends.filter(|_| self.has_live(plan, place) || !of.is_applied)
    }

    /// Whether a plan is undone where the connections that it reaches do worse, and something of it is or will be there to undo.
    pub fn is_watched(&self, plan: u64, place: &Place) -> bool {
        let of = self.plans.get(&plan).filter(|of| of.reverts_if_worse);
        of.is_some_and(|of| self.has_live(plan, place) || !of.is_applied)
    }

    /// Numbers for the next plan and the next entry.
    pub fn next_numbers(&self) -> (u64, u64) {
        let after = |last: Option<&u64>| last.map_or(1, |last| last + 1);
        (after(self.plans.keys().next_back()), after(self.entries.keys().next_back()))
    }
}

impl Entry {
    /// Whether it holds in this place, where nobody has undone it.
    pub fn is_at(&self, place: &Place) -> bool {
        self.place == *place || self.step.target.outlasts_boot()
    }

    /// What it is now, where the kernel has `now`; `None` where that cannot be read.
    pub fn state(&self, history: &History, now: Option<&Value>, at: &Moment) -> EntryState {
        let outlasts = self.step.target.outlasts_boot();
        if self.progress == Progress::Undone || !outlasts && self.place.boot != at.place.boot {
            return EntryState::Undone;
        }
        if !self.is_at(&at.place) {
            return EntryState::Unknown;
        }
        if let Some(by) = history.superseding(self) {
            return EntryState::Superseded { by };
        }
        let Some(now) = now else { return EntryState::Unknown };
        // A connection that has ended: nothing is left of what was set.
        if matches!(self.step.target, Target::Socket { .. }) && *now == Value::Absent {
            return EntryState::Undone;
        }
        // Of two values that are equal the one that was last announced is meant.
        let (is_after, is_before) = (*now == self.step.after, *now == self.step.before);
        match self.progress {
            _ if is_after && history.has_expired(self, at) => EntryState::Expired,
            _ if is_after => EntryState::Set,
            Progress::Announced | Progress::Undoing if is_before => EntryState::Undone,
            Progress::Announced | Progress::Set | Progress::Undoing | Progress::Undone => {
                EntryState::Drifted
            }
        }
    }
}
