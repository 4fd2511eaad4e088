//! Whose sockets `maxseg connections` lists, and what a listening one has dropped.

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use super::kernel::skipped;
use super::namespace::Namespace;
use super::{json, maxseg, stderr, stdout, unwrapped};

/// A process that ends with its input, when this is dropped.
struct Held(Child);

impl Held {
    /// One that has a socket of this process open as well.
    fn sharing(socket: impl Into<OwnedFd>) -> Self {
        let mut cat = Command::new("cat");
        cat.stdin(Stdio::piped()).stdout(socket.into()).stderr(Stdio::null());
        Self(cat.spawn().unwrap())
    }

    fn pid(&self) -> String {
        self.0.id().to_string()
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

#[test]
fn a_process_that_shares_a_socket_has_it() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let sharer = Held::sharing(listener.try_clone().unwrap());
    let process_of = |more: &[&str]| {
        let all = [&["connections", "--listening", "--json", "--port", &port], more].concat();
        json(&all)["listeners"][0]["process"]["pid"].as_u64()
    };
    assert_eq!(process_of(&[]), Some(std::process::id().into()), "it began first");
    assert_eq!(process_of(&["--process", &sharer.pid()]), Some(sharer.0.id().into()));
    let explained = stdout(&maxseg(&["explain", &sharer.pid(), "--interval", "20ms"]));
    assert!(explained.contains(&format!("127.0.0.1:{port} (cat/")), "{explained}");
}

/// As in a container, and in a unit with a set of its own.
#[test]
fn root_without_a_capability_is_told_what_it_does_not_see() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let without = |arguments: &[&str]| {
        let mut command = Command::new("setpriv");
        command.args(["--bounding-set", "-sys_ptrace", "--inh-caps", "-sys_ptrace"]);
        command.arg(env!("CARGO_BIN_EXE_maxseg")).args(arguments).output()
    };
    let of_port = ["connections", "--listening", "--port", &port];
    let listed = match without(&[&of_port[..], &["--json"]].concat()) {
        Ok(output) if output.status.success() => output,
        _ => return skipped("a right less: this user has no setpriv, or may not give it up"),
    };
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    assert_eq!(listed["listeners"][0]["process"], Value::Null);
    assert!(listed["hidden_processes"].as_u64() > Some(0), "{listed}");
    let text = unwrapped(&stdout(&without(&of_port).unwrap()));
    assert!(text.contains("No process is shown for the sockets of"), "{text}");
    let pid = std::process::id().to_string();
    let explained = without(&["explain", &pid, "--interval", "20ms"]).unwrap();
    assert!(stderr(&explained).contains("no connection is known to be of process"));
    let checks: Value =
        serde_json::from_slice(&without(&["doctor", "--json"]).unwrap().stdout).unwrap();
    let is_options = |check: &&Value| check["name"] == "options";
    let options = checks["checks"].as_array().unwrap().iter().find(is_options).unwrap();
    assert_eq!(options["state"], "limited", "{options}");
    assert!(options["values"]["hidden_processes"].as_u64() > Some(0), "{options}");
}

/// Listens with `TCP_DEFER_ACCEPT`, serves one connection, and stays until its input ends.
const DEFERS: &str = "
import socket, sys
listener = socket.socket()
listener.bind(('127.0.0.1', 0))
listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_DEFER_ACCEPT, 30)
listener.listen(100)
client = socket.create_connection(listener.getsockname())
client.sendall(b'GET /')
server, _ = listener.accept()
server.recv(5)
print(listener.getsockname()[1], flush=True)
sys.stdin.read()";

#[test]
fn acknowledgements_that_a_listener_ignores_on_purpose_are_not_dropped_connections() {
    let Some(namespace) = Namespace::new() else {
        return skipped("counters of its own: this user may not make a network namespace");
    };
    namespace.must("ip link set lo up");
    let mut python = Command::new("nsenter");
    python.args(["-t", &namespace.0.id().to_string(), "-n", "python3", "-c", DEFERS]);
    let listening = python.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut listening = Held(listening);
    let mut port = String::new();
    BufReader::new(listening.0.stdout.take().unwrap()).read_line(&mut port).unwrap();
    if port.is_empty() || !stdout(&namespace.run("ss -tlnmH")).contains(",d1)") {
        return skipped("drops of a socket: there is no python3, or this kernel counts none");
    }
    let program = env!("CARGO_BIN_EXE_maxseg");
    let listed = namespace.run(&format!("{program} connections --listening --json"));
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    assert_eq!(listed["listeners"][0]["overflows"], 0, "{listed}");
    let explained = namespace.run(&format!("{program} explain 127.0.0.1:{}", port.trim()));
    let explained = unwrapped(&stdout(&explained));
    assert!(explained.contains("nothing was dropped so far"), "{explained}");
}

#[test]
fn states_that_no_connection_is_listed_in_are_refused() {
    for state in ["bound-inactive", "new-syn-received", "listen"] {
        let output = maxseg(&["connections", "--state", state]);
        assert_eq!(output.status.code(), Some(2), "{state}: {}", stdout(&output));
    }
    assert!(maxseg(&["connections", "--state", "syn-received"]).status.success());
}

#[test]
fn a_zone_chooses_the_interface() {
    let Some(namespace) = Namespace::new() else {
        return skipped("interfaces of its own: this user may not make a network namespace");
    };
    for line in [
        "ip link set lo up",
        "ip link add d0 type veth peer name d1",
        "ip link set d0 up",
        "ip link set d1 up",
        "ip addr add fe80::9/64 dev d0 nodad",
        "ip route add 192.0.2.0/24 dev d0 features ecn",
    ] {
        namespace.must(line);
    }
    let (port, _ends) = namespace.inside(|| {
        let listener = TcpListener::bind("[::]:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let index = nix::net::if_::if_nametoindex("d0").unwrap();
        let to = std::net::SocketAddrV6::new("fe80::9".parse().unwrap(), port, 0, index);
        let client = std::net::TcpStream::connect(to).unwrap();
        (port, (listener, client))
    });
    let program = env!("CARGO_BIN_EXE_maxseg");
    let run = |line: &str| namespace.run(&format!("{program} {line}"));
    let listed = stdout(&run("connections --no-processes --dst fe80::9%d0"));
    assert!(listed.contains(&format!("[fe80::9%d0]:{port}")), "{listed}");
    let document = run(&format!("connections --json --port {port}"));
    let document: Value = serde_json::from_slice(&document.stdout).unwrap();
    assert!(document["connections"][0]["interface_index"].as_u64() > Some(1), "{document}");
    let other = stdout(&run("connections --no-processes --dst fe80::9%lo"));
    assert!(other.contains("no TCP connections match"), "{other}");
    let unknown = run("connections --dst fe80::9%d9");
    assert!(stderr(&unknown).contains("there is no interface d9"), "{}", stderr(&unknown));
    let held = namespace.0.id();
    let named = stdout(&maxseg(&["connections", "--netns", &format!("pid:{held}")]));
    assert!(named.contains(&format!("pid:{held}")), "{named}");
    let stack = |to: &str| stdout(&run(&format!("stacks from-host --to {to}")));
    assert!(stack("fe80::7%d1").contains("route to fe80::7 by d1"));
    assert!(stack("192.0.2.7").contains("# features ecn of the route"));
}
