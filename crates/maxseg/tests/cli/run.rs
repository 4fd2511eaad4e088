//! `maxseg run`: what it prints and draws.

use serde_json::Value;

use super::{command, json, maxseg, small, stderr, stdout};

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

#[test]
fn csv_has_a_line_a_row_and_empty_fields_for_the_unknown() {
    let output = maxseg(&small(&["--csv"]));
    let text = stdout(&output);
    let header: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    assert_eq!(header[..5], ["engine", "seed", "hash", "hop.radio.errors.rate", "sender.mss"]);
    assert_eq!(text.lines().count(), 1 + 8);
    let caveats = header.iter().position(|column| *column == "caveats").unwrap();
    let is_of_formula = |line: &str| line.split(',').nth(caveats) == Some("accuracy mathis");
    assert!(text.lines().any(is_of_formula), "{text}");
    let timeouts = header.iter().position(|column| *column == "timeouts").unwrap();
    let model = text.lines().find(|line| line.starts_with("model,")).unwrap();
    assert_eq!(model.split(',').nth(timeouts), Some(""));
}

#[test]
fn the_same_seed_gives_the_same_rows_on_any_number_of_cores() {
    let rows =
        |jobs: &str| json(&small(&["--seeds", "4", "--json", "--jobs", jobs]))["rows"].clone();
    assert_eq!(rows("1"), rows("4"));
}

/// Such a run is made once for all seeds; what comes out must be what each would have given.
#[test]
fn where_nothing_is_random_every_seed_gives_what_it_gives_alone() {
    let rows = |seeds: [&str; 2], more: &[&str]| {
        let clean = ["run", "cellular-mss", "--axis", "sender.mss=536,600", "--json", "--set"];
        let clean = [&clean[..], &["hop.radio.errors.rate=0", "--set", "until.time=50 s"]].concat();
        json(&[&clean[..], &seeds, more].concat())["rows"].as_array().unwrap().clone()
    };
    let of_seed = |rows: &[Value], seed: u64| -> Vec<Value> {
        rows.iter().filter(|row| row["seed"] == seed).cloned().collect()
    };
    for jobs in ["1", "3"] {
        let together = rows(["--seeds", "3"], &["--jobs", jobs]);
        for seed in [1, 2, 3] {
            let alone = rows(["--set", &format!("seed={seed}")], &[]);
            assert!(!of_seed(&alone, seed).is_empty());
            assert_eq!(of_seed(&together, seed), of_seed(&alone, seed), "seed {seed}");
        }
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
    assert!(stderr(&output).contains(&format!("chart: {name}")), "{}", stderr(&output));
    let text = std::fs::read_to_string(&file).unwrap();
    let picture = roxmltree::Document::parse(&text).unwrap();
    assert!(picture.root_element().has_tag_name(("http://www.w3.org/2000/svg", "svg")));
    assert!(text.contains("effective MSS") && text.contains(".ground{fill:#ffffff}"));
    assert!(!text.contains("var("), "not every program that shows SVG knows custom properties");
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
fn the_page_needs_nothing_else_and_its_pictures_are_well_formed() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    assert!(maxseg(&small(&["--seeds", "3", "--out", out.to_str().unwrap()])).status.success());
    let page = std::fs::read_to_string(out.join("report.html")).unwrap();
    for outside in ["http://", "https://", "src=", "@import", "<link"] {
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
    for wanted in [
        "effective MSS (bytes)",
        "↑ goodput",
        "1%",
        "5%",
        "model, within its range",
        "95% confidence",
    ] {
        assert!(texts.contains(&wanted), "no {wanted:?} in {texts:?}");
    }
    assert!(page.contains("maxseg run cellular-mss"), "how to run it again");
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

/// A hop with a queue of ten packets, one with a policer that is narrow too, one with errors.
const THREE_HOPS: &str = "\
[[hop]]\nname = \"access\"\nrate = \"5 Mbit/s\"\ndelay = \"5 ms\"\nqueue = \"10 packets\"\n\
[[hop]]\nname = \"core\"\nrate = \"100 Mbit/s\"\ndelay = \"10 ms\"\nmtu = 1280\n\
policer = { rate = \"2 Mbit/s\", burst = \"20 kB\" }\n\
[[hop]]\nrate = \"100 Mbit/s\"\ndelay = \"1 ms\"\n\
errors = { model = \"uniform\", per = \"packet\", rate = 0.01 }\n\
[[flow]]\nkind = \"bulk\"\n[[flow]]\nkind = \"cbr\"\nrate = \"1 Mbit/s\"\nsize = 400\n\
[until]\ntime = \"20 s\"\n";

#[test]
fn drops_are_counted_by_link_and_cause_and_flows_have_kind_and_name() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("hops.toml");
    std::fs::write(&file, THREE_HOPS).unwrap();
    let file = file.to_str().unwrap();
    let document = json(&["run", file, "-e", "model,sim", "--json"]);
    let row = |engine: &str| {
        let mut rows = document["rows"].as_array().unwrap().iter();
        &rows.find(|row| row["engine"] == engine).unwrap()["outcome"]
    };
    assert!(row("model")["links"].is_null(), "formulas have no packets");
    let links = row("sim")["links"].as_array().unwrap();
    let names: Vec<&str> = links.iter().map(|link| link["link"].as_str().unwrap()).collect();
    let hops = ["hop.access", "hop.core", "hop.2"];
    let expected: Vec<String> =
        hops.iter().flat_map(|hop| [(*hop).to_owned(), format!("{hop}.reverse")]).collect();
    assert_eq!(names, expected);
    let causes = |link: usize| -> Vec<&str> {
        let counts = ["refused", "policed", "early", "damaged", "too_big", "withheld"];
        counts.into_iter().filter(|cause| links[link][*cause].as_u64().unwrap() > 0).collect()
    };
    assert_eq!(causes(0), ["refused"], "{:#}", links[0]);
    assert_eq!(causes(2), ["policed", "too_big"], "{:#}", links[2]);
    assert_eq!(causes(4), ["damaged"], "{:#}", links[4]);
    assert_eq!(causes(1), Vec::<&str>::new());
    let silent = json(&["run", file, "-e", "sim", "--set", "hop.core.icmp=drop", "--json"]);
    let core = &silent["rows"][0]["outcome"]["links"][2];
    assert!(core["withheld"].as_u64().unwrap() > 0 && core["withheld"] == core["too_big"]);
    for engine in ["model", "sim"] {
        let flows = row(engine)["flows"].as_array().unwrap();
        let of = |key: &str| -> Vec<&str> {
            flows.iter().map(|flow| flow[key].as_str().unwrap()).collect()
        };
        assert_eq!((of("kind"), of("name")), (vec!["bulk", "cbr"], vec!["flow.0", "flow.1"]));
    }
    let csv = stdout(&maxseg(&["run", file, "-q", "--csv"]));
    let table: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    let value = |name: &str| {
        let at = table[0].iter().position(|column| *column == name);
        table[2][at.unwrap_or_else(|| panic!("no {name}: {:?}", table[0]))]
    };
    assert_eq!(value("links.hop.core.policed"), links[2]["policed"].to_string());
    assert_eq!((value("flows.1.kind"), value("flows.1.name")), ("cbr", "flow.1"));
    assert!(value("flows.0.goodput_bps").parse::<f64>().unwrap() > 1e5);
}
