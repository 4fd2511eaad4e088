//! `maxseg stacks from-host`

use std::path::PathBuf;

use clap::Args;
use maxseg_linux::observe::host::{HostReading, sysctl};
use maxseg_linux::observe::sockets::{Place, interface_index};
use maxseg_workbench::whole_file::WholeFile;

use super::host_text::host_text;
use crate::cli::output_file::refuse_stdout;
use crate::cli::zoned_address::ZonedAddress;
use crate::failure::Failure;
use crate::printer::Printer;

/// Write the TCP settings of this host as a stack file
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  maxseg stacks from-host
  maxseg stacks from-host --to 192.0.2.7 --out host.toml
  maxseg run path.toml --stack host.toml

The file has the sysctls, the route and the interface's MTU of this host, each with its source, above the stack \
`linux`. What a stack has no key for stands in comments at its end, with what the simulator has in its place. Give it \
to `run`, `check` and `lab up` with --stack, or write stack = \"./host.toml\" in a scenario.

Nothing needs a privilege. In a network namespace (`ip netns exec NAME maxseg stacks from-host`) the values are the \
namespace's.")]
pub(super) struct FromHostArgs {
    /// Take the route to this address (`fe80::1%eth0`: a link-local one); default: the default route
    #[arg(long, value_name = "ADDRESS")]
    to: Option<ZonedAddress>,
    /// Write to this file; default: standard output
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub(super) fn run(args: &FromHostArgs, printer: Printer) -> Result<(), Failure> {
    let to = args.to.as_ref().map(|to| to.address);
    let host = HostReading::here(to, interface(args.to.as_ref())?);
    if let (Some(to), Err(error)) = (to, &host.route) {
        return Err(Failure::with_hint(
            format!("the kernel gives no route to {to}: {error}"),
            format!("`ip route get {to}` asks the same; without --to the default route is taken"),
        ));
    }
    let text = host_text(&host, &sysctl, to);
    let Some(file) = &args.out else {
        printer.data(&text)?;
        return Ok(());
    };
    refuse_stdout("--out", "file", file, "host.toml")?;
    WholeFile::create(file)
        .and_then(|out| out.finish(text.as_bytes()))
        .map_err(|error| Failure::file("write", file, &error))?;
    printer.note(&format!(
        "this host's TCP in {}: give it to `maxseg run` with --stack",
        file.display()
    ));
    Ok(())
}

/// The index of the interface that an address names.
fn interface(to: Option<&ZonedAddress>) -> Result<Option<u32>, Failure> {
    let Some(zone) = to.and_then(|to| to.zone.as_deref()) else { return Ok(None) };
    match interface_index(&Place::Here, zone) {
        Ok(Some(index)) => Ok(Some(index)),
        _ => {
            Err(Failure::with_hint(format!("there is no interface {zone}"), "`ip link` lists them"))
        }
    }
}
