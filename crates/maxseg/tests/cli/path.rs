//! `maxseg path` over labs of the test's own: routers with small MTUs, black holes, losses. Where labs cannot be made the tests
//! say that they are skipped.

use std::io::Write as _;
use std::process::{Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use maxseg_testkit::{for_everybody, is_its_turn};
use serde_json::Value;

use super::kernel::{can_have_a_lab, skipped};
use super::{command, maxseg, stderr, stdout, unwrapped};

/// A lab, taken down whatever happens.
struct Lab(String);

impl Lab {
    /// A lab with these hops; `None` where this user can have none.
    fn up(ip: u8, hops: &[&str]) -> Option<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        if !can_have_a_lab() {
            return None;
        }
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let lab = Self(format!("path-{}-{count}", std::process::id()));
        let of = |hop: &&str| {
            let delay = if hop.starts_with("delay") { "" } else { "delay = \"1 ms\"\n" };
            format!("\n[[hop]]\nrate = \"1 Gbit/s\"\n{delay}{hop}\n")
        };
        let hops: String = hops.iter().map(of).collect();
        let text = format!("ip = {ip}\n{hops}\n[until]\ntime = \"1 s\"\n");
        let mut up = command(&["lab", "up", "-", "--name", &lab.0]);
        up.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = up.spawn().unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        Some(lab)
    }

    /// Runs a command on the sender.
    fn exec(&self, arguments: &[&str]) -> Output {
        let begin = ["lab", "exec", "--name", &self.0, "sender", "--"];
        command(&[&begin, arguments].concat()).env("COLUMNS", "80").output().unwrap()
    }

    /// Tests the path from the sender to the receiver.
    fn path(&self, more: &[&str]) -> Output {
        let begin = [env!("CARGO_BIN_EXE_maxseg"), "path", "receiver"];
        self.exec(&[&begin, more].concat())
    }

    fn document(&self) -> Value {
        let output = self.path(&["--json"]);
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", stderr(&output)))
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        let _ = maxseg(&["lab", "down", "--name", &self.0]);
    }
}

/// The last hop that packets reach before they vanish; null without a black hole.
fn after_hop(document: &Value) -> &Value {
    &document["path_mtu"]["black_hole"]["after_hop"]
}

#[test]
fn a_router_that_says_what_fits_is_named() {
    let Some(lab) = Lab::up(4, &["", "mtu = 1400", ""]) else { return };
    let document = lab.document();
    let path = &document["path_mtu"];
    assert_eq!(path["forward_bytes"], 1400, "{document:#}");
    assert_eq!(path["confidence"], "confirmed");
    assert_eq!(path["black_hole"], Value::Null);
    assert_eq!(path["interface_bytes"], 1500);
    assert_eq!(path["taught_the_kernel"]["mtu_bytes"], 1400, "the probes were refused");
    let sizes: Vec<&Value> =
        path["hops"].as_array().unwrap().iter().map(|hop| &hop["mtu_bytes"]).collect();
    assert_eq!(sizes, [1500, 1400, 1400]);
    assert!(path["hops"][0]["note"].as_str().unwrap().contains("1400"));
    assert_eq!(document["findings"][0]["code"], "small-mtu");
    assert!(document["sent_bytes"].as_u64().unwrap() <= 200_000);
    let flows = path["flows"].as_array().unwrap();
    assert_eq!(flows.len(), 4);
    assert!(flows.iter().all(|flow| flow["mtu_bytes"] == 1400), "{flows:?}");
    assert_eq!(document["rtt"]["lost"], 0);
    // 3 ms each way; a packet that is due within half a wake-up latency of the relay, 50 us at most, leaves each of six links at once.
    let least_s = 0.006 - 6.0 * 50e-6;
    assert!(document["rtt"]["min_s"].as_f64().unwrap() >= least_s, "{document:#}");
    let text = lab.path(&[]);
    assert_eq!(text.status.code(), Some(0), "{}", stderr(&text));
    assert!(stdout(&text).starts_with("No fault: the path takes 1400 bytes"), "{}", stdout(&text));
}

#[test]
fn a_black_hole_is_located_and_told_in_the_first_lines() {
    let hops = ["", "mtu = 1450", "mtu = 1300\nicmp = \"drop\"", ""];
    for (ip, segment) in [(4, 1260), (6, 1240)] {
        let Some(lab) = Lab::up(ip, &hops) else { return };
        let document = lab.document();
        let path = &document["path_mtu"];
        assert_eq!(path["forward_bytes"], 1300, "{document:#}");
        assert_eq!(path["confidence"], "confirmed");
        assert_eq!(after_hop(&document), 2, "{document:#}");
        assert_eq!(path["black_hole"]["before_hop"], 3);
        assert_eq!(path["black_hole"]["passes_bytes"], 1300);
        let output = lab.path(&[]);
        assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
        let text = stdout(&output);
        let first = unwrapped(&text.lines().take(4).collect::<Vec<_>>().join("\n"));
        assert!(first.starts_with("Packets of 1450 bytes vanish between"), "{text}");
        assert!(first.contains("(hop 2)") && first.contains("1300 bytes pass"), "{text}");
        let remedy = unwrapped(&text);
        assert!(remedy.contains(&format!("clamp the MSS to {segment}")), "{text}");
        assert!(text.lines().count() <= 48, "two screens: {text}");
    }
}

