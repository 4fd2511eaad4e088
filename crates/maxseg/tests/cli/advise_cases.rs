//! `maxseg advise` on the cases of the documents, and beside `explain` and `run` on the same input.

use std::path::{Path, PathBuf};

use maxseg_testkit::sampled;
use serde_json::{Value, json};

use super::advise::document;
use super::{command, stderr};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

/// All captures of the repository.
fn captures() -> Vec<PathBuf> {
    let all = ["", "/situations", "/stories"].iter().flat_map(|part| {
        let files = std::fs::read_dir(folder(&format!("testdata/captures{part}"))).unwrap();
        files.map(|file| file.unwrap().path()).collect::<Vec<_>>()
    });
    let mut files: Vec<PathBuf> =
        all.filter(|file| file.extension().is_some_and(|extension| extension == "gz")).collect();
    files.sort();
    files
}

/// A document of another command.
fn json_of(arguments: &[&str]) -> Value {
    let output = command(arguments).output().unwrap();
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{arguments:?}: {error}: {}", stderr(&output)))
}

fn pieces(document: &Value) -> &Vec<Value> {
    document["advice"].as_array().unwrap()
}

fn find<'a>(document: &'a Value, id: &str) -> Option<&'a Value> {
    pieces(document).iter().find(|piece| piece["id"] == id)
}

/// Of a sample, one capture in so many.
const SAMPLED_CAPTURES: u64 = 4;
/// So many changes for each capture, at least: there is one for half of them, and in each of the samples for two in five or more.
const LEAST_AGREED: f64 = 0.35;

/// What `explain` advises is among what `advise` advises, by the same name, with the same change, words and commands; and of one
/// kind of change there is one piece.
#[test]
fn explain_and_advise_say_the_same_of_every_capture() {
    let files = captures();
    assert!(files.len() > 60, "{}", files.len());
    let files = sampled("captures", files, SAMPLED_CAPTURES);
    let mut agreed = 0;
    for file in &files {
        let state = tempfile::tempdir().unwrap();
        let file = file.to_str().unwrap();
        let advised = document(state.path(), &[file]);
        let explained = json_of(&["explain", file, "--json", "-q"]);
        let concluded = explained["matters_most"]["advice"].as_array().cloned().unwrap_or_default();
        for piece in &concluded {
            let id = piece["id"].as_str().unwrap();
            let same =
                find(&advised, id).unwrap_or_else(|| panic!("{file}: no {id} in {advised:#}"));
            for key in ["change", "text", "on", "proposed", "commands", "risk", "settings"] {
                assert_eq!(same[key], piece[key], "{file}: {key} of {id}");
            }
            agreed += 1;
        }
        if concluded.is_empty() && advised["verdict"] == "unknown" {
            assert!(advised["unknown"]["shown_by"].as_str().unwrap().len() > 20, "{file}");
        }
        let mut kinds: Vec<&Value> =
            pieces(&advised).iter().map(|piece| &piece["change"]["kind"]).collect();
        let count = kinds.len();
        kinds.sort_by_key(|kind| kind.as_str().unwrap());
        kinds.dedup();
        assert_eq!(kinds.len(), count, "{file}: {kinds:?}");
    }
    let share = f64::from(agreed) / files.len() as f64;
    assert!(share >= LEAST_AGREED, "{agreed} changes in {} captures", files.len());
}

/// A sweep's best segment size has the name and the commands of `advise`, and `advise` for the path with that size asks for no other.
#[test]
fn run_and_advise_say_the_same_of_a_segment_size() {
    let state = tempfile::tempdir().unwrap();
    let run = json_of(&["run", "stcp-ftp", "--json", "-q"]);
    let best = &pieces(&run)[0];
    assert_eq!(best["best_bytes"], 1460);
    let advised = document(state.path(), &["stcp-ftp"]);
    let size = find(&advised, "mss-sender").unwrap();
    assert_eq!((&size["id"], &size["change"]), (&best["advice"]["id"], &best["advice"]["change"]));
    let settled = document(state.path(), &["stcp-ftp", "--set", "sender.mss=1460"]);
    assert!(find(&settled, "mss-sender").is_none(), "{settled:#}");
}

/// Of a sample, one scenario in so many.
const SAMPLED: u64 = 8;

