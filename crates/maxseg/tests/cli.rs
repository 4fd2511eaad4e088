//! The program from outside: its contracts, its manners, its exit codes.
#![expect(clippy::unwrap_used, reason = "helpers of tests, which may panic")]

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// Two sizes, two error rates: small enough for every test.
const SMALL: [&str; 8] = [
    "run",
    "cellular-mss",
    "--axis",
    "sender.mss=536,600",
    "--axis",
    "hop.radio.errors.rate=0.01,0.05",
    "--set",
    "until.time=50 s",
];

fn maxseg(arguments: &[&str]) -> Output {
    command(arguments).output().unwrap()
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_maxseg"));
    command.args(arguments).env_remove("NO_COLOR").stdin(Stdio::null());
    command
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn json(arguments: &[&str]) -> Value {
    let output = maxseg(arguments);
    assert!(output.status.success(), "{}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn small(more: &[&str]) -> Vec<&'static str> {
    let leak = |text: &&str| -> &'static str { Box::leak((*text).to_owned().into_boxed_str()) };
    SMALL.iter().chain(more).map(leak).collect()
}

#[test]
fn json_is_one_document_with_the_names_of_the_contract() {
    let document = json(&small(&["--seeds", "3", "--json"]));
    assert_eq!(document["schema_version"], 1);
    assert_eq!(document["scenario"]["hop"][1]["rate"], "2 Mbit/s");
    assert_eq!(document["rows"].as_array().unwrap().len(), 4 * (3 + 1));
    let keys = [
        "goodput_bps",
        "elapsed_s",
        "payload_bytes",
        "data_packets",
        "ack_packets",
        "packets",
        "wire_bytes",
        "retransmitted_packets",
        "retransmitted_bytes",
        "duplicate_bytes",
        "timeouts",
        "fast_retransmits",
        "spurious_retransmissions",
        "segment_loss",
        "rtt_min_s",
        "rtt_mean_s",
        "rtt_p99_s",
        "ping_mean_s",
        "ping_p99_s",
        "in_flight_mean_bytes",
        "queue_mean_s",
        "mss_used_bytes",
        "limited_by",
        "cpu_s_per_gbit",
    ];
    for row in document["rows"].as_array().unwrap() {
        let outcome = row["outcome"].as_object().unwrap();
        for key in keys {
            assert!(outcome.contains_key(key), "no {key}");
        }
        assert_eq!(row["seed"].is_null(), row["engine"] == "model");
        assert!(row["point"]["sender.mss"].is_u64());
    }
    let summary = document["summary"].as_array().unwrap();
    assert_eq!(summary.len(), 8);
    for entry in summary {
        let runs = if entry["engine"] == "sim" { 3 } else { 1 };
        assert_eq!(entry["runs"], runs);
        assert!(entry["goodput_bps"]["mean"].as_f64().unwrap() > 0.0);
        assert_eq!(entry["goodput_bps"]["ci95"].is_null(), runs == 1);
    }
    assert_eq!(document["advice"][0]["best_bytes"], 600);
}

#[test]
fn what_is_printed_fits_the_schema_that_is_printed() {
    let schema = json(&["schema", "results"]);
    let document = json(&small(&["--seeds", "2", "--json"]));
    let validator = jsonschema::validator_for(&schema).unwrap();
    let faults: Vec<String> = validator.iter_errors(&document).map(|e| e.to_string()).collect();
    assert!(faults.is_empty(), "{faults:?}");
}

#[test]
fn shipped_scenarios_fit_the_schema_and_check() {
    let schema = json(&["schema"]);
    let validator = jsonschema::validator_for(&schema).unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let mut checked = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let file = entry.unwrap().path();
        let table: toml::Table = std::fs::read_to_string(&file).unwrap().parse().unwrap();
        let value = serde_json::to_value(table).unwrap();
        let faults: Vec<String> = validator.iter_errors(&value).map(|e| e.to_string()).collect();
        assert!(faults.is_empty(), "{}: {faults:?}", file.display());
        let output = maxseg(&["check", file.to_str().unwrap()]);
        assert!(output.status.success(), "{}", stderr(&output));
        checked += 1;
    }
    assert!(checked >= 3);
}

#[test]
fn the_same_seed_gives_the_same_rows_on_any_number_of_cores() {
    let rows =
        |jobs: &str| json(&small(&["--seeds", "4", "--json", "--jobs", jobs]))["rows"].clone();
    assert_eq!(rows("1"), rows("4"));
}

#[test]
fn a_second_run_resumes_and_runs_only_what_is_new() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let out = out.to_str().unwrap();
    let first = maxseg(&small(&["--seeds", "2", "--out", out]));
    assert!(first.status.success(), "{}", stderr(&first));
    let rows = || std::fs::read_to_string(Path::new(out).join("rows.jsonl")).unwrap();
    let before = rows();
    assert_eq!(before.lines().count(), 4 * (2 + 1));
    for file in ["run.json", "rows.parquet", "report.html"] {
        assert!(Path::new(out).join(file).is_file(), "{file}");
    }
    let again = maxseg(&small(&["--seeds", "2", "--out", out]));
    assert!(stderr(&again).contains("12 runs are there already"), "{}", stderr(&again));
    assert_eq!(rows(), before);
    assert_eq!(stdout(&first), stdout(&again));
    let more = maxseg(&small(&["--seeds", "3", "--out", out]));
    assert!(stderr(&more).contains("12 runs are there already"), "{}", stderr(&more));
    assert_eq!(rows().lines().count(), 12 + 4);
    assert!(rows().starts_with(&before), "nothing that was kept is touched");
}

