//! A host in a network namespace, with a state folder of its own.

use std::io::Write as _;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use super::super::kernel::{skipped, wait_until};
use super::super::namespace::Namespace;
use super::super::{stderr, stdout};

/// Routes of each kind: with a gateway, with two next hops, on the link; and an interface.
pub(super) struct Host {
    pub(super) namespace: Namespace,
    state: tempfile::TempDir,
}

impl Host {
    /// `None`, and said so, for who may not have one.
    pub(super) fn new() -> Option<Self> {
        let Some(namespace) = Namespace::new() else {
            skipped("a host of its own: this user may not make network namespaces");
            return None;
        };
        for line in [
            "ip link set lo up",
            "ip link add va type veth peer name vb",
            "ip addr add 10.9.0.1/24 dev va",
            "ip link set va up",
            "ip link set vb up",
            "ip route add default via 10.9.0.2 initcwnd 12",
            "ip route add 10.5.0.0/16 nexthop via 10.9.0.3 weight 2 nexthop via 10.9.0.4",
        ] {
            namespace.must(line);
        }
        let host = Self { namespace, state: tempfile::tempdir().unwrap() };
        // Before that their state changes by itself, and IPv6's routes come.
        let has_v6 = host.shows("ip -6 addr show dev lo").contains("inet6");
        wait_until("both ends of the link", || {
            host.shows("ip -o link show type veth").matches("state UP").count() == 2
                && (!has_v6 || host.shows("ip -6 route").matches("fe80::/64").count() == 2)
        });
        Some(host)
    }

    /// The folder that the program makes.
    pub(super) fn folder(&self) -> PathBuf {
        self.state.path().join("maxseg")
    }

    /// The journal.
    pub(super) fn journal(&self) -> PathBuf {
        self.folder().join("tune.jsonl")
    }

    /// A command on this host: a program, and its arguments.
    pub(super) fn command(&self, program: &str) -> Command {
        let pid = self.namespace.0.id().to_string();
        let mut command = Command::new("nsenter");
        command.args(["-t", &pid, "-n", program]).stdin(Stdio::null());
        command.env("XDG_STATE_HOME", self.state.path()).env("COLUMNS", "200");
        // Nothing of a session in which the tests run.
        command.env("SSH_CONNECTION", "").env_remove("SUDO_UID").env_remove("NO_COLOR");
        command
    }

    /// `maxseg tune` with these arguments.
    pub(super) fn tune(&self, arguments: &[&str]) -> Output {
        let mut command = self.command(env!("CARGO_BIN_EXE_maxseg"));
        command.arg("tune").args(arguments).output().unwrap()
    }

    /// The same, which must end with this exit code; what it prints.
    pub(super) fn tune_ends(&self, arguments: &[&str], code: i32) -> String {
        let output = self.tune(arguments);
        let told = format!("{}{}", stdout(&output), stderr(&output));
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {told}");
        told
    }

    /// Applies these assignments.
    pub(super) fn apply(&self, assignments: &[&str], more: &[&str]) -> String {
        let sets = assignments.iter().flat_map(|assignment| ["--set", assignment]);
        let arguments: Vec<&str> = ["apply", "--yes"].into_iter().chain(sets).collect();
        self.tune_ends(&[&arguments[..], more].concat(), 0)
    }

    /// The error of applying these assignments, which must change nothing.
    pub(super) fn refused(&self, assignments: &[&str], more: &[&str]) -> String {
        let before = self.kernel();
        let sets = assignments.iter().flat_map(|assignment| ["--set", assignment]);
        let arguments: Vec<&str> = ["apply", "--yes"].into_iter().chain(sets).collect();
        let output = self.tune(&[&arguments[..], more].concat());
        let told = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{assignments:?}: {told}");
        assert!(told.contains("hint: "), "{told}");
        assert_eq!(self.kernel(), before, "{assignments:?}");
        told
    }

    /// The entries of `tune status --json`, and its exit code.
    pub(super) fn status(&self, more: &[&str]) -> (Vec<Value>, i32) {
        let output = self.tune(&[&["status", "--json"], more].concat());
        let document: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", stderr(&output)));
        assert_eq!(document["schema_version"], 1);
        let entries = document["entries"].as_array().unwrap().clone();
        (entries, output.status.code().unwrap())
    }

    /// The states of the entries, in the order of their numbers.
    pub(super) fn states(&self) -> Vec<String> {
        let state = |entry: Value| entry["state"].as_str().unwrap().to_owned();
        self.status(&["--all"]).0.into_iter().map(state).collect()
    }

    /// What a command prints.
    pub(super) fn shows(&self, line: &str) -> String {
        let output = self.namespace.run(line);
        assert!(output.status.success(), "{line}: {}", stderr(&output));
        stdout(&output)
    }

    /// Everything that a test sets, as the kernel tells it.
    pub(super) fn kernel(&self) -> String {
        // `ip -d link` has counters of queues that differ from one look to the next.
        let links = self.shows("ip -o link show");
        let sysctls = "sysctl net.ipv4.tcp_rmem net.ipv4.tcp_wmem net.ipv4.tcp_sack \
                       net.ipv4.tcp_congestion_control";
        [self.shows("ip -d route"), self.shows("ip -6 -d route"), links, self.shows(sysctls)]
            .concat()
    }
}

/// A peer on the far side of a router, whose link to it is narrower.
pub(super) struct Far {
    pub(super) host: Host,
    pub(super) peer: Namespace,
    pub(super) router: Namespace,
}

impl Far {
    pub(super) fn new() -> Option<Self> {
        let (host, peer, router) = (Host::new()?, Namespace::new()?, Namespace::new()?);
        let id = router.0.id();
        host.namespace.must(&format!("ip link add vr type veth peer name ra netns {id}"));
        peer.must(&format!("ip link add vp type veth peer name rb netns {id}"));
        for (at, link, address) in [
            (&host.namespace, "vr", "10.20.1.2"),
            (&router, "ra", "10.20.1.1"),
            (&router, "rb", "10.20.2.1"),
            (&peer, "vp", "10.20.2.2"),
        ] {
            at.must(&format!("ip addr add {address}/24 dev {link}"));
            at.must(&format!("ip link set {link} up"));
        }
        host.namespace.must("ip route add 10.20.2.0/24 via 10.20.1.1");
        peer.must("ip route add default via 10.20.2.1");
        router.must("sysctl -qw net.ipv4.ip_forward=1");
        Some(Self { host, peer, router })
    }

    /// A connection from the host to the peer.
    pub(super) fn connect(&self) -> (TcpStream, TcpStream) {
        let there = Ipv4Addr::new(10, 20, 2, 2);
        let listener = self.peer.inside(|| TcpListener::bind((there, 0)).unwrap());
        let address = listener.local_addr().unwrap();
        let client = self.host.namespace.inside(|| TcpStream::connect(address).unwrap());
        (client, listener.accept().unwrap().0)
    }

    /// Makes the link behind the router narrower, and has the host learn it.
    pub(super) fn learn(&self, mtu: u32) {
        self.router.must(&format!("ip link set rb mtu {mtu}"));
        let (mut client, mut server) = self.connect();
        let reader = std::thread::spawn(move || {
            std::io::copy(&mut server, &mut std::io::sink()).unwrap();
        });
        client.write_all(&vec![0; 100_000]).unwrap();
        drop(client);
        reader.join().unwrap();
        let told = self.host.shows("ip route get 10.20.2.2");
        assert!(told.contains(&format!("mtu {mtu}")), "{told}");
    }
}
