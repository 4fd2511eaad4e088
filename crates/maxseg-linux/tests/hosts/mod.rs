//! Network namespaces of a test's own, and connections between them.
#![allow(dead_code, reason = "each test program uses a part")]

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use maxseg_linux::observe::sockets::{Place, Selection, SocketLister};
use maxseg_wire::inet_diag::{Memory, Socket, StateSet};
use maxseg_wire::tcp_info::TcpInfo;
use nix::sched::{CloneFlags, setns, unshare};
use socket2::SockRef;

/// Held by who starts a program: until it is executed the child has every socket of this process open.
static STARTS: RwLock<()> = RwLock::new(());

/// Starts a program; no child of a fork is left when this returns.
fn start(command: &mut Command) -> Child {
    let _starts = STARTS.read().unwrap_or_else(PoisonError::into_inner);
    command.spawn().unwrap()
}

/// A network namespace, which ends with the last descriptor of it.
pub(crate) struct Host(File);

impl Host {
    /// An empty one; `None`, aloud, for who may not have one.
    pub(crate) fn new() -> Option<Self> {
        let made = std::thread::spawn(|| {
            unshare(CloneFlags::CLONE_NEWNET)?;
            Ok::<_, nix::Error>(File::open("/proc/thread-self/ns/net").unwrap())
        });
        match made.join().unwrap() {
            Ok(file) => {
                let host = Self(file);
                host.must("ip link set lo up");
                Some(host)
            }
            Err(error) => {
                println!("skipped: no network namespace: {error}");
                None
            }
        }
    }