#[test]
#[cfg(unix)]
fn an_interrupt_keeps_what_is_done() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    // Far more than runs in the time that this test takes.
    let mut child =
        command(&["run", "cellular-mss", "--seeds", "2000", "--out", out.to_str().unwrap()])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
    let rows = out.join("rows.jsonl");
    let done = || std::fs::read_to_string(&rows).unwrap_or_default().matches('\n').count();
    while done() < 50 {
        std::thread::yield_now();
    }
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    let output = child.wait().unwrap();
    assert_eq!(output.code(), Some(130));
    let kept = std::fs::read_to_string(&rows).unwrap();
    assert!(
        kept.ends_with('\n')
            && kept.lines().all(|line| serde_json::from_str::<Value>(line).is_ok())
    );
    let run: Value = serde_json::from_slice(&std::fs::read(out.join("run.json")).unwrap()).unwrap();
    assert_eq!(run["complete"], false);
    assert_eq!(run["rows"], kept.lines().count());
}

#[test]
fn csv_has_a_line_a_row_and_empty_fields_for_the_unknown() {
    let output = maxseg(&small(&["--csv"]));
    let text = stdout(&output);
    let header: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    assert_eq!(header[..5], ["engine", "seed", "hash", "hop.radio.errors.rate", "sender.mss"]);
    assert_eq!(text.lines().count(), 1 + 8);
    let timeouts = header.iter().position(|column| *column == "timeouts").unwrap();
    let model = text.lines().find(|line| line.starts_with("model,")).unwrap();
    assert_eq!(model.split(',').nth(timeouts), Some(""));
}

#[test]
fn series_hold_the_senders_state_over_time() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let arguments = [
        "run",
        "slow-tunnel",
        "--engine",
        "sim",
        "--set",
        "until.time=5 s",
        "--series",
        "100ms",
        "--out",
        out.to_str().unwrap(),
    ];
    assert!(maxseg(&arguments).status.success());
    let series = std::fs::read_to_string(out.join("series.csv")).unwrap();
    let mut lines = series.lines();
    assert!(lines.next().unwrap().contains("cwnd_bytes,window_bytes,in_flight_bytes"));
    assert_eq!(lines.count(), 51);
}

