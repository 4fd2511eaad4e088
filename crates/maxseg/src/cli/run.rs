//! `maxseg run`

use std::path::{Path, PathBuf};

use clap::Args;
use maxseg_core::engine::Continue;
use maxseg_core::results::Row;
use maxseg_core::scenario::Point;
use maxseg_core::units::Time;

use super::input::InputArgs;
use super::json_stream::JsonStream;
use super::output_file::{is_same_file, refuse_stdout};
use super::run_capture::check_capture;
use super::run_notes::{announce, note_others, note_resumed, rows_beside, what_is_kept};
use super::run_picture::begin_picture;
use super::run_report::Report;
use crate::failure::Failure;
use crate::interrupt;
use crate::printer::Printer;
use crate::progress::TerminalProgress;
use maxseg_workbench::Error;
use maxseg_workbench::capture::incomplete;
use maxseg_workbench::environment::Environment;
use maxseg_workbench::experiment::Experiment;
use maxseg_workbench::file_error::for_shell;
use maxseg_workbench::measured::place;
use maxseg_workbench::report::csv;
use maxseg_workbench::report::marks::invalid_lines;
use maxseg_workbench::runner::{
    Observer, Plan, PlanResult, Progress, RunOptions, Store, check_series, run as run_plan,
};
use maxseg_workbench::whole_file::WholeFile;

/// Run a scenario: sweep parameters, compare engines, report
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  maxseg run slow-tunnel
  maxseg run slow-tunnel --pcap tunnel.pcapng && wireshark tunnel.pcapng
  maxseg run cellular-mss.toml --seeds 10 --out cellular
  maxseg run path.toml --set receiver.window=\"1 MiB\" \\
      --axis sender.mss=536,1220,1460
  maxseg run cellular-mss --seeds 10 --svg goodput.svg
  maxseg run cellular-mss --axis hop.radio.errors.rate=0%,1%,5% \\
      --axis sender.mss=88..1460..128 --json
  maxseg run jumbo-frames --engine model,sim,lab
  maxseg run path.toml --engine model,sim,lab --measured path.json

With --out DIR, each row is on disk as soon as its run is done. The same command resumes where an earlier one \
stopped, also after Ctrl-C or a crash; after a change to the scenario only new points are run.

With --pcap FILE, the packets of one run (one point, one seed) are written as a pcapng capture. A simulated run has \
an interface for each point of the path: `sender`, each hop by its name, `receiver`; times are simulated time in \
nanoseconds, headers, options and checksums are complete, payloads are left out. A damaged packet has a comment where \
it is last seen. A lab run has the packets of each network interface (`sender`, `r1.radio`) in wall-clock time, the \
first 128 bytes of each.

With --json-stream, each line is a JSON object with a `type`: first `run` (schema_version, scenario, environment, \
runs: the number of rows to come); then `row` for each finished run, as in the rows of --json, and `progress` (done, \
runs) at most twice a second; last `summary` (complete, summary, advice). Closing the pipe stops the run, unless \
--out, --pcap or --svg is given. `maxseg schema stream` prints the JSON Schema.

With --engine lab, the real kernel runs the scenario in real time. Lab runs come last and one at a time, whatever \
--jobs is. A lab run is invalid if the machine could not keep up: it is marked `!`, kept with the reason, and the \
exit code is 1; the same command with --out repeats it.

With --measured PATH.JSON, rows of the engine `measured` stand beside the runs at points with the segment size and \
the window of a transfer of the report: those of its table (`maxseg path --table`), or else its runs of RFC 6349, or \
else its bulk data. What was not measured is `-` or null. rows.jsonl of --out has runs only.

Exit codes: 0 done, 1 error in the input or an invalid run, 2 usage, 130 interrupted (finished rows are kept).")]
#[expect(clippy::struct_excessive_bools, reason = "a flag of the command line each")]
pub(crate) struct RunArgs {
    #[command(flatten)]
    input: InputArgs,
    /// Use N cores; default: all. Lab runs are one at a time
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Write rows and a report to this folder; resume from what is there
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Sample the simulated senders at this interval, such as 100ms, into DIR/series.csv
    #[arg(long, value_name = "EVERY", requires = "out")]
    series: Option<Time>,
    /// Write the packets of the run to this pcapng file; one point and one seed only
    #[arg(long, value_name = "FILE")]
    pcap: Option<PathBuf>,
    /// Accept invalid lab runs: exit code 0, and stored ones are not repeated
    #[arg(long)]
    allow_invalid: bool,
    /// Put what was measured on a real path beside the runs: a report of `maxseg path HOST --far-end FAR --json`
    #[arg(long, value_name = "PATH.JSON")]
    measured: Option<PathBuf>,
    /// Print tables in one piece, however wide
    #[arg(long)]
    wide: bool,
    /// Print one JSON document
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Print the rows as CSV
    #[arg(long)]
    csv: bool,
    /// Print one JSON object per line while runs finish
    #[arg(long, conflicts_with_all = ["json", "csv"])]
    json_stream: bool,
    /// Write the first chart of the sweep to this SVG file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

impl RunArgs {
    /// Whether it is to make a lab.
    pub(crate) fn needs_lab(&self) -> bool {
        self.input.needs_lab()
    }

