//! `maxseg lab status`

use clap::Args;

use super::{NameArgs, table};
use crate::failure::Failure;
use crate::printer::Printer;

/// Show hosts and addresses, and what the links did
#[derive(Debug, Args)]
#[command(after_long_help = "\
Of each host its interfaces, and of each interface the link that takes what it sends. Of each link the
packets of the wire that came to it, and what became of those that did not arrive.

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
        printer.data(&text)?
    } else {
        printer.text(&text)?
    }
    Ok(())
}
