//! `maxseg demo`

use std::path::PathBuf;

use clap::Args;

use super::input::InputArgs;
use super::output_file::refuse_stdout;
use super::{demo_cellular, demo_tunnel};
use crate::failure::Failure;
use crate::printer::Printer;
use maxseg_workbench::experiment::Experiment;
use maxseg_workbench::file_error;
use maxseg_workbench::report::{Swept, figures, segment_sizes};
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
  maxseg demo --report cellular.html")]
pub(crate) struct DemoArgs {
    /// File for the HTML report of the second part, with its chart
    #[arg(long, value_name = "FILE", default_value = "maxseg-demo.html")]
    report: PathBuf,
    /// Print tables in one piece, however wide
    #[arg(long)]
    wide: bool,
}

const SEEDS: u64 = 20;

pub(crate) fn run(args: &DemoArgs, printer: Printer) -> Result<(), Failure> {
    let printer = printer.wide(args.wide);
    refuse_stdout("--report", "file", &args.report, "cellular.html")?;
    // Said first, and at the end: the demo needs no file.
    if let Err(error) = WholeFile::create(&args.report) {
        printer.note(&format!(
            "no report will be written to {}: {}",
            args.report.display(),
            file_error::reason(&error)
        ));
    }
    let tunnel = InputArgs::shipped("slow-tunnel", &[], SEEDS).load()?;
    printer.data(&demo_tunnel::show(&tunnel, printer)?)?;
    let cellular = cellular()?;
    let points = cellular.points()?;
    let plan = Plan::new(&cellular, &points);
    let rows = rows_of(&plan, printer)?;
    let advice = segment_sizes(&rows, &plan.scenarios());
    let scenario = &points[0].scenario;
    printer.data(&demo_cellular::show(&rows, scenario, &advice, printer))?;
    let page = demo_cellular::report(&cellular, Swept::new(&points, true), rows, &advice);
    WholeFile::create(&args.report).and_then(|report| report.finish(page.as_bytes())).map_err(
        |error| {
            Failure::with_hint(
                format!("cannot write {}: {}", args.report.display(), file_error::reason(&error)),
                "name a file that can be written: maxseg demo --report /tmp/demo.html",
            )
        },
    )?;
    printer.data(&format!(
        "\n   Report with chart: {}\n   The paper's full grid: maxseg run cellular-mss --seeds 10 --out cellular\n",
        args.report.display()
    ))?;
    Ok(())
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
    figures.charts.first().map(|chart| chart.to_svg(true))
}
