//! What every command has in common: mistakes, quiet, pipes, help.

use std::process::Stdio;

use super::{command, maxseg, small, stderr, stdout};

#[test]
fn mistakes_are_told_once_with_place_and_hint() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("path.toml");
    std::fs::write(&file, "[[hop]]\nname = \"radio\"\nrate = \"10 MB/s\"\ndelay = \"1 ms\"\n")
        .unwrap();
    let output = maxseg(&["run", file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).is_empty());
    let want = format!(
        "error: `MB/s` is not a unit of a rate; use one of: bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s\n\
         \x20--> {}:3:8\n  |\n3 | rate = \"10 MB/s\"\n  |        ^^^^^^^^^\nhint: for example rate = \"10 Mbit/s\"\n",
        file.display()
    );
    assert_eq!(stderr(&output), want);
    let cases: [(&[&str], i32, &str); 8] = [
        (&["run", "no-such-file.toml"], 1, "hint: shipped scenarios: slow-tunnel"),
        (&["run", "slow-tunnel", "--set", "sender.mss=0"], 1, "--> in `--set sender.mss=0`"),
        (&["run", "slow-tunnel", "--axis", "sender.mss="], 1, "the axis is empty"),
        (&["stacks", "show", "ns2-ren"], 1, "hint: did you mean `ns2-reno`?"),
        (&["rum"], 2, "hint: did you mean `maxseg run`?"),
        (&["run", "slow-tunnel", "--engine", "labs"], 2, "hint: did you mean `lab`?"),
        (
            &["run", "slow-tunnel", "--as-netem"],
            1,
            "--as-netem is for the lab, which is not asked for",
        ),
        (&["check", "slow-tunnel", "--traffic", "iperf3"], 1, "hint: --engine lab"),
    ];
    for (arguments, code, words) in cases {
        let output = maxseg(arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}");
        assert!(stderr(&output).contains(words), "{arguments:?}: {}", stderr(&output));
    }
}

#[test]
fn quiet_is_quiet_and_a_pipe_gets_no_colour() {
    let noisy = maxseg(&small(&[]));
    assert!(!noisy.stderr.is_empty() && !stdout(&noisy).contains('\x1b'));
    let quiet = maxseg(&small(&["-q"]));
    assert!(quiet.stderr.is_empty(), "{}", stderr(&quiet));
    let forced = maxseg(&small(&["--color", "always"]));
    assert!(stdout(&forced).contains("\x1b[1m"));
    let silent = maxseg(&["run", "no-such-file.toml", "-qq"]);
    assert!(silent.stderr.is_empty() && silent.status.code() == Some(1));
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let mut child =
        command(&small(&["--csv"])).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(
        output.status.success() && !stderr(&output).contains("panicked"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn help_has_four_rooms_in_order() {
    let help = stdout(&maxseg(&["--help"]));
    let at = |room: &str| help.find(&format!("{room}:\n")).unwrap_or_else(|| panic!("no {room}"));
    let places: Vec<usize> = ["See", "Explain", "Try", "Set", "And"].map(at).to_vec();
    assert!(places.is_sorted(), "{help}");
    assert!(stdout(&maxseg(&["help", "run"])).contains("Examples:"));
    for shell in ["bash", "zsh", "fish"] {
        assert!(stdout(&maxseg(&["completions", shell])).contains("maxseg"));
    }
}