    /// Refuses a series and a capture that these runs do not have.
    fn refuse_unfit(&self, experiment: &Experiment, points: &[Point]) -> Result<(), Failure> {
        if let Some(every) = self.series {
            check_series(every, experiment, points)?;
        }
        if let Some(file) = &self.pcap {
            check_capture(file, experiment, points)?;
        }
        Ok(())
    }

    fn options(&self) -> RunOptions {
        RunOptions {
            jobs: self.jobs.map(usize::from),
            series_every: self.series,
            allows_invalid: self.allow_invalid,
            capture: self.pcap.clone(),
        }
    }

    /// Refuses outputs that would be lost, or would destroy the scenario.
    fn refuse_outputs(&self) -> Result<(), Failure> {
        let outputs = [
            ("--out", "folder", &self.out, "results"),
            ("--pcap", "file", &self.pcap, "run.pcapng"),
            ("--svg", "file", &self.svg, "goodput.svg"),
        ];
        for (option, written, path, example) in outputs {
            let Some(path) = path else { continue };
            refuse_stdout(option, written, path, example)?;
            if self.input.file().is_some_and(|scenario| is_same_file(path, scenario)) {
                return Err(Failure::usage(
                    format!("{option} {} would overwrite the scenario itself", path.display()),
                    format!("name another {written}: {option} {example}"),
                ));
            }
        }
        Ok(())
    }
}

pub(crate) fn run(args: &RunArgs, printer: Printer) -> Result<(), Failure> {
    // Before a file is begun: an interrupt ends the runs, and leaves no part of a file.
    let stop = interrupt::flag();
    args.refuse_outputs()?;
    let experiment = args.input.load()?;
    let environment = Environment::of(&experiment.engines);
    let points = experiment.points()?;
    args.refuse_unfit(&experiment, &points)?;
    let plan = Plan::new(&experiment, &points);
    let measured = args.measured.as_deref().map(|file| rows_beside(file, &plan, printer));
    let measured = measured.transpose()?.unwrap_or_default();
    let svg = args.svg.as_deref().map(|file| begin_picture(file, &points)).transpose()?;
    let mut store =
        args.out.as_deref().map(|folder| Store::open(folder, args.series)).transpose()?;
    announce(&experiment, &points, &plan, printer);
    if let Some(store) = &store {
        note_others(store, &plan, printer);
    }
    let stream = args.stream(&experiment, &environment, plan.len() + measured.len(), printer)?;
    let mut followers = Followers { progress: TerminalProgress::new(printer), stream, resumed: 0 };
    followers.tell(&measured);
    let mut ran = run_plan(&plan, &args.options(), store.as_mut(), stop, &mut followers)?;
    let (mut stream, resumed) = followers.end()?;
    let (done, complete, failure) = (ran.rows.len(), ran.complete, ran.failure.take());
    let kept = what_is_kept(&ran.rows, plan.len(), args.allow_invalid, store.as_ref());
    place(&mut ran.rows, measured);
    let report = Report::new(&experiment, environment, ran, &points, &plan);
    // Saved before printed: whoever reads our output may have gone. What cannot be saved is shown all the same.
    let saved = save(&report, store.as_ref(), args.svg.as_deref().zip(svg).filter(|_| complete));
    let shown = match &mut stream {
        Some(stream) => stream.end(&report.document),
        None => args.print(&report, printer),
    };
    if !complete {
        return Err(unfinished(failure, kept, report.withheld, printer));
    }
    saved?;
    shown?;
    if let Some(store) = &store {
        printer.note_verbatim(&format!("report: {}", store.path("report.html").display()));
        note_resumed(resumed, done, printer);
    }
    if let Some(file) = &args.pcap {
        note_capture(file, &report.document.rows, printer);
    }
    if let Some(file) = &args.svg {
        printer.note_verbatim(&format!("chart: {}", file.display()));
    }
    if args.allow_invalid { Ok(()) } else { refuse_invalid(&report.document.rows) }
}

/// Why not all runs are done: an error, or an interrupt.
fn unfinished(
    failure: Option<Error>,
    kept: String,
    withheld: Option<String>,
    printer: Printer,
) -> Failure {
    if let Some(failure) = failure {
        printer.note_verbatim(&kept);
        return failure.into();
    }
    let lines = [Some(kept), withheld].into_iter().flatten();
    Failure::Interrupted(lines.collect::<Vec<_>>().join("\n"))
}

/// Where the packets are, how they are explained, and what is not among them.
fn note_capture(file: &Path, rows: &[Row], printer: Printer) {
    printer.note_verbatim(&format!("packets: {}", file.display()));
    // The file has each packet at several places.
    let path = for_shell(&file.display().to_string());
    printer.note_verbatim(&format!("the sender's: maxseg explain {path} --interface sender"));
    for caveat in rows.iter().flat_map(|row| incomplete(&row.outcome)) {
        printer.note(&caveat.text);
    }
}

/// Writes what stands beside the rows, and the picture.
fn save(
    report: &Report<'_>,
    store: Option<&Store>,
    picture: Option<(&Path, WholeFile)>,
) -> Result<(), Failure> {
    if let Some(store) = store {
        report.save(store)?;
    }
    if let Some((file, svg)) = picture {
        let picture = report.picture(file)?;
        svg.finish(picture.as_bytes()).map_err(|error| Failure::file("write", file, &error))?;
    }
    Ok(())
}

/// Who follows the runs: the bar on the terminal, and the lines of `--json-stream`.
struct Followers {
    progress: TerminalProgress,
    stream: Option<JsonStream>,
    /// Rows that an earlier run left.
    resumed: usize,
}

impl Followers {
    /// Rows that come of no run.
    fn tell(&mut self, rows: &[Row]) {
        if let Some(stream) = &mut self.stream {
            for row in rows {
                stream.on_row(row);
            }
        }
    }

