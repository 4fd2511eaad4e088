//! `maxseg explain` over captures.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;

use super::{command, json, maxseg, stderr, stdout};

/// A labelled capture: a window that never grew, before a path that holds five times as much.
fn labelled(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.join("testdata/captures").join(name).display().to_string()
}

const WINDOW: &str = "d_rwnd.receiver.pcap.gz";

/// A simulated run as a capture.
fn simulated(folder: &Path) -> PathBuf {
    let file = folder.join("run.pcapng");
    let name = file.to_str().unwrap();
    let run = maxseg(&[
        "run",
        "slow-tunnel",
        "-q",
        "--set",
        "until.bytes=200 kB",
        "--engine",
        "sim",
        "--pcap",
        name,
    ]);
    assert!(run.status.success(), "{}", stderr(&run));
    file
}

#[test]
fn the_first_screen_is_about_the_window() {
    let output = maxseg(&["explain", &labelled(WINDOW)]);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    for wanted in [
        "The receive window limited 10.79.0.1:",
        "offer a receive window of",
        "sysctl -w net.ipv4.tcp_rmem=",
        "Evidence",
    ] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
}

#[test]
fn the_senders_congestion_control_is_named() {
    for (file, name) in [
        ("lab_congestion_reno_144.sender.pcapng.gz", "reno"),
        ("lab_congestion_reno_144.receiver.pcapng.gz", "reno"),
        ("lab_congestion_cubic_048.sender.pcapng.gz", "cubic"),
        ("lab_bandwidth_bbr_002.sender.pcapng.gz", "bbr"),
    ] {
        let document = json(&["explain", &labelled(file), "--json"]);
        let said = &document["connections"][0]["congestion_control"];
        assert_eq!(said["name"], name, "{file}: {said}");
        assert!(said["confidence"].as_f64().unwrap() > 0.8, "{file}: {said}");
        let text = stdout(&maxseg(&["explain", &labelled(file)]));
        let line = format!("congestion     {name}, confidence ");
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words(&text).contains(&words(&line)), "{file}: {text}");
    }
    // Nothing was lost, and the window was the limit: its label says BBR, which a pace below the window shows.
    let document = json(&["explain", &labelled(WINDOW), "--json"]);
    let said = &document["connections"][0]["congestion_control"];
    assert_eq!(said["name"], "bbr", "{said}");
}

#[test]
fn the_document_fits_its_schema() {
    let schema = maxseg(&["schema", "explain"]);
    let schema: Value = serde_json::from_slice(&schema.stdout).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for name in [WINDOW, "pmtu_frag_needed.pcap.gz", "app_paced.pcap.gz"] {
        let document = json(&["explain", &labelled(name), "--json", "--tshark-compat"]);
        let errors: Vec<String> =
            validator.iter_errors(&document).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{name}: {errors:?}");
        assert_eq!(document["schema_version"], 1);
        assert!(document["connections"][0]["forward"]["tshark"].is_object(), "{name}");
    }
}

#[test]
fn a_capture_comes_through_a_pipe() {
    let bytes = fs::read(labelled(WINDOW)).unwrap();
    let mut child = command(&["explain", "-", "--csv"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&bytes).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(stdout(&output).lines().count(), 3, "a header, and a line for each way");
}

#[test]
fn a_truncated_file_is_explained_as_far_as_it_goes() {
    let folder = tempfile::tempdir().unwrap();
    let whole = fs::read(simulated(folder.path())).unwrap();
    let cut = folder.path().join("cut.pcapng");
    fs::write(&cut, &whole[..whole.len() - 3]).unwrap();
    let output = maxseg(&["explain", cut.to_str().unwrap(), "--json"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).contains("the file ends within a record"), "{}", stderr(&output));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["problems"][0]["code"], "truncated");
    assert!(document["problems"][0]["offset"].as_u64().unwrap() < whole.len() as u64);
    assert!(document["connections"][0]["forward"]["packets"].as_u64().unwrap() > 10);
}

