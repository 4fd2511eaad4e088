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
        "requests",
        "request_mean_s",
        "request_p50_s",
        "request_p99_s",
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

fn lines(output: &Output) -> Vec<Value> {
    stdout(output).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The lines of this type.
fn of_type<'a>(lines: &'a [Value], kind: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["type"] == kind).collect()
}

#[test]
fn a_stream_says_line_by_line_what_the_document_says_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let arguments = small(&["--seeds", "2", "--json-stream", "--out", out.to_str().unwrap()]);
    let output = maxseg(&arguments);
    assert!(output.status.success(), "{}", stderr(&output));
    let streamed = lines(&output);
    let document = json(&small(&["--seeds", "2", "--json"]));
    let first = &streamed[0];
    assert_eq!((&first["type"], &first["schema_version"]), (&"run".into(), &1.into()));
    assert_eq!(first["scenario"], document["scenario"]);
    assert_eq!((&first["runs"], first["environment"].is_object()), (&12.into(), true));
    let last = &streamed[streamed.len() - 1];
    assert_eq!((&last["type"], &last["complete"]), (&"summary".into(), &true.into()));
    assert_eq!((&last["summary"], &last["advice"]), (&document["summary"], &document["advice"]));
    let sorted = |mut rows: Vec<Value>| -> Vec<Value> {
        rows.sort_by_cached_key(|row| format!("{}{}{}", row["hash"], row["engine"], row["seed"]));
        rows
    };
    let rows = |lines: &[Value]| -> Vec<Value> {
        let bare = of_type(lines, "row").into_iter().map(|row| {
            let mut row = row.clone();
            row.as_object_mut().unwrap().remove("type");
            row
        });
        sorted(bare.collect())
    };
    let wanted = sorted(document["rows"].as_array().unwrap().clone());
    assert_eq!(rows(&streamed), wanted);
    for progress in of_type(&streamed, "progress") {
        let done = progress["done"].as_f64().unwrap();
        assert!((0.0..=12.0).contains(&done) && progress["runs"] == 12, "{progress}");
    }
    let validator = jsonschema::validator_for(&json(&["schema", "stream"])).unwrap();
    for line in &streamed {
        let faults: Vec<String> = validator.iter_errors(line).map(|e| e.to_string()).collect();
        assert!(faults.is_empty(), "{line}: {faults:?}");
    }
    // What an earlier command kept is told as well.
    assert_eq!(rows(&lines(&maxseg(&arguments))), wanted);
}

#[test]
fn a_reader_that_leaves_a_stream_is_no_error_and_loses_no_row_that_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    for (keep, rows) in [(None, None), (Some(out.to_str().unwrap()), Some(8 * 3))] {
        let mut arguments = small(&["--engine", "sim", "--seeds", "6", "--json-stream"]);
        arguments.extend(["-q", "--jobs", "1"]);
        let mut command = command(&arguments);
        command.args(keep.map(|folder| ["--out", folder]).into_iter().flatten());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        assert_eq!(stderr(&output), "");
        let kept = std::fs::read_to_string(out.join("rows.jsonl")).ok();
        assert_eq!(kept.map(|kept| kept.lines().count()), rows);
    }
}

#[test]
fn one_form_of_output_at_a_time() {
    for other in ["--json", "--csv"] {
        assert_eq!(maxseg(&small(&["--json-stream", other])).status.code(), Some(2));
    }
}

