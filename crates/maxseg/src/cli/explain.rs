//! `maxseg explain`

mod choice;
mod faults;
#[cfg(feature = "lab")]
mod live;
mod ring;
mod target;

pub(super) use target::Target;

use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use maxseg_core::advise::{Headline, Miss};
use maxseg_core::evidence::Evidence;
use maxseg_core::units::Time;
use maxseg_wire::flow::FlowOptions;
use maxseg_wire::reading::{ConnectionFilter, ReadOptions};

use super::output_file::{BegunFile, is_same_file, refuse_stdout, same_files, twice_text};
use crate::cli::count::at_least_one;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::report::explain::{Detail, explain_text};
use faults::{at_fault, note_cut, note_missing_files, note_without_packets};
use maxseg_workbench::Error;
use maxseg_workbench::explain::{self, Capture, Explanation};
use maxseg_workbench::file_error::for_shell;
use maxseg_workbench::report::explain::{page, write_conclusion, write_connections, write_csv};

/// Show what limits a connection, captured or live, and what to do
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  maxseg explain slow.pcapng
  tcpdump -w - 'port 443' | maxseg explain -
  maxseg explain slow.pcap.zst --connection 3
  maxseg explain slow.pcapng --filter 'host 10.0.0.7 and not port 22'
  maxseg explain slow.pcapng --report slow.html
  maxseg explain slow.pcapng --scenario path.toml && \\
      maxseg run path.toml --axis sender.mss=536,1220,1460
  maxseg explain slow.pcapng --json | jq '.connections[] | [.id, .limited_by]'
  maxseg explain sender.pcap receiver.pcap
  maxseg explain ring_*.pcapng
  maxseg explain www.example.org:443
  maxseg explain 10.0.0.1:40000-10.0.0.2:443 --interval \"5 s\"
  maxseg why 4711

Reads pcap and pcapng, plain or compressed with gzip or zstd. The first lines are about the connection with the highest \
impact: what limited it, for which share of the time, what to change, and the gain. The gain comes from two simulations \
of the path as observed, with and without the limit, by Linux's TCP with the observed congestion control. No gain is \
printed where the first simulation misses the observed goodput, retransmissions or round trips.

A filter combines `host ADDRESS`, `port NUMBER` (of either end, or after `client` or `server`) and `stream NUMBER` \
with `and`, `or`, `not` and parentheses.

Two captures of the same transfers, one at each end, are joined, in whatever order they are given: packets are matched, \
the clocks compared, and what was lost, reordered, delayed or changed between them is known and not estimated. Limits \
are judged at the sender's.

Files that follow each other, as those of a ring (`capture --rotate`, `tcpdump -C`, `dumpcap -b`), are one capture: three and more \
always, two where they do not hold the same packets. They are read in the order of their first packets, which are numbered through, \
as in the file that `mergecap -a` makes of them.

`maxseg guide explain` describes each limit and the accuracy of the numbers; `maxseg guide glossary` each term.

A file that ends within a packet, as after a capture that was killed, is explained as far as it goes. One that is \
broken before its end is refused, with the command that explains what comes before.

A host, a PID or two ends name connections of this host, this end first; IPv6 with a port stands in brackets, and a file of \
that name wins. Each has a sentence (what limits it, what to change) and the bounds of its segment size and of its receive window, the effective one marked. What a running socket hides is not guessed: the peer's MSS option, a clamp on the \
way and TCP_MAXSEG are one bound, and a capture of the next SYN shows both options. For a process, a port, or HOST:PORT of this host, listening sockets are listed too: an accept queue that is full. Nothing is changed.

Exit codes: 0 done, 1 error in the file or no such connection, 2 usage, 130 interrupted.")]
#[expect(clippy::struct_excessive_bools, reason = "a flag of the command line each")]
pub(crate) struct ExplainArgs {
    /// A pcap or pcapng file, or `-` for standard input; two of the same transfer, one at each end; files that follow each
    /// other, such as those of a ring; or connections of this host: HOST, HOST:PORT, :PORT at either end, ADDRESS:PORT-ADDRESS:PORT, or a PID
    #[arg(value_name = "FILE|HOST|PID", num_args = 1.., required = true)]
    files: Vec<String>,
    /// Full detail of connection N
    #[arg(long, short = 'n', value_name = "N", value_parser = connection_number)]
    connection: Option<u32>,
    /// Only connections that match, such as `host 10.0.0.7 and port 443`
    #[arg(long, short, value_name = "EXPR")]
    filter: Option<ConnectionFilter>,
    /// Only packets of this interface of the capture: its name, or its number from 0
    #[arg(long, short, value_name = "NAME")]
    interface: Option<String>,
    /// Print tables in one piece, however wide
    #[arg(long)]
    wide: bool,
    /// Print one JSON document
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Print CSV, one row per direction of a connection
    #[arg(long)]
    csv: bool,
    /// Add tshark 4.0's counts to --json
    #[arg(long)]
    tshark_compat: bool,
    /// Write an HTML page with graphs of the first connection printed, or of --connection
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    /// Write the path of that connection as a scenario for `maxseg run`
    #[arg(long, value_name = "FILE.toml")]
    scenario: Option<PathBuf>,
    /// Use N cores for a large capture; default: all. The output is the same
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Time between two samples of a live connection; `0 s` judges the time since its beginning. Default: 1 s
    #[arg(long, value_name = "TIME")]
    interval: Option<Time>,
    /// Live connections of another network namespace: a name of `ip netns`, or the PID of a process in it
    #[arg(long, value_name = "NAME|PID")]
    netns: Option<String>,
    /// Track at most N connections at once; others are only counted
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = at_least_one)]
    most_connections: usize,
}

