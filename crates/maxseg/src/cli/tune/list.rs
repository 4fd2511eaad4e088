//! `maxseg tune list`

use clap::Args;
use maxseg_workbench::report::tune::CatalogueDocument;
use maxseg_workbench::tune::catalogue::{Listed, listed};

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
    // Of a default that varies with machine and kernel, a file that sets the value is all that is known.
    let may_be = |one: &Listed| {
        one.is_modified.unwrap_or(one.tunable.default_varies && !one.files.is_empty())
    };
    all.retain(|one| !args.modified || may_be(one));
    if args.json {
        let document = CatalogueDocument::of(&all);
        printer.data(&format!("{}\n", serde_json::json!(document)))?;
    } else {
        printer.data(&catalogue::list(&all, printer))?;
    }
    Ok(())
}