#[test]
fn a_picture_is_written_where_something_is_swept() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("goodput.svg");
    let name = file.to_str().unwrap();
    let output = maxseg(&small(&["--svg", name]));
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).contains(&format!("picture: {name}")), "{}", stderr(&output));
    let text = std::fs::read_to_string(&file).unwrap();
    let picture = roxmltree::Document::parse(&text).unwrap();
    assert!(picture.root_element().has_tag_name(("http://www.w3.org/2000/svg", "svg")));
    assert!(text.contains("segment size") && text.contains("class=\"ground\""));
    std::fs::remove_file(&file).unwrap();
    let nothing = maxseg(&["run", "slow-tunnel", "--engine", "model", "--svg", name]);
    assert_eq!(nothing.status.code(), Some(1));
    let told = stderr(&nothing);
    assert!(told.contains("nothing is swept") && told.contains("hint: sweep a key"), "{told}");
    let nowhere = maxseg(&small(&["--svg", "/no/such/folder/goodput.svg"]));
    assert!(stderr(&nowhere).contains("cannot write /no/such/folder"), "{}", stderr(&nowhere));
    assert!(!file.exists());
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
fn an_interrupt_keeps_what_is_done_and_says_how_to_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    // Far more than runs in the time that this test takes.
    let mut child =
        command(&["run", "cellular-mss", "--seeds", "2000", "--out", out.to_str().unwrap()])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
    let rows = out.join("rows.jsonl");
    let done = || std::fs::read_to_string(&rows).unwrap_or_default().matches('\n').count();
    while done() < 50 {
        assert_eq!(child.try_wait().unwrap(), None, "it ended before it was interrupted");
        std::thread::yield_now();
    }
    // One Ctrl-C can come twice at once; the second must not end it before it has kept what is done.
    for _ in 0..2 {
        let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert!(kill.success());
    }
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let kept = std::fs::read_to_string(&rows).unwrap();
    assert!(
        kept.ends_with('\n')
            && kept.lines().all(|line| serde_json::from_str::<Value>(line).is_ok())
    );
    let run: Value = serde_json::from_slice(&std::fs::read(out.join("run.json")).unwrap()).unwrap();
    assert_eq!(run["complete"], false);
    assert_eq!(run["rows"], kept.lines().count());
    let said = format!(
        "interrupted: {} of 308154 runs are done and kept in {}; the same command goes on from there",
        kept.lines().count(),
        out.display()
    );
    assert!(stderr(&output).contains(&said), "{}", stderr(&output));
}

#[test]
fn a_reader_that_leaves_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let mut child = command(&small(&["--out", out.to_str().unwrap()]))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    for file in ["rows.jsonl", "run.json", "rows.parquet", "report.html"] {
        assert!(out.join(file).is_file(), "{file}");
    }
}

#[test]
fn rows_of_other_scenarios_are_kept_and_mentioned() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    assert!(maxseg(&small(&["--out", out])).status.success());
    let other = maxseg(&["run", "slow-tunnel", "--set", "until.time=2 s", "--out", out]);
    let said = "also holds 8 rows of other scenarios or points; they are kept there, and not shown";
    assert!(stderr(&other).contains(said), "{}", stderr(&other));
    let rows = std::fs::read_to_string(folder.path().join("rows.jsonl")).unwrap();
    assert_eq!(rows.lines().count(), 8 + 2);
}

#[test]
fn check_counts_what_nobody_could_build() {
    let arguments = [
        "check",
        "cellular-mss",
        "--axis",
        "sender.mss=1..1460..1",
        "--axis",
        "hop.radio.errors.rate=0..0.2..0.0001",
        "--axis",
        "receiver.window=1 KiB..65535 KiB..1 KiB",
        "--seeds",
        "1000000",
    ];
    let points = 1460_u64 * 2001 * 65_535;
    let text = stdout(&maxseg(&arguments));
    assert!(text.contains(&format!("points    {points}:")), "{text}");
    assert!(text.contains("more than the 10000000 that one `maxseg run` takes"), "{text}");
    assert!(text.contains("looked at 1000 of the points"), "{text}");
    let document = json(&[&arguments[..], &["--json"]].concat());
    assert_eq!(document["points"], points);
    assert_eq!(document["points_looked_at"], 1000);
    let mut run = arguments;
    run[0] = "run";
    let refused = maxseg(&run);
    assert_eq!(refused.status.code(), Some(1));
    assert!(stderr(&refused).contains("`maxseg check` counts without running"));
}

