//! Situations: hosts, lines and programs set up so that the truth is known, captured at one place of the path. What may
//! be said of each stands in its label (testdata/captures/situations/README.md).

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::explain;

fn labels(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut labels: Vec<PathBuf> =
        entries.filter(|path| path.to_string_lossy().ends_with(".label.json")).collect();
    labels.sort();
    labels
}

fn texts(value: &Value) -> Vec<&str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Packets of a kind in both directions.
fn counted(connection: &Value, counter: &str) -> u64 {
    let of = |way: &str| connection[way][counter].as_u64().unwrap();
    of("forward") + of("reverse")
}

/// Whether one of the kinds is found. Regular expressions, between slashes, are for the text, and are not looked at.
fn is_found(wanted: &Value, kinds: &[&str]) -> bool {
    let alternatives = wanted.as_array().map_or_else(|| vec![wanted], |list| list.iter().collect());
    alternatives.iter().filter_map(|kind| kind.as_str()).any(|kind| kinds.contains(&kind))
}

fn faults(label: &Value, document: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    let connections = document["connections"].as_array().unwrap();
    let most = connections.iter().max_by_key(|connection| {
        (counted(connection, "payload_bytes"), counted(connection, "packets"))
    });
    let Some(connection) = most else { return vec!["no connection".to_owned()] };
    let limits = texts(&label["limited_by"]);
    let limit = connection["limited_by"].as_str().unwrap_or("unknown");
    if !limits.is_empty() && !limits.contains(&limit) {
        faults.push(format!("limited by {limit}, not {limits:?}"));
    }
    let findings = connection["findings"].as_array().unwrap();
    let kinds: Vec<&str> =
        findings.iter().map(|finding| finding["kind"].as_str().unwrap()).collect();
    for wanted in label["must_find"].as_array().into_iter().flatten() {
        if !is_found(wanted, &kinds) {
            faults.push(format!("no finding {wanted} in {kinds:?}"));
        }
    }
    let told: Vec<&str> =
        findings.iter().map(|finding| finding["text"].as_str().unwrap()).collect();
    for wanted in texts(&label["must_say"]) {
        if !told.iter().any(|text| text.contains(wanted)) {
            faults.push(format!("no finding says {wanted:?}: {told:?}"));
        }
    }
    let headline = document["matters_most"]["text"].as_str().unwrap_or_default();
    for wrong in texts(&label["must_not_say"]) {
        // A word like `loss` is a kind; what has blanks, capitals or points is of the text.
        let is_kind = wrong.chars().all(|letter| letter.is_ascii_lowercase() || letter == '-');
        let is_told = headline.contains(wrong) || told.iter().any(|text| text.contains(wrong));
        if kinds.contains(&wrong) || !is_kind && is_told {
            faults.push(format!("says {wrong}"));
        }
    }
    if let Some(ending) = label["how_it_ended"].as_str()
        && connection["ending"] != ending
    {
        faults.push(format!("ended {}, not {ending}", connection["ending"]));
    }
    if let Some(cause) = label["loss_cause"].as_str() {
        let said = connection["loss"]["cause"].as_str().unwrap();
        let is_right = match cause {
            "none" => matches!(said, "none" | "reordering" | "needless"),
            cause => said == cause || said == "unknown",
        };
        if !is_right {
            faults.push(format!("lost by {said}, not {cause}"));
        }
    }
    for (bound, value) in label.as_object().unwrap() {
        let Some(value) = value.as_u64() else { continue };
        let (is_least, counter) = match (bound.strip_prefix("min_"), bound.strip_prefix("max_")) {
            (Some(counter), _) => (true, counter),
            (_, Some(counter)) => (false, counter),
            _ => continue,
        };
        let count = counted(connection, counter);
        if is_least && count < value || !is_least && count > value {
            faults.push(format!("{counter}: {count}, {bound} is {value}"));
        }
    }
    for (limit, least) in label["min_shares"].as_object().into_iter().flatten() {
        let limits = connection["limits"].as_array().unwrap().iter();
        let share: f64 = limits
            .filter(|entry| entry["kind"] == **limit)
            .filter_map(|entry| entry["share"].as_f64())
            .sum();
        if share < least.as_f64().unwrap() {
            faults.push(format!("{limit} for {share:.2} of the time, not {least}"));
        }
    }
    let main = &document["matters_most"];
    let expected = main["gain"]["expected_bps"].as_f64();
    if let (Some(expected), Some(line)) = (expected, label["path_rate_bps"].as_f64())
        && expected > 1.1 * line
    {
        faults.push(format!("predicts {expected} bit/s on a line of {line}"));
    }
    if expected.is_some() && label["no_gain"] == true {
        faults.push("predicts a gain where none can be known".to_owned());
    }
    faults
}

#[test]
fn situations_and_stories_are_explained_as_their_labels_say() {
    let captures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/captures");
    let mut wrong = Vec::new();
    for (folder, least) in [("situations", 23), ("stories", 8)] {
        let folder = captures.join(folder);
        let labels = labels(&folder);
        for path in &labels {
            let label: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
            let file = label["file"].as_str().unwrap();
            let document = explain(&folder.join(file)).unwrap();
            let faults = faults(&label, &document);
            wrong.extend(faults.into_iter().map(|fault| format!("{file}: {fault}")));
        }
        println!("checked {} captures of {}", labels.len(), folder.display());
        assert!(labels.len() >= least, "captures are missing");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
