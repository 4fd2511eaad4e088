//! `maxseg responder`, and `maxseg path --far-end` with it: over loopback, and over labs of the tests' own. Tests of several
//! minutes are ignored: `cargo test -p maxseg --test cli -- --ignored far_end`.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};

use maxseg_testkit::is_its_turn;
use serde_json::Value;

use super::kernel::{can_have_a_lab, skipped};
use super::{command, maxseg, stderr, stdout};

const TOKEN: &str = "open sesame";

/// A process that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a responder, and waits until it says where it listens.
fn started(mut command: Command) -> (Running, String) {
    let mut child = command.env("MAXSEG_TOKEN", TOKEN).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    (Running(child), line)
}

#[test]
fn a_responder_on_this_host_measures_both_ways_and_ends_after_one_test() {
    if !is_its_turn(1) {
        return;
    }
    let (mut responder, line) =
        started(command(&["responder", "--listen", "127.0.0.1:0", "--once"]));
    let port = line.split([':', ' ']).find_map(|word| word.parse::<u16>().ok()).unwrap();
    let end = format!("responder:{port}");
    let mut path = command(&["path", "127.0.0.1", "--far-end", &end, "--duration", "3s", "--json"]);
    let output = path.env("MAXSEG_TOKEN", TOKEN).output().unwrap();
    let document: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", stderr(&output)));
    for key in ["forward_bps", "reverse_bps"] {
        assert!(document["bottleneck"][key].as_f64().unwrap() > 0.0, "{key}: {document}");
    }
    let loads: Vec<&str> = document["under_load"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|row| row["load"].as_str())
        .collect();
    assert_eq!(loads, ["idle", "upload", "download"]);
    assert_eq!(document["rfc6349"], Value::Null, "it was not asked for");
    assert!(document["mss"]["received_bytes"].is_u64(), "{document}");
    assert!(document["path_mtu"]["reverse_bytes"].is_u64(), "{document}");
    assert!(responder.0.wait().unwrap().success(), "--once");
}

#[test]
fn what_is_wrong_with_a_far_end_is_said() {
    let (_responder, line) = started(command(&["responder", "--listen", "127.0.0.1:0"]));
    let port = line.split([':', ' ']).find_map(|word| word.parse::<u16>().ok()).unwrap();
    let end = format!("responder:{port}");
    let other = maxseg(&["path", "127.0.0.1", "--far-end", &end, "--token", "open barley"]);
    assert_eq!(other.status.code(), Some(1), "{}", stdout(&other));
    assert!(stdout(&other).contains("path MTU:"), "the rest: {}", stdout(&other));
    assert!(stderr(&other).contains("the token is another one"), "{}", stderr(&other));
    let none = maxseg(&["path", "127.0.0.1", "--far-end", "responder:1", "--token", "anything"]);
    assert_eq!(none.status.code(), Some(1));
    assert!(stderr(&none).contains("hint: start `maxseg responder"), "{}", stderr(&none));
    let tokenless = maxseg(&["path", "127.0.0.1", "--far-end", "responder"]);
    assert_eq!(tokenless.status.code(), Some(2), "{}", stderr(&tokenless));
    let short = maxseg(&["responder", "--token", "abc"]);
    assert_eq!(short.status.code(), Some(2), "{}", stderr(&short));
    for time in ["0s", "25h"] {
        let refused = maxseg(&["responder", "--listen", "127.0.0.1:0", "--max-time", time]);
        assert_eq!(refused.status.code(), Some(2), "{time}: {}", stderr(&refused));
        assert!(stderr(&refused).contains("--max-time is a time up to a day"), "{time}");
    }
}

/// The RFC's test over a lab with one hop.
fn tested(name: &str, hop: &str, before: &[(&str, &str)], more: &[&str]) -> Option<Value> {
    in_lab(name, hop, before, &[&["--rfc6349"], more].concat())
}

