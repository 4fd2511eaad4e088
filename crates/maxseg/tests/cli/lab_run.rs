//! `maxseg run --engine lab`, for a second: the real kernel, where it may be used.

use std::path::Path;

use serde_json::Value;

use super::kernel::can_have_a_lab;
use super::{json, maxseg, stderr, stdout};

const SHORT: &str = "[[hop]]\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\n\
                     errors = { model = \"uniform\", per = \"packet\", rate = \"1%\" }\n\
                     [until]\ntime = \"1 s\"\n";

fn short(folder: &Path) -> String {
    let file = folder.join("short.toml");
    std::fs::write(&file, SHORT).unwrap();
    file.to_str().unwrap().to_owned()
}

/// The machine of a test is not quiet: what is invalid has its reason, and is no error here.
#[test]
fn the_lab_stands_beside_model_and_simulator_and_comes_last() {
    if !can_have_a_lab() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = short(folder.path());
    let arguments = ["run", &file, "--engine", "lab,model,sim", "--allow-invalid"];
    let output = maxseg(&[&arguments[..], &["--json-stream"]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    let lines = stdout(&output);
    let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let rows: Vec<Value> = lines.filter(|line| line["type"] == "row").collect();
    let engines: Vec<&str> = rows.iter().map(|row| row["engine"].as_str().unwrap()).collect();
    assert_eq!(engines.len(), 3);
    assert_eq!(engines[2], "lab", "last, though asked for first");
    let lab = &rows[2];
    assert_eq!(lab["seed"], 1);
    let goodput = lab["outcome"]["goodput_bps"].as_f64().unwrap();
    // Below the link's 10 Mbit/s; above zero, however busy the machine.
    assert!(goodput > 0.0 && goodput < 10e6, "{goodput}");
    let proof = &lab["outcome"]["lab"];
    assert_eq!(proof["links"][0]["link"], "hop.0");
    // A mean over as many packets as the kernel sent, each with 0.01: but for its rounding.
    let expected = proof["links"][0]["damaged_expected"].as_f64().unwrap();
    assert!((expected - 0.01).abs() < 1e-9, "{expected}");
    assert_eq!(proof["flows"][0]["mss_effective"], 1448);
}

#[test]
fn what_the_lab_prints_and_keeps_fits_the_schema_and_shows_its_proof() {
    if !can_have_a_lab() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = short(folder.path());
    let out = folder.path().join("out");
    let arguments =
        ["run", &file, "--engine", "lab", "--allow-invalid", "--out", out.to_str().unwrap()];
    let document = json(&[&arguments[..], &["--json"]].concat());
    let schema = json(&["schema", "results"]);
    let validator = jsonschema::validator_for(&schema).unwrap();
    let faults: Vec<String> = validator.iter_errors(&document).map(|e| e.to_string()).collect();
    assert!(faults.is_empty(), "{faults:?}");
    assert!(document["environment"]["lab"]["congestion"].is_string());
    // The kept row is shown again, and not run again.
    let again = maxseg(&[&arguments[..], &["--wide"]].concat());
    assert!(stderr(&again).contains("1 runs are there already"), "{}", stderr(&again));
    let text = stdout(&again);
    for wanted in
        ["goodput by lab", "CPU per Gbit", "What the lab did", "1% configured", "lateness p50"]
    {
        assert!(text.contains(wanted), "no {wanted:?} in\n{text}");
    }
    let page = std::fs::read_to_string(out.join("report.html")).unwrap();
    assert!(page.contains("How late packets left the relay") && page.contains("Packets by link"));
}

/// Where nothing is random in the scenario, the kernel's timing still is.
#[test]
fn seeds_of_the_lab_are_runs_of_their_own() {
    if !can_have_a_lab() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = short(folder.path());
    let clean = ["--set", "hop.0.errors.rate=0", "--set", "until.time=200ms", "--seeds", "2"];
    let arguments = ["run", &file, "--engine", "lab", "--allow-invalid", "--json"];
    let document = json(&[&arguments[..], &clean].concat());
    let [first, second] = &document["rows"].as_array().unwrap()[..] else { panic!("{document}") };
    assert_eq!((&first["seed"], &second["seed"]), (&1.into(), &2.into()));
    assert_ne!(first["outcome"], second["outcome"], "elapsed and CPU time are never the same");
}