#[test]
fn check_tells_how_segment_sizes_come_about() {
    let arguments = ["check", "slow-tunnel", "--axis", "sender.mss=536,1460"];
    assert!(stdout(&maxseg(&arguments)).contains("asked 1460, advertised 1380, effective 1380"));
    let document = json(&[&arguments[..], &["--json"]].concat());
    // The receiver, behind the tunnel, offers what its own MTU lets in.
    let of = |asked: u64, offered: u64| serde_json::json!({ "asked": asked, "advertised": offered, "effective": offered, "points": 1 });
    assert_eq!(document["mss"], serde_json::json!([of(536, 536), of(1460, 1380)]));
    assert_eq!(document["runs"], 4);
    assert!(
        document["cpu_s"].as_f64().unwrap() > 0.0 && document["packets"].as_f64().unwrap() > 1e5
    );
}

#[test]
fn csv_has_a_line_a_row_and_empty_fields_for_the_unknown() {
    let output = maxseg(&small(&["--csv"]));
    let text = stdout(&output);
    let header: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    assert_eq!(header[..5], ["engine", "seed", "hash", "hop.radio.errors.rate", "sender.mss"]);
    assert_eq!(text.lines().count(), 1 + 8);
    assert_eq!(header.last(), Some(&"caveats"));
    assert!(text.lines().any(|line| line.ends_with(",accuracy mathis")), "{text}");
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
fn a_series_is_asked_for_where_it_can_be_had() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let run = |more: &[&str]| {
        let own = ["run", "slow-tunnel", "--set", "until.time=5 s", "--out", out.to_str().unwrap()];
        maxseg(&[&own[..], more].concat())
    };
    let cases: [(&[&str], &str); 3] = [
        (&["--series", "0s"], "hint: write for example --series 100ms"),
        (&["--series", "1ns"], "hint: take one every 510 ns or more"),
        (&["--series", "1s", "--engine", "model"], "hint: add --engine sim"),
    ];
    for (arguments, hint) in cases {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert!(stderr(&output).contains(hint), "{arguments:?}: {}", stderr(&output));
    }
    assert!(!out.exists(), "nothing is made before it is known to make sense");
    // Rows that are there without their series are run again; nothing is there twice.
    assert!(run(&[]).status.success());
    let read = |name: &str| std::fs::read_to_string(out.join(name)).unwrap();
    let rows = read("rows.jsonl");
    let with_series = run(&["--series", "1s"]);
    assert!(stderr(&with_series).contains("1 runs are there already"), "{}", stderr(&with_series));
    assert_eq!(read("series.csv").lines().count(), 1 + 6);
    assert_eq!(read("rows.jsonl"), rows);
    let again = run(&["--series", "1s"]);
    assert!(stderr(&again).contains("2 runs are there already"), "{}", stderr(&again));
    assert_eq!(read("series.csv").lines().count(), 1 + 6);
}

#[test]
fn the_demo_begins_only_if_its_report_can_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let nowhere = folder.path().join("no-such-folder/report.html");
    let output = maxseg(&["demo", "--report", nowhere.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty(), "it worked in vain");
}

#[test]
fn the_demo_computes_what_it_says() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("report.html");
    std::fs::write(&page, "x".repeat(1 << 20)).unwrap();
    let text = stdout(&maxseg(&["demo", "--report", page.to_str().unwrap()]));
    for wanted in [
        "one packet in 2000 lost",
        "95% confidence, 20 runs each",
        "the MSS, 1380, is already the largest that the MTU of 1420 lets through",
        "handshake and slow start take",
        "Why 600 and not 536, nor 601?",
        "600 over 536: +12%",
    ] {
        assert!(text.contains(wanted), "no {wanted:?} in\n{text}");
    }
    let gains = text.lines().filter(|line| line.contains("600 over"));
    assert!(gains.clone().count() == 2 && gains.clone().all(|line| !line.contains("at 0%")));
    let html = std::fs::read_to_string(&page).unwrap();
    assert!(html.starts_with("<!doctype html>") && html.ends_with("</html>\n"), "old content left");
}

#[test]
fn no_line_ends_in_blanks() {
    for arguments in [
        small(&["--seeds", "2"]),
        small(&["-v"]),
        vec!["run", "slow-tunnel", "--set", "until.time=2 s"],
    ] {
        let text = stdout(&maxseg(&arguments));
        assert!(text.lines().all(|line| line == line.trim_end()), "{text}");
    }
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
