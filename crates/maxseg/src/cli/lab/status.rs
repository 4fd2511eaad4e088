//! `maxseg lab status`

use clap::Args;

use super::{NameArgs, table};
use crate::failure::Failure;
use crate::printer::Printer;

/// Show hosts, addresses and link counters
#[derive(Debug, Args)]
#[command(after_long_help = "\
Prints each host's interfaces with the link each one sends over, and each link's counters: packets
received from the interface, and packets damaged, refused by a full queue, policed, dropped early, marked.

Examples:
  maxseg lab status
  maxseg lab status --json | jq '.links[] | {link, damaged}'")]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    name: NameArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &StatusArgs, printer: Printer) -> Result<(), Failure> {
    let status = args.name.connect()?.status()?;
    let text = if args.json {
        table::json(&status)
    } else {
        table::hosts(&status) + "\n" + &table::links(&status)
    };
    if args.json {
        printer.data(&text)?;
    } else {
        printer.text(&text)?;
    }
    Ok(())
}
