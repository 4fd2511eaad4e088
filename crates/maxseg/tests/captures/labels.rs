//! Transfers made for it: what limited them, and what must be found.

use maxseg_core::outcome::LimitedBy;
use maxseg_testkit::captures::captures;
use serde_json::Value;

use super::explain;

#[test]
fn limits_and_findings_are_the_labels() {
    let (mut files, mut faults) = (0, Vec::new());
    for capture in captures() {
        let Some(label) = label(&capture.path) else { continue };
        let document = explain(&capture.path).unwrap();
        files += 1;
        let most = document["connections"].as_array().unwrap().iter().max_by_key(|connection| {
            let payload = |way: &str| connection[way]["payload_bytes"].as_u64().unwrap();
            payload("forward") + payload("reverse")
        });
        let connection = most.unwrap();
        // Labels may have the words of earlier versions.
        let words: Vec<LimitedBy> = serde_json::from_value(label["limited_by"].clone()).unwrap();
        let limits: Vec<&str> = words.iter().map(|limit| limit.word()).collect();
        if !limits.iter().any(|limit| connection["limited_by"] == *limit) {
            faults.push(format!(
                "{}: {} ({}), not {limits:?}",
                capture.name, connection["limited_by"], connection["limits"]
            ));
        }
        let found = connection["findings"].as_array().unwrap();
        for wanted in label["must_find"].as_array().unwrap() {
            if !found.iter().any(|finding| finding["kind"] == *wanted) {
                faults.push(format!("{}: no finding {wanted}", capture.name));
            }
        }
        // An algorithm that the capture does not show is unknown; no other is named.
        let named = &connection["congestion_control"]["name"];
        if let Some(truth) = label["congestion_control"].as_str()
            && named != truth
            && named != "unknown"
        {
            faults.push(format!("{}: {named}, not {truth}", capture.name));
        }
        let shares: f64 = connection["limits"]
            .as_array()
            .unwrap()
            .iter()
            .map(|limit| limit["share"].as_f64().unwrap())
            .sum();
        if (shares - 1.0).abs() > 1e-6 {
            faults.push(format!("{}: the shares sum up to {shares}", capture.name));
        }
    }
    println!("checked the limits of {files} labelled captures");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(files > 0, "no capture has a label");
}

/// `STEM.label.json` names its captures.
fn label(capture: &std::path::Path) -> Option<Value> {
    let name = capture.file_name()?.to_str()?;
    let entries = std::fs::read_dir(capture.parent()?).ok()?;
    let labels = entries.filter_map(|entry| {
        let path = entry.ok()?.path();
        let is_label = path.to_string_lossy().ends_with(".label.json");
        is_label.then(|| serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap())
    });
    let mut labels = labels.filter(|label: &Value| {
        label["files"].as_array().is_some_and(|files| files.iter().any(|file| file == name))
    });
    labels.next()
}
