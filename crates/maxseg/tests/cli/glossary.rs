//! The glossary has every word that results use, and none that they do not.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{json, maxseg, stdout};

/// The words in backquotes at the beginning of the rows of a section's tables.
fn words_of(section: &str) -> BTreeSet<String> {
    let glossary = include_str!("../../../../docs/glossary.md");
    let heading = format!("\n## {section}\n");
    let (_, from) = glossary.split_once(&heading).unwrap_or_else(|| panic!("no {section}"));
    let text = from.split_once("\n## ").map_or(from, |(text, _)| text);
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.map(|row| row.split_once('`').unwrap().0.to_owned()).collect()
}

/// The words of an enumeration in a schema's definitions.
fn enumeration(schema: &Value, name: &str) -> BTreeSet<String> {
    let definition = &schema["$defs"][name];
    let of_variants = definition["oneOf"].as_array().into_iter().flatten();
    let single = of_variants.map(|variant| variant["const"].clone());
    let listed = definition["enum"].as_array().into_iter().flatten().cloned();
    let words = single.chain(listed).filter_map(|word| word.as_str().map(str::to_owned));
    let words: BTreeSet<String> = words.collect();
    assert!(!words.is_empty(), "{name} has no words: {definition}");
    words
}

/// The first line of a table of comma-separated values.
fn header(arguments: &[&str]) -> BTreeSet<String> {
    let text = stdout(&maxseg(arguments));
    text.lines().next().unwrap().split(',').map(str::to_owned).collect()
}

#[test]
fn every_limit_and_finding_is_explained() {
    let schema = json(&["schema", "explain"]);
    assert_eq!(words_of("Limits"), enumeration(&schema, "LimitedBy"));
    assert_eq!(words_of("Findings"), enumeration(&schema, "FindingKind"));
}

#[test]
fn every_column_of_a_run_is_explained() {
    let columns = header(&["run", "slow-tunnel", "--engine", "model", "--csv"]);
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let arguments =
        ["run", "slow-tunnel", "--set", "until.time=1 s", "--series", "1 s", "--out", out];
    assert!(maxseg(&arguments).status.success());
    let series = std::fs::read_to_string(folder.path().join("series.csv")).unwrap();
    let of_series = series.lines().next().unwrap().split(',').map(str::to_owned);
    assert_eq!(words_of("Results of a run"), columns.into_iter().chain(of_series).collect());
}

#[test]
fn every_column_of_a_link_is_explained() {
    let columns =
        header(&["run", "slow-tunnel", "--engine", "sim", "--csv", "--set", "until.time=1 s"]);
    let of_links = columns.iter().filter(|column| column.starts_with("links."));
    let names = of_links.filter_map(|column| column.rsplit('.').next()).map(str::to_owned);
    assert_eq!(words_of("Links of a run"), names.collect());
}

#[test]
fn every_column_of_a_capture_is_explained() {
    let capture =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/captures/d_rwnd.sender.pcap.gz");
    assert_eq!(words_of("Connections of a capture"), header(&["explain", capture, "--csv"]));
}