#[test]
fn of_a_capture_that_is_broken_before_its_end_nothing_is_printed_and_the_hint_explains_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let mut bytes = fs::read(simulated(folder.path())).unwrap();
    // The length of the block behind those of more than ten packets, halfway.
    let mut at = 0;
    while at < bytes.len() / 2 {
        at += u32::from_le_bytes(bytes[at + 4..at + 8].try_into().unwrap()) as usize;
    }
    bytes[at + 4] ^= 1;
    fs::write(folder.path().join("broken.pcapng"), &bytes).unwrap();
    for command_line in [&["explain"][..], &["explain", "--json"], &["capture", "--read"]] {
        let output = command(command_line).arg("broken.pcapng").current_dir(folder.path()).output();
        let output = output.unwrap();
        assert_eq!((output.status.code(), stdout(&output)), (Some(1), String::new()));
        let said = stderr(&output);
        assert!(said.contains(&format!("at byte {at}")), "{said}");
        let (_, hint) = said.split_once("is whole: ").unwrap();
        let path = Path::new(env!("CARGO_BIN_EXE_maxseg")).parent().unwrap().display().to_string();
        let path = format!("{path}:{}", std::env::var("PATH").unwrap());
        let mut shell = std::process::Command::new("sh");
        let shell = shell.args(["-c", hint.trim()]).env("PATH", path).current_dir(folder.path());
        let before = shell.output().unwrap();
        assert!(before.status.success(), "{hint}{}", stderr(&before));
        assert!(!before.stdout.is_empty(), "{hint}");
    }
}

#[test]
fn what_is_no_capture_is_refused() {
    let output = maxseg(&["explain", &labelled("d_rwnd.label.json")]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).starts_with("error: "), "{}", stderr(&output));
    assert!(output.stdout.is_empty());
}

#[test]
fn filters_choose_and_their_errors_show_the_place() {
    let file = labelled(WINDOW);
    let document = json(&["explain", &file, "--json", "--filter", "host 10.79.0.1 and not port 1"]);
    assert_eq!(document["connections"].as_array().unwrap().len(), 1);
    let document = json(&["explain", &file, "--json", "--filter", "stream 7"]);
    assert!(document["connections"].as_array().unwrap().is_empty());
    let wrong = maxseg(&["explain", &file, "--filter", "host 10.79.0.1 or prt 5201"]);
    assert_eq!(wrong.status.code(), Some(2));
    let words = stderr(&wrong);
    assert!(
        words.contains("`prt` is no condition") && words.contains("                    ^^^"),
        "{words}"
    );
}