/// Every shipped scenario: no two pieces of one kind, and what is advised stands in the table as a whole.
#[test]
fn the_table_has_what_is_advised_for_every_shipped_scenario() {
    let entries = std::fs::read_dir(folder("scenarios")).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for file in sampled("scenarios", files, SAMPLED) {
        let state = tempfile::tempdir().unwrap();
        let advised = document(state.path(), &[file.to_str().unwrap()]);
        let shown: Vec<&Value> = pieces(&advised)
            .iter()
            .filter(|piece| !piece["proof"].as_array().unwrap().is_empty())
            .collect();
        let mut ids: Vec<&str> = shown.iter().map(|piece| piece["id"].as_str().unwrap()).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), shown.len(), "{}: {ids:?}", file.display());
        let is_whole = |row: &Value| row["changes"].as_array().unwrap().len() == shown.len();
        assert!(
            advised["verdict"] == "unknown"
                || advised["rows"].as_array().unwrap().iter().any(is_whole),
            "{}: {advised:#}",
            file.display()
        );
    }
}

/// What a document asks for, and what is advised for its path.
#[test]
fn the_documents_cases() {
    let state = tempfile::tempdir().unwrap();
    let advised = |arguments: &[&str]| document(state.path(), arguments);
    // The slow-link tune-up: nothing is sent again without need.
    let slow = advised(&["slow-link-tune-up"]);
    let timer = &find(&slow, "rto-min-sender").unwrap()["change"];
    assert!(timer["value"].as_f64().unwrap() >= 1.5, "{timer}");
    // 10 Mbit/s and 80 ms: 100 KB, and no field without scaling carries that.
    let cable = advised(&[
        "cable-modem",
        "--set",
        "receiver.window=\"44 segments\"",
        "--set",
        "receiver.window_scale=\"off\"",
    ]);
    let window = find(&cable, "window-receiver").unwrap();
    assert!(window["change"]["value"].as_f64().unwrap() >= 95_000.0, "{window:#}");
    assert!(window["text"].as_str().unwrap().contains("window scaling"), "{window:#}");
    // FDDI: at least what 100 Mbit/s and 70 ms hold.
    let fddi = advised(&["fddi-long-delay", "--set", "receiver.window=\"16 KiB\""]);
    let window = find(&fddi, "window-receiver").unwrap();
    assert!(window["change"]["value"].as_f64().unwrap() >= 875_000.0, "{window:#}");
    // STCP's default_min_mtu: the MSS and 20 bytes, 556 before.
    let stcp = advised(&["stcp-ftp"]);
    let line = &find(&stcp, "mss-sender").unwrap()["commands"]["stcp"][0]["line"];
    assert_eq!(line, "set_stcp_param default_min_mtu 1480");
}

/// Tuning Open Transport: 1460 × 3 is good on one modem link and bad on another.
#[test]
fn the_same_window_is_left_on_one_link_and_changed_on_another() {
    let state = tempfile::tempdir().unwrap();
    let ids = |link: &str| -> Vec<String> {
        let file = state.path().join("link.toml");
        let text = format!(
            "[[hop]]\nname = \"near\"\nrate = \"10 Mbit/s\"\ndelay = \"20 ms\"\n[[hop]]\nname = \"modem\"\n{link}\n\
             [sender]\nstack = \"rfc\"\nmss = 1460\n[receiver]\nstack = \"rfc\"\nwindow = \"3 segments\"\n[until]\ntime = \"60 s\""
        );
        std::fs::write(&file, text).unwrap();
        let document = document(state.path(), &[file.to_str().unwrap()]);
        pieces(&document).iter().map(|piece| piece["id"].as_str().unwrap().to_owned()).collect()
    };
    let slow = ids("rate = \"28.8 kbit/s\"\ndelay = \"65 ms\"\nqueue = \"20 packets\"");
    assert!(slow.is_empty(), "{slow:?}");
    let fast = ids("rate = \"512 kbit/s\"\ndelay = \"120 ms\"\nqueue = \"20 packets\"");
    assert_eq!(fast, ["window-receiver"]);
}

