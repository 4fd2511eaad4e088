//! `maxseg path`

mod far_end;
mod judgement;

use std::io;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Duration;

use clap::Args;
use indicatif::ProgressBar;

use super::output_file::{BegunFile, is_same_file, refuse_stdout};
use crate::failure::Failure;
use crate::interrupt;
use crate::printer::Printer;
use crate::report::path::{forget_text, path_text};
use far_end::FarEndArgs;
use judgement::{judge, with_other_version};
use maxseg_workbench::Error;
use maxseg_workbench::path::{
    FarEndOptions, PathError, PathObserver, PathOptions, PathReport, PathTarget, PathTest, flush,
    forget_learnt,
};
use maxseg_workbench::report::path::{ForgetDocument, PathDocument, page, scenario};

/// Find round trip, path MTU and black holes of a path
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  maxseg path www.example.org
  maxseg path 192.0.2.7:443 --json | jq .path_mtu
  maxseg path -6 www.example.org
  maxseg path 192.0.2.7 --scenario path.toml && maxseg run path.toml
  maxseg path 192.0.2.7 --report path.html
  maxseg path 192.0.2.7 --far-end responder --token TOKEN --rfc6349
  maxseg path 192.0.2.7 --far-end iperf3 --json
  sudo maxseg path 192.0.2.7:443 --quiet-probes
  sudo maxseg path --forget

Measures the round trip, finds the largest packet that arrives whole, hop by hop, and the place where larger ones vanish. \
A size is only called too large where a router says so and nothing contradicts it, or where it is silent so often, between \
smaller packets that arrive, that losses do not explain it: the chance of an error is printed, and at most 0.0001.

With CAP_NET_RAW and an open TCP port, segments are sent that lie before the first byte of a connection: each that arrives is \
answered with a D-SACK, no byte reaches the service, and the route cache is left alone. --quiet-probes sends nothing else that \
is large. Without that right, UDP datagrams that must not be fragmented and the messages that they provoke show the path \
MTU. Where the destination does not answer these, up to 34 connections are opened to the port that is named, or to 443 or 80, \
each with segments of one size: the beginning of a TLS ClientHello or of an HTTP header, spaces to other ports. Up to 16 more show \
whether large segments alone are lost. --no-payload leaves them out. The ports 443, 80 and 22 are asked for the MSS that they offer.

A message of a router that a UDP datagram or a TCP segment is too big enters this host's route cache for ten minutes and \
shrinks every connection to that destination: what the kernel has learnt is printed, and logged before the first probe \
(/var/lib/maxseg as root, else ~/.local/state/maxseg). --forget removes that, and nothing else (root).

Without a far end, the test sends at most 200 kB up to an MTU of 1500, 1 MB above, and about twice as much where large packets vanish or \
are lost; transfers with one fill the path.

Exit codes: 0 done, 1 unknown host, no route, no answer at all (not even to ARP), an IP version that could not be tested though there is a route, a far end that \
did not do its part, or a direction that was not measured with it, 2 usage, 3 a fault was \
found (a routing loop, a dead host or port, a message that this host drops, a black hole, a wrong message, paths of unequal MTU, losses of large packets alone), or a \
threshold of --rfc6349 was not met or not tested, 130 interrupted.")]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(crate) struct PathArgs {
    /// Host or address, perhaps with a TCP port: HOST, HOST:PORT, [ADDRESS]:PORT
    #[arg(value_name = "HOST[:PORT]", required_unless_present = "forget")]
    host: Option<PathTarget>,
    /// Only IPv4
    #[arg(short = '4', long, conflicts_with = "ipv6")]
    ipv4: bool,
    /// Only IPv6
    #[arg(short = '6', long)]
    ipv6: bool,
    /// Flows to try, each with ports of its own: equal-cost routes may differ
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=16))]
    flows: u8,
    /// Round trips to measure
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pings: u32,
    /// Only probes that teach this host's kernel nothing: raw TCP segments
    #[arg(long)]
    quiet_probes: bool,
    /// Send no bytes to an open TCP port
    #[arg(long)]
    no_payload: bool,
    /// Have the kernel forget what the probes of earlier tests taught it
    #[arg(long, conflicts_with_all = ["report", "scenario", "quiet_probes", "no_payload"])]
    forget: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// Write an HTML page with the MTU of each hop
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    /// Write the path as a scenario for `maxseg run`
    #[arg(long, value_name = "FILE.toml")]
    scenario: Option<PathBuf>,
    #[command(flatten)]
    far_end: FarEndArgs,
}

