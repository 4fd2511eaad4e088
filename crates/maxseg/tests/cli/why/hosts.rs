//! Hosts in network namespaces, and a connection between them.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::process::{Command, Output};

use maxseg_testkit::for_everybody;
use nix::sys::socket::{
    AddressFamily, SockFlag, SockType, SockaddrIn, connect, setsockopt, socket, sockopt,
};
use serde_json::Value;

use super::super::kernel::{skipped, wait_until};
use super::super::namespace::Namespace;
use super::super::{command, stderr};

/// Host A, whose connections are explained, its peer B, and perhaps a router between them.
pub(super) struct Hosts {
    a: Namespace,
    b: Namespace,
    router: Option<Namespace>,
    addresses: [Ipv4Addr; 2],
    /// `TCP_MAXSEG` of A's sockets.
    pub(super) user_mss: Option<u32>,
    /// `SO_RCVBUF` of A's sockets.
    pub(super) receive_buffer: Option<usize>,
}

impl Hosts {
    /// Two hosts with a link between them.
    pub(super) fn two() -> Option<Self> {
        let (a, b) = namespaces()?;
        a.must(&format!("ip link add va type veth peer name vb netns {}", b.0.id()));
        a.must("ip addr add 10.9.0.1/24 dev va");
        b.must("ip addr add 10.9.0.2/24 dev vb");
        a.must("ip link set va up");
        b.must("ip link set vb up");
        Some(Self::of(a, b, None, ["10.9.0.1", "10.9.0.2"]))
    }

    /// Two hosts with a router between them.
    pub(super) fn with_router() -> Option<Self> {
        let ((a, b), router) = (namespaces()?, Namespace::new()?);
        let id = router.0.id();
        a.must(&format!("ip link add va type veth peer name ra netns {id}"));
        b.must(&format!("ip link add vb type veth peer name rb netns {id}"));
        for (host, link, address) in [
            (&a, "va", "10.9.1.2"),
            (&router, "ra", "10.9.1.1"),
            (&router, "rb", "10.9.2.1"),
            (&b, "vb", "10.9.2.2"),
        ] {
            host.must(&format!("ip addr add {address}/24 dev {link}"));
            host.must(&format!("ip link set {link} up"));
        }
        a.must("ip route add default via 10.9.1.1");
        b.must("ip route add default via 10.9.2.1");
        router.must("sysctl -qw net.ipv4.ip_forward=1");
        Some(Self::of(a, b, Some(router), ["10.9.1.2", "10.9.2.2"]))
    }

    fn of(a: Namespace, b: Namespace, router: Option<Namespace>, ends: [&str; 2]) -> Self {
        let addresses = ends.map(|address| address.parse().unwrap());
        Self { a, b, router, addresses, user_mss: None, receive_buffer: None }
    }

    /// Runs a command on host A.
    pub(super) fn a(&self, line: &str) {
        self.a.must(line);
    }

    /// Runs a command on host A; whether it succeeded.
    pub(super) fn try_a(&self, line: &str) -> bool {
        self.a.run(line).status.success()
    }

    /// Runs a line of the shell on host A.
    pub(super) fn a_shell(&self, line: &str) {
        let pid = self.a.0.id().to_string();
        let output =
            Command::new("nsenter").args(["-t", &pid, "-n", "sh", "-ec", line]).output().unwrap();
        assert!(output.status.success(), "{line}: {}", stderr(&output));
    }

    /// Runs a command on host B.
    pub(super) fn b(&self, line: &str) {
        self.b.must(line);
    }

    /// Runs a command on the router.
    pub(super) fn router(&self, line: &str) {
        self.router.as_ref().unwrap().must(line);
    }

    /// Sets the metrics of A's route to B.
    pub(super) fn route(&self, metrics: &str) {
        self.a(&format!("ip route replace 10.9.0.0/24 dev va src 10.9.0.1 {metrics}"));
    }

    /// Whether a program is installed.
    pub(super) fn has(&self, program: &str) -> bool {
        self.a.run(&format!("{program} --version")).status.success()
    }

    /// A listening socket of A, of which one connection more waits than its queue takes.
    pub(super) fn full_listener(&self) -> (OwnedFd, Vec<TcpStream>) {
        use nix::sys::socket::{Backlog, bind, getsockname, listen};
        use std::os::fd::AsRawFd as _;
        self.a("ip link set lo up");
        self.a.inside(|| {
            let made = || {
                socket(AddressFamily::Inet, SockType::Stream, SockFlag::SOCK_CLOEXEC, None).unwrap()
            };
            let listener = made();
            bind(listener.as_raw_fd(), &SockaddrIn::new(10, 9, 0, 1, 0)).unwrap();
            listen(&listener, Backlog::new(1).unwrap()).unwrap();
            let address: SockaddrIn = getsockname(listener.as_raw_fd()).unwrap();
            let address = SocketAddr::new(address.ip().into(), address.port());
            let waiting = (0..2).map(|_| connected_to(made(), address)).collect();
            (listener, waiting)
        })
    }