pub(crate) fn run(args: &ExplainArgs, printer: Printer) -> Result<(), Failure> {
    refuse_outputs(args)?;
    refuse_twice(args)?;
    if let Some(target) = choice::live_target(args)? {
        return choice::run_live(&target, args, printer);
    }
    let files = OutputFiles::create(args)?;
    if args.tshark_compat && !args.json {
        printer.note(
            "--tshark-compat shows only in --json: its counts are not among what is printed here",
        );
    }
    let options = ReadOptions {
        interface: args.interface.as_deref(),
        flows: FlowOptions {
            most_connections: args.most_connections,
            trace: args.report.is_some(),
        },
        tshark: args.tshark_compat,
    };
    let jobs = args.jobs.map(usize::from);
    let mut capture = read(&args.files, &options, jobs)?.select(|evidence| args.wants(evidence));
    if let Some(fault) = capture.summary.fault() {
        return Err(at_fault(&capture.name, &args.files, &capture.summary, fault));
    }
    note_cut(&capture.name, &capture.summary, printer);
    note_missing_files(&capture.summary, &args.files, printer);
    note_without_packets(&capture.without_packets, printer);
    if let ([_, _], [_, _]) = (args.files.as_slice(), capture.summary.file.parts.as_slice()) {
        printer.note(&format!("{} follow each other: they are read as one capture", capture.name));
    }
    if let Some(pair) = &capture.pair {
        refuse_tshark_of_pair(args)?;
        note_cut(&pair.names[1 - pair.main], &pair.other, printer);
    }
    if let Some(id) = args.connection
        && capture.is_empty()
    {
        return Err(no_connection(args, id, capture.filtered_connections()));
    }
    let has_files = files.report.is_some() || files.scenario.is_some();
    let (explanation, has_reader) = match (args.json, args.csv) {
        (false, false) => (capture.explain(), true),
        (is_json, _) => {
            let write = |out: &mut dyn io::Write| {
                if is_json { write_connections(out, capture) } else { write_csv(out, capture) }
            };
            // The files need all of it, whoever reads our output.
            if has_files {
                printer.stream_to_the_end(write)?
            } else {
                (printer.stream(write)?, true)
            }
        }
    };
    show(args, files, (&explanation, has_reader), printer)
}

/// Reads the capture at this path, or standard input for `-`; of several files, all.
fn read(
    files: &[String],
    options: &ReadOptions<'_>,
    jobs: Option<usize>,
) -> Result<Capture<'static>, Failure> {
    match files {
        [] => Err(Failure::usage("no capture is given", "name a file: slow.pcap")),
        [file] if file != "-" => Ok(explain::read_file(Path::new(file), options, jobs)?),
        [_] => {
            let mut capture = explain::read(io::stdin(), "standard input", options)?;
            "-".clone_into(&mut capture.name);
            Ok(capture)
        }
        several => explain::read_files(several, options, jobs).map_err(|error| {
            if let Error::Fault { name, summary } = &error
                && let Some(fault) = summary.fault()
            {
                return at_fault(name, &[], summary, fault);
            }
            Failure::from(error)
        }),
    }
}

/// Why connection `id` is not shown, of so many.
fn no_connection(args: &ExplainArgs, id: u32, all: u64) -> Failure {
    if args.filter.is_some() && u64::from(id) < all {
        let what = format!("--filter leaves out connection {id}");
        let hint = "without --connection those that match are listed, each with its number";
        return Failure::with_hint(what, hint);
    }
    let hint = format!("there are {all}, counted from 0; without --connection they are listed");
    Failure::with_hint(format!("there is no connection {id} to show"), hint)
}

impl ExplainArgs {
    fn wants(&self, evidence: &Evidence) -> bool {
        self.connection.is_none_or(|id| evidence.id == id)
            && self.filter.as_ref().is_none_or(|filter| filter.accepts(evidence))
    }
}

/// Shows the conclusion, and the connections where they were not written before.
fn show(
    args: &ExplainArgs,
    files: OutputFiles<'_>,
    (explanation, has_reader): (&Explanation, bool),
    printer: Printer,
) -> Result<(), Failure> {
    let has_files = files.report.is_some() || files.scenario.is_some();
    let headline = if has_files || !args.csv { explanation.headline() } else { None };
    let headline = headline.as_ref();
    let concluded = if args.json && has_reader {
        printer.stream(|out| write_conclusion(out, explanation, headline))
    } else {
        Ok(())
    };
    files.write(explanation, headline, printer)?;
    concluded?;
    if !args.json && !args.csv {
        let detail = Detail {
            one: args.connection.is_some(),
            verbosity: printer.verbosity(),
            width: printer.width(),
            table_width: printer.wide(args.wide).table_width(),
        };
        printer.text(&explain_text(explanation, headline, detail, printer))?;
    }
    Ok(())
}