#[test]
fn losses_are_no_black_hole() {
    let lossy = "errors = { model = \"uniform\", per = \"packet\", rate = 0.05 }\n\
                 [hop.reverse]\nerrors = { model = \"uniform\", per = \"packet\", rate = 0.05 }";
    for (ip, mtu) in [(4, ""), (6, "mtu = 1400\n")] {
        let Some(lab) = Lab::up(ip, &[&format!("{mtu}{lossy}"), ""]) else { return };
        let document = lab.document();
        assert_eq!(document["path_mtu"]["black_hole"], Value::Null, "{document:#}");
        let want = if mtu.is_empty() { 1500 } else { 1400 };
        assert_eq!(document["path_mtu"]["forward_bytes"], want, "{document:#}");
    }
}

#[test]
fn jumbo_frames_are_found() {
    let Some(lab) = Lab::up(4, &["mtu = 9000", "mtu = 8000", "mtu = 9000"]) else { return };
    let document = lab.document();
    assert_eq!(document["path_mtu"]["forward_bytes"], 8000, "{document:#}");
    assert!(document["sent_bytes"].as_u64().unwrap() <= 1_000_000);
}

#[test]
fn an_ordinary_user_finds_the_same() {
    let hops = ["", "mtu = 1450", "mtu = 1300\nicmp = \"drop\"", ""];
    let Some(lab) = Lab::up(4, &hops) else { return };
    let has_setpriv = lab.exec(&["setpriv", "--version"]).status.success();
    let is_root = stdout(&lab.exec(&["cat", "/proc/self/uid_map"])).contains("4294967295");
    if !has_setpriv || !is_root {
        skipped("the path test of another user: it takes root and setpriv");
        return;
    }
    // A program that everyone may run, whatever folder this one is in.
    let folder = tempfile::tempdir().unwrap();
    let program = for_everybody(env!("CARGO_BIN_EXE_maxseg"), folder.path()).unwrap();
    let nobody = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"];
    let test = [program.to_str().unwrap(), "path", "receiver", "--json"];
    let output = lab.exec(&[&nobody[..], &test].concat());
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["path_mtu"]["forward_bytes"], 1300, "{document:#}");
    assert_eq!(after_hop(&document), 2, "{document:#}");
    assert_eq!(document["rtt"]["method"], "tcp-syn");
}

#[test]
fn who_limits_its_answers_hides_nothing() {
    let hops = ["", "mtu = 1300\nicmp = \"drop\"", ""];
    let Some(lab) = Lab::up(4, &hops) else { return };
    for host in ["r1", "r2", "receiver"] {
        let limit = "echo 1000 > /proc/sys/net/ipv4/icmp_ratelimit";
        let set = maxseg(&["lab", "exec", "--name", &lab.0, host, "--", "sh", "-c", limit]);
        assert!(set.status.success(), "{}", stderr(&set));
    }
    let document = lab.document();
    let (found, confidence) =
        (&document["path_mtu"]["forward_bytes"], &document["path_mtu"]["confidence"]);
    assert_eq!((found, confidence), (&1300.into(), &"confirmed".into()), "{document:#}");
    assert_eq!(after_hop(&document), 1, "{document:#}");
}

/// A destination that answers the second of two packets alone, of which the first came as far.
#[test]
fn the_destination_is_no_farther_than_echoes_say() {
    let Some(lab) = Lab::up(4, &["", ""]) else { return };
    // Port unreachable that quotes a TTL of 1: what arrived as its TTL ended.
    let rules = "table ip probe { chain out { type filter hook output priority 0; \
                 icmp type destination-unreachable @th,128,8 1 drop; }; }";
    let exec = |arguments: &[&str]| {
        maxseg(&[&["lab", "exec", "--name", &lab.0, "receiver", "--"], arguments].concat())
    };
    if !exec(&["nft", rules]).status.success() {
        return skipped("answers that are limited: there is no nft");
    }
    let hops = |document: &Value| document["path_mtu"]["hops"].as_array().unwrap().len();
    let document = lab.document();
    assert_eq!(hops(&document), 2, "{document:#}");
    let ignore = exec(&["sysctl", "-qw", "net.ipv4.icmp_echo_ignore_all=1"]);
    assert!(ignore.status.success(), "{}", stderr(&ignore));
    let document = lab.document();
    let doubt = "the destination may be nearer than hop 3: the TTL of its answers is that of hop 2";
    let notes = document["notes"].to_string();
    assert!(hops(&document) == 3 && notes.contains(doubt), "nothing shows more: {document:#}");
}

