//! Reports of a path of 20 Mbit/s and 10 ms, which `maxseg path` made over a lab, beside scenarios of it.

use maxseg_core::scenario::Draft;

use super::*;

const TABLE: &str = include_str!("../../../../testdata/path/table.json");
const RFC6349: &str = include_str!("../../../../testdata/path/rfc6349.json");
const BULK: &str = include_str!("../../../../testdata/path/bulk.json");

fn scenario(more: &str) -> Scenario {
    let hop = "[[hop]]\nrate = \"20 Mbit/s\"\ndelay = \"10 ms\"\nqueue = \"60 packets\"\n";
    Draft::parse("path.toml", &format!("{hop}{more}")).and_then(|draft| draft.scenario()).unwrap()
}

fn rows(report: &str, more: &str) -> Result<MeasuredRows, Error> {
    let measured = Measured::of_json(report.as_bytes(), "path.json")?;
    let (scenario, values) = (scenario(more), Map::new());
    measured.rows([(&values, &scenario, "hash")].into_iter())
}

fn mbits(rows: &MeasuredRows) -> Vec<f64> {
    let goodput = |row: &Row| (row.outcome.goodput_bps.unwrap() / 1e5).round() / 10.0;
    rows.rows.iter().map(goodput).collect()
}

#[test]
fn a_row_of_the_table_stands_where_segment_size_and_window_are_equal() {
    let download = "[[flow]]\nkind = \"bulk\"\nfrom = \"receiver\"\n[sender]\nwindow = ";
    let one = rows(TABLE, &format!("{download}\"50024 B\"\n")).unwrap();
    assert_eq!(mbits(&one), [15.9], "1448 bytes");
    assert_eq!(one.without_point, 15);
    let row = &one.rows[0];
    assert_eq!((row.engine, row.seed, row.hash.as_str()), (EngineName::Measured, None, "hash"));
    assert_eq!(row.outcome.mss_used_bytes, Some(1448));
    assert_eq!(row.outcome.timeouts, None, "what was not measured is unknown");
    assert_eq!(
        row.caveats[0].text,
        "measured on the path to 10.77.0.2 by `maxseg path` (a row of its table, download)"
    );
    let small = rows(TABLE, &format!("{download}\"50024 B\"\nmss = 548\n")).unwrap();
    assert_eq!(mbits(&small), [13.0], "536 bytes, and 12 of timestamps");
    let error = rows(TABLE, &format!("{download}\"50000 B\"\n")).unwrap_err();
    let hint = error.hint().unwrap();
    assert!(hint.contains("segments of 536, 1024, 1280, 1448 bytes"), "{hint}");
    assert!(hint.contains("25012 B, 50024 B"), "{hint}");
    assert!(hint.contains("the first point: segments of 1448 bytes; window: 50000 B"), "{hint}");
}

#[test]
fn a_table_stands_beside_a_flow_from_the_sender_and_says_so() {
    let upload = rows(TABLE, "[receiver]\nwindow = \"50024 B\"\n").unwrap();
    assert_eq!(mbits(&upload), [15.9]);
    assert!(upload.rows[0].caveats[0].text.contains("the flow goes from the sender"));
}

#[test]
fn runs_of_rfc_6349_stand_beside_flows_of_their_direction_with_automatic_windows() {
    let upload = rows(RFC6349, "").unwrap();
    assert_eq!(mbits(&upload), [19.3]);
    assert_eq!(upload.without_point, 1, "the download");
    assert!(upload.rows[0].outcome.limited_by.is_some());
    let never_filled = rows(RFC6349, "[receiver]\nwindow = \"2 MiB\"\n").unwrap();
    assert_eq!(mbits(&never_filled), [19.3]);
    assert!(rows(RFC6349, "[receiver]\nwindow = \"64 KiB\"\n").is_err());
    assert!(rows(RFC6349, "[sender]\nmss = 536\n").is_err());
}

#[test]
fn bulk_data_stands_where_the_segment_fills_the_path_mtu() {
    let upload = rows(BULK, "").unwrap();
    assert_eq!(mbits(&upload), [19.2]);
    let outcome = &upload.rows[0].outcome;
    assert!(outcome.ping_mean_s.is_some() && outcome.mss_used_bytes.is_none());
}

#[test]
fn rows_are_placed_behind_those_of_their_point() {
    let row = |engine, n: u64| Row {
        engine,
        point: [("sender.mss".to_owned(), Value::from(n))].into_iter().collect(),
        hash: String::new(),
        seed: None,
        outcome: Outcome::default(),
        caveats: Vec::new(),
    };
    let mut rows = vec![row(EngineName::Model, 536), row(EngineName::Model, 1460)];
    place(&mut rows, vec![row(EngineName::Measured, 536)]);
    let engines: Vec<EngineName> = rows.iter().map(|row| row.engine).collect();
    assert_eq!(engines, [EngineName::Model, EngineName::Measured, EngineName::Model]);
}

#[test]
fn what_is_no_report_with_throughput_is_refused() {
    let told =
        |json: &str| Measured::of_json(json.as_bytes(), "path.json").unwrap_err().to_string();
    assert_eq!(told(""), "path.json cannot be read: it is empty");
    let other = "path.json is not a report of `maxseg path`: it has no `path_mtu`";
    assert_eq!(told("{\"schema_version\": 1, \"rows\": []}"), other);
    let newer = BULK.replacen("\"schema_version\": 1", "\"schema_version\": 2", 1);
    assert_eq!(told(&newer), "path.json has schema version 2; this program reads 1");
    let mut without: Value = serde_json::from_str(BULK).unwrap();
    without["under_load"] = Value::Array(Vec::new());
    let nothing = "path.json has no throughput: nothing was transferred to or from a far end";
    assert_eq!(told(&without.to_string()), nothing);
    without["far_end_error"] = Value::from("nothing answers at port 7");
    assert!(told(&without.to_string()).ends_with("throughput: nothing answers at port 7"));
    let mut wrong: Value = serde_json::from_str(TABLE).unwrap();
    wrong["table"]["rows"][2]["mss_bytes"] = Value::from("many");
    assert!(
        told(&wrong.to_string()).contains("table.rows[2].mss_bytes"),
        "{}",
        told(&wrong.to_string())
    );
}
