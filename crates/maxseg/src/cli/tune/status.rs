//! `maxseg tune status`

use clap::Args;
use maxseg_core::tune::{Effect, EntryState};
use maxseg_linux::tune::{Journal, Surveyed, effect, moment, state_folder, survey};
use maxseg_workbench::report::tune::StatusDocument;

use crate::failure::Failure;
use crate::printer::Printer;
use crate::report::tune::{hidden_from_user, status_text};

/// Show what is set, and whether it still holds
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  maxseg tune status
  maxseg tune status --effect
  maxseg tune status --json
  maxseg tune status || echo look at it

Lists the changes in force, those that should no longer be in force, and the plan that was undone last; --all lists every change. \
Exit code 3 says that something is no longer as it was set (drifted), or that something should have been undone and is \
still set (expired, or its plan was cut off).")]
pub(crate) struct StatusArgs {
    /// All that was ever set, also elsewhere and before this boot
    #[arg(long)]
    all: bool,
    /// Goodput, round trips, retransmissions of connections before and since
    #[arg(long)]
    effect: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// When it was undone; else when it was set; seconds since 1970.
fn ended_s(one: &Surveyed) -> f64 {
    one.entry.undone.as_ref().map_or(one.entry.set_at_s, |undone| undone.at_s)
}

pub(super) fn run(args: &StatusArgs, printer: Printer) -> Result<(), Failure> {
    let folder = state_folder()?;
    let history = Journal::read(&folder)?;
    let now = moment()?;
    let all = survey(&history, &now);
    let is_trouble = all.iter().any(Surveyed::is_trouble);
    // Files are the same in every network namespace, and after the next start.
    let is_here = |one: &Surveyed| one.entry.is_at(&now.place);
    let last = all.iter().filter(|one| one.state == EntryState::Undone && is_here(one));
    let last = last.max_by(|one, other| ended_s(one).total_cmp(&ended_s(other)));
    let last_plan = last.map(|one| one.entry.plan);
    let is_shown = |one: &&Surveyed| {
        let is_live = one.state != EntryState::Undone;
        args.all || (is_here(one) && (is_live || Some(one.entry.plan) == last_plan))
    };
    let of = |one| (one, args.effect.then(|| effect(one, &history, &folder)));
    let shown: Vec<(&Surveyed, Option<Effect>)> = all.iter().filter(is_shown).map(of).collect();
    let unseen = hidden_from_user("tune status");
    if args.json {
        printer.data(&StatusDocument::new(shown).json())?;
    } else {
        printer.text(&status_text(&shown, unseen.as_deref(), printer))?;
        let hidden = all.len() - shown.len();
        if hidden > 0 {
            printer
                .note(&format!("{hidden} more with --all: undone, elsewhere, or before this boot"));
        }
    }
    if let Some(unseen) = unseen {
        printer.note(&unseen);
    }
    if is_trouble { Err(Failure::Found) } else { Ok(()) }
}
