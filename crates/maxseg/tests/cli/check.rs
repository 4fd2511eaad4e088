//! `maxseg check`.

use std::path::Path;

use super::{json, maxseg, stderr, stdout};

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
    assert!(text.contains("more than the 10000000 of one `maxseg run`"), "{text}");
    assert!(text.contains("examined  1000 of the points"), "{text}");
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
    assert!(stdout(&maxseg(&arguments)).contains("asked 1460, advertised 1380, effective 1368"));
    let document = json(&[&arguments[..], &["--json"]].concat());
    // The receiver, behind the tunnel, offers what its own MTU lets in; timestamps take 12 bytes of each segment.
    let of = |asked: u64, offered: u64| serde_json::json!({ "asked": asked, "advertised": offered, "effective": offered - 12, "points": 1 });
    assert_eq!(document["mss"], serde_json::json!([of(536, 536), of(1460, 1380)]));
    assert_eq!(document["runs"], 4);
    assert!(
        document["cpu_s"].as_f64().unwrap() > 0.0 && document["packets"].as_f64().unwrap() > 1e5
    );
}

#[test]
fn check_tells_how_long_a_lab_takes_and_runs_nothing() {
    let arguments = ["check", "jumbo-frames", "--engine", "lab", "--seeds", "3"];
    let text = stdout(&maxseg(&arguments));
    // 4 points, 3 seeds, 10 s.
    for wanted in
        ["lab takes about 2.04 minutes of real time", "lab, as-netem (at MTU of every hop (bytes)"]
    {
        assert!(text.contains(wanted), "no {wanted:?} in\n{text}");
    }
    // Nor are there keys that the kernel of today does not heed.
    assert!(!text.contains("simulated") && !text.contains("lab, kernel"), "{text}");
    let seconds = json(&[&arguments[..], &["--json"]].concat())["lab_s"].as_f64().unwrap();
    assert!((120.0..125.0).contains(&seconds), "{seconds}");
    assert!(json(&["check", "jumbo-frames", "--json"])["lab_s"].is_null());
}
