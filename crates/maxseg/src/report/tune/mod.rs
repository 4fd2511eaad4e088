//! Plans and changes on a terminal.

pub(crate) mod catalogue;
mod effect;
mod journal_owner;

use std::fmt::Write as _;

use maxseg_core::tunables::{Acts, Scope};
use maxseg_core::tune::{Effect, Entry, EntryState, Step, Target, Value, is_of_unknown_reach};
use maxseg_linux::tune::{SegmentsSeen, Surveyed};
use maxseg_workbench::environment::utc;
use maxseg_workbench::tune::{PlannedStep, PreparedPlan};

use self::effect::effect_lines;
pub(crate) use self::journal_owner::{hidden_from_user, own_command};
use super::{Column, Grid};
use crate::printer::Printer;
use crate::wrap::hanging;

/// A plan, a paragraph for each step.
pub(crate) fn plan_text(plan: &PreparedPlan, printer: Printer) -> String {
    let mut text = String::new();
    for planned in &plan.steps {
        let step = &planned.step;
        let unit = unit_of(step);
        let heading =
            printer.bold(&format!("{}: {} -> {}{unit}", step.target, step.before, step.after));
        let _ = writeln!(text, "{heading}");
        for line in lines(planned) {
            text += &hanging(&format!("  {line}"), printer.width(), "  ");
        }
    }
    for target in &plan.unchanged {
        let _ = writeln!(text, "{target}: has this value already");
    }
    text
}

/// The unit of a number, which is the kernel's own.
fn unit_of(step: &Step) -> &'static str {
    let unit = step.target.tunable().map_or("", |tunable| tunable.unit.after_number());
    let is_number =
        step.after.text().is_some_and(|text| text.ends_with(|c: char| c.is_ascii_digit()));
    if is_number { unit } else { "" }
}

fn lines(planned: &PlannedStep) -> Vec<String> {
    let step = &planned.step;
    let reach = match step.target.scope() {
        Scope::Machine => "all connections of this machine",
        Scope::Namespace if is_of_unknown_reach(&step.target) => {
            "connections of this network namespace"
        }
        Scope::Namespace => "all connections of this network namespace",
        Scope::Route => "connections to these destinations",
        Scope::Interface => "what goes through this interface",
        Scope::Socket => "this connection alone",
    };
    let acts = match step.target.acts() {
        Some(Acts::Live) => "acts on existing connections at once",
        Some(Acts::NewConnections) => "acts on new connections, not on existing ones",
        Some(Acts::LiveDownward) => {
            "a lower value acts on existing connections, a higher one on new ones only"
        }
        Some(Acts::LiveUpward) => {
            "a higher limit acts on existing connections as their buffers grow; a lower one leaves buffers that are large enough"
        }
        Some(Acts::NewInterfaces) => "acts on interfaces that come up later",
        Some(Acts::Never) => "acts on no connection",
        None => "whether it acts on existing connections is not known",
    };
    let mut connections = match planned.connections {
        Some(1) => "1 is established".to_owned(),
        Some(count) => format!("{count} are established"),
        None => "number of connections not known".to_owned(),
    };
    if planned.counts_one_namespace() {
        connections += " in this network namespace, and those of others are not counted";
    }
    let undone = match (&step.target, &step.before) {
        (_, Value::Absent) => "undoing removes the route that is made for it".to_owned(),
        (Target::Clamp(_), Value::Unset) => "undoing removes it".to_owned(),
        (_, Value::Unset) => "undoing removes it from the route".to_owned(),
        (_, Value::Text(before)) => format!("undoing sets {before}"),
    };
    let mut lines = vec![format!("{reach}: {connections}; {acts}"), undone];
    lines.extend(planned.warnings.iter().map(|warning| format!("warning: {warning}")));
    lines
}

/// What was seen of the segments after a change.
pub(crate) fn seen_line(step: &Step, seen: &SegmentsSeen) -> String {
    let target = &step.target;
    match (seen.connections, seen.seen) {
        (0, _) => format!("{target}: no connection to see it on"),
        (all, some) if all == some => format!("{target}: seen on {some} of {all} connections"),
        (all, some) => format!(
            "{target}: seen on {some} of {all} connections; the others have sent nothing since, or their routes have MTUs of their own: not yet \
             seen"
        ),
    }
}

/// The changes, a line each, then what there is to say of some. `hidden` is what this user cannot see.
pub(crate) fn status_text(
    entries: &[(&Surveyed, Option<Effect>)],
    hidden: Option<&str>,
    printer: Printer,
) -> String {
    if entries.is_empty() {
        let whom = if hidden.is_some() { "user" } else { "program" };
        return format!("nothing is set by this {whom} here\n");
    }
    let columns = [Column::number("id"), Column::word("tunable")];
    let values = ["state", "before", "after", "now", "set by"].map(Column::word);
    let mut grid = Grid::new(columns, values);
    for (one, _) in entries {
        let Surveyed { entry, now, state, .. } = one;
        let step = &entry.step;
        let now = now.as_ref().map_or_else(|| "-".to_owned(), Value::to_string);
        grid.push([
            entry.id.to_string(),
            step.target.to_string(),
            state.word().to_owned(),
            step.before.to_string(),
            step.after.to_string(),
            now,
            entry.by.user.clone(),
        ]);
    }
    let mut text = grid.text(printer.table_width());
    for (one, effect) in entries {
        let of_effect = effect.as_ref().map(effect_lines).unwrap_or_default();
        for line in remarks(one).into_iter().chain(of_effect) {
            text += &hanging(&format!("{}: {line}", one.entry.id), printer.width(), "  ");
        }
    }
    text
}

fn remarks(one: &Surveyed) -> Vec<String> {
    let Surveyed { entry, now, state, changed_by, note } = one;
    let is_before = now.as_ref() == Some(&entry.step.before);
    let mut lines = Vec::new();
    match state {
        EntryState::Drifted => lines.push(match changed_by {
            Some(by) => format!("no longer as it was set: {by}"),
            // What restores it without a line in the journal leaves no other trace.
            None if is_before => format!(
                "the value before is there again: another program has set it, or it was undone while the journal could not be written; \
                 `{}` notes that",
                own_command(&format!("tune undo {}", entry.id))
            ),
            None => "another program has changed it".to_owned(),
        }),
        EntryState::Superseded { by } => lines.push(format!("change {by} came later")),
        EntryState::Set | EntryState::Expired | EntryState::Undone | EntryState::Unknown => {}
    }
    lines.extend(note.clone());
    if *state != EntryState::Undone {
        lines.extend(ends(entry));
        lines.extend(entry.why.as_ref().map(|why| format!("why: {why}")));
    }
    lines
}

fn ends(entry: &Entry) -> Option<String> {
    let ends = entry.ends?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time of day")]
    let [set_at, ends_at] = [entry.set_at_s, ends.at_s].map(|at_s| utc(at_s.round() as u64));
    Some(if ends.unless_confirmed {
        let confirm = own_command("tune confirm");
        format!("set at {set_at}, until {ends_at} unless `{confirm}` is run")
    } else {
        format!("set at {set_at}, until {ends_at}")
    })
}