    /// A new connection from A to B.
    pub(super) fn connect(&self) -> Connected {
        let [here, there] = self.addresses;
        let listener = self.b.inside(|| TcpListener::bind((there, 0)).unwrap());
        let address = listener.local_addr().unwrap();
        let client = self.a.inside(|| {
            let socket =
                socket(AddressFamily::Inet, SockType::Stream, SockFlag::SOCK_CLOEXEC, None)
                    .unwrap();
            if let Some(mss) = self.user_mss {
                setsockopt(&socket, sockopt::TcpMaxSeg, &mss).unwrap();
            }
            if let Some(bytes) = self.receive_buffer {
                setsockopt(&socket, sockopt::RcvBuf, &bytes).unwrap();
            }
            connected_to(socket, address)
        });
        let (server, peer) = listener.accept().unwrap();
        assert_eq!(peer.ip(), here);
        Connected { client, server }
    }

    /// What the program prints on A.
    pub(super) fn maxseg(&self, arguments: &[&str]) -> Output {
        let pid = self.a.0.id().to_string();
        let mut maxseg = command(arguments);
        maxseg.args(["--netns", &pid]);
        if !arguments.contains(&"connections") {
            maxseg.args(["--interval", "20 ms"]);
        }
        maxseg.env("COLUMNS", "80").output().unwrap()
    }

    /// The document about A's connections that an argument names.
    pub(super) fn explained(&self, argument: &str) -> Value {
        document(&self.maxseg(&["explain", argument, "--json"]))
    }

    /// The list of A's connections.
    pub(super) fn listed(&self) -> Value {
        document(&self.maxseg(&["connections", "--json"]))
    }

    /// The same for an ordinary user on A; `None` without `setpriv`.
    pub(super) fn explained_to_nobody(&self, argument: &str) -> Option<Value> {
        if !self.has("setpriv") {
            return None;
        }
        let nobody = "--reuid 65534 --regid 65534 --clear-groups";
        // A program that everyone may run, whatever folder this one is in.
        let folder = tempfile::tempdir().unwrap();
        let program = for_everybody(env!("CARGO_BIN_EXE_maxseg"), folder.path()).unwrap();
        let program = program.display();
        let line = format!("setpriv {nobody} {program} explain {argument} --json --interval 20ms");
        Some(document(&self.a.run(&line)))
    }
}

fn connected_to(socket: OwnedFd, address: SocketAddr) -> TcpStream {
    let SocketAddr::V4(address) = address else { panic!("IPv4 here") };
    let raw = std::os::fd::AsRawFd::as_raw_fd(&socket);
    connect(raw, &SockaddrIn::from(address)).unwrap();
    TcpStream::from(socket)
}

fn document(output: &Output) -> Value {
    assert!(output.status.success(), "{}", stderr(output));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn namespaces() -> Option<(Namespace, Namespace)> {
    let has_ip = Command::new("ip").arg("-V").output().is_ok_and(|done| done.status.success());
    let made = Namespace::new().zip(Namespace::new()).filter(|_| has_ip);
    if made.is_none() {
        skipped("explanations between namespaces: they take root, unshare and ip");
    }
    made
}

/// Both ends of a connection.
pub(super) struct Connected {
    client: TcpStream,
    server: TcpStream,
}

impl Connected {
    /// Its ends as the program takes them.
    pub(super) fn ends(&self) -> String {
        format!("{}-{}", self.client.local_addr().unwrap(), self.server())
    }

    /// B's end.
    pub(super) fn server(&self) -> SocketAddr {
        self.client.peer_addr().unwrap()
    }

    /// Has A write so many bytes, of which none need arrive.
    pub(super) fn write(&self, bytes: usize) {
        (&self.client).write_all(&vec![7; bytes]).unwrap();
    }

    /// Has A send so many bytes, and B read them.
    pub(super) fn send(&self, bytes: usize) {
        transfer(&self.client, &self.server, bytes);
    }

    /// Has B send so many bytes, and A read them.
    pub(super) fn receive(&self, bytes: usize) {
        transfer(&self.server, &self.client, bytes);
    }

    /// Has B send until nothing more fits, and A read nothing.
    pub(super) fn receive_unread(&self, bytes: usize) {
        self.server.set_nonblocking(true).unwrap();
        let data = vec![7; bytes];
        wait_until("a full receive buffer", || {
            let mut to = &self.server;
            to.write(&data).is_err() && self.is_shut()
        });
    }

    /// Whether B has data that A's window does not let go.
    fn is_shut(&self) -> bool {
        let unread = self.client.peek(&mut vec![0; 1 << 20]).unwrap_or(0);
        unread > 40_000
    }
}

fn transfer(mut from: &TcpStream, mut to: &TcpStream, bytes: usize) {
    std::thread::scope(|scope| {
        scope.spawn(move || from.write_all(&vec![7; bytes]).unwrap());
        to.read_exact(&mut vec![0; bytes]).unwrap();
    });
}