fn connection_number(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| {
        "it is a whole number from 0, as the list of connections has it; without --connection they are listed"
            .to_owned()
    })
}

/// Refuses a capture that is given twice.
fn refuse_twice(args: &ExplainArgs) -> Result<(), Failure> {
    let Some([first, second]) = same_files(&args.files) else { return Ok(()) };
    let hint = if args.files.len() > 2 {
        format!("give {} once", for_shell(first))
    } else {
        let one = for_shell(first);
        format!(
            "give one at each end, sender.pcap receiver.pcap, or one alone: maxseg explain {one}"
        )
    };
    Err(Failure::usage(twice_text([first, second]), hint))
}

/// Refuses what is of one capture only, for two of the same connections.
fn refuse_tshark_of_pair(args: &ExplainArgs) -> Result<(), Failure> {
    let [first, second] = args.files.as_slice() else { return Ok(()) };
    if !args.tshark_compat {
        return Ok(());
    }
    let [one, other] = [first, second].map(|file| for_shell(file));
    Err(Failure::usage(
        "--tshark-compat counts the packets of one capture, and these two are of two places",
        format!("maxseg explain {one} --json --tshark-compat, and the same of {other}"),
    ))
}

/// Refuses to write a file where it would destroy something: the capture itself, or the other file.
fn refuse_outputs(args: &ExplainArgs) -> Result<(), Failure> {
    let outputs =
        [("--report", "slow.html", &args.report), ("--scenario", "path.toml", &args.scenario)];
    for (option, example, file) in outputs {
        let Some(file) = file else { continue };
        refuse_stdout(option, "file", file, example)?;
        let is_capture = |name: &String| name != "-" && is_same_file(file, Path::new(name));
        if args.files.iter().any(is_capture) {
            return Err(Failure::usage(
                format!("{option} {} would overwrite the capture itself", file.display()),
                format!("name another file: {option} {example}"),
            ));
        }
    }
    if let (Some(report), Some(scenario)) = (&args.report, &args.scenario)
        && (report == scenario || is_same_file(report, scenario))
    {
        return Err(Failure::usage(
            format!("--report and --scenario both write {}", report.display()),
            "name two files: --report slow.html --scenario path.toml",
        ));
    }
    Ok(())
}

/// The files beside what is printed, begun before the capture is read: where one cannot be written, nothing is printed.
struct OutputFiles<'a> {
    report: Option<BegunFile<'a>>,
    scenario: Option<BegunFile<'a>>,
}

impl<'a> OutputFiles<'a> {
    fn create(args: &'a ExplainArgs) -> Result<Self, Failure> {
        Ok(Self {
            report: BegunFile::begin(args.report.as_ref())?,
            scenario: BegunFile::begin(args.scenario.as_ref())?,
        })
    }

    fn write(
        self,
        explanation: &Explanation,
        headline: Option<&Headline<'_>>,
        printer: Printer,
    ) -> Result<(), Failure> {
        if let Some(file) = self.scenario {
            let found = headline.and_then(|it| Some((it.rerun.as_ref()?, &it.case)));
            let Some((rerun, case)) = found else {
                let why = headline.and_then(Headline::no_gain).map(|why| why.to_string());
                let why = why.unwrap_or_else(|| "there is no connection".to_owned());
                let wanted = headline.and_then(|it| it.case.diagnosis.quality.wanted.clone());
                let hint = match wanted {
                    Some(wanted) => format!("it takes {wanted}"),
                    None if explanation.total_connections > 1 => {
                        "choose another connection, such as --connection 0; without it all are listed".to_owned()
                    }
                    None => "without --scenario the connection is explained".to_owned(),
                };
                return Err(Failure::with_hint(format!("no scenario can be made: {why}"), hint));
            };
            let path = file.path;
            let missed = rerun.missed(case).unwrap_or_default();
            file.finish(&rerun.file_text(&missed))?;
            printer.note_verbatim(&scenario_note(path, rerun.connection, &missed));
        }
        if let Some(file) = self.report {
            let path = file.path;
            file.finish(&page(explanation, headline))?;
            printer.note_verbatim(&format!("{}: the report", path.display()));
        }
        Ok(())
    }
}

/// What was written as a scenario, and what runs of it miss.
fn scenario_note(path: &Path, connection: u32, missed: &[Miss]) -> String {
    let missed: Vec<String> = missed.iter().map(ToString::to_string).collect();
    let missed = match missed.as_slice() {
        [] => String::new(),
        missed => format!("; simulated runs of it have {}", missed.join(", ")),
    };
    format!("{}: the path of connection {connection}{missed}", path.display())
}