pub(crate) fn run(args: &PathArgs, printer: Printer) -> Result<(), Failure> {
    let far_end = args.far_end.options()?;
    refuse_outputs(args)?;
    refuse_loud_far_end(args, far_end.is_some())?;
    if args.forget {
        return forget(args, printer);
    }
    let files = OutputFiles::create(args)?;
    // clap has one, unless there is --forget.
    let Some(host) = &args.host else { return Ok(()) };
    let Tested { reports, untested, failed } = test_all(args, host, far_end.as_ref(), printer)?;
    // Written before printed: whoever reads our output may have gone.
    let written = files.write(&reports);
    let shown = show(args, &reports, untested, printer);
    written?;
    let judged = judge(&reports, args.far_end.has_thresholds());
    let (judged, noted) = with_other_version(judged, failed);
    if let Some(failure) = noted {
        printer.note(&failure.render());
    }
    match shown.map_err(Failure::from) {
        Ok(()) | Err(Failure::BrokenPipe) => judged,
        Err(failure) => Err(failure),
    }
}

impl PathArgs {
    /// The IP version that is asked for; `None` for both.
    const fn version(&self) -> Option<u8> {
        match (self.ipv4, self.ipv6) {
            (true, _) => Some(4),
            (_, true) => Some(6),
            (false, false) => None,
        }
    }

    fn options(&self, far_end: Option<&FarEndOptions>) -> PathOptions {
        PathOptions {
            flows: self.flows,
            pings: self.pings,
            far_end: far_end.cloned(),
            quiet_probes: self.quiet_probes,
            payload: !self.no_payload,
        }
    }
}

/// The tests of a host's addresses.
struct Tested {
    /// Those that were carried out, the ones that were answered first.
    reports: Vec<PathReport>,
    /// What stands for the others.
    untested: Vec<PathReport>,
    /// Why the last of these failed, and whether that is a fault: there are others.
    failed: Option<(Failure, bool)>,
}

/// Tests each address of a host.
fn test_all(
    args: &PathArgs,
    host: &PathTarget,
    far_end: Option<&FarEndOptions>,
    printer: Printer,
) -> Result<Tested, Failure> {
    let resolved = host.resolve(args.version()).map_err(Error::from)?;
    let mut tested = Tested { reports: Vec::new(), untested: Vec::new(), failed: None };
    for address in resolved.addresses {
        let options = args.options(far_end);
        let test = PathTest { target: host.host.clone(), address, port: host.port, options };
        let stop = interrupt::flag();
        match test.run(&mut Steps::new(printer), stop) {
            Ok(report) => tested.reports.push(report),
            Err(_) if stop.load(Ordering::Relaxed) => {
                return Err(Failure::Interrupted(
                    "nothing is printed of an unfinished test".to_owned(),
                ));
            }
            Err(error) => {
                let (target, why) = (host.host.clone(), error.to_string());
                tested.untested.push(PathReport::failed(target, address, why));
                // A host of both versions may have a route for one of them alone.
                let is_fault =
                    !matches!(error, PathError::NoRoute { .. } | PathError::Refused { .. });
                tested.failed = Some((Failure::from(Error::from(error)), is_fault));
            }
        }
    }
    if let Some((failure, _)) = tested.failed.take_if(|_| tested.reports.is_empty()) {
        return Err(failure);
    }
    tested.reports.sort_by_key(|report| !report.is_answered());
    Ok(tested)
}

/// Prints the tests.
fn show(
    args: &PathArgs,
    reports: &[PathReport],
    untested: Vec<PathReport>,
    printer: Printer,
) -> io::Result<()> {
    if !args.json {
        return printer.text(&path_text(reports, printer));
    }
    let all = [reports.to_vec(), untested].concat();
    let document = PathDocument::new(&all);
    printer.stream(|out| document.map_or(Ok(()), |document| document.write(out)))
}