    /// Runs work on a thread in the namespace: sockets that it opens stay there.
    pub(crate) fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        std::thread::scope(|scope| {
            let inside = || {
                setns(&self.0, CloneFlags::CLONE_NEWNET).unwrap();
                work()
            };
            scope.spawn(inside).join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    /// Runs a line of the shell there.
    pub(crate) fn shell(&self, line: &str) -> Output {
        self.run(|| {
            let mut shell = Command::new("sh");
            shell.args(["-ec", line]).stdin(Stdio::null());
            start(shell.stdout(Stdio::piped()).stderr(Stdio::piped())).wait_with_output().unwrap()
        })
    }

    /// Runs a line of the shell there that must succeed; what it prints.
    pub(crate) fn must(&self, line: &str) -> String {
        let done = self.shell(line);
        assert!(done.status.success(), "{line}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8_lossy(&done.stdout).trim().to_owned()
    }

    /// Writes a sysctl there.
    pub(crate) fn sysctl(&self, name: &str, value: &str) -> std::io::Result<()> {
        let file = format!("/proc/sys/{}", name.replace('.', "/"));
        self.run(|| std::fs::write(file, value))
    }

    /// What the kernel lists of the socket with these ends.
    pub(crate) fn seen(&self, local: SocketAddr, remote: SocketAddr) -> Seen {
        self.run(|| {
            let mut lister = SocketLister::of(&Place::Here).unwrap().each.remove(0);
            let mut seen = None;
            let mut take = |socket: &Socket<'_>| {
                if (socket.local, socket.remote) == (local, remote) {
                    seen = Some(Seen {
                        info: socket.info.unwrap(),
                        memory: socket.memory.unwrap(),
                        congestion: socket.congestion.unwrap_or_default().to_owned(),
                        cookie: socket.cookie,
                    });
                }
            };
            lister.list(&Selection { states: StateSet::ALL, filter: None }, &mut take).unwrap();
            seen.expect("the connection is listed")
        })
    }
}

/// What the kernel lists of a socket.
pub(crate) struct Seen {
    pub(crate) info: TcpInfo,
    pub(crate) memory: Memory,
    pub(crate) congestion: String,
    pub(crate) cookie: u64,
}

/// Two hosts with a link between them: A is 10.8.0.1 on `va`, B is 10.8.0.2 on `vb`.
pub(crate) struct TwoHosts {
    pub(crate) a: Host,
    pub(crate) b: Host,
}

impl TwoHosts {
    pub(crate) fn new() -> Option<Self> {
        let (a, b) = (Host::new()?, Host::new()?);
        join(&a, "va", &b, "vb");
        a.must("ip addr add 10.8.0.1/24 dev va; ip link set va up");
        b.must("ip addr add 10.8.0.2/24 dev vb; ip link set vb up");
        Some(Self { a, b })
    }

    /// A new connection from A to B.
    pub(crate) fn connect(&self) -> Connection {
        connect(&self.a, &self.b, Ipv4Addr::new(10, 8, 0, 2))
    }

    /// Sets the metrics of A's route to B.
    pub(crate) fn route(&self, metrics: &str) {
        self.a.must(&format!("ip route replace 10.8.0.0/24 dev va src 10.8.0.1 {metrics}"));
    }

    /// A's side of a connection.
    pub(crate) fn at_a(&self, connection: &Connection) -> Seen {
        self.a.seen(connection.a.local_addr().unwrap(), connection.a.peer_addr().unwrap())
    }

    /// B's side of a connection.
    pub(crate) fn at_b(&self, connection: &Connection) -> Seen {
        self.b.seen(connection.b.local_addr().unwrap(), connection.b.peer_addr().unwrap())
    }
}

/// A link between two hosts.
pub(crate) fn join(one: &Host, name: &str, other: &Host, peer: &str) {
    // The peer is moved by the number of a process in the other namespace, which is a child for that moment.
    let mut held = other.run(|| start(Command::new("sleep").arg("60")));
    one.must(&format!("ip link add {name} type veth peer name {peer} netns {}", held.id()));
    held.kill().unwrap();
    held.wait().unwrap();
}

/// A new connection between two hosts.
pub(crate) fn connect(from: &Host, to: &Host, address: Ipv4Addr) -> Connection {
    let listener = to.run(|| TcpListener::bind((address, 0)).unwrap());
    let end = listener.local_addr().unwrap();
    let a = from.run(|| TcpStream::connect(end).unwrap());
    let (b, _) = listener.accept().unwrap();
    Connection { a, b }
}

/// Both ends of a connection.
pub(crate) struct Connection {
    pub(crate) a: TcpStream,
    pub(crate) b: TcpStream,
}

impl Connection {
    /// Sends bytes from A to B, and waits until B has them.
    pub(crate) fn send(&self, bytes: usize) {
        transfer(&self.a, &self.b, bytes);
    }

    /// Sends bytes from B to A, and waits until A has them.
    pub(crate) fn send_back(&self, bytes: usize) {
        transfer(&self.b, &self.a, bytes);
    }

    /// Closes both ends at once, with a RST: nothing of it is left when this returns, nor in a child of another test.
    pub(crate) fn reset(self) {
        let _starts = STARTS.write().unwrap_or_else(PoisonError::into_inner);
        for end in [self.a, self.b] {
            SockRef::from(&end).set_linger(Some(Duration::ZERO)).unwrap();
        }
    }

    /// Some messages to and fro, so that timers and caches follow.
    pub(crate) fn talk(&self, times: usize) {
        for _ in 0..times {
            self.send(100);
            self.send_back(100);
        }
    }
}

fn transfer(mut from: &TcpStream, mut to: &TcpStream, bytes: usize) {
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let block = vec![7; 65_536];
            let mut left = bytes;
            while left > 0 {
                let part = left.min(block.len());
                from.write_all(&block[..part]).unwrap();
                left -= part;
            }
        });
        let mut room = vec![0; 1 << 20];
        let mut got = 0;
        while got < bytes {
            let part = to.read(&mut room[..(bytes - got).min(1 << 20)]).unwrap();
            assert!(part > 0, "the connection has ended");
            got += part;
        }
    });
}
