//! `maxseg connections` against `ss` and `getsockopt` on sockets of the test's own, on loopback.

mod lists;

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Output};

use serde_json::Value;

use super::kernel::{NOBODY, skipped};
use super::namespace::Namespace;
use super::{command, maxseg, stderr, stdout};

/// A connection of this process to itself, over which some data went.
struct Pair {
    _listener: TcpListener,
    client: TcpStream,
    server: TcpStream,
}

impl Pair {
    fn open(address: SocketAddr) -> Self {
        let listener = TcpListener::bind(address).unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        client.write_all(&vec![7; 50_000]).unwrap();
        server.read_exact(&mut vec![0; 50_000]).unwrap();
        Self { _listener: listener, client, server }
    }

    fn ports(&self) -> String {
        let port = |stream: &TcpStream| stream.local_addr().unwrap().port();
        format!("{},{}", port(&self.client), port(&self.server))
    }
}

impl Pair {
    /// Whether a row is one of its two ends: other connections may have the same ports.
    fn has(&self, row: &Value) -> bool {
        let ends = [&self.client, &self.server].map(|end| end.local_addr().unwrap().to_string());
        let row = [&row["local"], &row["remote"]].map(|end| end.as_str().unwrap());
        row == [&*ends[0], &*ends[1]] || row == [&*ends[1], &*ends[0]]
    }

    /// Its rows of a document.
    fn rows<'d>(&self, document: &'d Value) -> Vec<&'d Value> {
        rows(document).iter().filter(|row| self.has(row)).collect()
    }
}

fn pair() -> Pair {
    Pair::open(([127, 0, 0, 1], 0).into())
}

