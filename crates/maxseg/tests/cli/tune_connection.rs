//! `maxseg tune` on connections of another process, documents and the clamp of a gateway, in network namespaces of the test's own.
//! Namespaces take root; without it, or without `ip`, the tests say that they are skipped.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Output;

use serde_json::Value;
use tempfile::TempDir;

use super::kernel::skipped;
use super::namespace::Namespace;
use super::{command, stderr, stdout, unwrapped};

/// A host with a connection to itself, which this process has open.
struct Host {
    namespace: Namespace,
    state: TempDir,
}

impl Host {
    fn new() -> Option<Self> {
        let Some(namespace) = Namespace::new() else {
            skipped("changes of a namespace's settings: they take root and unshare");
            return None;
        };
        namespace.must("ip link set lo up");
        Some(Self { namespace, state: tempfile::tempdir().unwrap() })
    }

    /// The program there, with a journal of its own.
    fn maxseg(&self, arguments: &[&str]) -> Output {
        let mut command = command(arguments);
        command.env("XDG_STATE_HOME", self.state.path()).env("COLUMNS", "200");
        self.namespace.inside(|| command.output().unwrap())
    }

    /// The same, which must end with this code.
    fn ends(&self, code: i32, arguments: &[&str]) -> String {
        let output = self.maxseg(arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", stderr(&output));
        stdout(&output) + &stderr(&output)
    }

    fn connect(&self) -> (TcpStream, TcpStream, String) {
        self.namespace.inside(|| {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let a = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let ends = format!("{}-{}", a.local_addr().unwrap(), a.peer_addr().unwrap());
            (a, listener.accept().unwrap().0, ends)
        })
    }

    fn socket(&self, ends: &str) -> String {
        let (local, _) = ends.split_once('-').unwrap();
        let line = format!("ss -Htinm src {local}");
        let listed = self.namespace.run(&line);
        stdout(&listed)
    }
}

fn document(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn options_of_another_process_s_connection_are_set_and_restored() {
    let Some(host) = Host::new() else { return };
    let (mut a, mut b, ends) = host.connect();
    let before = host.socket(&ends);
    let other = if before.contains(" reno ") { "cubic" } else { "reno" };
    let congestion = format!("congestion={other}");
    let applied = host.ends(
        0,
        &[
            "tune",
            "apply",
            "--connection",
            &ends,
            "--set",
            &congestion,
            "--set",
            "sndbuf=123456",
            "--yes",
        ],
    );
    assert!(
        unwrapped(&applied).contains("what the algorithm had learnt of the path is lost"),
        "{applied}"
    );
    let set = host.socket(&ends);
    assert!(set.contains(&format!(" {other} ")) && set.contains("tb123456"), "{set}");
    // The connection goes on.
    a.write_all(b"on").unwrap();
    b.read_exact(&mut [0; 2]).unwrap();
    let status = document(&host.maxseg(&["tune", "status", "--json"]));
    let found: Vec<_> =
        status["entries"].as_array().unwrap().iter().map(|one| one["state"].clone()).collect();
    assert_eq!(found, ["set", "set"]);
    host.ends(0, &["tune", "undo", "--yes"]);
    let size = |text: &str| text.split("tb").nth(1).unwrap().split(',').next().unwrap().to_owned();
    let after = host.socket(&ends);
    assert_eq!(size(&after), size(&before));
    assert!(!after.contains(&format!(" {other} ")), "{after}");
}

#[test]
fn a_segment_size_is_refused_with_the_reason() {
    let Some(host) = Host::new() else { return };
    let (_a, _b, ends) = host.connect();
    let said = host.ends(1, &["tune", "apply", "--connection", &ends, "--set", "mss=600", "--yes"]);
    assert!(said.contains("the kernel accepts TCP_MAXSEG and does nothing"), "{said}");
    assert!(unwrapped(&said).contains("--set route.127.0.0.1.mtu=1280"), "{said}");
}

#[test]
fn a_connection_that_is_closed_has_nothing_to_undo() {
    let Some(host) = Host::new() else { return };
    let (a, b, ends) = host.connect();
    host.ends(0, &["tune", "apply", "--connection", &ends, "--set", "notsent_lowat=4096", "--yes"]);
    drop((a, b));
    let undone = host.ends(0, &["tune", "undo", "--all", "--yes"]);
    assert!(undone.contains("nothing is left to undo"), "{undone}");
    let said =
        host.ends(1, &["tune", "apply", "--connection", &ends, "--set", "sndbuf=auto", "--yes"]);
    assert!(said.contains("there is no connection"), "{said}");
}

#[test]
fn a_document_is_imported_applied_exported_and_undone() {
    let Some(host) = Host::new() else { return };
    for line in [
        "ip link add va type veth peer name vb",
        "ip addr add 10.7.0.1/24 dev va",
        "ip link set va up",
    ] {
        host.namespace.must(line);
    }
    host.namespace.must("ip link set vb up");
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(
        file("modem"),
        "#auto\ntcp_mss_max=536\ntcp_rwin_mss_multiplier=6\ntcp_conn_grace_period=3000\n#end\n",
    )
    .unwrap();
    let said = host.ends(
        0,
        &["tune", "import", &file("modem"), "--route", "10.7.0.0/24", "--out", &file("modem.toml")],
    );
    assert!(
        unwrapped(&said).contains("tcp_conn_grace_period: no time is added to timeouts here"),
        "{said}"
    );
    let routes = || stdout(&host.namespace.run("ip route show 10.7.0.0/24"));
    let before = routes();
    host.ends(0, &["tune", "apply", &file("modem.toml"), "--yes"]);
    assert!(routes().contains("mtu 576") && routes().contains("window 3216"), "{}", routes());
    let exported = stdout(&host.maxseg(&["tune", "export", "--as", "open-transport"]));
    assert_eq!(exported, "#auto\ntcp_mss_max=536\ntcp_rwin_mss_multiplier=6\n#end\n");
    host.ends(0, &["tune", "undo", "--yes"]);
    assert_eq!(routes(), before);
    host.ends(1, &["tune", "export"]);
}

/// A client, a gateway whose firewall accepts everything in an earlier chain, and a server behind it.
struct Gateway {
    host: Host,
    client: Namespace,
    _server: Namespace,
    listener: TcpListener,
}

impl Gateway {
    /// With a server at this port of 10.5.2.2; `None`, and said so, where there cannot be one.
    fn new(port: u16) -> Option<Self> {
        let (host, client, server) = (Host::new()?, Namespace::new()?, Namespace::new()?);
        if !Path::new("/usr/sbin/nft").exists() {
            skipped("the clamp: nft is not installed");
            return None;
        }
        let of = &host.namespace;
        for (end, name, peer, gate, own) in [
            (&client, "gc", "eth0", "10.5.1.1", "10.5.1.2"),
            (&server, "gs", "eth0", "10.5.2.1", "10.5.2.2"),
        ] {
            of.must(&format!("ip link add {name} type veth peer name {peer} netns {}", end.0.id()));
            of.must(&format!("ip addr add {gate}/24 dev {name}"));
            of.must(&format!("ip link set {name} up"));
            end.must(&format!("ip addr add {own}/24 dev {peer}"));
            end.must(&format!("ip link set {peer} up"));
            end.must(&format!("ip route add default via {gate}"));
        }
        of.must("sysctl -qw net.ipv4.ip_forward=1");
        of.must("nft add table inet firewall");
        of.must("nft add chain inet firewall forward { type filter hook forward priority -10 ; policy drop ; }");
        of.must("nft add rule inet firewall forward accept");
        let listener = server.inside(|| TcpListener::bind(("10.5.2.2", port)).unwrap());
        Some(Self { host, client, _server: server, listener })
    }

    /// The segment sizes of a new connection: what the client sends is bounded by the MSS of the SYN-ACK, what the server sends by
    /// that of the SYN that it got.
    fn sizes(&self) -> (u32, u32) {
        let end = self.listener.local_addr().unwrap();
        let a = self.client.inside(|| TcpStream::connect(end).unwrap());
        let (b, _) = self.listener.accept().unwrap();
        let mss = |stream: &TcpStream| {
            nix::sys::socket::getsockopt(stream, nix::sys::socket::sockopt::TcpMaxSeg).unwrap()
        };
        (mss(&a), mss(&b))
    }
}

#[test]
fn a_clamp_reaches_syns_that_an_earlier_chain_accepts() {
    let Some(gateway) = Gateway::new(0) else { return };
    let (host, of) = (&gateway.host, &gateway.host.namespace);
    assert_eq!(gateway.sizes(), (1448, 1448));
    host.ends(0, &["tune", "apply", "--set", "clamp.gs=1200", "--yes"]);
    assert_eq!(gateway.sizes(), (1188, 1188), "both directions, less the timestamps");
    host.ends(0, &["tune", "undo", "--yes"]);
    assert_eq!(gateway.sizes(), (1448, 1448));
    of.must("ip link set gs mtu 1300");
    host.ends(0, &["tune", "apply", "--set", "clamp.gs=rt mtu", "--yes"]);
    assert_eq!(gateway.sizes(), (1248, 1248), "the route's MTU, less the headers");
    let status = document(&host.maxseg(&["tune", "status", "--json", "--all"]));
    assert_eq!(status["entries"][1]["now"], "rt mtu");
    host.ends(0, &["tune", "undo", "--all", "--yes"]);
    let left = stdout(&of.run("nft list ruleset"));
    assert!(!left.contains("maxseg") && left.contains("firewall"), "{left}");
}

/// What the program prints on the gateway, on a terminal of 80 columns, is in `docs/stories.md`.
#[test]
fn the_stories_of_the_clamp_and_of_ipv6_are_told() {
    let Some(gateway) = Gateway::new(80) else { return };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/stories.md")).unwrap();
    let printed = |shown: &str, arguments: &[&str]| {
        let mut command = command(arguments);
        command.env("XDG_STATE_HOME", gateway.host.state.path()).env("COLUMNS", "80");
        let output = gateway.host.namespace.inside(|| command.output().unwrap());
        let told = format!("{}{}", stdout(&output), stderr(&output));
        assert!(page.contains(&format!("$ maxseg {shown}\n{told}```")), "{shown}: {told}");
    };
    let of = &gateway.host.namespace;
    of.must("ip link set gs mtu 1300");
    let clamp = ["tune", "apply", "--set", "clamp.gs=rt mtu", "--yes"];
    printed("tune apply --set \"clamp.gs=rt mtu\" --yes", &clamp);
    assert_eq!(gateway.sizes(), (1248, 1248));
    // The gateway's own connection, as `why` sees it.
    let end = gateway.listener.local_addr().unwrap();
    let own = of.inside(|| TcpStream::connect(end).unwrap());
    let told = gateway.host.ends(0, &["explain", "10.5.2.2:80"]);
    let clamp = "  clamp: nft inet maxseg forward_gs: MSS the path MTU's at forward\n";
    assert!(told.contains(clamp) && page.contains(clamp), "{told}");
    gateway.host.ends(0, &["tune", "undo", "--yes"]);
    let told = gateway.host.ends(0, &["explain", "10.5.2.2:80"]);
    assert!(told.contains("clamps: none on this host"), "{told}");
    drop(own);
    if !of.run("ip addr add 2001:db8::1/64 dev gs nodad").status.success() {
        return skipped("an MTU that ends IPv6: this kernel has none");
    }
    let low = ["tune", "apply", "--set", "interface.gs.mtu=1180", "--yes"];
    printed("tune apply --set interface.gs.mtu=1180 --yes", &low);
}

#[test]
fn tunables_are_listed_and_shown() {
    let Some(host) = Host::new() else { return };
    host.namespace.must("sysctl -qw net.ipv4.tcp_frto=0");
    let listed = document(&host.maxseg(&["tune", "list", "--modified", "--json"]));
    let names: Vec<_> =
        listed["tunables"].as_array().unwrap().iter().map(|one| one["name"].clone()).collect();
    assert!(names.contains(&Value::from("sysctl.net.ipv4.tcp_frto")), "{names:?}");
    let shown = document(&host.maxseg(&["tune", "show", "tcp_frto", "--json"]));
    let one = &shown["tunables"][0];
    assert_eq!(
        (&one["current"], &one["default"], &one["modified"]),
        (&Value::from("0"), &Value::from("2"), &Value::from(true))
    );
    let text = host.ends(0, &["tune", "show", "route.mtu"]);
    assert!(text.contains("live (measured on Linux 6.18)"), "{text}");
    let said = host.ends(1, &["tune", "show", "tcp_rmen"]);
    assert!(said.contains("did you mean `sysctl.net.ipv4.tcp_rmem`?"), "{said}");
}

/// The files below a folder, with what they hold.
fn files(folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(one) = folders.pop() {
        for entry in std::fs::read_dir(one).unwrap().flatten() {
            if entry.path().is_dir() {
                folders.push(entry.path());
            } else {
                let name = entry.path().strip_prefix(folder).unwrap().display().to_string();
                found.push((name, std::fs::read_to_string(entry.path()).unwrap()));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn what_is_set_is_made_permanent_and_undone() {
    let Some(host) = Host::new() else { return };
    let root = tempfile::tempdir().unwrap();
    let of = root.path().display().to_string();
    let before = vec![("etc/sysctl.d/90-maxseg.conf".to_owned(), "# older\n".to_owned())];
    std::fs::create_dir_all(root.path().join("etc/sysctl.d")).unwrap();
    std::fs::write(root.path().join(&before[0].0), &before[0].1).unwrap();
    host.ends(1, &["tune", "persist", "--root", &of, "--yes"]);
    let set = "sysctl.net.ipv4.tcp_mtu_probing=1";
    host.ends(0, &["tune", "apply", "--set", set, "--why", "a tunnel", "--yes"]);
    host.ends(0, &["tune", "persist", "--root", &of, "--dry-run"]);
    host.ends(1, &["tune", "persist", "--root", &of]);
    assert_eq!(files(root.path()), before, "nothing is written unasked");
    host.ends(0, &["tune", "persist", "--root", &of, "--yes"]);
    let written = files(root.path());
    assert!(written[0].1.contains("# a tunnel\nnet.ipv4.tcp_mtu_probing = 1\n"), "{written:?}");
    // What sysctl(8) makes of it, in the namespace.
    host.namespace.must("sysctl -qw net.ipv4.tcp_mtu_probing=0");
    host.namespace.must(&format!("sysctl -q -p {of}/etc/sysctl.d/90-maxseg.conf"));
    assert_eq!(stdout(&host.namespace.run("sysctl -n net.ipv4.tcp_mtu_probing")).trim(), "1");
    host.ends(0, &["tune", "status"]);
    host.ends(0, &["tune", "undo", "--all", "--yes"]);
    assert_eq!(files(root.path()), before);
    assert_eq!(stdout(&host.namespace.run("sysctl -n net.ipv4.tcp_mtu_probing")).trim(), "0");
}

#[test]
fn a_unit_applies_a_document_when_the_machine_starts() {
    let Some(host) = Host::new() else { return };
    let root = tempfile::tempdir().unwrap();
    let of = root.path().display().to_string();
    let document = root.path().join("in.toml");
    std::fs::write(
        &document,
        "[settings]\n\"interface.lo.mtu\" = 9000\n\"sysctl.net.ipv4.tcp_sack\" = 0\n",
    )
    .unwrap();
    let document = document.display().to_string();
    let said = host.ends(0, &["tune", "persist", &document, "--root", &of, "--yes"]);
    // Below another root this host's own systemd has nothing to enable.
    assert!(said.contains(&format!("systemctl --root={of} enable maxseg-tune.service")), "{said}");
    let unit = root.path().join("etc/systemd/system/maxseg-tune.service");
    // What the unit runs does what the document says.
    host.ends(0, &["tune", "apply", &format!("{of}/etc/maxseg/tune.toml"), "--yes"]);
    assert!(stdout(&host.namespace.run("ip link show lo")).contains("mtu 9000"));
    match std::process::Command::new("systemd-analyze").arg("verify").arg(&unit).output() {
        Ok(verified) => {
            let said = stderr(&verified);
            let faults: Vec<_> =
                said.lines().filter(|line| line.contains("maxseg-tune.service")).collect();
            let is_known = |line: &&str| line.contains("network-online") || line.contains("man");
            assert!(faults.iter().all(is_known), "{said}");
        }
        Err(error) => skipped(&format!("systemd-analyze verify: {error}")),
    }
    host.ends(0, &["tune", "undo", "--all", "--yes"]);
    assert!(!unit.exists());
    let lines = stdout(&host.maxseg(&["tune", "persist", &document, "--as", "networkd"]));
    assert!(lines.contains("[Link]\nMTUBytes=9000"), "{lines}");
    host.ends(0, &["tune", "persist", &document, "--as", "ifupdown", "--root", &of, "--yes"]);
    assert!(
        files(root.path()).iter().any(|(name, text)| name == "etc/network/interfaces.d/maxseg"
            && text.contains("up ip link set dev lo mtu 9000"))
    );
    // A document cannot write files.
    std::fs::write(&document, "[settings]\n\"file./etc/passwd\" = \"x\"\n").unwrap();
    let said = host.ends(1, &["tune", "apply", &document, "--yes"]);
    assert!(said.contains("is not a target that can be set"), "{said}");
}
