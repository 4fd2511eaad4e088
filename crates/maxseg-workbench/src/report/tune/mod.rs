//! Plans and changes as JSON; the names are a contract.

mod catalogue;

use maxseg_core::tunables::Acts;
use maxseg_core::tune::{Effect, EntryState, Value};
use maxseg_linux::tune::Surveyed;
use schemars::JsonSchema;
use serde::Serialize;

use crate::tune::PreparedPlan;

pub use catalogue::{
    CatalogueDocument, EachEntry, Equivalents, FileEntry, RangeEntry, TunableEntry,
};

/// Raised when a key changes its meaning or is removed.
const SCHEMA_VERSION: u32 = 1;

/// What `tune status --json` prints.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "Changes")]
pub struct StatusDocument {
    /// Raised when a key changes its meaning or is removed.
    schema_version: u32,
    /// The changes, in the order of their numbers.
    entries: Vec<EntryEntry>,
}

/// A change, and what became of it.
#[derive(Serialize, JsonSchema)]
pub struct EntryEntry {
    /// Its number, as `tune undo` takes it.
    id: u64,
    /// The number of the plan with which it was made.
    plan: u64,
    /// What was set.
    tunable: String,
    /// What it reaches: `machine`, `namespace`, `route`, `interface` or `socket`.
    scope: &'static str,
    /// The value before; `unset` for a metric that the route did not have, `absent` for a route that there was not.
    before: String,
    /// The value that was set.
    after: String,
    /// The value now; null where it cannot be read.
    now: Option<String>,
    /// `set`, `drifted`, `expired`, `superseded`, `undone` or `unknown`.
    state: &'static str,
    /// The later change that holds; null where this one does.
    superseded_by: Option<u64>,
    /// Who changed it since; null where nobody did, or that is unknown.
    changed_by: Option<String>,
    /// What else there is to say.
    note: Option<String>,
    /// The user who set it.
    set_by: String,
    /// When it was set, seconds since 1970.
    set_at: f64,
    /// Why it was set.
    why: Option<String>,
    /// When it ends by itself, seconds since 1970; null where it does not.
    expires: Option<f64>,
    /// What it did to the connections that it reaches; null without `--effect`.
    effect: Option<Effect>,
}

/// What `tune apply --json` prints.
#[derive(Serialize, JsonSchema)]
pub struct ApplyDocument {
    /// Raised when a key changes its meaning or is removed.
    schema_version: u32,
    /// Whether it was applied; false after `--dry-run`, and where nothing had to be changed.
    applied: bool,
    /// The number of the plan; null where it was not applied.
    plan: Option<u64>,
    /// When it ends by itself, seconds since 1970.
    expires: Option<f64>,
    /// The changes, in their order.
    steps: Vec<StepEntry>,
    /// What had the value already.
    unchanged: Vec<String>,
}

/// A change of a plan.
#[derive(Serialize, JsonSchema)]
struct StepEntry {
    /// The number of the entry; null where it was not applied.
    id: Option<u64>,
    /// What is set.
    tunable: String,
    /// What it reaches: `machine`, `namespace`, `route`, `interface` or `socket`.
    scope: &'static str,
    /// On what it acts: `live`, `new-connections`, `live-downward` (a lower value live, a higher one on new connections),
    /// `live-upward` (a higher value live, a lower one where a buffer would grow), `new-interfaces` or `never`; null where that is unknown.
    acts: Option<&'static str>,
    /// The value before.
    before: String,
    /// The value after.
    after: String,
    /// How many established connections it reaches; null where that is unknown.
    connections: Option<usize>,
    /// How many established connections of this network namespace it reaches; of a setting of the whole machine others are reached as well.
    connections_here: Option<usize>,
    /// How many of them were seen to send segments of the new size; null where no segment size was changed.
    segments_seen: Option<usize>,
    /// What to know.
    warnings: Vec<String>,
    /// The command that undoes it; null where it was not applied.
    undo: Option<String>,
}

