//! Hosts A and B with routers between them, in network namespaces.

use std::io;
use std::net::{IpAddr, Ipv4Addr, TcpListener};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use maxseg_wire::Payload;
use maxseg_wire::icmp::{Message, quote};
use maxseg_wire::ip::{Ipv4, protocol};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, SockaddrIn, recv, sendto, socket,
};
use serde_json::Value;

use super::super::kernel::{NOBODY, skipped};
use super::super::namespace::Namespace;
use super::super::stderr;

/// B's addresses.
pub(super) const TO: [&str; 2] = ["10.9.2.2", "fd09:2::2"];
/// The port at which B listens.
pub(super) const PORT: u16 = 80;

/// Host A, a router, and host B.
pub(super) struct Net {
    pub(super) a: Namespace,
    pub(super) router: Namespace,
    pub(super) b: Namespace,
    listeners: Mutex<Vec<TcpListener>>,
    /// Where A's log is.
    pub(super) state: tempfile::TempDir,
}

impl Net {
    /// A router whose link to B has this MTU; `None` where this user may not have namespaces.
    pub(super) fn with_mtu(mtu: u32) -> Option<Self> {
        let (Some(a), Some(router), Some(b)) =
            (Namespace::new(), Namespace::new(), Namespace::new())
        else {
            skipped("paths: no network namespace (root)");
            return None;
        };
        let id = router.0.id();
        a.must(&format!("ip link add va mtu 9216 type veth peer name ra mtu 9216 netns {id}"));
        b.must(&format!("ip link add vb mtu 9216 type veth peer name rb mtu 9216 netns {id}"));
        for (host, link, net, end, mtu) in [
            (&a, "va", 1, 2, 1500),
            (&router, "ra", 1, 1, 1500),
            (&router, "rb", 2, 1, mtu),
            (&b, "vb", 2, 2, 1500),
        ] {
            host.must("ip link set lo up");
            host.must(&format!("ip link set {link} mtu {mtu} up"));
            host.must(&format!("ip addr add 10.9.{net}.{end}/24 dev {link}"));
            if mtu >= 1280 {
                host.must(&format!("ip addr add fd09:{net}::{end}/64 dev {link} nodad"));
            }
        }
        router.must("sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1");
        for (host, net) in [(&a, 1), (&b, 2)] {
            host.must(&format!("ip route add default via 10.9.{net}.1"));
            host.must(&format!("ip -6 route add default via fd09:{net}::1"));
        }
        let state = tempfile::tempdir().unwrap();
        Some(Self { a, router, b, listeners: Mutex::default(), state })
    }

    /// B listens.
    pub(super) fn listen(self) -> Self {
        self.open();
        self
    }

    /// The same, later.
    pub(super) fn open(&self) {
        let listener = self.b.inside(|| TcpListener::bind(("::", PORT)).unwrap());
        self.listeners.lock().unwrap().push(listener);
    }

    /// Rules of the router's firewall.
    pub(super) fn router_rules(&self, hook: &str, rules: &[&str]) -> bool {
        rules_of(&self.router, hook, rules)
    }

    /// Whether its hosts can have a firewall; where not, says so.
    pub(super) fn has_firewall(&self) -> bool {
        has_firewall(&self.b)
    }

    /// Rules of B's firewall.
    pub(super) fn b_rules(&self, hook: &str, rules: &[&str]) -> bool {
        rules_of(&self.b, hook, rules)
    }

    /// Rules of A's firewall.
    pub(super) fn a_rules(&self, hook: &str, rules: &[&str]) -> bool {
        rules_of(&self.a, hook, rules)
    }

    /// B answers neither UDP nor echoes.
    pub(super) fn mute_b(&self) -> bool {
        let rules = ["meta l4proto udp drop", "icmp type echo-request drop"];
        rules_of(&self.b, "input", &rules)
    }

