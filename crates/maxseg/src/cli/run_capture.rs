//! Whether `run --pcap` can be met: a capture holds the packets of one run.

use std::path::Path;

use maxseg_core::engine::EngineName;
use maxseg_core::scenario::Point;
use maxseg_workbench::experiment::Experiment;

use crate::failure::Failure;

/// A capture holds the packets of one run, simulated or in the lab.
pub(super) fn check_capture(
    file: &Path,
    experiment: &Experiment,
    points: &[Point],
) -> Result<(), Failure> {
    let file = file.display();
    let has_packets = |engine: &&EngineName| match engine {
        EngineName::Model | EngineName::Measured => false,
        EngineName::Sim | EngineName::Lab => true,
    };
    match experiment.engines.iter().filter(has_packets).count() {
        0 => {
            let what = format!("formulas have no packets to write to {file}");
            return Err(Failure::with_hint(what, "--engine sim"));
        }
        1 => {}
        _ => {
            let what =
                format!("{file} takes the packets of one run, not the simulator's and the lab's");
            return Err(Failure::with_hint(what, "--engine lab, and again with --engine sim"));
        }
    }
    let runs = points.len() as u64 * experiment.seeds;
    if runs == 1 {
        return Ok(());
    }
    let what = format!("{file} takes the packets of one run, and there are {runs}");
    Err(Failure::with_hint(what, one_run(experiment, &points[0])))
}

/// The arguments that leave one run of many.
fn one_run(experiment: &Experiment, first: &Point) -> String {
    let swept = experiment.sweep.axes().iter().filter(|axis| axis.steps.len() > 1);
    let keys: Vec<&String> = swept.flat_map(|axis| &axis.keys).collect();
    let chosen = first
        .values
        .iter()
        .filter(|(key, _)| keys.contains(&key))
        .map(|(key, v)| format!("one value of {key}, such as --set {key}={v}"));
    let seed = (experiment.seeds > 1).then(|| "one seed, without --seeds".to_owned());
    format!("choose {}", chosen.chain(seed).collect::<Vec<_>>().join("; "))
}
