//! `maxseg tune confirm`

use clap::Args;
use maxseg_core::tune::Event;
use maxseg_linux::tune::{Journal, recover, state_folder};

use super::undo::tell_recovered;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::report::tune::{hidden_from_user, own_command};

/// Keep what was set with --confirm
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  maxseg tune apply --set route.default.mtu=1400 --confirm 60s
  maxseg tune confirm

Without it, what was set with --confirm or --for is undone when its time is over.")]
pub(crate) struct ConfirmArgs {}

pub(super) fn run(_: &ConfirmArgs, printer: Printer) -> Result<(), Failure> {
    let mut journal = Journal::open(&state_folder()?)?;
    tell_recovered(&recover(&mut journal), printer);
    let plans = journal.history().unconfirmed(journal.moment());
    if plans.is_empty() {
        let undone = || {
            let status = own_command("tune status");
            format!(
                "what was set with --confirm, and whose time was over, has been undone: {status}"
            )
        };
        let hint = hidden_from_user("tune confirm").unwrap_or_else(undone);
        return Err(Failure::with_hint("nothing waits to be confirmed", hint));
    }
    for plan in plans {
        journal.append(Event::Confirmed { plan })?;
        printer.note(&format!("plan {plan} is kept"));
    }
    Ok(())
}
