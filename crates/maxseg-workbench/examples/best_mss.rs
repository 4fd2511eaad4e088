//! Which segment size a lossy radio link needs: sweeps the MSS in the simulator and prints the advice.
#![expect(clippy::print_stdout, reason = "an example prints its result")]

use std::sync::atomic::AtomicBool;

use maxseg_core::engine::EngineName;
use maxseg_core::scenario::Draft;
use maxseg_workbench::Error;
use maxseg_workbench::experiment::Experiment;
use maxseg_workbench::report::{advice_lines, segment_sizes};
use maxseg_workbench::runner::{Plan, RunOptions, run};

const PATH: &str = r#"
[[hop]]
name = "radio"
rate = "2 Mbit/s"
delay = "50 ms"
frame = 128
errors = { model = "uniform", rate = "1%", per = "frame" }
"#;

fn main() -> Result<(), Error> {
    let mut draft = Draft::parse("radio.toml", PATH)?;
    draft.sweep_argument("sender.mss=216,344,536,984,1460")?;
    let experiment = Experiment::new(draft, PATH, vec![EngineName::Sim], 3)?;
    let points = experiment.points()?;
    let plan = Plan::new(&experiment, &points);
    let stop = AtomicBool::new(false);
    let result = run(&plan, &RunOptions::default(), None, &stop, &mut ())?;
    for line in advice_lines(&segment_sizes(&result.rows, &plan.scenarios())) {
        println!("{line}");
    }
    Ok(())
}
