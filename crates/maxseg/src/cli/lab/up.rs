//! `maxseg lab up`

use std::sync::Arc;

use clap::Args;
use maxseg_linux::lab::persistent::{DEFAULT_NAME, LabStatus, PersistentLab};
use maxseg_linux::sys::Waker;

use super::keep::{self, Plan};
use super::{NameArgs, table};
use crate::cli::input::{Given, ScenarioArgs};
use crate::failure::Failure;
use crate::printer::Printer;

/// Start the hosts and links of a scenario
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  maxseg lab up slow-tunnel
  maxseg lab up path.toml --mtu 9000 --set hop.radio.errors.rate=1%
  maxseg lab exec receiver -- iperf3 -s -D -1
  maxseg lab shell sender

Each host and router is a network namespace, each hop a link between two interfaces. The lab runs as a background \
process until `maxseg lab down`; when that process ends, namespaces and interfaces are gone. Root is not needed where \
users may create namespaces: see `maxseg doctor`.

The scenario's flows are not started. Its settings (segment size, window, timers, congestion control) hold for every \
program in the hosts, by route metrics, sysctls and the TCP headers that leave a host.")]
pub(crate) struct UpArgs {
    #[command(flatten)]
    scenario: ScenarioArgs,
    #[command(flatten)]
    name: NameArgs,
    /// Run in the foreground
    #[arg(long)]
    foreground: bool,
    /// Print JSON: what `lab status --json` prints
    #[arg(long)]
    json: bool,
}

impl UpArgs {
    pub(super) fn is_in_front(&self) -> bool {
        self.foreground
    }
}

pub(crate) fn run(args: &UpArgs, printer: Printer) -> Result<(), Failure> {
    let Given { name: file, text, assignments, draft } = args.scenario.load()?;
    draft.scenario()?;
    if !draft.sweep()?.is_empty() {
        printer.note(&format!(
            "the sweep of {file} is left out: the lab is the path as the rest of the file has it"
        ));
    }
    if args.foreground {
        let lab = PersistentLab::up(&args.name.name, draft)?;
        let waker = Waker::new().map_err(|error| Failure::new(error.to_string()))?;
        let stop = Arc::new(waker);
        let waker = Arc::clone(&stop);
        // Fails where a handler is installed: then Ctrl-C ends the process, and the lab with it.
        let _ = ctrlc::set_handler(move || waker.wake());
        tell(args, &lab.status()?, printer)?;
        lab.serve(&stop, |failure| printer.failure(&failure.to_string()))?;
        return Ok(());
    }
    let name = args.name.name.clone();
    let status = keep::start(&Plan { name, file, text, assignments })?;
    tell(args, &status, printer)
}

/// The lab's status, and commands to go on with.
fn tell(args: &UpArgs, status: &LabStatus, printer: Printer) -> Result<(), Failure> {
    if args.json {
        printer.data(&table::json(status))?;
        return Ok(());
    }
    printer.text(&table::hosts(status, printer))?;
    let name = &args.name.name;
    let which = if name == DEFAULT_NAME { String::new() } else { format!(" --name {name}") };
    let last = status.hosts.last().map_or("receiver", |host| &host.host);
    let hop = status.hosts.first().map_or("hop.0", |sender| &sender.interfaces[0].link);
    printer.note_verbatim(&format!(
        "\nnext: maxseg lab shell{which} {last}\n      maxseg lab exec{which} sender -- COMMAND\n      \
         maxseg lab set{which} \"{hop}.delay=50 ms\"\n      maxseg lab down{which}"
    ));
    Ok(())
}
