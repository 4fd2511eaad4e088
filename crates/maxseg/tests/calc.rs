//! `maxseg calc` from outside: its pages, its examples, its document, its mistakes.
#![expect(clippy::unwrap_used, reason = "helpers of tests, which may panic")]

use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn calc(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_maxseg"));
    command.arg("calc").args(arguments).env_remove("NO_COLOR").stdin(Stdio::null());
    command.output().unwrap()
}

fn stdout(arguments: &[&str]) -> String {
    let output = calc(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&stdout(arguments)).unwrap()
}

fn names() -> Vec<String> {
    let list = json(&["--list", "--json"]);
    let formulas = list["formulas"].as_array().unwrap().iter();
    formulas.map(|formula| formula["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn every_formula_is_listed_in_its_group() {
    let wanted = [
        "overhead",
        "mss",
        "tunnel",
        "fragments",
        "plateau",
        "bdp",
        "window",
        "rto",
        "recovery",
        "ack-path",
        "host",
        "rfc6349",
        "mathis",
        "pftk",
        "pftk-approx",
        "tfrc",
        "cubic",
        "cardwell",
        "frames",
        "gilbert",
        "arq",
        "fec",
        "optimum-datagram",
        "optimum-tcp",
    ];
    let names = names();
    let list = stdout(&["--list"]);
    for name in wanted {
        assert!(names.iter().any(|known| known == name), "{name}");
        assert!(list.contains(&format!("\n  {name} ")), "{list}");
    }
    let groups = ["Sizes:", "Windows and timers:", "Throughput under loss:", "Frames with errors:"];
    let places: Vec<usize> = groups.map(|group| list.find(group).unwrap()).to_vec();
    assert!(places.is_sorted(), "{list}");
    assert_eq!(list, stdout(&[]), "without a name, the list");
}

#[test]
fn the_example_of_every_page_runs() {
    for name in names() {
        let page = stdout(&[&name]);
        for section in ["Usage:", "Parameters:", "Formula:", "Source:", "Range:", "Example:"] {
            assert!(page.contains(section), "{name} has no {section}");
        }
        let example = page.lines().last().unwrap().trim();
        let mut words = example.split_whitespace();
        assert_eq!((words.next(), words.next()), (Some("maxseg"), Some("calc")), "{page}");
        let arguments: Vec<&str> = words.collect();
        assert!(!stdout(&arguments).is_empty(), "{example}");
        let document = json(&[&arguments[..], &["--json"]].concat());
        assert_eq!((&document["schema_version"], &document["name"]), (&1.into(), &name.into()));
        assert!(document["inputs"].is_object() && document["warnings"].is_array());
        assert!(document["formula"].is_string() && document["range"].is_string());
        for result in document["results"].as_array().unwrap() {
            assert!(result["name"].is_string() && !result["value"].is_null(), "{result}");
            assert!(result["unit"].is_string() || result["value"].is_string(), "{result}");
        }
    }
}

#[test]
fn an_answer_is_exact_for_programs_and_short_for_people() {
    let document = json(&["overhead", "payload=1448", "options=12", "--json"]);
    let efficiency = &document["results"][2];
    assert_eq!(efficiency["name"], "efficiency");
    assert!((efficiency["value"].as_f64().unwrap() - 1448.0 / 1538.0).abs() < 1e-12);
    assert_eq!(document["results"][1]["value"], 1538);
    let text = stdout(&["overhead", "payload=1448", "options=12"]);
    assert!(text.contains("efficiency  94.1%"), "{text}");
    let spaced = json(&["bdp", "rate=10", "Mbit/s", "rtt=80", "ms", "--json"]);
    assert_eq!(spaced["inputs"]["rtt"], "80 ms");
}

#[test]
fn mistakes_are_told_once_with_place_and_hint() {
    let output = calc(&["bdp", "rate=10 MB/s", "rtt=80ms"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "error: `MB/s` is not a unit of a rate; use one of: bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s\n\
         \x20 --> in `rate=10 MB/s`\nhint: for example rate=10Mbit/s\n"
    );
    let cases: [(&[&str], i32, &str); 5] = [
        (&["pftc"], 1, "there is no formula `pftc`\nhint: did you mean `pftk`?"),
        (&["zzz"], 1, "hint: `maxseg calc --list` lists them"),
        (&["pftk", "los=1%"], 1, "hint: did you mean `loss`?"),
        (&["pftk", "loss=1%"], 1, "`pftk` needs `rtt` (a time) and `rto` (a time) too"),
        (&["pftk", "--list"], 2, "does not go with"),
    ];
    for (arguments, code, words) in cases {
        let output = calc(arguments);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {stderr}");
        assert!(stderr.contains(words), "{arguments:?}: {stderr}");
        assert_eq!(stderr.matches("error: ").count(), 1, "{stderr}");
    }
}

#[test]
fn shells_complete_the_names() {
    // What clap generates for fish completes no positional arguments.
    let completions = |shell| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_maxseg"));
        String::from_utf8(command.args(["completions", shell]).output().unwrap().stdout).unwrap()
    };
    for shell in ["bash", "zsh"] {
        assert!(completions(shell).contains("optimum-datagram"), "{shell}");
    }
}
