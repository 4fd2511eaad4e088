//! `maxseg tune status`

use clap::Args;
use maxseg_core::tune::{Effect, EntryState};
use maxseg_linux::tune::{Journal, Surveyed, moment, state_folder, survey};
use maxseg_workbench::report::tune::StatusDocument;
use maxseg_workbench::tune::effect;

use crate::failure::Failure;
use crate::printer::Printer;
use crate::report::tune::status_text;

/// Show what is set, and whether it still holds
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  maxseg tune status
  maxseg tune status --effect
  maxseg tune status --json
  maxseg tune status || echo look at it

Exit code 3 says that another program has changed something since (drifted), or that something should have been undone \
and is still set (expired).")]
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

/// So many of those that were undone are shown unasked.
const FEW: usize = 10;

pub(super) fn run(args: &StatusArgs, printer: Printer) -> Result<(), Failure> {
    let folder = state_folder()?;
    let history = Journal::read(&folder)?;
    let now = moment()?;
    let all = survey(&history, &now);
    // Of a plan that was cut off nothing is to stay.
    let is_cut_off = |one: &Surveyed| one.state == EntryState::Set && !one.entry.plan_is_complete;
    let is_trouble = all.iter().any(|one| one.state.is_trouble() || is_cut_off(one));
    let is_here = |one: &Surveyed| one.entry.place == now.place;
    let last = all.iter().rev().filter(|one| one.state == EntryState::Undone && is_here(one));
    let first_shown = last.take(FEW).last().map_or(0, |one| one.entry.id);
    let is_shown = |one: &&Surveyed| {
        let is_live = one.state != EntryState::Undone;
        args.all || (is_here(one) && (is_live || one.entry.id >= first_shown))
    };
    let of = |one| (one, args.effect.then(|| effect(one, &folder)));
    let shown: Vec<(&Surveyed, Option<Effect>)> = all.iter().filter(is_shown).map(of).collect();
    if args.json {
        printer.data(&StatusDocument::new(shown).json())?;
    } else {
        printer.text(&status_text(&shown, printer))?;
        let hidden = all.len() - shown.len();
        if hidden > 0 {
            printer
                .note(&format!("{hidden} more with --all: undone, elsewhere, or before this boot"));
        }
    }
    if is_trouble { Err(Failure::Found) } else { Ok(()) }
}
