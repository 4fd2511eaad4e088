//! `maxseg tune undo`

use clap::Args;
use maxseg_core::tune::{Entry, Target, UndoReason, Value};
use maxseg_linux::tune::{Journal, UndoOutcome, Undone, recover, state_folder, undo};
use maxseg_workbench::tune::kept_in;

use super::ask;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::report::tune::{hidden_from_user, own_command};

/// Restore the values before
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  maxseg tune undo
  maxseg tune undo 3
  maxseg tune undo --all --yes

Without an ID, the changes of the last plan are undone. What another program has changed since is left alone, and exit \
code 3 says so; --force sets it back as well.")]
pub(crate) struct UndoArgs {
    /// Numbers of changes, as `tune status` lists them
    #[arg(value_name = "ID")]
    ids: Vec<u64>,
    /// Everything that was set in this network namespace
    #[arg(long, conflicts_with = "ids")]
    all: bool,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
    /// Set back what another program has changed since, too
    #[arg(long)]
    force: bool,
}

pub(super) fn run(args: &UndoArgs, printer: Printer) -> Result<(), Failure> {
    let folder = state_folder()?;
    let mut journal = Journal::open_to_undo(&folder)?;
    let recovered = recover(&mut journal);
    tell_recovered(&recovered, printer);
    let chosen = chosen(args, &journal)?;
    if chosen.is_empty() {
        if recovered.is_empty() {
            printer.note(&hidden_from_user("tune undo").map_or_else(
                || "nothing to undo: no change of this program holds here".to_owned(),
                |unseen| format!("nothing to undo: no change of this user holds here; {unseen}"),
            ));
            let files = journal.history().live(&journal.moment().place);
            if !files.is_empty() {
                let ids: Vec<u64> = files.iter().map(|entry| entry.id).collect();
                printer.note(&format!("files of `tune persist` stay; {}", undoing(&ids)));
            }
        }
        return Ok(());
    }
    if ask::can_ask() && !args.yes {
        // Nobody is kept waiting by a question.
        drop(journal);
        for entry in &chosen {
            let step = &entry.step;
            printer.note_verbatim(&format!("{}: {} -> {}", step.target, step.after, step.before));
        }
        if !ask::ask("Undo?")? {
            return Err(Failure::Interrupted("nothing was undone".to_owned()));
        }
        journal = Journal::open_to_undo(&folder)?;
    }
    let ids: Vec<u64> = chosen.iter().map(|entry| entry.id).collect();
    let undone = undo(&mut journal, &ids, UndoReason::Asked, args.force);
    let mut text = String::new();
    for one in &undone {
        text += &line(one);
    }
    let told = printer.text(&text);
    if told.is_err() {
        // What was undone must not stay untold with the lines.
        printer.note_verbatim(text.trim_end());
    }
    told?;
    if journal.is_read_only() {
        printer.note(&format!(
            "{} cannot be written: `tune status` calls what was undone drifted, and `tune undo` again notes it once it can",
            journal.path().display()
        ));
    }
    tell_of_files(&journal, &undone, printer);
    end(undone)
}

/// What to undo, of what there is.
fn chosen(args: &UndoArgs, journal: &Journal) -> Result<Vec<Entry>, Failure> {
    // Files that were written elsewhere, or before this boot, are not of what was set here.
    let here = &journal.moment().place;
    let mut live = journal.history().live(here);
    live.retain(|entry| entry.place == *here);
    if args.all {
        return Ok(live);
    }
    if args.ids.is_empty() {
        let last = live.iter().map(|entry| entry.plan).max();
        return Ok(live.into_iter().filter(|entry| Some(entry.plan) == last).collect());
    }
    let of = |id: &u64| {
        journal.history().entry(*id).ok_or_else(|| {
            let listed = || {
                let status = own_command("tune status --all");
                format!("`{status}` lists them with their numbers")
            };
            let hint = hidden_from_user(&format!("tune undo {id}")).unwrap_or_else(listed);
            Failure::with_hint(format!("there is no change {id}"), hint)
        })
    };
    args.ids.iter().map(of).collect()
}