/// What a plan came to.
#[derive(Debug, Clone, Default)]
pub struct PlanResult {
    /// Its number; `None` where it was not applied.
    pub plan: Option<u64>,
    /// The numbers of its entries.
    pub entries: Vec<u64>,
    /// When it ends by itself, seconds since 1970.
    pub expires: Option<f64>,
    /// How many connections were seen with segments of the new size, one for each step; `None` where it changed none.
    pub segments_seen: Vec<Option<usize>>,
}

impl StatusDocument {
    /// Of these changes, with their effects where those were asked for.
    pub fn new<'s>(changes: impl IntoIterator<Item = (&'s Surveyed, Option<Effect>)>) -> Self {
        let entries = changes.into_iter().map(entry).collect();
        Self { schema_version: SCHEMA_VERSION, entries }
    }

    /// As text.
    pub fn json(&self) -> String {
        pretty(self)
    }
}

fn entry((surveyed, effect): (&Surveyed, Option<Effect>)) -> EntryEntry {
    let Surveyed { entry, now, state, changed_by, note } = surveyed;
    EntryEntry {
        id: entry.id,
        plan: entry.plan,
        tunable: entry.step.target.to_string(),
        scope: entry.step.target.scope().word(),
        before: entry.step.before.to_string(),
        after: entry.step.after.to_string(),
        now: now.as_ref().map(Value::to_string),
        state: state.word(),
        superseded_by: match state {
            EntryState::Superseded { by } => Some(*by),
            EntryState::Set
            | EntryState::Drifted
            | EntryState::Expired
            | EntryState::Undone
            | EntryState::Unknown => None,
        },
        changed_by: changed_by.clone(),
        note: note.clone(),
        set_by: entry.by.user.clone(),
        set_at: entry.set_at_s,
        why: entry.why.clone(),
        expires: entry.ends.map(|ends| ends.at_s),
        effect,
    }
}

impl ApplyDocument {
    /// Of a plan, and what it came to.
    pub fn new(plan: &PreparedPlan, result: &PlanResult) -> Self {
        let steps = plan.steps.iter().enumerate().map(|(at, planned)| {
            let target = &planned.step.target;
            let id = result.entries.get(at).copied();
            StepEntry {
                id,
                tunable: target.to_string(),
                scope: target.scope().word(),
                acts: target.acts().map(Acts::word),
                before: planned.step.before.to_string(),
                after: planned.step.after.to_string(),
                connections: planned.connections.filter(|_| !planned.counts_one_namespace()),
                connections_here: planned.connections,
                segments_seen: result.segments_seen.get(at).copied().flatten(),
                warnings: planned.warnings.clone(),
                undo: id.map(|id| format!("maxseg tune undo {id}")),
            }
        });
        Self {
            schema_version: SCHEMA_VERSION,
            applied: result.plan.is_some(),
            plan: result.plan,
            expires: result.expires,
            steps: steps.collect(),
            unchanged: plan.unchanged.iter().map(ToString::to_string).collect(),
        }
    }

    /// As text.
    pub fn json(&self) -> String {
        pretty(self)
    }
}

fn pretty(document: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(document).unwrap_or_default();
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use maxseg_core::tune::Step;
    use serde_json::Value as Json;

    use super::*;
    use crate::tune::PlannedStep;

    #[test]
    fn connections_of_other_namespaces_are_unknown_not_none() {
        let of = |target: &str| {
            let (before, after) = (Value::of("1"), Value::of("2"));
            let step = Step { target: target.parse().unwrap(), before, after, image: None };
            let steps = vec![PlannedStep {
                step,
                connections: Some(3),
                warnings: Vec::new(),
                pinned: None,
            }];
            let plan = PreparedPlan { steps, ..PreparedPlan::default() };
            let json = ApplyDocument::new(&plan, &PlanResult::default()).json();
            let document: Json = serde_json::from_str(&json).unwrap();
            let step = &document["steps"][0];
            [step["connections"].as_u64(), step["connections_here"].as_u64()]
        };
        assert_eq!(of("sysctl.net.core.rmem_max"), [None, Some(3)]);
        assert_eq!(of("sysctl.net.ipv4.tcp_rmem"), [Some(3), Some(3)]);
    }
}
