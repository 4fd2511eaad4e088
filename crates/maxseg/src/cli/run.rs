//! `maxseg run`

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
use maxseg_core::results::Row;
use maxseg_core::scenario::Scenario;
use maxseg_core::units::Time;

use super::input::{Input, InputArgs};
use crate::failure::Failure;
use crate::printer::Printer;
use crate::report::document::Document;
use crate::report::{
    advice_lines, caveat_lines, csv, figures, page, parquet, segment_sizes, table,
};
use crate::runner::environment::{Environment, cores};
use crate::runner::progress::Progress;
use crate::runner::store::Store;
use crate::runner::{Finished, Keeper, Task, execute, tasks};

/// Run a scenario: sweep it, compare engines, report
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  maxseg run slow-tunnel
  maxseg run cellular-mss.toml --seeds 10 --out cellular
  maxseg run path.toml --set receiver.window=\"1 MiB\" --axis sender.mss=536,1220,1460
  maxseg run path.toml --axis hop.radio.errors.rate=0%,1%,5% --axis sender.mss=88..1460..128 --json

With --out DIR, every row is on disk as soon as it is done. The same command goes on where an earlier
one ended, also after Ctrl-C or a crash; a changed scenario runs only what is new.

Exit codes: 0 done, 1 the input or a run is at fault, 2 usage, 130 interrupted (finished rows are kept).")]
pub(crate) struct RunArgs {
    #[command(flatten)]
    input: InputArgs,
    /// Run on this many cores; all unless given
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Keep rows, tables and a report in this folder, and go on from what is there
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Also write the simulated senders' state to DIR/series.csv, this often (such as 100ms)
    #[arg(long, value_name = "EVERY", requires = "out")]
    series: Option<Time>,
    /// Print one JSON document
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Print rows as comma-separated values
    #[arg(long)]
    csv: bool,
}

pub(crate) fn run(args: &RunArgs, printer: Printer) -> Result<(), Failure> {
    let input = args.input.load()?;
    let environment = Environment::here();
    let mut store =
        args.out.as_deref().map(|folder| Store::open(folder, args.series.is_some())).transpose()?;
    announce(&input, printer);
    let results = results(&input, args, store.as_mut(), printer)?;
    let scenario = &input.points[0].scenario;
    let report = Report::new(&input, environment, results, scenario);
    report.print(args, printer)?;
    if let Some(store) = &store {
        report.save(store)?;
        printer.note(&format!("report: {}", store.path("report.html").display()));
    }
    if report.document.complete { Ok(()) } else { Err(Failure::Interrupted) }
}

/// Runs a shipped scenario as `maxseg run` would, for the demo.
pub(crate) fn rows_of(input: &Input, printer: Printer) -> Result<Vec<Row>, Failure> {
    let stop = stop_on_interrupt();
    let tasks = tasks(input);
    let mut desk = Desk::new(None, printer, tasks.len());
    let rows = execute(&tasks, cores(), None, stop, &mut desk)?;
    desk.progress.finish();
    if rows.len() < tasks.len() { Err(Failure::Interrupted) } else { Ok(rows) }
}

fn announce(input: &Input, printer: Printer) {
    let runs = tasks(input).len();
    let engines: Vec<&str> = input.engines.iter().map(|engine| engine.word()).collect();
    let plural = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    printer.note(&format!(
        "{}: {} by {}, {}",
        match input.points[0].scenario.name.as_str() {
            "" => input.draft.file(),
            name => name,
        },
        plural(input.points.len(), "point"),
        engines.join(" and "),
        plural(runs, "run")
    ));
}

