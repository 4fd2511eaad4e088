//! `maxseg tune list`

use clap::Args;
use maxseg_workbench::report::tune::CatalogueDocument;
use maxseg_workbench::tune::catalogue::listed;

use crate::failure::Failure;
use crate::printer::Printer;
use crate::report::tune::catalogue;

/// List what can be tuned: current, default, range, what it acts on
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  maxseg tune list
  maxseg tune list --modified
  maxseg tune list --json

Values are those of this network namespace; nothing needs a privilege. `set by` names the line of sysctl.d that gives \
a value when the machine starts.")]
pub(super) struct ListArgs {
    /// Only what differs from the kernel's own value
    #[arg(long)]
    modified: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &ListArgs, printer: Printer) -> Result<(), Failure> {
    let mut all = listed();
    all.retain(|one| !args.modified || one.is_modified == Some(true));
    if args.json {
        let document = CatalogueDocument::of(&all);
        printer.data(&format!("{}\n", serde_json::json!(document)))?;
    } else {
        printer.data(&catalogue::list(&all, printer))?;
    }
    Ok(())
}
