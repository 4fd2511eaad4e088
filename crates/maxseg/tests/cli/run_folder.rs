//! `maxseg run --out`: what is kept, and how it goes on.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::{command, maxseg, small, stderr, stdout};

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
    let note = "12 of 12 rows are of an earlier run";
    let said = stderr(&again).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains(note) && !stderr(&first).contains("an earlier run"), "{said}");
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
        "interrupted: {} of 308154 runs are done and kept in {}; the same command resumes",
        kept.lines().count(),
        out.display()
    );
    assert!(stderr(&output).contains(&said), "{}", stderr(&output));
    let page = std::fs::read_to_string(out.join("report.html")).unwrap();
    assert!(page.contains("so that nothing is marked as the best"));
    assert!(!page.contains("best of its row"), "a framed cell in the page of a part of a sweep");
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
    let said = "also holds 8 rows of other scenarios or points; they are kept but not shown";
    let told = stderr(&other).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains(said), "{told}");
    let rows = std::fs::read_to_string(folder.path().join("rows.jsonl")).unwrap();
    assert_eq!(rows.lines().count(), 8 + 2);
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