#[test]
fn a_connection_that_is_not_there_is_said() {
    let output = maxseg(&["explain", &labelled(WINDOW), "--connection", "9"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("no connection 9"), "{}", stderr(&output));
    let interface = maxseg(&["explain", &labelled(WINDOW), "--interface", "eth9"]);
    assert!(stderr(&interface).contains("no interface `eth9`"), "{}", stderr(&interface));
}

#[test]
fn options_of_captures_are_refused_for_connections_and_the_reverse() {
    for option in [["--csv", "--json"], ["--filter", "port 80"], ["--report", "no.html"]] {
        let output = maxseg(&["explain", "192.0.2.1:443", option[0], option[1]]);
        assert_ne!(output.status.code(), Some(0), "{option:?}");
    }
    let output = maxseg(&["explain", "192.0.2.1:443", "--connection", "3"]);
    assert!(stderr(&output).contains("--connection is for captures"), "{}", stderr(&output));
    let output = maxseg(&["explain", &labelled(WINDOW), "--netns", "x"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("--netns is for connections"), "{}", stderr(&output));
    assert!(stderr(&maxseg(&["explain", "no-such-file.pcap"])).contains("there is no file"));
}

#[test]
fn the_path_becomes_a_scenario_that_runs() {
    let folder = tempfile::tempdir().unwrap();
    let (scenario, report) = (folder.path().join("path.toml"), folder.path().join("page.html"));
    let (scenario, report) = (scenario.to_str().unwrap(), report.to_str().unwrap());
    for name in [WINDOW, "d_mss536.sender.pcap.gz", "d_spurious_rto.receiver.pcap.gz"] {
        let output =
            maxseg(&["explain", &labelled(name), "--scenario", scenario, "--report", report]);
        assert!(output.status.success(), "{}", stderr(&output));
        let check = maxseg(&["check", scenario]);
        assert!(check.status.success(), "{}", stderr(&check));
        let page = fs::read_to_string(report).unwrap();
        assert!(page.contains("Time-sequence graph") && page.trim_end().ends_with("</html>"));
    }
}

#[test]
fn a_simulated_capture_says_what_the_simulator_knows() {
    let folder = tempfile::tempdir().unwrap();
    let file = simulated(folder.path());
    let document = json(&["explain", file.to_str().unwrap(), "--json", "--interface", "sender"]);
    let forward = &document["connections"][0]["forward"];
    // The stop rule: so much was acknowledged.
    assert!(forward["payload_bytes"].as_u64().unwrap() >= 200_000, "{forward}");
    assert_eq!(document["interfaces"][0]["name"], "sender");
}

#[test]
fn an_interface_is_the_same_by_name_and_by_number() {
    let folder = tempfile::tempdir().unwrap();
    let file = simulated(folder.path());
    let of = |interface: &str| {
        json(&["explain", file.to_str().unwrap(), "--json", "--interface", interface])
    };
    let (by_name, by_number) = (of("sender"), of("0"));
    let connection = &by_name["connections"][0];
    assert_eq!(connection["handshake"]["syn"], true, "the first packet of the file is the SYN");
    assert_eq!(by_name["connections"], by_number["connections"]);
    assert_eq!(by_name["packets"], by_number["packets"]);
}

#[test]
fn no_output_destroys_the_capture() {
    let folder = tempfile::tempdir().unwrap();
    let (capture, link) = (folder.path().join("a.pcap.gz"), folder.path().join("b.pcap.gz"));
    fs::copy(labelled(WINDOW), &capture).unwrap();
    fs::hard_link(&capture, &link).unwrap();
    let before = fs::read(&capture).unwrap();
    let name = capture.to_str().unwrap();
    for option in ["--report", "--scenario"] {
        for to in [name, link.to_str().unwrap(), "-"] {
            let output = maxseg(&["explain", name, option, to]);
            assert_eq!(output.status.code(), Some(2), "{option} {to}");
            assert!(stderr(&output).contains("hint: "), "{}", stderr(&output));
        }
    }
    let both = maxseg(&["explain", name, "--report", "x", "--scenario", "x"]);
    assert_eq!(both.status.code(), Some(2));
    assert_eq!(fs::read(&capture).unwrap(), before);
}

/// What it prints, on one line.
fn printed(arguments: &[&str]) -> String {
    let output = maxseg(arguments);
    assert!(output.status.success(), "{}", stderr(&output));
    stdout(&output).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn buffers_are_looked_at_first_and_raised_only_where_they_are_smaller() {
    let text = printed(&["explain", &labelled(WINDOW)]);
    let look = text.find("look as well, on 10.79.0.2 (Linux): sysctl net.ipv4.tcp_rmem").unwrap();
    let change =
        text.find("then change, on 10.79.0.2 (Linux): sysctl -n net.ipv4.tcp_rmem |").unwrap();
    assert!(look < change && text.contains("=\"$a $b 524288\""), "{text}");
    assert!(!text.contains("FreeBSD") && !text.contains("Windows"), "{text}");
}

#[test]
fn both_hosts_have_a_system() {
    let document = json(&["explain", &labelled(WINDOW), "--json"]);
    let hosts = &document["connections"][0]["host_system"];
    for end in ["client", "server"] {
        assert_eq!(hosts[end]["name"], "linux", "{hosts}");
        assert!(hosts[end]["evidence"].as_str().unwrap().starts_with("TTL 64, window "), "{hosts}");
    }
}

#[test]
fn a_sender_that_probes_is_not_told_to() {
    let text = printed(&["explain", &labelled("pmtu_blackhole_probing.pcap.gz")]);
    assert!(text.contains("MTU probing of 10.78.1.2 took"), "{text}");
    assert!(text.contains("Stalled for 6.45 s of 6.45 s"), "{text}");
    assert!(!text.contains("sysctl -w net.ipv4.tcp_mtu_probing=1"), "{text}");
    assert!(!text.contains("rerun") && !text.contains("Predicted"), "{text}");
}

#[test]
fn a_filter_that_matches_nothing_says_so() {
    let text = printed(&["explain", &labelled(WINDOW), "--filter", "port 1"]);
    assert!(text.contains("does not match the filter"), "{text}");
}

#[test]
fn lines_fit_what_columns_says() {
    for width in [40_usize, 70, 100] {
        let output = command(&["explain", &labelled(WINDOW)])
            .env("COLUMNS", width.to_string())
            .output()
            .unwrap();
        let text = stdout(&output);
        // Commands and Wireshark's filter are for copying, and the file's name has no blank: they stay whole.
        let copied = ["sysctl ", "ip route ", "maxseg tune apply ", "    ip.addr ", WINDOW];
        let is_prose = |line: &&str| !copied.iter().any(|part| line.contains(part));
        let longest = text.lines().filter(is_prose).map(|line| line.chars().count()).max();
        assert!(longest.is_some_and(|longest| longest <= width && longest > width / 2), "{text}");
    }
}

/// Both captures of a labelled transfer with random losses, in this order.
fn both(first: &str, second: &str) -> [String; 2] {
    [first, second].map(|end| labelled(&format!("d_loss2pct_cubic.{end}.pcap.gz")))
}

#[test]
fn two_captures_are_joined_in_any_order() {
    let [sender, receiver] = both("sender", "receiver");
    for (first, second, judged_in) in [(&sender, &receiver, 0), (&receiver, &sender, 1)] {
        let document = json(&["explain", first, second, "--json"]);
        assert_eq!(document["file"], sender.as_str());
        assert_eq!(document["joined"]["files"][judged_in], sender.as_str());
        let connection = &document["connections"][0];
        assert_eq!(connection["joined"]["judged_in"], judged_in);
        let there = &connection["joined"]["directions"][0];
        // The line's own counts: 1156 packets, of which 21 were dropped at random.
        assert_eq!((&there["sent_packets"], &there["lost_packets"]), (&1156.into(), &21.into()));
        assert_eq!(connection["joined"]["directions"][1]["lost_packets"], 0);
        assert_eq!(connection["loss"]["cause"], "errors");
        assert_eq!(connection["limited_by"], "congestion");
    }
}

#[test]
fn the_text_of_two_captures_has_both_directions() {
    let [sender, receiver] = both("sender", "receiver");
    let output = maxseg(&["explain", &sender, &receiver]);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    for wanted in ["Between the two captures", "clocks", "half the least round trip", "21 (1.82%)"]
    {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
}

#[test]
fn the_document_of_two_captures_fits_its_schema() {
    let schema = maxseg(&["schema", "explain"]);
    let schema: Value = serde_json::from_slice(&schema.stdout).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let [sender, receiver] = both("sender", "receiver");
    let document = json(&["explain", &sender, &receiver, "--json"]);
    let errors: Vec<String> =
        validator.iter_errors(&document).map(|error| error.to_string()).collect();
    assert_eq!(errors, Vec::<String>::new());
}

#[test]
fn one_of_two_captures_may_come_through_a_pipe() {
    let [sender, receiver] = both("sender", "receiver");
    let mut child = command(&["explain", "-", &receiver, "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&fs::read(sender).unwrap()).unwrap();
    let output = child.wait_with_output().unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["connections"][0]["joined"]["directions"][0]["lost_packets"], 21);
}

#[test]
fn captures_that_cannot_be_joined_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let [sender, receiver] = both("sender", "receiver");
    let copy = folder.path().join("copy.pcap.gz");
    fs::copy(&sender, &copy).unwrap();
    let (copy, other) = (copy.to_str().unwrap(), labelled(WINDOW));
    let cases: [(&[&str], i32, &str); 5] = [
        (&[&sender, copy], 1, "copy of the other"),
        (&[&sender, &sender], 2, "is given twice"),
        (&["-", "-"], 2, "- is given twice"),
        (&[&sender, &receiver, &other], 1, "follow each other"),
        (&[&sender, &receiver, "--tshark-compat", "--json"], 2, "one capture"),
    ];
    for (arguments, code, wanted) in cases {
        let output = maxseg(&[&["explain"], arguments].concat());
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {text}");
        assert!(text.contains(wanted), "{arguments:?}: {text}");
        assert!(text.contains("hint"), "{arguments:?}: {text}");
        assert!(stdout(&output).is_empty());
    }
}