/// The report of a path with a responder over a lab with one hop; `None` where there can be no lab.
pub(super) fn in_lab(
    name: &str,
    hop: &str,
    before: &[(&str, &str)],
    more: &[&str],
) -> Option<Value> {
    if !can_have_a_lab() {
        return None;
    }
    let lab = format!("far-{name}-{}", std::process::id());
    let text = format!("[[hop]]\nname = \"access\"\n{hop}\n[until]\ntime = \"1 s\"\n");
    let mut up = command(&["lab", "up", "-", "--name", &lab]);
    let mut child = up.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    let program = env!("CARGO_BIN_EXE_maxseg");
    for (host, setting) in before {
        let set = maxseg(&["lab", "exec", "--name", &lab, host, "--", "sysctl", "-qw", setting]);
        assert!(set.status.success(), "{}", stderr(&set));
    }
    let exec = ["lab", "exec", "--name", &lab];
    let listen = ["receiver", "--", program, "responder", "--listen", "0.0.0.0"];
    let (_responder, _) = started(command(&[&exec[..], &listen].concat()));
    let path = ["sender", "--", program, "path", "receiver", "--far-end", "responder", "--json"];
    let mut path = command(&[&exec[..], &path, more].concat());
    let output = path.env("MAXSEG_TOKEN", TOKEN).output().unwrap();
    let _ = maxseg(&["lab", "down", "--name", &lab]);
    Some(serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", stderr(&output))))
}

fn cause(document: &Value, direction: usize) -> &str {
    document["rfc6349"]["directions"][direction]["interpretation"]["cause"].as_str().unwrap()
}

#[test]
#[ignore = "a minute: it fills a path"]
fn rates_and_round_trips_are_those_of_the_link() {
    let hop = "rate = \"50 Mbit/s\"\ndelay = \"10 ms\"\nqueue = \"100 packets\"";
    let Some(document) = tested("rates", hop, &[], &["--duration", "9s"]) else {
        return skipped("a lab");
    };
    for key in ["forward_bps", "reverse_bps"] {
        let rate = document["bottleneck"][key].as_f64().unwrap();
        // 2%: losses make four connections idle for moments.
        assert!((rate / 50e6 - 1.0).abs() < 0.02, "{key}: {rate}");
    }
    // A ping's packets take 0.02 ms each at this rate, beside twice the delay; the rest is the lab's own lateness.
    let baseline = document["rfc6349"]["baseline"]["rtt_s"].as_f64().unwrap();
    assert!((0.020..0.0204).contains(&baseline), "{baseline}");
}

/// A network's name, its hop, sysctls of its hosts, and the cause that is to be named.
type Case<'c> = (&'c str, &'c str, &'c [(&'c str, &'c str)], &'c str);

#[test]
#[ignore = "three minutes: it fills paths"]
fn each_cause_is_recognised() {
    let policer = "rate = \"100 Mbit/s\"\ndelay = \"10 ms\"\nqueue = \"500 packets\"\n\
                   policer = { rate = \"20 Mbit/s\", burst = \"1 MiB\" }";
    let deep = "rate = \"20 Mbit/s\"\ndelay = \"10 ms\"\nqueue = \"1000 packets\"";
    let lossy = "rate = \"50 Mbit/s\"\ndelay = \"10 ms\"\nqueue = \"200 packets\"\n\
                 errors = { model = \"uniform\", per = \"packet\", rate = 0.005 }";
    let plain = "rate = \"50 Mbit/s\"\ndelay = \"20 ms\"\nqueue = \"200 packets\"";
    let window = [("receiver", "net.ipv4.tcp_rmem=4096 65536 65536")];
    let buffer = [("sender", "net.ipv4.tcp_wmem=4096 32768 32768")];
    let cases: [Case<'_>; 5] = [
        ("policer", policer, &[], "policing"),
        ("deep", deep, &[], "bufferbloat"),
        ("lossy", lossy, &[], "loss"),
        ("window", plain, &window, "window"),
        ("buffer", plain, &buffer, "send-buffer"),
    ];
    for (name, hop, before, want) in cases {
        let Some(document) = tested(name, hop, before, &["--duration", "6s"]) else {
            return skipped("a lab");
        };
        assert_eq!(cause(&document, 0), want, "{name}: {document:#}");
    }
}

#[test]
#[ignore = "two minutes: it fills a path sixteen times"]
fn a_table_has_what_engines_predict_and_the_scenario_is_the_path() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("path.toml");
    let file = file.to_str().unwrap();
    let hop = "rate = \"20 Mbit/s\"\ndelay = \"10 ms\"\nqueue = \"60 packets\"";
    let asked = ["--duration", "12s", "--table", "--engine", "model,sim", "--scenario", file];
    let Some(document) = tested("table", hop, &[], &asked) else {
        return skipped("a lab");
    };
    assert_eq!(document["table"]["queue_counts"], "packets", "as the lab's: {document:#}");
    let rows = document["table"]["rows"].as_array().unwrap();
    let engines: Vec<&str> = rows.iter().map(|row| row["engine"].as_str().unwrap()).collect();
    assert_eq!(engines, ["measured", "model", "sim"].repeat(16), "{}", document["notes"]);
    for row in rows.chunks(3) {
        let rate = |at: usize| row[at]["rate_bps"].as_f64().unwrap();
        let ping = |at: usize| row[at]["ping_s"].as_f64().unwrap();
        let of = format!("{} {}", row[0]["mss_bytes"], row[0]["window_bytes"]);
        // Half of a BDP is a few segments, of which the last waits for a delayed acknowledgement or not: a tenth.
        assert!((rate(2) / rate(0) - 1.0).abs() < 0.1, "{of}: sim {} of {}", rate(2), rate(0));
        // The model's rate is of whole windows.
        assert!((rate(1) / rate(0) - 1.0).abs() < 0.2, "{of}: model {} of {}", rate(1), rate(0));
        // A queue that grows with the window: by the wire's time of a few packets. Where it overflows, a packet more or less of a queue
        // that was measured decides when, and for how long it is shorter after that: a third of what it holds, 12 of 36 ms.
        let is_lossy = |at: usize| row[at]["outcome"]["retransmitted_bytes"].as_u64() != Some(0);
        let near = if is_lossy(0) || is_lossy(2) { 0.012 } else { 0.004 };
        assert!((ping(2) - ping(0)).abs() < near, "{of}: sim {} of {}", ping(2), ping(0));
        assert!(
            row[2]["outcome"]["goodput_bps"].is_f64() && row[0]["outcome"]["goodput_bps"].is_f64()
        );
    }
    let ran = maxseg(&["run", file, "--engine", "sim", "--json", "-q"]);
    assert!(ran.status.success(), "{}", stderr(&ran));
    let ran: Value = serde_json::from_slice(&ran.stdout).unwrap();
    let outcome = &ran["rows"][0]["outcome"];
    let goodput = outcome["goodput_bps"].as_f64().unwrap();
    // Payload of 1448 in 1500 bytes, and the beginning of a connection.
    assert!((0.93..0.98).contains(&(goodput / 20e6)), "{goodput}");
    assert!((outcome["rtt_min_s"].as_f64().unwrap() - 0.0206).abs() < 0.001, "{outcome}");
}
