//! `maxseg stacks`

#[cfg(feature = "lab")]
mod from_host;
#[cfg(feature = "lab")]
mod host_text;
#[cfg(feature = "lab")]
mod unknown_keys;

use clap::{Args, Subcommand};
use maxseg_core::settings::{builtin_stacks, stack};

use crate::failure::Failure;
use crate::printer::Printer;
use crate::wrap::labelled;

/// List the TCP stacks that a scenario can name, or show one
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  maxseg stacks
  maxseg stacks show ns2-reno
  maxseg stacks from-host --out host.toml

A file like those that `show` prints is a stack too: --stack FILE of `run`, `check` and `lab up`, or \
stack = \"./FILE.toml\" in a scenario. It names a `base` and gives what differs from it.")]
pub(crate) struct StacksArgs {
    #[command(subcommand)]
    what: Option<What>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Print the data file of a stack: every value with its source
    Show {
        /// Name of the stack
        name: String,
    },
    #[cfg(feature = "lab")]
    FromHost(from_host::FromHostArgs),
}

pub(crate) fn run(args: &StacksArgs, printer: Printer) -> Result<(), Failure> {
    match &args.what {
        Some(What::Show { name }) => {
            let stack =
                stack(name).map_err(|error| Failure::with_hint(error.to_string(), error.hint()))?;
            printer.data(stack.text)?;
        }
        #[cfg(feature = "lab")]
        Some(What::FromHost(args)) => from_host::run(args, printer)?,
        None if args.json => {
            let stacks: Vec<_> = builtin_stacks()
                .map(|stack| serde_json::json!({ "name": stack.name, "about": stack.about, "sources": stack.sources }))
                .collect();
            printer.data(&format!(
                "{}\n",
                serde_json::json!({ "schema_version": 1, "stacks": stacks })
            ))?;
        }
        None => {
            let mut text = String::new();
            for stack in builtin_stacks() {
                let lines = labelled(&format!("{:22}", stack.name), &stack.about, printer.width());
                text += &lines.replacen(stack.name, &printer.bold(stack.name), 1);
            }
            printer.data(&text)?;
        }
    }
    Ok(())
}
