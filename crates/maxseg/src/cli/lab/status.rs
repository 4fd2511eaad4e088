//! `maxseg lab status`

use clap::Args;

use super::{NameArgs, table};
use crate::failure::Failure;
use crate::printer::Printer;

/// Show hosts, addresses and link counters
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  maxseg lab status
  maxseg lab status --json | jq '.links[] | {link, damaged}'

Prints the interfaces of each host with the link that each one sends over, and the counters of each link: packets \
received from the interface, and packets damaged, refused by a full queue, policed, dropped early, marked.")]
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
        table::hosts(&status, printer) + "\n" + &table::links(&status, printer)
    };
    if args.json {
        printer.data(&text)?;
    } else {
        printer.text(&text)?;
    }
    Ok(())
}