/// Refuses bulk data where the kernel is to be taught nothing.
fn refuse_loud_far_end(args: &PathArgs, has_far_end: bool) -> Result<(), Failure> {
    if args.quiet_probes && has_far_end {
        return Err(Failure::usage(
            "--quiet-probes with --far-end: bulk data may provoke messages of routers, which the kernel acts on",
            "leave out one of the two; `maxseg path --forget` removes what a test has taught the kernel",
        ));
    }
    Ok(())
}

/// Removes what earlier tests have taught the kernel.
fn forget(args: &PathArgs, printer: Printer) -> Result<(), Failure> {
    let addresses = match &args.host {
        Some(host) => Some(host.resolve(args.version()).map_err(Error::from)?.addresses),
        None => None,
    };
    let forgotten = forget_learnt(addresses.as_deref()).map_err(Error::from)?;
    if args.json {
        printer.stream(|out| ForgetDocument::new(&forgotten).write(out))?;
    } else {
        printer.text(&forget_text(&forgotten))?;
    }
    let failed = forgotten.iter().find_map(|forgotten| forgotten.error());
    failed.map_or(Ok(()), |(destination, error)| {
        Err(Failure::with_hint(
            format!("what was learnt about {destination} cannot be removed: {error}"),
            if error.kind() == io::ErrorKind::PermissionDenied {
                "run it as root".to_owned()
            } else {
                flush(destination)
            },
        ))
    })
}

/// Refuses two outputs that are one file.
fn refuse_outputs(args: &PathArgs) -> Result<(), Failure> {
    let (Some(report), Some(scenario)) = (&args.report, &args.scenario) else { return Ok(()) };
    if report == scenario || is_same_file(report, scenario) {
        return Err(Failure::usage(
            format!("--report and --scenario both write {}", report.display()),
            "name two files: --report path.html --scenario path.toml",
        ));
    }
    Ok(())
}

/// Shows on a terminal what is tried.
struct Steps {
    line: Option<ProgressBar>,
    printer: Printer,
}

impl Steps {
    fn new(printer: Printer) -> Self {
        let line = printer.shows_progress().then(ProgressBar::new_spinner);
        if let Some(line) = &line {
            line.enable_steady_tick(Duration::from_millis(200));
        }
        Self { line, printer }
    }
}

impl PathObserver for Steps {
    fn on_step(&mut self, step: &str) {
        if let Some(line) = &self.line {
            line.set_message(step.to_owned());
        }
    }

    fn on_warning(&mut self, warning: &str) {
        let printer = self.printer;
        match &self.line {
            Some(line) => line.suspend(|| printer.note(warning)),
            None => printer.note(warning),
        }
    }
}

impl Drop for Steps {
    fn drop(&mut self) {
        if let Some(line) = &self.line {
            line.finish_and_clear();
        }
    }
}

/// The files beside what is printed, begun before anything is sent.
struct OutputFiles<'a> {
    report: Option<BegunFile<'a>>,
    scenario: Option<BegunFile<'a>>,
}

impl<'a> OutputFiles<'a> {
    fn create(args: &'a PathArgs) -> Result<Self, Failure> {
        let begin = |option, example, file: Option<&'a PathBuf>| {
            if let Some(file) = file {
                refuse_stdout(option, "file", file, example)?;
            }
            BegunFile::begin(file)
        };
        Ok(Self {
            report: begin("--report", "path.html", args.report.as_ref())?,
            scenario: begin("--scenario", "path.toml", args.scenario.as_ref())?,
        })
    }

    fn write(self, reports: &[PathReport]) -> Result<(), Failure> {
        if let Some(file) = self.report {
            file.finish(&page(reports))?;
        }
        if let Some(file) = self.scenario {
            let report = reports.first().filter(|report| report.is_answered());
            let Some(report) = report else {
                return Err(Failure::with_hint(
                    "no scenario can be made: nothing answered",
                    "name a TCP port that is open, as HOST:443",
                ));
            };
            file.finish(&scenario(report))?;
        }
        Ok(())
    }
}