fn document(output: &Output) -> Value {
    assert!(output.status.success(), "{}", stderr(output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Containers of root are among what an ordinary user may not see, and is told of.
#[test]
fn namespaces_that_a_user_may_not_see_are_counted() {
    let Some(namespace) = Namespace::new() else {
        return skipped("namespaces of others: this user may not make any");
    };
    let by = |user: u32, arguments: &[&str]| {
        let mut command = command(arguments);
        command.current_dir("/").uid(user).gid(user).output().unwrap()
    };
    let all = ["connections", "--netns", "all", "--json"];
    let hidden_from =
        |user| document(&by(user, &all))["processes_in_hidden_namespaces"].as_u64().unwrap();
    let (of_root, of_nobody) = (hidden_from(0), hidden_from(NOBODY));
    assert!(of_root < of_nobody, "root sees that of process {}: {of_root}", namespace.0.id());
    let text = stdout(&by(NOBODY, &all[..3]));
    assert!(text.contains("processes of other users are not visible"), "{text}");
    let here = document(&by(NOBODY, &["connections", "--json"]));
    assert_eq!(here["processes_in_hidden_namespaces"], 0, "they were not asked for");
}

#[test]
fn a_namespace_that_comes_later_is_watched() {
    let Some(first) = Namespace::new() else {
        return skipped("namespaces of others: this user may not make any");
    };
    let mut watching = command(&["connections", "--netns", "all", "--watch", "100 ms", "--json"]);
    let mut watching = watching.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let lines = std::io::BufReader::new(watching.stdout.take().unwrap());
    let mut lines = std::io::BufRead::lines(lines).map(Result::unwrap);
    lines.next().unwrap();
    let later = Namespace::new().unwrap();
    later.must("ip link set lo up");
    let pair = later.inside(pair);
    // So many looks take minutes.
    let found =
        lines.take(3000).any(|line| pair.rows(&serde_json::from_str(&line).unwrap()).len() == 2);
    let _ = watching.kill();
    watching.wait().unwrap();
    assert!(found);
    drop(first);
}

/// `ip netns add` makes a plain file before it mounts the namespace on it.
#[test]
fn a_name_that_is_no_namespace_hides_no_other() {
    let program = env!("CARGO_BIN_EXE_maxseg");
    let run = |command: &str| {
        let script = format!(
            "mount -t tmpfs none /run && mkdir /run/netns && touch /run/netns/stale && ip netns add whole && {program} {command}"
        );
        Command::new("unshare").args(["--net", "--mount", "sh", "-c", &script]).output().unwrap()
    };
    if Namespace::new().is_none() {
        return skipped("names of namespaces: this user may not make any");
    }
    document(&run("connections --netns all --json"));
    let named = run("connections --netns stale");
    assert_eq!(named.status.code(), Some(1));
    assert!(stderr(&named).starts_with("error: /run/netns/stale is no network namespace\n"));
}

#[test]
fn more_ports_than_the_kernel_takes_are_filtered_here() {
    let pair = pair();
    let others = (1..=65_535).filter(|port| !pair.ports().contains(&format!("{port}")));
    let ports: Vec<String> = others.take(3000).map(|port: u16| port.to_string()).collect();
    let listed = |ports: &str| {
        let output = maxseg(&["connections", "--json", "--no-processes", "--port", ports]);
        pair.rows(&document(&output)).len()
    };
    assert_eq!(listed(&ports.join(",")), 0);
    assert_eq!(listed(&format!("{},{}", ports.join(","), pair.ports())), 2);
}

#[test]
fn looks_that_follow_each_other_at_once_are_refused() {
    for option in ["--interval", "--watch"] {
        let refused = maxseg(&["connections", option, "0 s"]);
        assert_eq!(refused.status.code(), Some(2));
        let told = format!("{option} is shorter than 100 ms");
        assert!(stderr(&refused).contains(&told), "{}", stderr(&refused));
    }
}

#[test]
fn columns_have_the_names_of_headings_and_of_top() {
    let listed = maxseg(&["connections", "--columns", "local,process"]);
    assert!(stdout(&listed).contains("process"), "{}", stderr(&listed));
    let once = maxseg(&["top", "--once", "--sort", "payload"]);
    assert!(once.status.success(), "{}", stderr(&once));
    let unknown = maxseg(&["connections", "--columns", "procs"]);
    assert!(stderr(&unknown).contains("process.name, "), "{}", stderr(&unknown));
}

fn rows(document: &Value) -> &Vec<Value> {
    document["connections"].as_array().unwrap()
}

#[test]
fn both_ends_are_listed_with_their_process() {
    let pair = pair();
    let listed = document(&maxseg(&["connections", "--json", "--port", &pair.ports()]));
    let rows = pair.rows(&listed);
    assert_eq!(rows.len(), 2, "{listed}");
    let client = pair.client.local_addr().unwrap().to_string();
    let row = rows.iter().find(|row| row["local"] == client.as_str()).unwrap();
    assert_eq!(row["state"], "established");
    assert_eq!(row["process"]["pid"], std::process::id());
    assert_eq!(row["bytes_sent"], 50_000);
    assert!(row["rtt_s"].as_f64().unwrap() > 0.0, "{row}");
    let schema: Value = serde_json::from_slice(&maxseg(&["schema", "connections"]).stdout).unwrap();
    jsonschema::validate(&schema, &listed).unwrap();
}

#[test]
fn the_kernel_and_a_file_are_filtered_alike() {
    let pair = pair();
    let elsewhere = "203.0.113.0/24";
    let ports = pair.ports();
    let listed = |more: &[&str]| {
        let arguments = [&["connections", "--json", "--port", &ports], more].concat();
        pair.rows(&document(&maxseg(&arguments))).len()
    };
    assert_eq!(listed(&["--dst", "127.0.0.0/8"]), 2);
    assert_eq!(listed(&["--dst", elsewhere]), 0);
    assert_eq!(listed(&["--dst", elsewhere, "--dst", "127.0.0.1"]), 2, "values are alternatives");
    assert_eq!(listed(&["--state", "established"]), 2);
    assert_eq!(listed(&["--state", "time-wait,syn-sent"]), 0);
    assert_eq!(listed(&["--process", &std::process::id().to_string()]), 2);
    assert_eq!(listed(&["--process", "no-such-name"]), 0);
    assert_eq!(listed(&["--cc", "no-such-name"]), 0);
}

#[test]
fn mapped_addresses_and_ipv6_are_listed() {
    let mapped = Ipv6Addr::UNSPECIFIED;
    let listener = TcpListener::bind((mapped, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let client = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let port = client.local_addr().unwrap().port().to_string();
    let listed = document(&maxseg(&["connections", "--json", "--port", &port]));
    let ends: Vec<&str> = rows(&listed).iter().filter_map(|row| row["local"].as_str()).collect();
    assert!(ends.iter().any(|end| end.starts_with("[::ffff:127.0.0.1]")), "{ends:?}");
    let six = Pair::open((Ipv6Addr::LOCALHOST, 0).into());
    let listed = document(&maxseg(&["connections", "--json", "--port", &six.ports()]));
    assert_eq!(six.rows(&listed).len(), 2);
}

#[test]
fn an_accept_queue_that_is_full_is_told() {
    use std::os::fd::AsRawFd as _;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    // The backlog of a listening socket may be set again (listen(2)).
    nix::sys::socket::listen(&listener, nix::sys::socket::Backlog::new(1).unwrap()).unwrap();
    let address = listener.local_addr().unwrap();
    assert!(listener.as_raw_fd() > 0);
    let _two = [TcpStream::connect(address).unwrap(), TcpStream::connect(address).unwrap()];
    let port = address.port().to_string();
    let listed = document(&maxseg(&["connections", "--json", "--port", &port]));
    let [queue] = &listed["listeners"].as_array().unwrap()[..] else { panic!("{listed}") };
    assert_eq!((&queue["queued"], &queue["limit"]), (&Value::from(2), &Value::from(1)));
    let text = stdout(&maxseg(&["connections", "--port", &port]));
    assert!(text.contains("accept queue") && text.contains("is full"), "{text}");
    let text = stdout(&maxseg(&["connections", "--listening", "--port", &port]));
    assert!(text.lines().any(|line| line.trim_end().ends_with("full")), "{text}");
}

#[test]
fn an_interval_shows_what_happens_now() {
    let pair = pair();
    // 100 ms is the shortest that is accepted.
    let arguments = ["connections", "--json", "--interval", "100ms", "--port", &pair.ports()];
    let listed = document(&maxseg(&arguments));
    assert!(listed["interval_s"].as_f64().unwrap() >= 0.1);
    let rows = pair.rows(&listed);
    assert_eq!(rows.len(), 2, "{listed}");
    for row in rows {
        assert_eq!((&row["limited_by"], &row["sent_bps"]), (&"application".into(), &0.0.into()));
    }
}

#[test]
fn a_terminal_of_80_columns_has_one_table() {
    let pair = pair();
    let output = Command::new(env!("CARGO_BIN_EXE_maxseg"))
        .args(["connections", "--port", &pair.ports()])
        .env("COLUMNS", "80")
        .output()
        .unwrap();
    let text = stdout(&output);
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines.len() >= 4, "a heading, a rule, two rows:\n{text}");
    assert!(!lines.contains(&""), "no second table:\n{text}");
    assert!(lines.iter().all(|line| line.chars().count() <= 80), "{text}");
    assert!(lines[0].ends_with("limited by"), "{text}");
}

/// The fields of `ss -tinmO` that have the kernel's numbers, by end: `cwnd:10` and `mss:1448`.
fn fields_of_ss(text: &str) -> BTreeMap<(String, String), BTreeMap<String, String>> {
    let mut sockets = BTreeMap::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, _, _, local, remote, rest @ ..] = &words[..] else { continue };
        let fields = rest.iter().filter_map(|word| word.split_once(':'));
        let fields = fields.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
        sockets.insert(((*local).to_owned(), (*remote).to_owned()), fields);
    }
    sockets
}

/// Key, field of `ss`, and the unit of that.
const SAME: [(&str, &str, f64); 13] = [
    ("mss_bytes", "mss", 1.0),
    ("rcv_mss_bytes", "rcvmss", 1.0),
    ("advmss_bytes", "advmss", 1.0),
    ("pmtu_bytes", "pmtu", 1.0),
    ("cwnd_segments", "cwnd", 1.0),
    ("ssthresh_segments", "ssthresh", 1.0),
    ("rto_s", "rto", 1e-3),
    ("min_rtt_s", "minrtt", 1e-3),
    ("bytes_sent", "bytes_sent", 1.0),
    ("bytes_acked", "bytes_acked", 1.0),
    ("bytes_received", "bytes_received", 1.0),
    ("snd_wnd_bytes", "snd_wnd", 1.0),
    ("rcv_space_bytes", "rcv_space", 1.0),
];

/// How many numbers of a connection are those of `ss`; each that is not fails.
fn equal_numbers(row: &Value, fields: &BTreeMap<String, String>) -> usize {
    let millis = |text: &str| text.parse::<f64>().ok().map(|millis| millis * 1e-3);
    let (rtt, var) = fields.get("rtt").and_then(|rtt| rtt.split_once('/')).unwrap_or_default();
    let number = |field: &str| fields.get(field).and_then(|value| value.parse::<f64>().ok());
    let theirs = SAME.map(|(key, field, unit)| (key, number(field).map(|value| value * unit)));
    let both = theirs.into_iter().chain([("rtt_s", millis(rtt)), ("rttvar_s", millis(var))]);
    let compared = both.filter_map(|(key, theirs)| Some((key, theirs?)));
    compared
        .map(|(key, theirs)| {
            let ours = row[key].as_f64().unwrap_or_else(|| panic!("{key}: {row}"));
            // Three decimals of milliseconds: microseconds, which the kernel counts in.
            assert!((ours - theirs).abs() < 1e-9 + 1e-12 * ours, "{key}: {ours}, ss {theirs}");
        })
        .count()
}

/// The same file, read by `ss` (`TCPDIAG_FILE`) and here. One family at a time: `ss` reads up to the end of the first.
#[test]
#[expect(clippy::print_stdout, reason = "a test that is skipped says so")]
fn every_number_equals_that_of_ss_on_the_same_dump() {
    let folder = tempfile::tempdir().unwrap();
    let dump = folder.path().join("sockets.bin");
    let _pairs = [pair(), Pair::open((Ipv6Addr::LOCALHOST, 0).into())];
    for family in ["-4", "-6"] {
        let Ok(wrote) = Command::new("ss").args([family, "-tinmOD"]).arg(&dump).output() else {
            println!("skipped: there is no ss here");
            return;
        };
        assert!(wrote.status.success(), "{}", stderr(&wrote));
        let ss = Command::new("ss")
            .args([family, "-tinmOH"])
            .env("TCPDIAG_FILE", &dump)
            .output()
            .unwrap();
        let theirs = fields_of_ss(&stdout(&ss));
        let file = dump.to_str().unwrap();
        let ours = document(&maxseg(&["connections", "--json", "--from-dump", file]));
        let fields = |row: &Value| {
            let end = |key: &str| row[key].as_str().unwrap().to_owned();
            theirs.get(&(end("local"), end("remote")))
        };
        let compared = rows(&ours).iter().filter_map(|row| Some(equal_numbers(row, fields(row)?)));
        let counts: Vec<usize> = compared.collect();
        assert!(counts.len() >= 2 && counts.iter().all(|count| *count >= 8), "{counts:?}");
        println!("checked {} numbers ({family})", counts.iter().sum::<usize>());
    }
}

#[test]
fn a_file_that_is_no_dump_is_one_clear_error() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "State Recv-Q Send-Q\n").unwrap();
    let output = maxseg(&["connections", "--from-dump", file.path().to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    let text = stderr(&output);
    assert!(text.contains("byte 0") && text.contains("hint: "), "{text}");
}

/// Connections that live for no time: each end is listed once, or told as missed.
#[test]
fn connections_that_closed_between_two_lists_are_listed() {
    const COUNT: usize = 300;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let port = address.port().to_string();
    let mut child = Command::new(env!("CARGO_BIN_EXE_maxseg"))
        .args(["connections", "--json", "--watch", "200ms", "--port", &port])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
    // Once the first list is there, events are watched.
    lines.next().unwrap().unwrap();
    for _ in 0..COUNT {
        let mut client = TcpStream::connect(address).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        client.write_all(b"request").unwrap();
        server.read_exact(&mut [0; 7]).unwrap();
    }
    let (mut closed, mut missed) = (0, 0);
    while closed < 2 * COUNT && missed == 0 {
        let document: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        closed += rows(&document).iter().filter(|row| row["state"] == "closed").count();
        missed += document["missed"].as_u64().unwrap();
    }
    nix::sys::signal::kill(
        nix::unistd::Pid::from_raw(child.id().try_into().unwrap()),
        nix::sys::signal::Signal::SIGINT,
    )
    .unwrap();
    // A list that nobody reads may fill the pipe.
    drop(lines);
    assert_eq!(child.wait().unwrap().code(), Some(0), "Ctrl-C ends --watch");
    assert!(closed >= 2 * COUNT || missed > 0, "{closed} of {} ends", 2 * COUNT);
}
