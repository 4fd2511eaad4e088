//! `maxseg run`

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
use maxseg_core::engine::EngineName;
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
use crate::runner::{Finished, Keep, Keeper, Plan, Task, execute};

/// Run a scenario: sweep it, compare engines, report
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  maxseg run slow-tunnel
  maxseg run cellular-mss.toml --seeds 10 --out cellular
  maxseg run path.toml --set receiver.window=\"1 MiB\" --axis sender.mss=536,1220,1460
  maxseg run path.toml --axis hop.radio.errors.rate=0%,1%,5% --axis sender.mss=88..1460..128 --json
  maxseg run slow-tunnel --pcap tunnel.pcapng && wireshark tunnel.pcapng

With --out DIR, every row is on disk as soon as it is done. The same command goes on where an earlier
one ended, also after Ctrl-C or a crash; a changed scenario runs only what is new.

With --pcap FILE, the simulated packets are written as a pcapng capture with an interface for each point
of the path: `sender`, every hop by its name, `receiver`. Times are the run's own, in nanoseconds; headers,
options and checksums are whole, payloads are zeros and left out. It is for one run: one point, one seed.
A damaged packet bears a comment where it is last seen. docs/pcap.md says more.

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
    /// Also write the simulated packets to this pcapng file; for one point and one seed
    #[arg(long, value_name = "FILE")]
    pcap: Option<PathBuf>,
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
    let plan = Plan::new(&input);
    if let Some(file) = &args.pcap {
        check_capture(file, &input, &plan)?;
    }
    let mut store =
        args.out.as_deref().map(|folder| Store::open(folder, args.series.is_some())).transpose()?;
    announce(&input, &plan, printer);
    let results = results(&plan, args, store.as_mut(), printer)?;
    let scenario = &input.points[0].scenario;
    let report = Report::new(&input, environment, results, scenario);
    report.print(args, printer)?;
    if let Some(store) = &store {
        report.save(store)?;
        printer.note(&format!("report: {}", store.path("report.html").display()));
    }
    if let Some(file) = args.pcap.as_deref().filter(|_| report.document.complete) {
        printer.note(&format!("packets: {}", file.display()));
    }
    if report.document.complete { Ok(()) } else { Err(Failure::Interrupted) }
}

/// A capture holds the packets of one simulated run.
fn check_capture(file: &Path, input: &Input, plan: &Plan<'_>) -> Result<(), Failure> {
    let runs = plan.tasks.iter().filter(|task| task.engine == EngineName::Sim).count();
    if runs == 1 {
        return Ok(());
    }
    let file = file.display();
    if runs == 0 {
        let what = format!("nothing is simulated, so there are no packets to write to {file}");
        return Err(Failure::with_hint(what, "--engine sim"));
    }
    let what = format!("{file} takes the packets of one run, and there are {runs}");
    Err(Failure::with_hint(what, one_run(input)))
}

/// The arguments that leave one run of many.
fn one_run(input: &Input) -> String {
    let swept = input.sweep.axes().iter().filter(|axis| axis.steps.len() > 1);
    let first = input.points[0].values.iter();
    let keys: Vec<&String> = swept.flat_map(|axis| &axis.keys).collect();
    let chosen = first
        .filter(|(key, _)| keys.contains(&key))
        .map(|(key, v)| format!("one value of {key}, such as --set {key}={v}"));
    let seed = (input.seeds > 1).then(|| "one seed, without --seeds".to_owned());
    format!("choose {}", chosen.chain(seed).collect::<Vec<_>>().join("; "))
}

/// All rows of `input`, kept nowhere; for the demo.
pub(crate) fn rows_of(input: &Input, printer: Printer) -> Result<Vec<Row>, Failure> {
    let plan = Plan::new(input);
    let mut desk = Desk::new(None, printer, plan.tasks.len());
    let (tasks, stop) = (&plan.tasks, stop_on_interrupt());
    let rows = execute(&plan, tasks, cores(), Keep::default(), stop, &mut desk)?;
    desk.progress.finish();
    if rows.len() < plan.tasks.len() {
        return Err(Failure::Interrupted);
    }
    Ok(rows.into_iter().map(|(_, row)| row).collect())
}

fn announce(input: &Input, plan: &Plan<'_>, printer: Printer) {
    let runs = plan.tasks.len();
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

/// All rows, from disk or run now, in the plan's order; fewer of them after an interrupt.
fn results(
    plan: &Plan<'_>,
    args: &RunArgs,
    store: Option<&mut Store>,
    printer: Printer,
) -> Result<(Vec<Row>, bool), Failure> {
    let known = |task: &Task| -> Option<Row> {
        if args.pcap.is_some() && task.engine == EngineName::Sim {
            return None; // its packets are not there
        }
        let row = store.as_ref()?.known(&plan.key(task))?.clone();
        // The keys may be written otherwise this time; what they mean is the same.
        Some(Row { point: plan.values(task).clone(), ..row })
    };
    let mut rows: Vec<Option<Row>> = plan.tasks.iter().map(known).collect();
    let had = rows.iter().flatten().count();
    if had > 0 {
        printer.note(&format!("{had} runs are there already"));
    }
    let places: Vec<usize> = (0..rows.len()).filter(|place| rows[*place].is_none()).collect();
    let missing: Vec<Task> = places.iter().map(|place| plan.tasks[*place]).collect();
    let jobs = args.jobs.map_or_else(cores, usize::from);
    let mut desk = Desk::new(store, printer, missing.len());
    let keep = Keep { series_every: args.series, capture: args.pcap.as_deref() };
    let fresh = execute(plan, &missing, jobs, keep, stop_on_interrupt(), &mut desk)?;
    desk.progress.finish();
    let complete = fresh.len() == missing.len();
    for (index, row) in fresh {
        rows[places[index]] = Some(row);
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
            Some(store) if store.known(&finished.row.key()).is_none() => {
                store.add(&finished.row, &finished.series)
            }
            Some(_) | None => Ok(()),
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
        let advice = segment_sizes(&rows, &input.points);
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
        let is_random = self.input.points.iter().any(|point| point.scenario.is_random());
        if self.input.seeds == 1 && self.input.engines.contains(&EngineName::Sim) && is_random {
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
