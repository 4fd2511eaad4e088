//! `maxseg compare`

use std::path::{Path, PathBuf};

use clap::Args;
use maxseg_workbench::compare::{Between, RunSet, Source, matched};
use maxseg_workbench::error::{CompareError, Error};
use maxseg_workbench::report::compare::{
    CapturePairing, CompareDocument, Compared, RunPairing, page, write_csv,
};
use maxseg_workbench::whole_file::WholeFile;

use super::output_file::{is_same_file, is_within, refuse_stdout};
use crate::failure::Failure;
use crate::printer::Printer;
use crate::report::compared_text;

/// Compare two runs, engines, stacks or captures
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  maxseg run slow.toml --seeds 10 --out before
  maxseg run slow.toml --set sender.mss=1460 --seeds 10 --out after
  maxseg compare before after
  maxseg compare before after --report compare.html
  maxseg run slow.toml --engine sim,model --json > both.json
  maxseg compare both.json --between engine=sim,model
  maxseg run slow.toml --engine sim,model --json | maxseg compare - --between engine=sim,model
  maxseg compare sweep --between sender.stack=linux,rfc
  maxseg compare before.pcap after.pcap
  maxseg compare before after --json | jq '.runs.points[].numbers[0].verdict'

A and B are folders of `maxseg run --out`, documents of `maxseg run --json` or lines of its --json-stream, or captures; `-` is \
standard input. Runs of equal engine and point \
of the sweep stand side by side, paired by seed: both runs of a pair saw the same draws. A difference is shown with its 95% \
interval (Student t over the pairs; Welch where the sides share no two seeds); where that holds zero, it is no difference \
that so many seeds can show.

Of captures the connections of the highest impact are compared, or those of --connection: limit, goodput, round trip, \
retransmissions, windows. They do not show what causes a difference.

Exit codes: 0 done, 1 error in a file, 2 usage.")]
pub(crate) struct CompareArgs {
    /// A folder of results, a document of results, or a capture; `-` for standard input
    #[arg(value_name = "A")]
    a: PathBuf,
    /// What is compared with it; left out with --between, both sides are of A
    #[arg(value_name = "B")]
    b: Option<PathBuf>,
    /// Compare two values of a swept key, or two engines: sender.stack=linux,rfc or engine=sim,lab
    #[arg(long, value_name = "KEY=X,Y", value_parser = between)]
    between: Option<Between>,
    /// Of captures, compare connection N; N,M for another of B
    #[arg(long, short = 'n', value_name = "N[,M]", value_parser = connections)]
    connection: Option<(u32, u32)>,
    /// Of captures, only packets of this interface: its name, or its number from 0
    #[arg(long, short, value_name = "NAME")]
    interface: Option<String>,
    /// Print one JSON document
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Print CSV, one row per number
    #[arg(long)]
    csv: bool,
    /// Write an HTML page
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
}

pub(crate) fn run(args: &CompareArgs, printer: Printer) -> Result<(), Failure> {
    refuse(args)?;
    let read = |file: &Path| Source::read(file, args.interface.as_deref());
    let a = read(&args.a)?;
    let b = args.b.as_deref().map(read).transpose()?;
    for source in std::iter::once(&a).chain(&b) {
        note_others(source, printer);
    }
    let b = b.as_ref().unwrap_or(&a);
    match (&a, b) {
        (Source::Runs(a), Source::Runs(b)) => {
            let of_captures = [
                ("--connection", args.connection.is_some()),
                ("--interface", args.interface.is_some()),
            ];
            if let Some((option, _)) = of_captures.iter().find(|(_, is_given)| *is_given) {
                return Err(Failure::usage(
                    format!("{option} is for captures, and these are results of runs"),
                    "leave it out",
                ));
            }
            let runs = pairing(a, b, args.between.as_ref())?;
            show(args, &Compared::Runs(&runs), printer)
        }
        (Source::Capture(a), Source::Capture(b)) => {
            if args.between.is_some() {
                return Err(Failure::usage(
                    "--between is for results of runs, and these are captures",
                    "name two captures: before.pcap after.pcap",
                ));
            }
            let connections = args.connection.map_or([None; 2], |(a, b)| [Some(a), Some(b)]);
            let captures = CapturePairing::of([a, b], connections)?;
            show(args, &Compared::Captures(&captures), printer)
        }
        (Source::Capture(capture), Source::Runs(runs))
        | (Source::Runs(runs), Source::Capture(capture)) => {
            let (capture, results) = (capture.name.clone(), runs.name.clone());
            Err(Error::from(CompareError::Kinds { capture, results }).into())
        }
    }
}

