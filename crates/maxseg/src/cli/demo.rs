//! `maxseg demo`: what it is for, in a minute.

use std::path::PathBuf;

use clap::Args;

use super::input::InputArgs;
use super::{demo_cellular, demo_tunnel};
use crate::failure::Failure;
use crate::printer::Printer;
use maxseg_workbench::experiment::Experiment;
use maxseg_workbench::report::{figures, segment_sizes};
use maxseg_workbench::runner::Plan;

use super::run::rows_of;
use maxseg_workbench::whole_file::WholeFile;

/// See in a minute what this is for
#[derive(Debug, Args)]
#[command(after_long_help = "\
Two scenarios that come with the program: a slow transfer through a tunnel over a long path, and the
segment size that a lossy radio link needs. Example:
  maxseg demo --report cellular.html")]
pub(crate) struct DemoArgs {
    /// Where to put the second part's report, with its picture
    #[arg(long, value_name = "FILE", default_value = "maxseg-demo.html")]
    report: PathBuf,
}

const SEEDS: u64 = 20;

pub(crate) fn run(args: &DemoArgs, printer: Printer) -> Result<(), Failure> {
    // Opened first: a minute's work must not end with a folder that is not there.
    let fail = |error| Failure::file("write", &args.report, &error);
    let report = WholeFile::create(&args.report).map_err(fail)?;
    let tunnel = InputArgs::shipped("slow-tunnel", &[], SEEDS).load()?;
    printer.data(&demo_tunnel::show(&tunnel, printer)?)?;
    let cellular = cellular()?;
    let points = cellular.points()?;
    let plan = Plan::new(&cellular, &points);
    let rows = rows_of(&plan, printer)?;
    let advice = segment_sizes(&rows, &plan.scenarios());
    let scenario = &points[0].scenario;
    printer.data(&demo_cellular::show(&rows, scenario, &advice, printer))?;
    let page = demo_cellular::report(&cellular, scenario, rows, &advice);
    report.finish(page.as_bytes()).map_err(fail)?;
    printer.data(&format!(
        "\n   The picture, and all that was found: {}\n   The paper's full grid: maxseg run cellular-mss --seeds 10 --out cellular\n",
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
    let figures = figures(&rows, &experiment.draft.scenario().ok()?);
    figures.charts.first().map(|chart| chart.to_svg(true))
}
