//! `maxseg demo`: what it is for, in a minute.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;

use super::input::InputArgs;
use super::{demo_cellular, demo_tunnel};
use crate::experiment::Experiment;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::report::figures;
use crate::runner::rows_of;

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
    let report = ReportFile::open(&args.report)?;
    let tunnel = InputArgs::shipped("slow-tunnel", &[], SEEDS).load()?;
    printer.data(&demo_tunnel::show(&tunnel, printer)?)?;
    let cellular = cellular()?;
    let rows = rows_of(&cellular, printer)?;
    let points = cellular.points()?;
    printer.data(&demo_cellular::show(&rows, &points, printer))?;
    report.finish(&demo_cellular::report(&cellular, &points, rows))?;
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
    let rows = rows_of(&experiment, Printer::silent()).ok()?;
    let figures = figures(&rows, &experiment.draft.scenario().ok()?);
    figures.charts.first().map(|chart| chart.to_svg(true))
}

/// A file that can be written to, and is gone again if nothing comes of it.
struct ReportFile<'a> {
    path: &'a Path,
    file: File,
    /// Whether there was none before, and nothing was written yet.
    is_empty_and_ours: bool,
}

impl<'a> ReportFile<'a> {
    /// Opens the file and leaves what it holds.
    fn open(path: &'a Path) -> Result<Self, Failure> {
        let is_new = !path.exists();
        let opened = OpenOptions::new().write(true).create(true).truncate(false).open(path);
        let file = opened.map_err(|error| Failure::file("write", path, &error))?;
        Ok(Self { path, file, is_empty_and_ours: is_new })
    }

    fn finish(mut self, text: &str) -> Result<(), Failure> {
        let write = |file: &mut File| -> io::Result<()> {
            // A pipe or a device has no length to set.
            if file.metadata()?.is_file() {
                file.set_len(0)?;
            }
            file.write_all(text.as_bytes())
        };
        write(&mut self.file).map_err(|error| Failure::file("write", self.path, &error))?;
        self.is_empty_and_ours = false;
        Ok(())
    }
}

impl Drop for ReportFile<'_> {
    fn drop(&mut self) {
        if self.is_empty_and_ours {
            let _ = std::fs::remove_file(self.path);
        }
    }
}
