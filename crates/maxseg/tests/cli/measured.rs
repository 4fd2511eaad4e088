//! `maxseg run --measured`: what was measured on a real path stands beside the engines.

use std::path::Path;

use maxseg_testkit::is_its_turn;
use serde_json::Value;

use super::far_end::in_lab;
use super::kernel::skipped;
use super::{command, json, maxseg, stderr, stdout};

/// The path of testdata/path, which `maxseg path` measured over a lab.
const PATH: &str = "[[hop]]\nname = \"access\"\nrate = \"20 Mbit/s\"\ndelay = \"10 ms\"\n\
                    queue = \"60 packets\"\n[[flow]]\nkind = \"bulk\"\nfrom = \"receiver\"\n\
                    [until]\ntime = \"5 s\"\n";

fn kept(name: &str) -> String {
    format!("{}/../../testdata/path/{name}.json", env!("CARGO_MANIFEST_DIR"))
}

/// `run` of the path over two windows of the table, one of which is no row of it.
fn run(folder: &Path, more: &[&str]) -> Vec<String> {
    let file = folder.join("path.toml");
    std::fs::write(&file, PATH).unwrap();
    let (file, measured) = (file.display().to_string(), kept("table"));
    let axis = "sender.window=25012 B,30000 B,100047 B";
    let arguments = ["run", &file, "--measured", &measured, "--axis", axis];
    arguments.iter().chain(more).map(|word| (*word).to_owned()).collect()
}

fn strs(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).collect()
}

#[test]
fn it_is_a_column_of_the_table_and_rows_of_every_file() {
    let own = tempfile::tempdir().unwrap();
    let output = maxseg(&strs(&run(own.path(), &[])));
    let text = stdout(&output);
    assert!(text.contains("measured/sim"), "{text}");
    let line = |window: &str| text.lines().find(|line| line.contains(window)).unwrap().to_owned();
    assert!(line("25012 B").contains("8.96 Mbit/s"), "{text}");
    assert!(line("30000 B").contains(" - "), "{text}");
    assert!(stderr(&output).contains("14 of its transfers"), "{}", stderr(&output));

    let document = json(&strs(&run(own.path(), &["--json"])));
    let of = |row: &&Value| row["engine"] == "measured";
    let rows: Vec<&Value> = document["rows"].as_array().unwrap().iter().filter(of).collect();
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0]["point_si"]["sender.window_bytes"], 25012);
    assert!(rows[0]["outcome"]["timeouts"].is_null());
    assert_eq!(document["summary"].as_array().unwrap().iter().filter(of).count(), 2);

    let csv = stdout(&maxseg(&strs(&run(own.path(), &["--csv"]))));
    let engines: Vec<&str> = csv.lines().filter_map(|line| line.split(',').next()).collect();
    let expected =
        ["engine", "model", "sim", "measured", "model", "sim", "model", "sim", "measured"];
    assert_eq!(engines, expected, "beside the runs of its point");

    let folder = own.path().join("results");
    let saved = maxseg(&strs(&run(own.path(), &["-q", "--out", folder.to_str().unwrap()])));
    assert!(saved.status.success(), "{}", stderr(&saved));
    let page = std::fs::read_to_string(folder.join("report.html")).unwrap();
    assert!(page.contains("<td class=\"word\">measured</td>"));
    let rows = std::fs::read_to_string(folder.join("rows.jsonl")).unwrap();
    assert!(!rows.contains("\"measured\""), "it is no run");
    let parquet = std::fs::read(folder.join("rows.parquet")).unwrap();
    assert!(parquet.windows(8).any(|bytes| bytes == b"measured"));

    let stream = stdout(&maxseg(&strs(&run(own.path(), &["-q", "--json-stream"]))));
    let lines: Vec<Value> =
        stream.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let rows = lines.iter().filter(|line| line["type"] == "row").count();
    assert_eq!(lines[0]["runs"], rows);
}

#[test]
fn a_path_measured_now_stands_beside_its_scenario() {
    if !is_its_turn(1) {
        return;
    }
    let hop = "rate = \"20 Mbit/s\"\ndelay = \"10 ms\"\nqueue = \"60 packets\"";
    let Some(report) = in_lab("measured", hop, &[], &["--duration", "3s"]) else {
        return skipped("a lab");
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("path.json");
    std::fs::write(&file, report.to_string()).unwrap();
    let scenario = folder.path().join("scenario.toml");
    std::fs::write(&scenario, PATH).unwrap();
    let mut run = command(&["run", scenario.to_str().unwrap(), "--engine", "sim", "--json", "-q"]);
    let output = run.args(["--measured", file.to_str().unwrap()]).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let goodput = |row: usize| document["rows"][row]["outcome"]["goodput_bps"].as_f64().unwrap();
    assert_eq!(document["rows"][1]["engine"], "measured");
    // Slow start is a tenth of the simulated five seconds at most, and not in what was measured.
    let ratio = goodput(1) / goodput(0);
    assert!((0.9..1.15).contains(&ratio), "{ratio}");
}
