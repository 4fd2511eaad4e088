//! `maxseg compare` of runs, engines, stacks and captures.

use std::path::Path;

use serde_json::Value;

use super::{command, json, maxseg, stderr, stdout};

fn capture(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.join("testdata/captures").join(name).display().to_string()
}

/// Runs of a scenario with losses, in a folder.
fn runs(folder: &Path, name: &str, options: &[&str]) -> String {
    let out = folder.join(name).display().to_string();
    let fixed =
        ["run", "cellular-mss", "-q", "--engine", "sim", "--set", "until.time=20 s", "--out", &out];
    let run = command(&fixed).args(options).output().unwrap();
    assert!(run.status.success(), "{}", stderr(&run));
    out
}

fn at(mss: &'static str) -> [&'static str; 6] {
    ["--axis", "hop.radio.errors.rate=0.05", "--set", mss, "--seeds", "4"]
}

#[test]
fn two_runs_are_paired_by_seed() {
    let folder = tempfile::tempdir().unwrap();
    let small = runs(folder.path(), "small", &at("sender.mss=128"));
    let large = runs(folder.path(), "large", &at("sender.mss=600"));
    let document = json(&["compare", &small, &large, "--json"]);
    let schema: Value = serde_json::from_slice(&maxseg(&["schema", "compare"]).stdout).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(&document).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    let runs = &document["runs"];
    assert!(
        runs["changed"]
            .as_array()
            .unwrap()
            .iter()
            .any(|one| one["key"] == "sender.mss" && one["a"] == 128 && one["b"] == 600),
        "{}",
        runs["changed"]
    );
    let goodput = &runs["points"][0]["numbers"][0];
    assert_eq!(
        (&goodput["name"], &goodput["pairs"]),
        (&Value::from("goodput_bps"), &Value::from(4))
    );
    // The mean of the differences is the difference of the means: pairs are complete.
    let number = |key: &str| goodput[key].as_f64().unwrap();
    assert!((number("b") - number("a") - number("difference")).abs() < 1e-6 * number("b"));
    let is_clear = number("difference").abs() > number("ci95");
    let verdict = goodput["verdict"].as_str().unwrap();
    assert_eq!(is_clear, ["higher", "lower"].contains(&verdict), "{goodput}");
    let text = stdout(&maxseg(&["compare", &small, &large]));
    for wanted in ["sender.mss: 128 → 600", "goodput", "●", "limited by"] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
}

/// A folder keeps the rows of an earlier scenario.
#[test]
fn rows_of_an_earlier_scenario_are_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let options = |mss| ["--axis", "hop.radio.errors.rate=0.05", "--set", mss, "--seeds", "2"];
    runs(folder.path(), "both", &options("sender.mss=128"));
    let both = runs(folder.path(), "both", &options("sender.mss=600"));
    let large = runs(folder.path(), "large", &options("sender.mss=600"));
    let output = maxseg(&["compare", &both, &large, "--json"]);
    assert!(
        stderr(&output).contains("also holds 2 rows of other scenarios"),
        "{}",
        stderr(&output)
    );
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let point = &document["runs"]["points"][0];
    assert_eq!(point["runs"], serde_json::json!([2, 2]));
    assert_eq!(point["numbers"][0]["verdict"], "same", "{point}");
}

/// A pipe, as a shell's `<(…)` is one, gives its first byte once.
#[test]
#[cfg(unix)]
fn what_is_compared_may_come_through_a_pipe() {
    let link = capture("d_bandwidth.receiver.pcap.gz");
    let mut child = command(&["compare", "/dev/stdin", &link, "--json"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let bytes = std::fs::read(capture("d_rwnd.receiver.pcap.gz")).unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), &bytes).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["captures"]["a"]["limited_by"], "receive-window");
}

#[test]
fn engines_and_swept_values_of_one_result_are_compared() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("both").display().to_string();
    let run = maxseg(&[
        "run",
        "cellular-mss",
        "-q",
        "--engine",
        "sim,model",
        "--set",
        "until.time=10 s",
        "--axis",
        "sender.mss=536,600",
        "--axis",
        "hop.radio.errors.rate=0.01",
        "--seeds",
        "3",
        "--out",
        &out,
    ]);
    assert!(run.status.success(), "{}", stderr(&run));
    let engines = json(&["compare", &out, "--between", "engine=sim,model", "--json"]);
    assert_eq!(engines["runs"]["points"].as_array().unwrap().len(), 2);
    assert_eq!(engines["runs"]["points"][0]["engine"], Value::Null);
    let sizes = json(&["compare", &out, "--between", "sender.mss=536,600", "--json"]);
    let points = sizes["runs"]["points"].as_array().unwrap();
    let of: Vec<&str> = points.iter().map(|point| point["engine"].as_str().unwrap()).collect();
    assert_eq!(of, ["sim", "model"]);
    assert_eq!(points[0]["numbers"][0]["pairs"], 3);
    // A formula leaves nothing to chance.
    let exact = points[1]["numbers"][0]["verdict"].as_str().unwrap();
    assert!(["higher", "lower", "same"].contains(&exact), "{exact}");
    let wrong = maxseg(&["compare", &out, "--between", "sender.window=1,2"]);
    assert_eq!(wrong.status.code(), Some(1));
    assert!(stderr(&wrong).contains("the swept keys are"), "{}", stderr(&wrong));
}

