//! What README.md shows of the library: a sweep is run, and the capture `slow.pcapng` is explained.
#![expect(clippy::print_stdout, reason = "an example prints its result")]

use std::sync::atomic::AtomicBool;

use maxseg_core::engine::EngineName;
use maxseg_core::scenario::Draft;
use maxseg_workbench::Error;
use maxseg_workbench::experiment::Experiment;
use maxseg_workbench::explain::{self, ReadOptions};
use maxseg_workbench::runner::{Plan, RunOptions, run};

const PATH: &str = "[[hop]]\nrate = \"2 Mbit/s\"\ndelay = \"50 ms\"\n";

fn main() -> Result<(), Error> {
    let mut draft = Draft::parse("path.toml", PATH)?;
    draft.sweep_argument("sender.mss=536,1460")?;
    let experiment = Experiment::new(draft, PATH, vec![EngineName::Sim], 1)?;
    let stop = AtomicBool::new(false);
    // A test compares README.md with these lines.
    // experiment: a scenario file with its sweep, engines and seeds
    let points = experiment.points()?;
    let result =
        run(&Plan::new(&experiment, &points), &RunOptions::default(), None, &stop, &mut ())?;
    let explanation =
        explain::read_file("slow.pcapng".as_ref(), &ReadOptions::default(), None)?.explain();
    let findings = explanation.cases().flat_map(|case| case.diagnosis.findings);
    // The end of what README.md shows.
    println!("{} runs, {} findings", result.rows.len(), findings.count());
    Ok(())
}
