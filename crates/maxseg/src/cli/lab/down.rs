//! `maxseg lab down`

use clap::Args;

use super::NameArgs;
use crate::failure::Failure;
use crate::printer::Printer;

/// Stop the lab
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  maxseg lab down

Hosts, links and addresses are gone when the command returns. Programs started in a host keep running, without a \
network: each is named.")]
pub(crate) struct DownArgs {
    #[command(flatten)]
    name: NameArgs,
}

pub(crate) fn run(args: &DownArgs, printer: Printer) -> Result<(), Failure> {
    let left = args.name.connect()?.down()?;
    printer.note(&format!("the lab `{}` is down", args.name.name));
    if !left.is_empty() {
        let each = left
            .iter()
            .map(|left| format!("{} (process {}, of {})", left.program, left.process, left.host));
        let processes: Vec<String> = left.iter().map(|left| left.process.to_string()).collect();
        printer.note(&format!(
            "programs of its hosts run on, without a network: {}; kill {} ends them",
            each.collect::<Vec<_>>().join(", "),
            processes.join(" ")
        ));
    }
    Ok(())
}
