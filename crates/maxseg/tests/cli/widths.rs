//! Lines of output end within 80 columns.

use std::path::Path;
use std::process::Output;

use maxseg_testkit::is_its_turn;

use super::{command, stderr, stdout};

const WIDTH: usize = 80;

/// Runs the program with `COLUMNS` unset and with 80 of them, and checks what it prints both ways.
fn fits(arguments: &[&str]) {
    let unset = command(arguments).env_remove("COLUMNS").output().unwrap();
    let set = command(arguments).env("COLUMNS", "80").output().unwrap();
    for output in [&unset, &set] {
        assert_fits(arguments, output);
    }
    assert_eq!(stdout(&unset), stdout(&set), "{arguments:?}: 80 columns are the default");
}

fn assert_fits(arguments: &[&str], output: &Output) {
    let wrong: Vec<String> = [stdout(output), stderr(output)]
        .iter()
        .flat_map(|text| text.lines())
        .filter(|line| line.chars().count() > WIDTH && !must_stay_whole(line))
        .map(str::to_owned)
        .collect();
    assert!(wrong.is_empty(), "{arguments:?}:\n{}", wrong.join("\n"));
}

/// An indented command or display filter to paste; or a name, path or URL that is longer than a line has room for.
fn must_stay_whole(line: &str) -> bool {
    let text = line.trim_start();
    let indent = line.chars().count() - text.chars().count();
    let is_pasted = ["maxseg ", "sudo ", "sysctl ", "ip ", "tc ", "ip.addr ", "ipv6.addr "]
        .iter()
        .any(|begin| text.starts_with(begin));
    let is_one_word = !text.contains(' ');
    (indent >= 2 && is_pasted) || is_one_word
}

fn scenarios() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios"))
}

#[test]
fn help_of_every_command_fits() {
    let commands: [&[&str]; 28] = [
        &[],
        &["capture"],
        &["explain"],
        &["path"],
        &["run"],
        &["check"],
        &["lab"],
        &["lab", "up"],
        &["lab", "exec"],
        &["lab", "shell"],
        &["lab", "set"],
        &["lab", "status"],
        &["lab", "down"],
        &["lab", "import"],
        &["tune"],
        &["tune", "apply"],
        &["tune", "undo"],
        &["tune", "status"],
        &["tune", "confirm"],
        &["tune", "watch"],
        &["calc"],
        &["demo"],
        &["doctor"],
        &["guide"],
        &["stacks"],
        &["schema"],
        &["completions"],
        &["man"],
    ];
    for path in commands {
        fits(&[path, &["--help"]].concat());
        fits(&[path, &["-h"]].concat());
        fits(&[&["help"], path].concat());
    }
}

#[test]
fn the_first_help_says_what_each_verb_is_for_and_has_no_empty_line_of_commands() {
    let help = stdout(&command(&["--help"]).output().unwrap());
    for verb in ["See: ", "Explain: ", "Try: ", "Set: "] {
        let line = help.lines().find(|line| line.starts_with(verb));
        assert!(line.is_some_and(|line| line.len() > verb.len() + 20), "{verb}\n{help}");
    }
    assert!(!help.contains("later version"), "{help}");
}

#[test]
fn the_demo_fits() {
    if !is_its_turn(2) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    fits(&["demo", "-q", "--report", folder.path().join("report.html").to_str().unwrap()]);
}

#[test]
fn runs_fit() {
    // An axis with caveats; two axes with the best sizes; many columns; one point; a verbose table of two axes.
    let sizes = "sender.mss=88,216,344,472,536,600,728,984,1368,1460";
    let rates = "hop.radio.errors.rate=0,0.0001,0.001,0.01,0.02,0.03,0.04,0.05,0.06,0.07,0.08,0.1";
    let runs: [&[&str]; 6] = [
        &["slow-tunnel", "--axis", "sender.mss=536,1460"],
        &["cellular-mss", "--set", "until.time=5 s", "--axis", sizes, "--axis", rates],
        &["cellular-mss", "--set", "until.time=5 s", "--axis", "sender.mss=536,600", "-v"],
        &["cellular-requests", "--set", "until.time=20 s"],
        &["cable-modem", "--set", "until.time=5 s"],
        &["path-of-one", "--seeds", "3"],
    ];
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("path-of-one");
    std::fs::write(
        &file,
        "[[hop]]\nrate = \"1 Mbit/s\"\ndelay = \"10 ms\"\n[until]\ntime = \"2 s\"\n",
    )
    .unwrap();
    for run in runs {
        let name = if run[0] == "path-of-one" { file.to_str().unwrap() } else { run[0] };
        fits(&[&["run", name], &run[1..]].concat());
    }
}

