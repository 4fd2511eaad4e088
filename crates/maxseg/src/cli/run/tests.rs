//! What becomes of invalid runs, and of sweeps that are not complete.

use maxseg_core::engine::EngineName;
use maxseg_core::outcome::{LabProof, Outcome};
use maxseg_core::scenario::Draft;

use super::*;

fn row(seed: u64, invalid_because: &[&str]) -> Row {
    let invalid_because = invalid_because.iter().map(|why| (*why).to_owned()).collect();
    let proof = LabProof { invalid_because, ..LabProof::default() };
    Row {
        engine: EngineName::Lab,
        point: serde_json::Map::new(),
        hash: String::new(),
        seed: Some(seed),
        outcome: Outcome { lab: Some(Box::new(proof)), ..Outcome::default() },
        caveats: Vec::new(),
    }
}

#[test]
fn an_invalid_run_ends_the_command_with_1_and_its_reason() {
    assert!(refuse_invalid(&[row(1, &[])]).is_ok());
    let rows = [row(1, &[]), row(2, &["the machine was busy"]), row(3, &["a", "b"])];
    let failure = refuse_invalid(&rows).unwrap_err();
    assert_eq!(failure.exit_code(), 1);
    let told = failure.render();
    let want = "error: lab runs are invalid: seed 2: the machine was busy\n       seed 3: a; b\n\
                hint: repeat on an idle machine";
    assert!(told.starts_with(want) && told.contains("--allow-invalid"), "{told}");
}

/// Three segment sizes by the model.
const SIZES: &str = "[[hop]]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n\
                     [sender]\nstack = \"rfc\"\n[receiver]\nstack = \"rfc\"\n[sweep]\n\"sender.mss\" = [536, 1000, 1460]\n";

#[test]
fn an_interrupted_sweep_names_no_best_size() {
    let draft = Draft::parse("sizes", SIZES).unwrap();
    let sweep = draft.sweep().unwrap();
    let engines = vec![EngineName::Model];
    let experiment = Experiment { sweep, draft, text: SIZES.to_owned(), engines, seeds: 1 };
    let points = experiment.points().unwrap();
    let plan = Plan::new(&experiment, &points);
    let stop = std::sync::atomic::AtomicBool::new(false);
    let all = run_plan(&plan, &RunOptions::default(), None, &stop, &mut ()).unwrap();
    let report = |ran: PlanResult| {
        Report::new(&experiment, Environment::of(&experiment.engines), ran, &points, &plan)
    };
    let two = PlanResult { rows: all.rows[..2].to_vec(), ..PlanResult::default() };
    let interrupted = report(two);
    let why = "no best segment size: 2 of 3 points are complete";
    assert_eq!(interrupted.withheld.as_deref(), Some(why));
    assert!(interrupted.advice.is_empty() && interrupted.document.advice.is_empty());
    let whole = report(all);
    assert_eq!((whole.withheld, whole.advice[0].best), (None, 1460));
}