    /// Takes the bar off the terminal; gives the stream, if it could be written, and how many rows an earlier run left.
    fn end(self) -> Result<(Option<JsonStream>, usize), Failure> {
        let Self { progress, mut stream, resumed } = self;
        drop(progress);
        stream.as_mut().map_or(Ok(()), JsonStream::check)?;
        Ok((stream, resumed))
    }
}

impl Observer for Followers {
    fn on_resumed(&mut self, rows: usize) {
        self.resumed = rows;
        self.progress.on_resumed(rows);
    }

    fn on_row(&mut self, row: &Row) -> Continue {
        self.stream.as_mut().map_or(Continue::Go, |stream| stream.on_row(row))
    }

    fn on_progress(&mut self, progress: &Progress) -> Continue {
        self.progress.on_progress(progress);
        self.stream.as_mut().map_or(Continue::Go, |stream| stream.on_progress(progress))
    }
}

/// All rows of `plan`, kept nowhere; for the demo.
pub(super) fn rows_of(plan: &Plan<'_>, printer: Printer) -> Result<Vec<Row>, Failure> {
    let mut progress = TerminalProgress::new(printer);
    let options = RunOptions::default();
    let PlanResult { rows, complete, failure } =
        run_plan(plan, &options, None, interrupt::flag(), &mut progress)?;
    if let Some(failure) = failure {
        return Err(failure.into());
    }
    if complete { Ok(rows) } else { Err(Failure::Interrupted("nothing is kept".to_owned())) }
}

/// A run that proves nothing is no result.
fn refuse_invalid(rows: &[Row]) -> Result<(), Failure> {
    let runs = rows.iter().filter(|row| !row.outcome.is_valid()).count();
    if runs == 0 {
        return Ok(());
    }
    let heading = if runs == 1 { "a lab run is" } else { "lab runs are" };
    Err(Failure::with_hint(
        format!("{heading} invalid: {}", invalid_lines(rows).join("\n       ")),
        "repeat on an idle machine (with --out DIR only these are repeated), or accept them with --allow-invalid",
    ))
}

impl RunArgs {
    /// Prints the report in the form that is asked for.
    fn print(&self, report: &Report<'_>, printer: Printer) -> Result<(), Failure> {
        let rows = &report.document.rows;
        if self.json {
            return Ok(printer.data(&report.document.to_json())?);
        }
        if self.csv {
            return Ok(printer.data(&csv(rows))?);
        }
        if rows.is_empty() {
            return Ok(());
        }
        printer.text(&report.table(printer.wide(self.wide)))?;
        if let Some(note) = report.note_of_seeds() {
            printer.note(note);
        }
        Ok(())
    }

    fn stream(
        &self,
        experiment: &Experiment,
        environment: &Environment,
        runs: usize,
        printer: Printer,
    ) -> Result<Option<JsonStream>, Failure> {
        if !self.json_stream {
            return Ok(None);
        }
        let is_kept = self.out.is_some() || self.pcap.is_some() || self.svg.is_some();
        let scenario = experiment.draft.to_json();
        JsonStream::begin(printer, &scenario, environment, runs, is_kept).map(Some)
    }
}

#[cfg(test)]
mod tests;
