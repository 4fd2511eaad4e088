//! `maxseg run --json-stream`.

use std::process::{Output, Stdio};

use serde_json::Value;

use super::{command, json, maxseg, small, stderr, stdout};

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