#[test]
fn the_page_needs_nothing_else_and_its_pictures_are_well_formed() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    assert!(maxseg(&small(&["--seeds", "3", "--out", out.to_str().unwrap()])).status.success());
    let page = std::fs::read_to_string(out.join("report.html")).unwrap();
    for outside in ["http://", "https://", "src=", "@import", "<script", "<link"] {
        let found = page.replace("http://www.w3.org/2000/svg", "").contains(outside);
        assert!(!found, "the page refers to {outside}");
    }
    let svg = &page[page.find("<svg").unwrap()..page.find("</svg>").unwrap() + 6];
    let picture = roxmltree::Document::parse(svg).unwrap();
    let texts: Vec<&str> = picture
        .descendants()
        .filter(|node| node.has_tag_name("text"))
        .filter_map(|node| node.text())
        .collect();
    for wanted in
        ["segment size (bytes)", "goodput", "1%", "5%", "model, within its range", "95% confidence"]
    {
        assert!(texts.contains(&wanted), "no {wanted:?} in {texts:?}");
    }
    assert!(page.contains("maxseg run cellular-mss"), "how to run it again");
}

#[test]
fn mistakes_are_told_once_with_place_and_hint() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("path.toml");
    std::fs::write(&file, "[[hop]]\nname = \"radio\"\nrate = \"10 MB/s\"\ndelay = \"1 ms\"\n")
        .unwrap();
    let output = maxseg(&["run", file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).is_empty());
    let want = format!(
        "error: `MB/s` is not a unit of a rate; use one of: bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s\n\
         \x20--> {}:3:8\n  |\n3 | rate = \"10 MB/s\"\n  |        ^^^^^^^^^\nhint: for example rate = \"10 Mbit/s\"\n",
        file.display()
    );
    assert_eq!(stderr(&output), want);
    let cases: [(&[&str], i32, &str); 6] = [
        (&["run", "no-such-file.toml"], 1, "hint: shipped scenarios: slow-tunnel"),
        (&["run", "slow-tunnel", "--set", "sender.mss=0"], 1, "--> in `--set sender.mss=0`"),
        (&["run", "slow-tunnel", "--axis", "sender.mss="], 1, "the axis is empty"),
        (&["stacks", "show", "ns2-ren"], 1, "hint: did you mean `ns2-reno`?"),
        (&["rum"], 2, "a similar subcommand exists: 'run'"),
        (&["run", "slow-tunnel", "--engine", "lab"], 2, "invalid value 'lab'"),
    ];
    for (arguments, code, words) in cases {
        let output = maxseg(arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}");
        assert!(stderr(&output).contains(words), "{arguments:?}: {}", stderr(&output));
    }
}

#[test]
fn quiet_is_quiet_and_a_pipe_gets_no_colour() {
    let noisy = maxseg(&small(&[]));
    assert!(!noisy.stderr.is_empty() && !stdout(&noisy).contains('\x1b'));
    let quiet = maxseg(&small(&["-q"]));
    assert!(quiet.stderr.is_empty(), "{}", stderr(&quiet));
    let forced = maxseg(&small(&["--color", "always"]));
    assert!(stdout(&forced).contains("\x1b[1m"));
    let silent = maxseg(&["run", "no-such-file.toml", "-qq"]);
    assert!(silent.stderr.is_empty() && silent.status.code() == Some(1));
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let mut child =
        command(&small(&["--csv"])).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(
        output.status.success() && !stderr(&output).contains("panicked"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_scenario_can_come_from_standard_input() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("in.toml");
    std::fs::write(
        &file,
        "[[hop]]\nrate = \"10 Mbit/s\"\ndelay = \"1 ms\"\n[until]\ntime = \"2 s\"\n",
    )
    .unwrap();
    let output = command(&["run", "-", "--json"])
        .stdin(std::fs::File::open(&file).unwrap())
        .output()
        .unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["rows"].as_array().unwrap().len(), 2);
    assert_eq!(document["rows"][0]["point"], serde_json::json!({}));
}

#[test]
fn help_has_four_rooms_in_order() {
    let help = stdout(&maxseg(&["--help"]));
    let at = |room: &str| help.find(&format!("{room}:\n")).unwrap_or_else(|| panic!("no {room}"));
    let places: Vec<usize> = ["See", "Explain", "Try", "Set", "And"].map(at).to_vec();
    assert!(places.is_sorted(), "{help}");
    assert!(stdout(&maxseg(&["help", "run"])).contains("Examples:"));
    for shell in ["bash", "zsh", "fish"] {
        assert!(stdout(&maxseg(&["completions", shell])).contains("maxseg"));
    }
}
