//! `maxseg advise`.

use std::path::{Path, PathBuf};
#[cfg(target_os = "linux")]
use std::process::Command;
use std::process::Output;

use serde_json::Value;

#[cfg(target_os = "linux")]
#[cfg(target_os = "linux")]
use super::kernel::{is_installed, skipped};
use super::{command, stderr, stdout};

/// A shipped scenario for less than its five minutes: what is advised is the same.
const SLOW: [&str; 3] = ["slow-tunnel", "--set", "until.time=30 s"];

/// Advice, with a state folder of the test's own.
fn advise(state: &Path, args: &[&str]) -> Output {
    let mut all = vec!["advise"];
    all.extend(args);
    command(&all).env("XDG_STATE_HOME", state).output().unwrap()
}

pub(super) fn document(state: &Path, args: &[&str]) -> Value {
    let mut all = args.to_vec();
    all.extend(["--json", "-q"]);
    let output = advise(state, &all);
    assert!(output.status.success(), "{}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn kept(state: &Path) -> PathBuf {
    state.join("maxseg/advice.json")
}

#[test]
fn the_first_lines_are_limit_change_gain_and_command() {
    let state = tempfile::tempdir().unwrap();
    let output = advise(state.path(), &SLOW);
    let text = stdout(&output);
    let heads = ["Limit:", "Change:", "Gain:", "Command:"];
    let places: Vec<usize> = heads.iter().map(|head| text.find(head).unwrap()).collect();
    assert!(places.is_sorted() && places[3] < 900, "{text}");
    assert!(text.contains("tcp_rmem") && text.contains("[window-receiver]"), "{text}");
    assert!(text.contains("o as it is, * advised"), "{text}");
}

#[test]
fn the_document_fits_its_schema_and_is_kept_for_tune() {
    let state = tempfile::tempdir().unwrap();
    let args = [&SLOW[..], &["--goal", "balanced", "--guide", "tuned"]].concat();
    let document = document(state.path(), &args);
    let schema = command(&["schema", "advise"]).output().unwrap();
    let schema: Value = serde_json::from_slice(&schema.stdout).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(&document).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    let advice = document["advice"].as_array().unwrap();
    assert!(!advice.is_empty() && document["verdict"] == "advice");
    for piece in advice {
        for key in [
            "id", "change", "scope", "current", "proposed", "gain", "proof", "price", "reason",
            "risk", "source", "commands",
        ] {
            assert!(!piece[key].is_null(), "{key} of {piece}");
        }
    }
    assert_eq!(document["guides"][0]["name"], "tuned");
    let kept: Value = serde_json::from_slice(&std::fs::read(kept(state.path())).unwrap()).unwrap();
    assert_eq!(kept["advice"], document["advice"]);
    assert!(kept["boot_id"].is_string() || cfg!(not(target_os = "linux")));
}

#[test]
fn the_same_question_has_the_same_names() {
    let state = tempfile::tempdir().unwrap();
    let ids = |seed: &str| -> Vec<String> {
        let seed = format!("seed={seed}");
        let document = document(state.path(), &[&SLOW[..], &["--set", &seed]].concat());
        let ids = document["advice"].as_array().unwrap().iter();
        ids.map(|piece| piece["id"].as_str().unwrap().to_owned()).collect()
    };
    let (first, second) = (ids("1"), ids("2"));
    assert!(first.contains(&"window-receiver".to_owned()), "{first:?}");
    assert!(second.contains(&"window-receiver".to_owned()), "{second:?}");
}

#[test]
fn what_is_ignored_stays_so_until_that_is_forgotten() {
    let state = tempfile::tempdir().unwrap();
    let output = advise(state.path(), &["--ignore", "congestion-sender"]);
    assert!(output.status.success() && stderr(&output).contains("congestion-sender"));
    let has = |args: &[&str]| {
        let document = document(state.path(), args);
        assert!(!document["advice"].as_array().unwrap().is_empty());
        document["ignored"].as_array().unwrap().contains(&"congestion-sender".into())
    };
    assert!(has(&SLOW));
    let text = stdout(&advise(state.path(), &SLOW));
    assert!(!text.contains("[congestion-sender]") && text.contains("--forget-ignored"), "{text}");
    assert!(advise(state.path(), &["--forget-ignored"]).status.success());
    assert!(!has(&SLOW));
    let output = advise(state.path(), &["--ignore", "../x"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
}

#[test]
fn where_nothing_helps_that_is_the_answer() {
    let state = tempfile::tempdir().unwrap();
    let file = state.path().join("fine.toml");
    std::fs::write(&file, "[[hop]]\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\nqueue = \"20 packets\"\n[until]\ntime = \"10 s\"").unwrap();
    let output = advise(state.path(), &[file.to_str().unwrap()]);
    assert!(output.status.success());
    assert!(stdout(&output).contains("Leave it as it is"), "{}", stdout(&output));
}

#[test]
fn a_capture_that_shows_too_little_is_unknown_without_a_command() {
    let state = tempfile::tempdir().unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/captures/situations");
    let unknown = folder.join("think-times.client.pcap.gz");
    let document = document(state.path(), &[unknown.to_str().unwrap()]);
    assert_eq!(document["verdict"], "unknown");
    assert!(document["unknown"]["shown_by"].as_str().unwrap().len() > 20, "{document}");
    assert!(document["advice"].as_array().unwrap().is_empty());
}

#[test]
fn a_captured_path_with_errors_has_advice_for_its_hosts() {
    let state = tempfile::tempdir().unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/captures/situations");
    let lossy = folder.join("errors-3-percent.receiver.pcap.gz");
    let page = state.path().join("advice.html");
    let args = [lossy.to_str().unwrap(), "--report", page.to_str().unwrap()];
    let document = document(state.path(), &args);
    let advice = document["advice"].as_array().unwrap();
    let bbr = advice.iter().find(|piece| piece["change"]["word"] == "bbr").unwrap();
    assert_eq!(bbr["settings"][0]["target"], "route.10.77.0.2/32.congctl");
    assert_eq!(bbr["id"], "congestion-10-77-0-1");
    let html = std::fs::read_to_string(&page).unwrap();
    assert!(html.contains("<svg") && html.ends_with("</html>\n"));
}

#[test]
fn what_is_no_path_is_refused_with_a_hint() {
    let state = tempfile::tempdir().unwrap();
    for (args, code, says) in [
        (&["nosuch.toml"][..], 1, "there is no file nosuch.toml"),
        (&["4711"], 2, "4711 is a process"),
        (&["10.0.0.1", "--set", "sender.mss=536"], 2, "--set and --stack are for scenarios"),
        (&["slow-tunnel", "--connection", "1"], 2, "--connection chooses one of a capture"),
        (&["slow-tunnel", "--goal", "speed"], 2, "speed"),
        (&[], 2, "FILE|CONNECTION|HOST"),
        (&["slow-tunnel", "--report", "-"], 2, "--report"),
    ] {
        let output = advise(state.path(), args);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
        assert!(said.contains(says) && said.contains("hint: "), "{args:?}: {said}");
    }
}

#[test]
fn advice_that_cannot_be_kept_is_given_all_the_same() {
    let state = tempfile::tempdir().unwrap();
    let file = state.path().join("file");
    std::fs::write(&file, "").unwrap();
    let output = advise(&file, &SLOW);
    assert!(output.status.success() && stderr(&output).contains("not kept"), "{}", stderr(&output));
}

/// Lines of Linux, in a network namespace of their own: each works, and what takes it back does.
#[cfg(target_os = "linux")]
#[test]
fn the_lines_of_linux_do_what_they_say() {
    let namespace = ["unshare", "-n"];
    let probe = Command::new(namespace[0]).args([namespace[1], "ip", "link"]).output();
    if !probe.is_ok_and(|output| output.status.success()) {
        skipped("a network namespace takes root, unshare and ip");
        return;
    }
    let state = tempfile::tempdir().unwrap();
    let mut lines: Vec<(String, Option<String>)> = Vec::new();
    let bloated = "[[hop]]\nrate = \"2 Mbit/s\"\ndelay = \"20 ms\"\nqueue = \"400 packets\"\n[until]\ntime = \"20 s\"";
    let hole = "[[hop]]\nrate = \"20 Mbit/s\"\ndelay = \"5 ms\"\n[[hop]]\nrate = \"9 Mbit/s\"\ndelay = \"9 ms\"\nmtu = 1200\nicmp = \"drop\"\n\
                [[hop]]\nrate = \"1 Gbit/s\"\ndelay = \"1 ms\"\n[sender]\ndf = true\n[until]\ntime = \"10 s\"";
    let pauses = "[[hop]]\nrate = \"100 Mbit/s\"\ndelay = \"45 ms\"\nqueue = \"1000 packets\"\n[[flow]]\nkind = \"request\"\n\
                  from = \"receiver\"\nrequest = \"400 B\"\nreply = \"400 kB\"\npause = \"2 s\"\n[until]\ntime = \"60 s\"";
    for (number, (text, goal)) in
        [(bloated, "latency"), (hole, "throughput"), (pauses, "throughput")].into_iter().enumerate()
    {
        let file = state.path().join(format!("{number}.toml"));
        std::fs::write(&file, text).unwrap();
        lines.extend(linux_lines(&document(
            state.path(),
            &[file.to_str().unwrap(), "--goal", goal],
        )));
    }
    lines.extend(linux_lines(&document(state.path(), &SLOW)));
    assert!(lines.len() >= 5, "{lines:?}");
    let words: String = lines.iter().map(|(line, _)| line.as_str()).collect();
    for wanted in ["mtu 1200", "window ", "tcp_rmem", "tcp_slow_start_after_idle"] {
        assert!(words.contains(wanted), "no {wanted} in {lines:?}");
    }
    let program = Path::new(env!("CARGO_BIN_EXE_maxseg")).parent().unwrap();
    for (line, undo) in lines {
        let line = line.replace("maxseg tune apply", "maxseg tune apply --yes");
        let undo = undo.map_or_else(
            || "true".to_owned(),
            |undo| undo.replace("maxseg tune undo", "maxseg tune undo --yes"),
        );
        if line.contains("nft ") && !is_installed("nft", "nftables") {
            continue;
        }
        // What a host may have: one way, two ways, a route with what `ip` prints otherwise than it reads.
        for route in [
            "default dev lo metric 7",
            "default proto dhcp rto_min 300ms mtu lock 1400 dev lo",
            "default nexthop via 192.0.2.2 dev lo weight 1 nexthop via 192.0.2.3 dev lo weight 3",
        ] {
            let output = in_namespace(program, state.path(), route, &line, &undo);
            assert!(
                output.status.success(),
                "{route}: {line}: {:?} {}",
                output.status.code(),
                stderr(&output)
            );
        }
    }
}

/// A second line for one host leaves what the first has set; and where there is a route to that host already, nothing is changed.
#[cfg(target_os = "linux")]
#[test]
fn lines_for_one_host_go_together_and_spare_its_own_route() {
    let state = tempfile::tempdir().unwrap();
    let pieces = document(state.path(), &SLOW);
    let lines = linux_lines(&pieces);
    let Some((first, undo)) = lines.iter().find(|(line, _)| line.starts_with("r=")) else {
        panic!("{lines:?}")
    };
    let second = first.replace("congctl bbr", "initcwnd 20").replace("congctl", "initcwnd");
    let both = format!(
        "{first} && {second} && ip route get fibmatch RECEIVER | grep -q 'initcwnd 20 congctl bbr'"
    );
    let program = Path::new(env!("CARGO_BIN_EXE_maxseg")).parent().unwrap();
    let undo = undo.clone().unwrap();
    let route = "default dev lo";
    let output = in_namespace(program, state.path(), route, &both, &undo);
    if skipped_without_namespaces(&output) {
        return;
    }
    assert!(output.status.success(), "{:?} {}", output.status.code(), stderr(&output));
    let own = format!(
        "ip route add RECEIVER dev lo mtu 1000; own=$(ip route); {first}; code=$?; {undo} 2>/dev/null; \
                       [ \"$own\" = \"$(ip route)\" ] && [ $code = 1 ] && ip route del RECEIVER"
    );
    let output = in_namespace(program, state.path(), route, &own, "true");
    assert!(output.status.success(), "{:?} {}", output.status.code(), stderr(&output));
    assert!(stderr(&output).contains("set congctl bbr by hand"), "{}", stderr(&output));
}

#[cfg(target_os = "linux")]
fn skipped_without_namespaces(output: &Output) -> bool {
    let is_refused = stderr(output).contains("unshare failed");
    if is_refused {
        skipped("a network namespace takes root, unshare and ip");
    }
    is_refused
}

/// Runs a line and what takes it back in a network namespace with this route.
#[cfg(target_os = "linux")]
fn in_namespace(program: &Path, state: &Path, route: &str, line: &str, undo: &str) -> Output {
    let setup = format!(
        "ip link set lo up; ip address add 192.0.2.1/24 dev lo; ip route add {route} || exit 6"
    );
    let place =
        |line: &str| line.replace("RECEIVER", "198.51.100.7").replace("SENDER", "198.51.100.7");
    let show = "ip route; nft list ruleset 2>/dev/null; sysctl net.ipv4.tcp_slow_start_after_idle net.ipv4.tcp_mtu_probing";
    let script = format!(
        "{setup}; before=$({show}); {{ {}; }} >/dev/null || exit 3; {} >/dev/null || exit 4; \
         after=$({show}); [ \"$before\" = \"$after\" ] || exit 5",
        place(line),
        place(undo)
    );
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new("unshare");
    command.args(["-n", "sh", "-c", &script]).env("PATH", path).env("XDG_STATE_HOME", state);
    command.output().unwrap()
}

/// The lines for a shell that change something and have no condition but that this program is not there, with what takes them back.
#[cfg(target_os = "linux")]
fn linux_lines(document: &Value) -> Vec<(String, Option<String>)> {
    let pieces = document["advice"].as_array().unwrap().iter();
    let ways =
        pieces.flat_map(|piece| piece["commands"]["linux"].as_array().cloned().unwrap_or_default());
    ways.filter(|way| way["form"] == "shell" && way["known"] == "ran on Linux 6.18")
        .map(|way| {
            let only = way["only_where"].as_str().unwrap_or("maxseg is not on that host");
            assert!(way["kind"] == "change" && only == "maxseg is not on that host", "{way}");
            (way["line"].as_str().unwrap().to_owned(), way["undo"].as_str().map(str::to_owned))
        })
        .collect()
}

const SMALL_WINDOW: &str = "[[hop]]\nrate = \"50 Mbit/s\"\ndelay = \"40 ms\"\nqueue = \"500 packets\"\n\
                            [receiver]\nwindow = \"32 KiB\"\n[until]\ntime = \"5 s\"";

#[test]
fn a_simulated_capture_of_several_places_says_so_and_one_of_them_is_enough() {
    let state = tempfile::tempdir().unwrap();
    let path = |name: &str| state.path().join(name).display().to_string();
    let (scenario, capture) = (path("path.toml"), path("run.pcapng"));
    std::fs::write(&scenario, SMALL_WINDOW).unwrap();
    let run = command(&["run", &scenario, "-q", "--engine", "sim", "--pcap", &capture]).output();
    assert!(run.unwrap().status.success());
    let all = document(state.path(), &[&capture]);
    let unknown = |key: &str| all["unknown"][key].as_str().unwrap();
    assert!(unknown("why").starts_with("the file holds the captures of two places"), "{all}");
    assert!(unknown("shown_by").contains("--interface 0"), "{all}");
    let one = document(state.path(), &[&capture, "--interface", "0"]);
    assert_eq!(one["verdict"], "advice", "{one}");
    assert_eq!(advise(state.path(), &["slow-tunnel", "--interface", "0"]).status.code(), Some(2));
}

#[test]
fn what_a_path_of_unknown_rate_gains_is_a_lower_bound() {
    let state = tempfile::tempdir().unwrap();
    let path = |name: &str| state.path().join(name).display().to_string();
    let (scenario, capture) = (path("path.toml"), path("run.pcapng"));
    let lossy = "errors = { model = \"uniform\", rate = 0.02 }\n[until]\ntime = \"10 s\"";
    let text = format!("[[hop]]\nrate = \"50 Mbit/s\"\ndelay = \"40 ms\"\n{lossy}");
    std::fs::write(&scenario, text).unwrap();
    let run = command(&["run", &scenario, "-q", "--engine", "sim", "--pcap", &capture]).output();
    assert!(run.unwrap().status.success());
    let advice = document(state.path(), &[&capture, "--interface", "0"]);
    let pieces = advice["advice"].as_array().unwrap();
    let bbr = pieces.iter().find(|piece| piece["change"]["kind"] == "congestion").unwrap();
    assert_eq!(bbr["gain"]["is_bound"], true, "{bbr}");
    assert!(bbr["gain"]["ci95"].is_null(), "{bbr}");
    assert!(bbr["reason"].as_str().unwrap().contains("The path carries at least"), "{bbr}");
    let notes = advice["notes"].as_array().unwrap();
    assert!(notes.iter().any(|note| note.as_str().unwrap().contains("at least")), "{notes:?}");
}