/// All rows, from disk or run now, in order; fewer of them after an interrupt.
fn results(
    input: &Input,
    args: &RunArgs,
    store: Option<&mut Store>,
    printer: Printer,
) -> Result<(Vec<Row>, bool), Failure> {
    let wanted = tasks(input);
    let known: Vec<Option<Row>> = wanted
        .iter()
        .map(|task| {
            let row = store.as_ref()?.known(&task.key())?.clone();
            // The keys may be written otherwise this time; what they mean is the same.
            Some(Row { point: task.point.clone(), ..row })
        })
        .collect();
    let had = known.iter().flatten().count();
    if had > 0 {
        printer.note(&format!("{had} runs are there already"));
    }
    let (numbers, missing): (Vec<usize>, Vec<Task<'_>>) =
        wanted.into_iter().enumerate().filter(|(number, _)| known[*number].is_none()).unzip();
    let jobs = args.jobs.map_or_else(cores, usize::from);
    let mut desk = Desk::new(store, printer, missing.len());
    let fresh = execute(&missing, jobs, args.series, stop_on_interrupt(), &mut desk)?;
    desk.progress.finish();
    let complete = fresh.len() == missing.len();
    let mut fresh = fresh.into_iter().map(|row| (row.key(), row)).collect::<Vec<_>>();
    fresh.sort_by(|a, b| a.0.cmp(&b.0));
    let mut rows: Vec<Option<Row>> = known;
    for (number, task) in numbers.into_iter().zip(&missing) {
        if let Ok(found) = fresh.binary_search_by(|(key, _)| key.cmp(&task.key())) {
            rows[number] = Some(fresh[found].1.clone());
        }
    }
    Ok((rows.into_iter().flatten().collect(), complete))
}

/// A flag that Ctrl-C sets; a second Ctrl-C ends the process at once.
fn stop_on_interrupt() -> &'static AtomicBool {
    static STOP: AtomicBool = AtomicBool::new(false);
    // Fails when a handler is there already, which is then this one.
    let _ = ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    });
    &STOP
}

/// Keeps rows on disk and shows how far it is.
struct Desk<'a> {
    store: Option<&'a mut Store>,
    progress: Progress,
    runs: usize,
}

impl<'a> Desk<'a> {
    fn new(store: Option<&'a mut Store>, printer: Printer, runs: usize) -> Self {
        Self { store, progress: Progress::new(printer, runs), runs }
    }
}

impl Keeper for Desk<'_> {
    fn keep(&mut self, finished: &Finished) -> Result<(), Failure> {
        match &mut self.store {
            Some(store) => store.add(&finished.row, &finished.series),
            None => Ok(()),
        }
    }

    fn progress(&mut self, done: f64) {
        self.progress.set(done, self.runs);
    }
}

/// What is to be shown and kept.
struct Report<'a> {
    document: Document,
    advice: Vec<maxseg_core::advise::SegmentSizeAdvice>,
    input: &'a Input,
    scenario: &'a Scenario,
}

impl<'a> Report<'a> {
    fn new(
        input: &'a Input,
        environment: Environment,
        (rows, complete): (Vec<Row>, bool),
        scenario: &'a Scenario,
    ) -> Self {
        let advice = segment_sizes(&rows, scenario);
        let document = Document::new(input.draft.to_json(), environment, rows, complete, &advice);
        Self { document, advice, input, scenario }
    }

    fn print(&self, args: &RunArgs, printer: Printer) -> Result<(), Failure> {
        let rows = &self.document.rows;
        if args.json {
            return Ok(printer.data(&self.document.to_json())?);
        }
        if args.csv {
            return Ok(printer.data(&csv(rows))?);
        }
        if rows.is_empty() {
            return Ok(());
        }
        printer.data(&table(rows, printer))?;
        let section = |title: &str, lines: Vec<String>| match lines.as_slice() {
            [] => String::new(),
            lines => {
                let lines: Vec<String> = lines.iter().map(|line| format!("  {line}\n")).collect();
                format!("\n{}\n{}", printer.bold(title), lines.concat())
            }
        };
        printer.data(&section("Best segment size", advice_lines(&self.advice)))?;
        printer.data(&printer.dim(&section("Caveats", caveat_lines(rows))))?;
        if self.input.seeds == 1 && self.scenario.is_random() {
            printer.note("one seed: --seeds 10 says how far these numbers can be trusted");
        }
        Ok(())
    }

    fn save(&self, store: &Store) -> Result<(), Failure> {
        let rows = &self.document.rows;
        let run = serde_json::json!({
            "schema_version": self.document.schema_version,
            "scenario": self.document.scenario,
            "scenario_text": self.input.text,
            "environment": self.document.environment,
            "complete": self.document.complete,
            "rows": rows.len(),
            "summary": self.document.summary,
            "advice": self.document.advice,
        });
        let run = serde_json::to_vec_pretty(&run).unwrap_or_default();
        store.replace("run.json", &run)?;
        store.replace("rows.parquet", &parquet(rows)?)?;
        let figures = figures(rows, self.scenario);
        let page = page(&self.document, &self.input.text, &figures, &self.advice);
        store.replace("report.html", page.as_bytes())
    }
}
