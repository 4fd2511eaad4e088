//! Two captures of one transfer, joined, against what the line between them counted.

use std::path::{Path, PathBuf};
use std::process::Command;

use maxseg_testkit::captures::captures;
use serde_json::Value;

/// Captures at both ends of one transfer, and the label of the line.
fn pairs() -> Vec<(PathBuf, PathBuf, Option<Value>)> {
    let senders = captures().into_iter().filter(|capture| capture.name.contains(".sender."));
    let pairs = senders.filter_map(|sender| {
        let receiver = sender.path.with_file_name(sender.name.replace(".sender.", ".receiver."));
        let stem = sender.name.split(".sender.").next()?;
        let label = sender.path.with_file_name(format!("{stem}.label.json"));
        let label = std::fs::read(label).ok().map(|text| serde_json::from_slice(&text).unwrap());
        receiver.exists().then_some((sender.path, receiver, label))
    });
    pairs.collect()
}

fn joined(first: &Path, second: &Path) -> Option<Value> {
    let output = Command::new(env!("CARGO_BIN_EXE_maxseg"))
        .args(["explain", "--json", "-q"])
        .args([first, second])
        .output()
        .unwrap();
    // A SYN that never arrives leaves nothing to join.
    let nothing = String::from_utf8_lossy(&output.stderr).contains("share no connection");
    if nothing {
        return None;
    }
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

/// The counts of both directions; times are of either clock.
fn counts(directions: &Value) -> Vec<(String, u64)> {
    let ways = directions.as_array().unwrap().iter().filter_map(Value::as_object).flatten();
    ways.filter_map(|(name, value)| Some((name.clone(), value.as_u64()?))).collect()
}

/// What the line dropped of the direction with the data.
fn dropped(label: &Value) -> Option<u64> {
    let line = label.get("line_data_direction")?;
    let count = |name: &str| line.get(name).map_or(Some(0), Value::as_u64);
    Some(count("random_drops")? + count("queue_drops")?)
}

#[test]
fn what_the_line_dropped_is_what_was_lost_between_the_captures() {
    let (mut checked, mut counted) = (0, 0);
    for (sender, receiver, label) in pairs() {
        let Some(document) = joined(&sender, &receiver) else { continue };
        let swapped = joined(&receiver, &sender).unwrap();
        let name = sender.display();
        let connections = document["connections"].as_array().unwrap();
        for (connection, other) in
            connections.iter().zip(swapped["connections"].as_array().unwrap())
        {
            let (one, two) = (&connection["joined"], &other["joined"]);
            let counts = |joined: &Value| counts(&joined["directions"]);
            assert_eq!(counts(one), counts(two), "{name}: the order of the files matters");
            for way in one["directions"].as_array().unwrap() {
                assert_eq!(way["missed_by_sender_capture"], 0, "{name}: {way}");
                assert_eq!(way["missed_by_receiver_capture"], 0, "{name}: {way}");
                let least = way["delay_min_s"].as_f64().unwrap_or(0.0);
                assert!(least >= -0.001, "{name}: {way}");
            }
        }
        checked += 1;
        let Some(dropped) = label.as_ref().and_then(dropped) else { continue };
        let largest = connections.iter().max_by_key(|connection| {
            ["forward", "reverse"]
                .map(|way| connection[way]["payload_bytes"].as_u64())
                .into_iter()
                .max()
        });
        let connection = largest.unwrap();
        let way = usize::from(connection["way"] == "reverse");
        let passage = &connection["joined"]["directions"][way];
        assert_eq!(passage["lost_packets"], dropped, "{name}: {passage}");
        counted += 1;
    }
    println!("{checked} pairs joined, {counted} of them against the drops of their line");
    assert!(checked > 0 && counted > 0 || std::env::var("MAXSEG_CAPTURES").is_ok());
}
