//! Commands that this build does not have yet.

use clap::Args;

use crate::failure::Failure;

#[derive(Debug, Args)]
pub(crate) struct NotBuiltArgs {
    #[arg(value_name = "ARGUMENT", hide = true)]
    arguments: Vec<String>,
}

pub(super) fn run(args: &NotBuiltArgs, name: &str) -> Result<(), Failure> {
    let _ = &args.arguments;
    Err(Failure::with_hint(format!("`tune {name}` is not built yet"), "`maxseg tune --help`"))
}