/// Says which files of `tune persist` set again what was undone.
fn tell_of_files(journal: &Journal, undone: &[Undone], printer: Printer) {
    let is_undone = |target: &Target| {
        undone.iter().any(|one| one.outcome.is_undone() && one.entry.step.target == *target)
    };
    for entry in journal.history().live(&journal.moment().place) {
        let (Target::File(path), Value::Text(text)) = (&entry.step.target, &entry.step.after)
        else {
            continue;
        };
        let kept = kept_in(path, text);
        if let Some((target, _)) = kept.iter().find(|(target, _)| is_undone(target)) {
            printer.note(&format!(
                "{path} sets {target} again when the machine starts; {}",
                undoing(&[entry.id])
            ));
        }
    }
}

/// One that could not be undone is the command's failure, one that was left alone is something found.
fn end(undone: Vec<Undone>) -> Result<(), Failure> {
    let mut was_left = false;
    for Undone { entry, outcome, .. } in undone {
        match outcome {
            UndoOutcome::Failed(error) => return Err(error.into()),
            UndoOutcome::Blocked { by } => {
                return Err(Failure::with_hint(
                    format!(
                        "change {} cannot be undone before change {by}, which came later",
                        entry.id
                    ),
                    own_command(&format!("tune undo {by} {}", entry.id)),
                ));
            }
            UndoOutcome::Elsewhere => {
                return Err(Failure::with_hint(
                    format!("change {} holds in another network namespace, and stays", entry.id),
                    format!(
                        "in that one (nsenter -t PID -n): {}; one that is gone has nothing left to undo",
                        own_command(&format!("tune undo {}", entry.id))
                    ),
                ));
            }
            UndoOutcome::Drifted { .. } => was_left = true,
            UndoOutcome::Restored { .. }
            | UndoOutcome::WasSo
            | UndoOutcome::Gone
            | UndoOutcome::UndoneBefore
            | UndoOutcome::BeforeBoot => {}
        }
    }
    if was_left { Err(Failure::Found) } else { Ok(()) }
}

/// The command that undoes these changes, in a line.
pub(super) fn undoing(entries: &[u64]) -> String {
    format!("undo: {}", undo_command(entries))
}

/// The same alone.
pub(super) fn undo_command(entries: &[u64]) -> String {
    let numbers: Vec<String> = entries.iter().map(u64::to_string).collect();
    own_command(&format!("tune undo {}", numbers.join(" ")))
}

/// What became of one, in a line.
pub(super) fn line(undone: &Undone) -> String {
    let Undone { entry, outcome, renamed, .. } = undone;
    let (id, step) = (entry.id, &entry.step);
    let gone = if matches!(step.target, Target::InterfaceMtu(_)) {
        "is gone from this network namespace: nothing is left to undo here"
    } else {
        "is gone: nothing is left to undo"
    };
    let what = match outcome {
        UndoOutcome::Restored { from } => format!("{from} -> {}", step.before),
        UndoOutcome::WasSo => format!("is {} already", step.before),
        UndoOutcome::Gone => gone.to_owned(),
        UndoOutcome::Drifted { now } => format!(
            "is {now}, not {}: another program has changed it; left alone (--force {})",
            step.after,
            match &step.before {
                Value::Text(before) => format!("sets {before}"),
                Value::Unset => "removes it".to_owned(),
                Value::Absent => "removes the route".to_owned(),
            }
        ),
        UndoOutcome::Blocked { by } => format!("left as it is: change {by} came later"),
        UndoOutcome::UndoneBefore => "was undone before".to_owned(),
        UndoOutcome::Elsewhere => "holds in another network namespace".to_owned(),
        UndoOutcome::BeforeBoot => "has gone when the machine was booted".to_owned(),
        UndoOutcome::Failed(error) => format!("could not be undone: {error}"),
    };
    let renamed = renamed.as_ref().map(|now| format!(" (the interface is named {now} now)"));
    format!("{id}  {}: {what}{}\n", step.target, renamed.unwrap_or_default())
}

/// Says what was undone before the command did its own work.
pub(super) fn tell_recovered(recovered: &[Undone], printer: Printer) {
    for one in recovered {
        let ended = |complete| if complete { "expired" } else { "its plan was cut off" };
        let why = one.for_sake_of.map_or_else(
            || ended(one.entry.plan_is_complete).to_owned(),
            |on| format!("depends on change {on}, which ended"),
        );
        printer.note(&format!("{why}: {}", line(one).trim_end()));
    }
}