#[test]
fn wide_tables_are_in_one_piece_and_stacked_ones_drop_nothing() {
    let arguments = ["run", "slow-tunnel", "--axis", "sender.mss=536,1460"];
    let stacked = stdout(&command(&arguments).output().unwrap());
    let wide = stdout(&command(&[&arguments[..], &["--wide"]].concat()).output().unwrap());
    let header = wide.lines().next().unwrap();
    for title in ["segment size (bytes)", "goodput by model", "queueing delay", "limited by"] {
        assert!(header.contains(title), "no {title:?} in\n{wide}");
    }
    let table = wide.lines().take_while(|line| !line.is_empty());
    for row in table.skip(2) {
        for cell in row.split("  ").map(str::trim).filter(|cell| !cell.is_empty()) {
            assert!(stacked.contains(cell), "{cell:?} was dropped:\n{stacked}");
        }
    }
}

#[test]
fn checks_fit() {
    for entry in std::fs::read_dir(scenarios()).unwrap() {
        let file = entry.unwrap().path();
        let name = file.file_stem().unwrap().to_str().unwrap();
        fits(&["check", name]);
    }
    fits(&["check", "jumbo-frames", "--engine", "model,sim,lab", "--seeds", "3"]);
    fits(&["check", "cellular-mss", "--axis", "sender.mss=1..1460..1", "--seeds", "1000000"]);
}

#[test]
fn explanations_fit() {
    let folder = tempfile::tempdir().unwrap();
    let capture = folder.path().join("tunnel.pcapng");
    let capture = capture.to_str().unwrap();
    let run = ["run", "slow-tunnel", "--engine", "sim", "-q", "--pcap", capture];
    let written = command(&run).args(["--set", "until.time=5 s"]).output().unwrap();
    assert!(written.status.success(), "{}", stderr(&written));
    // Beside the path of the file, which is named as it was given.
    let in_folder = |more: &[&str]| {
        let arguments = [&["explain", "tunnel.pcapng"], more].concat();
        let output = command(&arguments).current_dir(folder.path()).env_remove("COLUMNS").output();
        assert_fits(&arguments, &output.unwrap());
    };
    in_folder(&[]);
    in_folder(&["-v"]);
    in_folder(&["-vv"]);
    in_folder(&["--connection", "0"]);
    let list = |more: &[&str]| {
        let arguments = [&["explain", "tunnel.pcapng"], more].concat();
        let output = command(&arguments).current_dir(folder.path()).env_remove("COLUMNS").output();
        let text = stdout(&output.unwrap());
        text.split("\nConnections\n").nth(1).unwrap().to_owned()
    };
    let header = list(&["--wide"]).lines().next().unwrap().to_owned();
    let titles = ["from", "data", "goodput", "MSS", "RTT", "limited by", "worst finding"];
    assert!(titles.iter().all(|title| header.contains(title)), "{header}");
    let stacked = list(&[]);
    assert!(titles.iter().all(|title| stacked.contains(title)), "{stacked}");
}

#[test]
fn formulas_fit() {
    fits(&["calc", "--list"]);
    for entry in maxseg_workbench::calc::ENTRIES {
        fits(&["calc", entry.name]);
        let values = entry.example.split_whitespace();
        fits(&["calc", entry.name].into_iter().chain(values).collect::<Vec<_>>());
    }
}

#[test]
fn imported_topologies_fit() {
    let topologies = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/miniedit");
    for name in ["lab13.mn", "version-1.mn", "much-else.mn"] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::copy(topologies.join(name), folder.path().join(name)).unwrap();
        let arguments = ["lab", "import", name, "-o", "path.toml"];
        let output = command(&arguments).current_dir(folder.path()).env_remove("COLUMNS").output();
        assert_fits(&arguments, &output.unwrap());
    }
}

#[test]
fn lists_fit() {
    fits(&["stacks"]);
    fits(&["guide"]);
    // Its figures are of the moment: no two of them are equal.
    let doctor = ["doctor", "-v"];
    assert_fits(&doctor, &command(&doctor).env_remove("COLUMNS").output().unwrap());
}
