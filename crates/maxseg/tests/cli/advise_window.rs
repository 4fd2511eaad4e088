//! What `advise` prints for a smaller window, carried out: it holds in a transfer of any program.

use std::path::Path;
use std::process::Output;

use super::kernel::{can_have_a_lab, is_installed, wait_until};
use super::{command, json, maxseg, stderr, stdout};

const BLOATED: &str = "[[hop]]\nrate = \"4 Mbit/s\"\ndelay = \"20 ms\"\nqueue = \"400 packets\"\n\
                       [until]\ntime = \"10 s\"\n";

#[test]
fn the_window_that_is_advised_is_held() {
    if !can_have_a_lab() || !is_installed("iperf3", "iperf3") || !is_installed("nft", "nftables") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bloated.toml");
    std::fs::write(&file, BLOATED).unwrap();
    let file = file.to_str().unwrap();
    let advised = json(&["advise", file, "--goal", "latency", "--json", "-q"]);
    let pieces = advised["advice"].as_array().unwrap().iter();
    let mut windows = pieces.filter(|piece| piece["change"]["kind"] == "window");
    let window = windows.next().expect("a window");
    let asked = window["change"]["value"].as_f64().unwrap();
    let ways = window["commands"]["linux"].as_array().unwrap().iter();
    let mut lines = ways.filter_map(|way| way["line"].as_str());
    let line = lines.find(|line| line.starts_with("maxseg tune apply")).expect("a line");

    let name = format!("window-{}", std::process::id());
    let lab = |arguments: &[&str]| -> Output {
        let program = Path::new(env!("CARGO_BIN_EXE_maxseg")).parent().unwrap().display();
        let path = format!("{program}:{}", std::env::var("PATH").unwrap_or_default());
        let mut command = command(&[&["lab"], arguments].concat());
        command.env("MAXSEG_LAB", &name).env("PATH", path);
        command.env("XDG_STATE_HOME", folder.path()).output().unwrap()
    };
    let up = lab(&["up", file]);
    assert!(up.status.success(), "{}", stderr(&up));
    let line = line.replace("tune apply", "tune apply --yes").replace("SENDER", "10.77.0.1");
    let set = lab(&["exec", "receiver", "--", "sh", "-c", &line]);
    assert!(lab(&["exec", "receiver", "--", "iperf3", "-s", "-1", "-D"]).status.success());
    let mut client = None;
    // Until the server listens the client is refused.
    wait_until("iperf3's server listens", || {
        let transfer = ["iperf3", "-c", "10.77.0.2", "-n", "400K", "-i", "0.1", "-J"];
        let output = lab(&[&["exec", "sender", "--"], &transfer[..]].concat());
        client = Some(output.stdout).filter(|_| output.status.success());
        client.is_some()
    });
    assert!(lab(&["down"]).status.success());
    assert!(set.status.success(), "{line}: {}", stderr(&set));
    let report: serde_json::Value = serde_json::from_slice(&client.unwrap()).unwrap();
    let intervals = report["intervals"].as_array().unwrap();
    // iperf3 tells the window from 3.10 on.
    let offered = intervals.iter().filter_map(|it| it["streams"][0]["snd_wnd"].as_f64());
    let offered: Vec<f64> = offered.collect();
    assert!(offered.iter().all(|window| *window <= asked), "{offered:?} of {asked}");
    assert!(offered.iter().all(|window| *window > 0.9 * asked), "{offered:?} of {asked}");
}

/// A line that turns scaling on changes nothing by itself: the window follows the buffer.
#[test]
fn a_window_that_needs_scaling_has_each_command_that_it_takes() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("unscaled.toml");
    let unscaled = "[[hop]]\nrate = \"100 Mbit/s\"\ndelay = \"25 ms\"\nqueue = \"500 KiB\"\n\
                    [sender]\nstack = \"stcp-14.6\"\n[receiver]\nstack = \"stcp-14.6\"\n[until]\ntime = \"10 s\"\n";
    std::fs::write(&file, unscaled).unwrap();
    let told = maxseg(&["advise", file.to_str().unwrap(), "-q"]);
    let told = stdout(&told);
    let head = told.split("\n\n").next().unwrap();
    let commands: Vec<&str> =
        head.lines().skip_while(|line| !line.starts_with("Command:")).collect();
    let of = |on: &str, what: &str| {
        let place = commands.iter().zip(commands.iter().skip(1));
        place.filter(|(head, line)| head.contains(on) && line.contains(what)).count()
    };
    assert_eq!(of("on the receiver:", "tcp_window_scaling=1"), 1, "{head}");
    assert_eq!(of("on the sender:", "tcp_window_scaling=1"), 1, "{head}");
    assert_eq!(of("on the receiver:", "net.ipv4.tcp_rmem="), 1, "{head}");
}