    /// A VXLAN over the link of the router and B, by which B answers at 10.9.7.2; `false` where this kernel has none.
    pub(super) fn tunnel(&self) -> bool {
        for (host, here, there, link) in [(&self.router, 1, 2, "rb"), (&self.b, 2, 1, "vb")] {
            let made = format!(
                "ip link add vx type vxlan id 7 local 10.9.2.{here} remote 10.9.2.{there} dstport 4789 dev {link}"
            );
            if !host.run(&made).status.success() {
                skipped("paths through a tunnel: this kernel has no VXLAN");
                return false;
            }
            host.must("ip link set vx up");
            host.must(&format!("ip addr add 10.9.7.{here}/24 dev vx"));
        }
        self.b.must("ip route replace default via 10.9.7.1");
        true
    }

    /// What `maxseg path` prints on A.
    pub(super) fn path(&self, arguments: &[&str]) -> Output {
        let mut line = Command::new("nsenter");
        line.args(["-t", &self.a.0.id().to_string(), "-n"]).arg(env!("CARGO_BIN_EXE_maxseg"));
        line.arg("path").args(arguments).env("XDG_STATE_HOME", self.state.path());
        line.output().unwrap()
    }

    /// The document, and the exit code.
    pub(super) fn report(&self, arguments: &[&str]) -> (Value, i32) {
        document(&self.path(&[arguments, &["--json"]].concat()))
    }

    /// The same for an ordinary user; `None` without `setpriv`.
    pub(super) fn report_to_nobody(&self, arguments: &[&str]) -> Option<(Value, i32)> {
        if !self.a.run("setpriv --version").status.success() {
            skipped("paths of an ordinary user: setpriv is not installed");
            return None;
        }
        // A program that everyone may run, whatever folder this one is in.
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("maxseg");
        // By a process of its own: a descriptor that writes it here may be inherited by a child of another test, and who executes it
        // then is told that the text file is busy.
        let mut copy = Command::new("cp");
        assert!(copy.arg(env!("CARGO_BIN_EXE_maxseg")).arg(&program).status().unwrap().success());
        let open = <std::fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o777);
        std::fs::set_permissions(folder.path(), open).unwrap();
        let mut line = Command::new("nsenter");
        line.args(["-t", &self.a.0.id().to_string(), "-n", "setpriv", "--clear-groups"]);
        line.args([format!("--reuid={NOBODY}"), format!("--regid={NOBODY}")]);
        line.arg(&program).arg("path").args(arguments).arg("--json");
        line.env("XDG_STATE_HOME", folder.path());
        Some(document(&line.output().unwrap()))
    }

    /// What A's kernel remembers of the path to an address.
    pub(super) fn learnt(&self, to: &str) -> Option<u32> {
        let output = self.a.run(&format!("ip -json route get {to}"));
        let routes: Value = serde_json::from_slice(&output.stdout).unwrap();
        let route = &routes[0];
        let mtu = route["metrics"][0]["mtu"].as_u64()?;
        let expires = route["expires"].as_u64().is_some();
        expires.then(|| u32::try_from(mtu).unwrap())
    }
}

fn document(output: &Output) -> (Value, i32) {
    let code = output.status.code().unwrap();
    let document = serde_json::from_slice(&output.stdout);
    (document.unwrap_or_else(|error| panic!("{error}, {code}: {}", stderr(output))), code)
}

fn has_firewall(host: &Namespace) -> bool {
    let has = host.run("nft --version").status.success();
    if !has {
        skipped("paths with a firewall: nft is not installed");
    }
    has
}

fn rules_of(host: &Namespace, hook: &str, rules: &[&str]) -> bool {
    if !has_firewall(host) {
        return false;
    }
    host.must("nft add table inet t");
    host.must(&format!("nft add chain inet t {hook} {{ type filter hook {hook} priority 0 ; }}"));
    for rule in rules {
        host.must(&format!("nft add rule inet t {hook} {rule}"));
    }
    true
}