/// Answers take longer than is waited for the first of them.
#[test]
fn a_round_trip_of_more_than_a_second_is_measured() {
    let Some(lab) = Lab::up(4, &["delay = \"600 ms\"", "mtu = 1400"]) else { return };
    let document = lab.document();
    let least = document["rtt"]["min_s"].as_f64();
    assert!(least.is_some_and(|least| least >= 1.2), "{document:#}");
    assert_eq!(document["path_mtu"]["forward_bytes"], 1400, "{document:#}");
    assert_eq!(document["path_mtu"]["confidence"], "confirmed", "{document:#}");
}

#[test]
fn nothing_answers_where_everything_is_lost() {
    if !is_its_turn(0) {
        return;
    }
    let all = "errors = { model = \"uniform\", per = \"packet\", rate = 1 }";
    let Some(lab) = Lab::up(4, &[all]) else { return };
    let output = lab.path(&["--json"]);
    assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
    assert!(stderr(&output).contains("nothing answered"), "{}", stderr(&output));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["path_mtu"]["forward_bytes"], Value::Null);
    assert_eq!(document["path_mtu"]["confidence"], "unknown");
    assert_eq!(document["rtt"]["min_s"], Value::Null);
}

#[test]
fn the_path_is_a_scenario_and_a_page() {
    let Some(lab) = Lab::up(4, &["", "mtu = 1300\nicmp = \"drop\"", ""]) else { return };
    let folder = tempfile::tempdir().unwrap();
    let (toml, html) = (folder.path().join("path.toml"), folder.path().join("path.html"));
    let (toml, html) = (toml.to_str().unwrap(), html.to_str().unwrap());
    let output = lab.path(&["--scenario", toml, "--report", html]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let checked = maxseg(&["check", toml]);
    assert!(checked.status.success(), "{}", stderr(&checked));
    let text = std::fs::read_to_string(toml).unwrap();
    assert!(text.contains("mtu = 1300\nicmp = \"drop\""), "{text}");
    let page = std::fs::read_to_string(html).unwrap();
    assert!(page.contains("<svg") && page.contains("1300") && page.ends_with("</html>\n"));
}

#[test]
fn hosts_that_are_none_are_told() {
    let output = maxseg(&["path", "no-such-host.invalid"]);
    assert_eq!(output.status.code(), Some(1));
    let told = stderr(&output);
    assert!(told.contains("gives no address of no-such-host.invalid"), "{told}");
    assert!(told.contains("hint: "), "{told}");
    for wrong in ["", "a b", "host:0", "host:99999", "https://host/"] {
        let output = maxseg(&["path", wrong]);
        assert_eq!(output.status.code(), Some(2), "{wrong}: {}", stderr(&output));
    }
    for (wrong, why) in [
        (vec!["--far-end", "iperf3:0"], "a number from 1 to 65535"),
        (
            vec!["--far-end", "iperf3", "--rfc6349", "--min-efficiency", "101"],
            "it is at most 100 percent",
        ),
    ] {
        let output = maxseg(&[&["path", "127.0.0.1"], wrong.as_slice()].concat());
        assert_eq!(output.status.code(), Some(2), "{wrong:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(why), "{}", stderr(&output));
    }
    for (address, kind) in [
        ("0.0.0.0", "the unspecified address"),
        ("224.0.0.1", "a multicast address"),
        ("255.255.255.255", "the broadcast address"),
        ("fe80::1", "a link-local address"),
    ] {
        let output = maxseg(&["path", address]);
        let told = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{address}: {told}");
        assert!(told.contains(&format!("{address} is {kind}")), "{told}");
        assert!(told.contains("hint: "), "{told}");
    }
    let output = maxseg(&["path", "-6", "127.0.0.1"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
}

#[test]
fn this_host_itself_is_a_path_without_routers() {
    let output = maxseg(&["path", "127.0.0.1", "--json", "--pings", "3"]);
    let document: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", stderr(&output)));
    let loopback = document["path_mtu"]["interface_bytes"].as_u64().unwrap();
    let largest = loopback.min(65_535);
    let found = document["path_mtu"]["forward_bytes"].as_u64();
    assert!(found == Some(largest) || found == Some(65_507 + 28), "{document:#}");
    assert_eq!(document["findings"], serde_json::json!([]), "no packet is larger than 65535");
    assert!(!document["path_mtu"]["error_chance"].to_string().starts_with('-'), "{document:#}");
}
