//! `maxseg demo`

use std::io;
use std::path::{Path, PathBuf};

use clap::Args;

use super::demo_cellular;
use super::demo_tunnel::Tunnel;
use super::input::InputArgs;
use super::output_file::refuse_stdout;
use crate::failure::Failure;
use crate::printer::Printer;
use maxseg_workbench::experiment::Experiment;
use maxseg_workbench::file_error;
use maxseg_workbench::report::{Chart, Swept, demo_page, figures, segment_sizes};
use maxseg_workbench::runner::Plan;

use super::run::rows_of;
use maxseg_workbench::whole_file::WholeFile;

/// Show in one minute what the program can do
#[derive(Debug, Args)]
#[command(after_long_help = "\
Runs two scenarios that come with the program: a slow transfer through a tunnel over a long path, and the segment size \
for a radio link with errors.

Examples:
  maxseg demo
  maxseg demo --report demo.html")]
pub(crate) struct DemoArgs {
    /// File for the HTML report with its charts; default: maxseg-demo.html
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Print tables in one piece, however wide
    #[arg(long)]
    wide: bool,
}

const SEEDS: u64 = 20;
const DEFAULT_REPORT: &str = "maxseg-demo.html";

pub(crate) fn run(args: &DemoArgs, printer: Printer) -> Result<(), Failure> {
    let printer = printer.wide(args.wide);
    let path = args.report.as_deref().unwrap_or(Path::new(DEFAULT_REPORT));
    refuse_stdout("--report", "file", path, "demo.html")?;
    let report = match WholeFile::create(path) {
        Ok(report) => Some(report),
        Err(error) if args.report.is_some() => return Err(not_written(path, &error)),
        // Nobody asked for it: the demo is shown without.
        Err(error) => {
            printer.note(&format!(
                "no report will be written to {}: {}; --report names another file",
                path.display(),
                file_error::reason(&error)
            ));
            None
        }
    };
    let tunnel = InputArgs::shipped("slow-tunnel", &[], SEEDS).load()?;
    let tunnel = Tunnel::run(&tunnel)?;
    printer.data(&tunnel.show(printer))?;
    let cellular = cellular()?;
    let points = cellular.points()?;
    let plan = Plan::new(&cellular, &points);
    let rows = rows_of(&plan, printer)?;
    let advice = segment_sizes(&rows, &plan.scenarios());
    let scenario = &points[0].scenario;
    let frame_end = demo_cellular::frame_end(&rows, scenario);
    printer.data(&demo_cellular::show(&rows, scenario, &advice, frame_end.as_ref(), printer))?;
    if let Some(report) = report {
        let document = demo_cellular::document(&cellular, rows, &advice);
        let swept = Swept::new(&points, true);
        let page = demo_page(
            &tunnel.part(),
            frame_end.as_ref(),
            &document,
            &cellular.text,
            swept,
            &advice,
        );
        report.finish(page.as_bytes()).map_err(|error| not_written(path, &error))?;
        printer.data(&format!("\n   Report with charts: {}", path.display()))?;
    }
    printer
        .data("\n   The paper's full grid: maxseg run cellular-mss --seeds 10 --out cellular\n")?;
    Ok(())
}

fn not_written(path: &Path, error: &io::Error) -> Failure {
    Failure::with_hint(
        format!("cannot write {}: {}", path.display(), file_error::reason(error)),
        "name a file that can be written: maxseg demo --report /tmp/demo.html",
    )
}

/// A small cut of the cellular grid.
fn cellular() -> Result<Experiment, Failure> {
    let axes = [
        "sender.mss=88,216,344,472,536,600,601,728,984,1368,1460",
        "hop.radio.errors.rate=0.0,0.01,0.03,0.05,0.1",
    ];
    InputArgs::shipped("cellular-mss", &axes, SEEDS).load()
}

/// The demo's picture as an SVG file; `None` where it cannot be made.
pub fn picture() -> Option<String> {
    let experiment = cellular().ok()?;
    let points = experiment.points().ok()?;
    let rows = rows_of(&Plan::new(&experiment, &points), Printer::silent()).ok()?;
    let figures = figures(&rows, Swept::new(&points, true));
    figures.charts.first().map(Chart::to_file)
}