/// Says of every large packet that passes the router that it is too big, for an MTU that is not that of the path.
pub(super) struct Liar {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Liar {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// What it says.
#[derive(Clone, Copy)]
struct Lie {
    /// Of packets above this size, bytes.
    above: u32,
    /// The MTU that it states.
    mtu: u32,
    /// So many bytes of the packet are quoted; else its header and 8 bytes (RFC 792).
    quoted: Option<usize>,
}

/// Whom the messages claim to be from.
pub(super) const LIAR: Ipv4Addr = Ipv4Addr::new(10, 9, 1, 1);
/// Bytes of the header of a frame.
const ETHERNET: usize = 14;

impl Liar {
    /// On the router of a net.
    pub(super) fn new(net: &Net, mtu: u32) -> Self {
        Self::telling(net, Lie { above: mtu, mtu, quoted: None })
    }

    /// Of packets above a size it states another MTU, and quotes as much as RFC 1812 §4.3.2.3 has it.
    pub(super) fn stating(net: &Net, above: u32, mtu: u32) -> Self {
        Self::telling(net, Lie { above, mtu, quoted: Some(576 - 28) })
    }

    fn telling(net: &Net, told: Lie) -> Self {
        let (hears, speaks) = net.router.inside(|| {
            let protocol = Some(SockProtocol::EthIp);
            let flags = SockFlag::SOCK_CLOEXEC;
            let hears = socket(AddressFamily::Packet, SockType::Raw, flags, protocol).unwrap();
            let raw = Some(SockProtocol::Raw);
            (hears, socket(AddressFamily::Inet, SockType::Raw, flags, raw).unwrap())
        });
        let stop = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            while !is_over.load(Ordering::Relaxed) {
                let mut polled = [PollFd::new(std::os::fd::AsFd::as_fd(&hears), PollFlags::POLLIN)];
                if poll(&mut polled, PollTimeout::from(50_u8)).unwrap() > 0 {
                    let _ = lie(&hears, &speaks, told);
                }
            }
        });
        Self { stop, thread: Some(thread) }
    }
}

/// Reads a frame, and answers it if it is large and comes from A.
fn lie(hears: &OwnedFd, speaks: &OwnedFd, told: Lie) -> io::Result<()> {
    let mut frame = [0; 10_000];
    let length = recv(hears.as_raw_fd(), &mut frame, MsgFlags::empty())?;
    let packet = frame.get(ETHERNET..length).unwrap_or_default();
    let from: [u8; 4] = packet.get(12..16).unwrap_or_default().try_into().unwrap_or_default();
    let (from, a) = (Ipv4Addr::from(from), Ipv4Addr::new(10, 9, 1, 2));
    if from != a || packet.len() <= told.above as usize {
        return Ok(());
    }
    let ends = (IpAddr::V4(LIAR), IpAddr::V4(a));
    let mut message = Vec::new();
    let quoted = told.quoted.and_then(|bytes| packet.get(..bytes));
    let quoted = Payload::Bytes(quoted.unwrap_or_else(|| quote(packet, ends.0)));
    Message::TooBig { mtu: told.mtu }.encode(ends, quoted, &mut message);
    let header = Ipv4 { protocol: protocol::ICMP, source: LIAR, destination: a, ..Ipv4::default() };
    let mut packet = Vec::new();
    header.encode(&[], message.len(), &mut packet).map_err(io::Error::other)?;
    packet.extend(message);
    let to = SockaddrIn::new(10, 9, 1, 2, 0);
    sendto(speaks.as_raw_fd(), &packet, &to, MsgFlags::empty())?;
    Ok(())
}

/// The program, for who starts it in the background.
pub(super) fn in_background(net: &Net, arguments: &[&str]) -> Command {
    let mut line = Command::new("nsenter");
    line.args(["-t", &net.a.0.id().to_string(), "-n"]).arg(env!("CARGO_BIN_EXE_maxseg"));
    line.arg("path").args(arguments).env("XDG_STATE_HOME", net.state.path());
    line
}
