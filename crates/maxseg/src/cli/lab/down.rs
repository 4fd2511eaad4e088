//! `maxseg lab down`

use clap::Args;

use super::NameArgs;
use crate::failure::Failure;
use crate::printer::Printer;

/// Stop the lab
#[derive(Debug, Args)]
#[command(after_long_help = "\
Hosts, links and addresses are gone when this returns. Programs that were started in a host go on,
without a network.

Examples:
  maxseg lab down")]
pub(crate) struct DownArgs {
    #[command(flatten)]
    name: NameArgs,
}

pub(crate) fn run(args: &DownArgs, printer: Printer) -> Result<(), Failure> {
    args.name.connect()?.down()?;
    printer.note(&format!("the lab `{}` is down", args.name.name));
    Ok(())
}