/// The Cisco 766 sends larger packets than the provider's router takes, and nothing says so: packets that fit, or a clamp.
#[test]
fn a_router_that_takes_no_large_packets_gets_smaller_ones() {
    let state = tempfile::tempdir().unwrap();
    let file = state.path().join("cisco-766.toml");
    std::fs::write(
        &file,
        "[[hop]]\nname = \"lan\"\nrate = \"10 Mbit/s\"\ndelay = \"1 ms\"\n[[hop]]\nname = \"isdn\"\nrate = \"128 kbit/s\"\n\
         delay = \"15 ms\"\nmtu = 1006\nicmp = \"drop\"\nqueue = \"20 packets\"\n[[hop]]\nname = \"net\"\nrate = \"10 Mbit/s\"\n\
         delay = \"20 ms\"\n[sender]\nstack = \"linux\"\nmtu_probing = false\n[receiver]\nstack = \"linux\"\n[until]\ntime = \"60 s\"",
    )
    .unwrap();
    let advised = document(state.path(), &[file.to_str().unwrap()]);
    let mtu = &find(&advised, "mtu-sender").unwrap()["change"];
    assert_eq!(mtu["value"], 1006.0, "{advised:#}");
    let clamp = find(&advised, "clamp-gateway").unwrap();
    assert_eq!(clamp["change"]["value"], 966.0);
    assert!(clamp["gain"]["goodput_pct"].is_null() && clamp["proof"] == json!([]), "{clamp:#}");
    assert!(clamp["reason"].as_str().unwrap().contains("No run shows that"), "{clamp:#}");
}

/// Stories 6, 8 and 10: what `advise` says of their captures.
#[test]
fn the_stories_captures_have_their_remedy() {
    let state = tempfile::tempdir().unwrap();
    for (name, kind, words) in [
        ("tunnel-in-tunnel", "mtu", "tcp"),
        ("first-receive-buffer", "first-receive-buffer", "net.ipv4.tcp_rmem"),
        ("slow-start-after-idle", "slow-start-after-idle", "net.ipv4.tcp_slow_start_after_idle"),
        ("vxlan", "mtu-probing", "net.ipv4.tcp_mtu_probing"),
    ] {
        let file = folder(&format!("testdata/captures/stories/{name}.pcap.gz"));
        let advised = document(state.path(), &[file.to_str().unwrap()]);
        let piece = pieces(&advised).iter().find(|piece| piece["change"]["kind"] == kind);
        let piece = piece.unwrap_or_else(|| panic!("{name}: {advised:#}"));
        assert!(piece["commands"]["linux"].to_string().contains(words), "{name}: {piece:#}");
    }
}

/// Story 5: a path that carries less than IPv6 needs is refused, and nothing below 1280 is ever advised for it.
#[test]
fn ipv6_keeps_its_least_packets() {
    let state = tempfile::tempdir().unwrap();
    let file = state.path().join("v6.toml");
    let path = |mtu: u32| {
        format!(
            "ip = 6\n[[hop]]\nrate = \"64 kbit/s\"\ndelay = \"50 ms\"\nmtu = {mtu}\nerrors = {{ model = \"uniform\", rate = \"2%\" }}\n\
             [until]\ntime = \"60 s\""
        )
    };
    std::fs::write(&file, path(1500)).unwrap();
    let advised = document(state.path(), &[file.to_str().unwrap(), "--goal", "latency"]);
    for piece in pieces(&advised) {
        if ["mss", "mtu", "clamp"].contains(&piece["change"]["kind"].as_str().unwrap()) {
            assert!(piece["change"]["value"].as_f64().unwrap() >= 1220.0, "{piece:#}");
        }
    }
    std::fs::write(&file, path(1180)).unwrap();
    let output = command(&["advise", file.to_str().unwrap()])
        .env("XDG_STATE_HOME", state.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("1280"), "{}", stderr(&output));
}

/// A change that nobody would notice costs nothing, because it is not advised.
#[test]
fn a_tenth_of_a_millisecond_is_worth_no_change() {
    let state = tempfile::tempdir().unwrap();
    let file = state.path().join("near.toml");
    std::fs::write(
        &file,
        "[[hop]]\nrate = \"1 Gbit/s\"\ndelay = \"0.2 ms\"\nqueue = \"20 packets\"\n[until]\ntime = \"2 s\"",
    )
    .unwrap();
    let advised = document(state.path(), &[file.to_str().unwrap(), "--goal", "latency"]);
    assert_eq!(advised["verdict"], "leave-as-is", "{advised:#}");
}
