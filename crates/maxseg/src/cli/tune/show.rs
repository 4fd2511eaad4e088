//! `maxseg tune show`

use clap::Args;
use maxseg_core::tunables::tunable;
use maxseg_workbench::report::tune::CatalogueDocument;
use maxseg_workbench::tune::catalogue::listed_one;

use crate::failure::Failure;
use crate::printer::Printer;
use crate::report::tune::catalogue;

/// Show all that is known of one tunable
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  maxseg tune show tcp_rmem
  maxseg tune show route.mtu
  maxseg tune show socket.rcvbuf --json")]
pub(super) struct ShowArgs {
    /// Its name, as `maxseg tune list` has it
    name: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &ShowArgs, printer: Printer) -> Result<(), Failure> {
    let found =
        tunable(&args.name).map_err(|error| Failure::with_hint(error.to_string(), error.hint()))?;
    let one = listed_one(found);
    if args.json {
        let document = CatalogueDocument::of([&one]);
        printer.data(&format!("{}\n", serde_json::json!(document)))?;
    } else {
        printer.data(&catalogue::show(&one, printer))?;
    }
    Ok(())
}