#[test]
fn two_captures_show_what_changed_and_no_cause() {
    let (window, link) =
        (capture("d_rwnd.receiver.pcap.gz"), capture("d_bandwidth.receiver.pcap.gz"));
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("compare.html").display().to_string();
    let output = maxseg(&["compare", &window, &link, "--report", &report]);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    for wanted in [
        "limited by",
        "receive-window",
        "bandwidth",
        "goodput",
        "round trip, least",
        "note: one transfer each",
    ] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    for cause in ["because of", "due to", "caused"] {
        assert!(!text.contains(cause), "{text}");
    }
    let page = std::fs::read_to_string(&report).unwrap();
    assert!(page.contains("receive-window") && !page.contains("http://"), "{page}");
}

#[test]
fn csv_has_a_row_for_each_number() {
    let (a, b) = (capture("d_rwnd.receiver.pcap.gz"), capture("d_bandwidth.receiver.pcap.gz"));
    let output = maxseg(&["compare", &a, &b, "--csv"]);
    let mut reader = csv::Reader::from_reader(output.stdout.as_slice());
    let names: Vec<String> = reader.records().map(|row| row.unwrap()[2].to_owned()).collect();
    assert!(names.contains(&"goodput_bps".to_owned()) && names.len() >= 6, "{names:?}");
}

#[test]
fn what_cannot_be_compared_is_refused_with_a_hint() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("broken.json"), "{\"scenario\": 1").unwrap();
    std::fs::create_dir(path("empty")).unwrap();
    let window = capture("d_rwnd.receiver.pcap.gz");
    let (broken, empty, missing) = (path("broken.json"), path("empty"), path("missing"));
    let cases: [(&[&str], i32, &str); 7] = [
        (&["compare", &window], 2, "there is nothing to compare"),
        (&["compare", &window, &window], 2, "are the same"),
        (&["compare", &window, &broken], 1, "is not a result of `maxseg run`"),
        (&["compare", &empty, &window], 1, "holds no rows.jsonl"),
        (&["compare", &missing, &window], 1, "missing"),
        (&["compare", &window, &empty, "--between", "engine=sim"], 2, "a key with two values"),
        (&["compare", &window, &window, "--connection", "0,7"], 1, "no TCP connection 7"),
    ];
    for (arguments, code, wanted) in cases {
        let output = maxseg(arguments);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        assert!(
            said.split_whitespace().collect::<Vec<_>>().join(" ").contains(wanted),
            "{arguments:?}: {said}"
        );
        assert!(said.contains("hint:"), "{arguments:?}: {said}");
    }
}

/// Rows, summary, table and page of a run stay as they are.
#[test]
fn a_report_is_not_written_into_a_folder_that_is_compared() {
    let folder = tempfile::tempdir().unwrap();
    let options = ["--axis", "hop.radio.errors.rate=0.05", "--seeds", "1"];
    let a = runs(folder.path(), "a", &options);
    let b = runs(folder.path(), "b", &options);
    let link = folder.path().join("link.html");
    #[cfg(unix)]
    std::os::unix::fs::symlink(Path::new(&b).join("run.json"), &link).unwrap();
    let within = |file: &str| Path::new(&a).join(file).display().to_string();
    let mut reports =
        ["rows.jsonl", "run.json", "rows.parquet", "report.html", "new.html"].map(within).to_vec();
    if link.exists() {
        reports.push(link.display().to_string());
    }
    let read = |folder: &str, file: &str| std::fs::read(Path::new(folder).join(file)).unwrap();
    let before = [read(&a, "rows.jsonl"), read(&b, "run.json")];
    for report in reports {
        let output = maxseg(&["compare", &a, &b, "--report", &report]);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{report}: {said}");
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains("within a folder that is compared"), "{report}: {said}");
    }
    assert_eq!([read(&a, "rows.jsonl"), read(&b, "run.json")], before);
    let beside = folder.path().join("beside.html").display().to_string();
    assert!(maxseg(&["compare", &a, &b, "--report", &beside]).status.success());
}

#[test]
fn standard_input_and_the_lines_of_a_stream_are_results() {
    let folder = tempfile::tempdir().unwrap();
    let run = ["run", "cellular-mss", "-q", "--engine", "sim,model", "--set", "until.time=20 s"];
    for form in ["--json", "--json-stream"] {
        let file = folder.path().join(form);
        std::fs::write(&file, command(&run).arg(form).output().unwrap().stdout).unwrap();
        let between = ["--between", "engine=sim,model", "--json"];
        let named = json(&[&["compare", file.to_str().unwrap()], &between[..]].concat());
        let output = command(&["compare", "-"])
            .args(between)
            .stdin(std::fs::File::open(&file).unwrap())
            .output()
            .unwrap();
        let piped: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", stderr(&output)));
        assert_eq!(piped["runs"]["points"], named["runs"]["points"], "{form}");
        assert!(!piped["runs"]["points"].as_array().unwrap().is_empty(), "{form}");
    }
    let twice = maxseg(&["compare", "-", "-", "--connection", "0,1"]);
    assert_eq!(twice.status.code(), Some(2));
    assert!(stderr(&twice).contains("standard input can be read once"), "{}", stderr(&twice));
}