/// Rows of other scenarios in a folder.
fn note_others(source: &Source, printer: Printer) {
    if let Source::Runs(RunSet { name, others, .. }) = source
        && *others > 0
    {
        printer.note(&format!(
            "{name} also holds {others} rows of other scenarios or points; they are left out"
        ));
    }
}

/// The runs of both sides, named by file, or by the value that is compared.
fn pairing(a: &RunSet, b: &RunSet, between: Option<&Between>) -> Result<RunPairing, Failure> {
    let names = match between {
        Some(Between { key, values }) => values.clone().map(|value| format!("{key}={value}")),
        None => [a.name.clone(), b.name.clone()],
    };
    Ok(RunPairing { names, matched: matched([a, b], between)? })
}

fn show(args: &CompareArgs, compared: &Compared<'_>, printer: Printer) -> Result<(), Failure> {
    if let Some(path) = &args.report {
        let file = WholeFile::create(path).map_err(|error| Failure::file("write", path, &error))?;
        file.finish(page(compared).as_bytes())
            .map_err(|error| Failure::file("write", path, &error))?;
    }
    if args.json {
        printer.data(&CompareDocument::of(compared).to_json())?;
    } else if args.csv {
        printer.stream(|out| write_csv(out, compared))?;
    } else {
        printer.text(&compared_text(compared, printer))?;
    }
    if let Some(path) = &args.report {
        printer.note_verbatim(&format!("{}: the report", path.display()));
    }
    Ok(())
}

/// Refuses one thing compared with itself, and a report that would overwrite what is compared.
fn refuse(args: &CompareArgs) -> Result<(), Failure> {
    let Some(b) = &args.b else {
        if args.between.is_none() {
            return Err(Failure::usage(
                format!("there is nothing to compare {} with", args.a.display()),
                "name a second run or capture, or two values of one: --between engine=sim,model",
            ));
        }
        return refuse_report(args, &[&args.a]);
    };
    if args.a == Path::new("-") && *b == Path::new("-") {
        return Err(Failure::usage(
            "standard input can be read once, and both sides are of it",
            "name a file: maxseg compare - after.json",
        ));
    }
    if args.between.is_none()
        && (args.a == *b || is_same_file(&args.a, b))
        && args.connection.is_none_or(|(a, b)| a == b)
    {
        return Err(Failure::usage(
            format!("{} and {} are the same", args.a.display(), b.display()),
            "name two runs or captures, or two values of one: --between engine=sim,model",
        ));
    }
    refuse_report(args, &[&args.a, b])
}

fn refuse_report(args: &CompareArgs, inputs: &[&PathBuf]) -> Result<(), Failure> {
    let Some(report) = &args.report else { return Ok(()) };
    refuse_stdout("--report", "file", report, "compare.html")?;
    let refused = |why: &str| {
        let report = report.display();
        Err(Failure::usage(
            format!("--report {report} {why}"),
            "name another file: --report compare.html",
        ))
    };
    if inputs.iter().any(|input| is_same_file(input, report)) {
        return refused("would overwrite what is compared");
    }
    if inputs.iter().any(|input| is_within(report, input)) {
        return refused("is within a folder that is compared, whose files are the run's own");
    }
    Ok(())
}

fn between(text: &str) -> Result<Between, String> {
    let parts = text.split_once('=').and_then(|(key, values)| {
        let (a, b) = values.split_once(',')?;
        let is_whole =
            ![key, a, b].iter().any(|part| part.trim().is_empty()) && a.trim() != b.trim();
        is_whole.then(|| Between {
            key: key.trim().to_owned(),
            values: [a, b].map(|value| value.trim().to_owned()),
        })
    });
    parts.ok_or_else(|| {
        "it is a key with two values, such as engine=sim,lab or sender.mss=536,1460".to_owned()
    })
}

fn connections(text: &str) -> Result<(u32, u32), String> {
    let number = |text: &str| text.trim().parse::<u32>().ok();
    let numbers = match text.split_once(',') {
        Some((a, b)) => number(a).zip(number(b)),
        None => number(text).map(|number| (number, number)),
    };
    numbers.ok_or_else(|| "it is the number of a connection, or two: 3 or 3,5".to_owned())
}
