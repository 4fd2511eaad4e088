//! `maxseg lab import`.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use super::{command, json, maxseg, stderr, stdout};

fn topology(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/miniedit");
    folder.join(name).to_str().unwrap().to_owned()
}

/// A file in a folder of its own.
fn file_in(folder: &tempfile::TempDir, name: &str) -> (PathBuf, String) {
    let file = folder.path().join(name);
    let argument = file.to_str().unwrap().to_owned();
    (file, argument)
}

#[test]
fn lab_13_becomes_a_scenario_that_runs() {
    let folder = tempfile::tempdir().unwrap();
    let (_, scenario) = file_in(&folder, "lab13.toml");
    let imported = maxseg(&["lab", "import", &topology("lab13.mn"), "-o", &scenario]);
    assert!(imported.status.success() && imported.stdout.is_empty(), "{}", stderr(&imported));
    let talk = stderr(&imported);
    assert!(talk.contains("lab13.toml: the path h1 - s1 - s2 - h2\n"), "{talk}");
    let notes = [
        " controller c0: what is between the hosts passes packets on by itself ",
        " h1 - s1, s2 - h2: no bw, so Mininet sets no limit; 10 Gbit/s is chosen here ",
        " bw 10000 of s1 - s2: carried over, but Mininet ignores more than 1000 (Mbit/s) and sets no limit",
    ];
    for note in notes {
        assert!(super::unwrapped(&talk).contains(note), "{talk}");
    }
    let run = |mtu: &str| {
        let mtu = format!("hop.*.mtu={mtu}");
        let arguments = [
            "run",
            &scenario,
            "--engine",
            "model,sim",
            "--set",
            "until.time=0.5 s",
            "--set",
            &mtu,
            "--json",
        ];
        let document = json(&arguments);
        let rows = document["rows"].as_array().unwrap();
        let sim = rows.iter().find(|row| row["engine"] == "sim").unwrap();
        sim["outcome"]["goodput_bps"].as_f64().unwrap()
    };
    assert!(run("9000") > run("1500"), "errors are per packet, and packets are larger");
}

#[test]
fn a_file_that_is_there_stays_unless_forced() {
    let folder = tempfile::tempdir().unwrap();
    let (file, scenario) = file_in(&folder, "path.toml");
    fs::write(&file, "mine").unwrap();
    let refused = maxseg(&["lab", "import", &topology("version-1.mn"), "-o", &scenario]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(stderr(&refused).contains("path.toml exists\nhint: name another file, or"));
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    let forced =
        maxseg(&["lab", "import", &topology("version-1.mn"), "-o", &scenario, "--force", "-q"]);
    assert!(forced.status.success() && forced.stderr.is_empty(), "{}", stderr(&forced));
    assert_eq!(
        stdout(&maxseg(&["lab", "import", &topology("version-1.mn")])),
        fs::read_to_string(&file).unwrap()
    );
    let (own, topology_itself) = file_in(&folder, "own.mn");
    fs::copy(topology("version-1.mn"), &own).unwrap();
    let refused = maxseg(&["lab", "import", &topology_itself, "-o", &topology_itself, "--force"]);
    assert!(stderr(&refused).contains("own.mn is the topology itself"), "{}", stderr(&refused));
    assert_eq!(fs::read(&own).unwrap(), fs::read(topology("version-1.mn")).unwrap());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "no file is left half-written");
}

#[test]
fn all_that_is_left_out_is_listed_and_no_command_is_run() {
    let file = topology("much-else.mn");
    let output = maxseg(&["lab", "import", &file, "--from", "client", "--to", "server"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let (text, talk) = (stdout(&output), stderr(&output));
    let left_out = [
        "`colour`",
        "`use_tbf` of client - edge",
        "switchType \"userns\" of edge",
        "switchType \"user\" of MiniEdit",
        "dpctl \"6634\" of MiniEdit",
        "openFlowVersions ovsOf13",
        "netflow to 10.1.1.1:9996",
        "controller c0",
        "ipBase \"192.168.0.0/16\" of MiniEdit",
        "ip \"192.168.0.7/16\" of client",
        "defaultRoute \"192.168.0.254\" of client",
        "switchIP \"192.168.0.2\" of edge",
        "cpu 0.25 of client",
        "cores \"0,1\" of client",
        "sched \"rt\" of client",
        "externalInterfaces [\"eth1\"] of client",
        "vlanInterfaces [[\"192.168.9.1/24\",\"9\"]] of client",
        "privateDirectory [[\"/var/log\",\"/tmp/log\"]] of client",
        "stopCommand \"rm -f /tmp/started\" of client",
        "startCommand \"iperf3 -s -D\" of bystander",
        "startCommand \"ovs-vsctl show\" of edge: not run",
        "dpid \"00000000000000ff\" of edge",
        "dpctl \"6635\" of edge",
        "netflow \"1\" of edge",
        "legacyRouter r1",
        "link edge - edge",
        "link edge - c0: it leads to a controller",
        "link edge - nowhere: the file has no node nowhere",
        "bystander: not on the path client - edge - r1 - server",
        "delay \"10 ms\"",
        "jitter \"15ms\"",
        "speedup 100",
        "bw 2000",
        "jitter \"1ms\"",
    ];
    let head = text.split("[[hop]]").next().unwrap();
    let on_one_line = super::unwrapped(&talk);
    for what in left_out {
        assert!(on_one_line.contains(what) && head.contains(what), "{what}\n{talk}");
    }
    // As many lines at the head of the scenario as on standard error, and no more keys than are ours.
    let begins = |line: &&str| line.starts_with("  ") && !line.starts_with("   ");
    let lines = talk.lines().filter(begins).count();
    assert_eq!(head.lines().filter(|line| line.starts_with("# - ")).count(), lines);
    let table: toml::Table = text.parse().unwrap();
    assert_eq!(table.keys().collect::<Vec<_>>(), ["name", "hop"], "a command stays a comment");
    for what in ["sched \"host\"", "nodeNum", "startCLI", "sflow \"0\""] {
        assert!(!talk.contains(what), "{what} says nothing\n{talk}");
    }
}

#[test]
fn what_cannot_be_imported_says_why() {
    let cases = [
        (
            "much-else.mn",
            "error: this topology has 3 hosts: client, server, bystander\nhint: a scenario has two: choose",
        ),
        (
            "loop.mn",
            "error: more than one path leads from h1 to h2: h1 - s1 - s2 - h2, and h1 - s1 - s3 - s2 - h2\n",
        ),
        ("empty.mn", "empty.mn is empty\nhint: MiniEdit of Mininet 2.3.0 saves empty files"),
        ("no-such-file.mn", "error: cannot read "),
    ];
    for (name, words) in cases {
        let output = maxseg(&["lab", "import", &topology(name)]);
        assert_eq!(output.status.code(), Some(1), "{name}");
        assert!(
            output.stdout.is_empty() && stderr(&output).contains(words),
            "{name}: {}",
            stderr(&output)
        );
    }
}

#[test]
fn a_topology_comes_from_a_pipe_too() {
    let mut child = command(&["lab", "import", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"{\n    \"hosts\": oops\n}\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).starts_with("error: <stdin>:2:14: a value is missing or misspelt\n"),
        "{}",
        stderr(&output)
    );
}
