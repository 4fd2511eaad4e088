//! The TCP connections of a host: from the kernel, now and again, or from a file that `ss -D` wrote.
//!
//! ```text
//! kernel ──→ Watch ──┬→ Listing (the messages) → Snapshot: connections with SocketEvidence, listeners ──→ core::diagnose,
//! ss -D FILE ────────┘                                                                       │       report::connections
//!                                                      Recording (a file) ←→ Snapshot …, History ←┘
//! ```

mod beside;
mod comparison;
mod growth;
mod history;
mod listener;
mod listing;
#[cfg(feature = "lab")]
mod owners;
mod recording;
#[cfg(feature = "lab")]
mod watch;

#[cfg(feature = "lab")]
use std::collections::HashMap;
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use maxseg_core::diagnose::{SocketDiagnosis, closed_and_still, diagnose_socket};
use maxseg_core::evidence::SocketEvidence;
use maxseg_core::excerpt::escaped;
use maxseg_wire::inet_diag::{Sample, Socket, Timer};
use maxseg_wire::tcp_info::{State, TcpInfo};

pub use maxseg_wire::inet_diag::{Filter, StateSet};

pub use history::{History, Point, Track, TrackKey};
pub use listener::Listener;
pub use listing::{Chosen, Connections, Listing};
#[cfg(feature = "lab")]
pub use maxseg_linux::observe::sockets::{NamespaceError, Place, Selection};
pub use recording::{Frame, Recorder, Recording, RecordingError};
#[cfg(feature = "lab")]
pub use watch::{Watch, WatchOptions, read_options};

/// A process that has a socket open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// Its number.
    pub pid: u32,
    /// Its name, up to 15 characters; any characters may be in it.
    pub name: Arc<str>,
}

/// Options of a socket that are not in the kernel's list: read from the socket itself, where that is allowed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SocketOptions {
    /// `TCP_WINDOW_CLAMP`, bytes.
    pub window_clamp: Option<u32>,
    /// Whether the program has set `SO_SNDBUF`, and `SO_RCVBUF` (`SO_BUF_LOCK`).
    pub buffers_set: Option<[bool; 2]>,
    /// The most to which the kernel grows a send buffer, and a receive buffer, in the socket's namespace (`tcp_wmem`, `tcp_rmem`).
    pub buffers_most: Option<[u32; 2]>,
    /// Why they were not read; a clause without a full stop.
    pub unread_because: Option<Arc<str>>,
}

impl SocketOptions {
    fn unread(why: &Arc<str>) -> Self {
        Self { unread_because: Some(Arc::clone(why)), ..Self::default() }
    }
}

impl Owner {
    /// Whether it has this name or number.
    pub fn is(&self, name_or_pid: &str) -> bool {
        *self.name == *name_or_pid || name_or_pid.parse().is_ok_and(|pid: u32| pid == self.pid)
    }
}

/// A process may give itself any name (prctl(2)), with ends of lines as well: these are escaped.
impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", escaped(&self.name), self.pid)
    }
}

/// A connection, as its socket shows it.
#[derive(Debug, Clone)]
pub struct Connection {
    /// The network namespace; `None` for the program's own.
    pub netns: Option<Arc<str>>,
    /// The kernel's number of the socket.
    pub cookie: u64,
    /// This end.
    pub local: SocketAddr,
    /// The peer's end.
    pub remote: SocketAddr,
    /// The state; `None` for a number that is none.
    pub state: Option<State>,
    /// The timer that runs.
    pub timer: Option<Timer>,
    /// Bytes that arrived in order and were not read.
    pub receive_queue_bytes: u32,
    /// Bytes that were written and not acknowledged.
    pub send_queue_bytes: u32,
    /// The user that opened it.
    pub uid: u32,
    /// The socket's inode; 0 where no process has it open.
    pub inode: u32,
    /// The process that has it open; of several the one that began first, or one that was asked for. `None` where that is not known.
    pub process: Option<Owner>,
    /// The congestion control.
    pub congestion: Option<Arc<str>>,
    /// The upper-layer protocol, `tls` or `mptcp`; the kernel lists it only with `CAP_NET_ADMIN`.
    pub upper_layer: Option<Arc<str>>,
    /// What the kernel knows of its TCP; `None` of a connection that is half open or waits (`time-wait`). It is most of a
    /// connection, and looked at again with the next sample.
    pub sample: Option<Arc<Sample>>,
    /// Index of the interface that it is bound to; 0 for none.
    pub interface: u32,
    /// Its mark (`SO_MARK`), which only root is told.
    pub mark: Option<u32>,
    /// What only the socket itself tells.
    pub options: SocketOptions,
    /// What happened since the look before; `None` where it was not there then, or there was none.
    pub since_last: Option<Box<SocketEvidence>>,
    /// What limited it over a whole recording, of which `since_last` has what was counted; `None` where two samples are judged.
    pub over_time: Option<Box<SocketDiagnosis>>,
    /// Whether it is there no more.
    pub is_closed: bool,
    /// The payload of the kernel's message; only where a recording is made.
    pub message: Option<Box<[u8]>>,
}

/// What the kernel's message of a socket holds for evidence.
fn sample_of(socket: &Socket<'_>) -> Option<Sample> {
    socket.info.map(|info| Sample {
        info,
        memory: socket.memory,
        bbr: socket.bbr,
        unread_bytes: socket.receive_queue,
        unacked_bytes: socket.send_queue,
    })
}

impl Connection {
    fn of(socket: &Socket<'_>, netns: Option<&Arc<str>>, names: &mut Names) -> Self {
        let sample = sample_of(socket).map(Arc::new);
        Self {
            netns: netns.cloned(),
            cookie: socket.cookie,
            local: socket.local,
            remote: socket.remote,
            state: socket.state,
            timer: socket.timer,
            receive_queue_bytes: socket.receive_queue,
            send_queue_bytes: socket.send_queue,
            uid: socket.uid,
            inode: socket.inode,
            process: None,
            congestion: socket.congestion.map(|name| names.shared(name)),
            upper_layer: socket.upper_layer.map(|name| names.shared(name)),
            sample,
            interface: socket.interface,
            mark: socket.mark,
            options: SocketOptions::default(),
            since_last: None,
            over_time: None,
            is_closed: false,
            message: None,
        }
    }

    /// What happened since the look before, or else since the connection's beginning; `None` without `tcp_info`.
    pub fn evidence(&self) -> Option<SocketEvidence> {
        let since_last = self.since_last.as_deref().copied();
        let mut evidence = since_last.or_else(|| Some(self.sample.as_ref()?.evidence(None)))?;
        self.add_growth(&mut evidence.state);
        Some(evidence)
    }

    /// Whether the listening program has not accepted it yet: no process has it, and nothing was sent. A subflow of Multipath TCP has no
    /// process either.
    pub fn is_unaccepted(&self) -> bool {
        let may_be = matches!(self.state, Some(State::Established | State::CloseWait));
        let has_sent =
            self.sample.as_ref().is_none_or(|sample| sample.info.data_segs_out != Some(0));
        let has_owner = self.inode != 0 || self.process.is_some() || self.upper_layer.is_some();
        may_be && !has_owner && !has_sent && !self.is_closed
    }

    /// Whether it is not established, and nothing moves that a limit could be told of: its state says more.
    pub fn is_between(&self) -> bool {
        let is_between = |evidence: SocketEvidence| {
            evidence.state.is_opening || closed_and_still(&evidence).is_some()
        };
        !self.is_closed && self.evidence().is_some_and(is_between)
    }

    /// Whether it waits for the last segment of the handshake: the kernel has no `tcp_info` of it yet.
    pub fn is_half_open(&self) -> bool {
        self.sample.is_none() && self.state == Some(State::SynReceived) && !self.is_closed
    }

    /// Whether it is what the kernel keeps of a connection that its process has closed, without `tcp_info`: TIME-WAIT, or FIN-WAIT-2
    /// before it (`tcp_time_wait` in `net/ipv4/tcp_minisocks.c`). It has the connection's number where a list has shown that before, else
    /// one of its own (`inet_twsk_alloc` copies it).
    pub fn is_remnant(&self) -> bool {
        !self.is_closed
            && self.sample.is_none()
            && matches!(self.state, Some(State::TimeWait | State::FinWait2))
    }

    /// Its namespace and its ends, which what is left of a connection has, too.
    fn place(&self) -> (Option<Arc<str>>, [SocketAddr; 2]) {
        (self.netns.clone(), [self.local, self.remote])
    }

    /// The state as `ss` names it; `closed` of what is there no more.
    pub fn state_name(&self) -> &'static str {
        if self.is_closed { "closed" } else { self.state.map_or("unknown", State::name) }
    }

    /// Bytes sent and not acknowledged; `None` where the kernel does not tell.
    pub fn in_flight_bytes(&self) -> Option<u32> {
        let unsent = self.sample.as_ref()?.info.notsent_bytes?;
        Some(self.send_queue_bytes.saturating_sub(unsent))
    }

    /// Payload that was acknowledged since the look before, bits a second.
    pub fn sent_bps(&self) -> Option<f64> {
        self.rate_bps(|evidence| evidence.bin.acked_bytes)
    }

    /// Payload that arrived since the look before, bits a second.
    pub fn received_bps(&self) -> Option<f64> {
        self.rate_bps(|evidence| evidence.received_bytes)
    }

    fn rate_bps(&self, bytes: fn(&SocketEvidence) -> u64) -> Option<f64> {
        let evidence = self.since_last.as_ref()?;
        let seconds = evidence.bin.duration.as_secs_f64();
        (seconds > 0.0).then(|| bytes(evidence) as f64 * 8.0 / seconds)
    }

    /// What limits it; `None` without `tcp_info`.
    pub fn diagnosis(&self) -> Option<SocketDiagnosis> {
        if let Some(over_time) = &self.over_time {
            return Some(SocketDiagnosis::clone(over_time));
        }
        self.evidence().as_ref().map(diagnose_socket)
    }

    /// Payload that moved, both ways: since the look before, or since the connection's beginning.
    pub fn moved_bytes(&self) -> u64 {
        let since_start = || {
            let info = self.sample.as_ref().map(|sample| &sample.info);
            let bytes = |of: fn(&TcpInfo) -> Option<u64>| info.and_then(of).unwrap_or_default();
            bytes(|info| info.bytes_acked).saturating_add(bytes(|info| info.bytes_received))
        };
        self.since_last.as_ref().map_or_else(since_start, |evidence| {
            evidence.bin.acked_bytes.saturating_add(evidence.received_bytes)
        })
    }
}

/// The sockets of a host at one time.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    /// Seconds since 1970; `None` of a file, which does not tell.
    pub time_s: Option<f64>,
    /// The time since the sample before; `None` for the first.
    pub interval: Option<Duration>,
    /// The connections.
    pub connections: Vec<Connection>,
    /// The listening sockets.
    pub listeners: Vec<Listener>,
    /// Sockets that could not be decoded, and times that events of closed ones were lost.
    pub missed: u64,
    /// Whether the kernel's list changed while it was read.
    pub interrupted: bool,
    /// Whether it is of a file that ends before its list does.
    pub is_cut: bool,
    /// Processes whose sockets this user may not see.
    pub hidden_processes: usize,
    /// Network namespaces that this user may not enter.
    pub denied_namespaces: usize,
    /// Processes whose network namespace this user may not know, where all namespaces were asked for.
    pub processes_in_hidden_namespaces: usize,
}

impl Snapshot {
    /// Adds a socket, with the process and the message that are to be kept of it.
    fn add(
        &mut self,
        socket: &Socket<'_>,
        netns: Option<&Arc<str>>,
        names: &mut Names,
        process: Option<Owner>,
        message: Option<Box<[u8]>>,
    ) {
        if socket.state == Some(State::Listen) {
            self.listeners.push(Listener { process, message, ..Listener::of(socket, netns) });
        } else {
            let connection = Connection::of(socket, netns, names);
            self.connections.push(Connection { process, message, ..connection });
        }
    }
}

#[cfg(feature = "lab")]
impl Snapshot {
    /// Adds connections that closed, each once: the list may have them as they were before they closed, and has what is left of them.
    fn add_closed(&mut self, mut closed: Vec<Connection>) {
        if closed.is_empty() {
            return;
        }
        let places: HashMap<_, usize> =
            closed.iter().enumerate().map(|(at, connection)| (connection.place(), at)).collect();
        self.connections.retain_mut(|listed| {
            let closed = places.get(&listed.place()).and_then(|at| closed.get_mut(*at));
            let Some(closed) = closed else { return true };
            if listed.cookie != closed.cookie {
                return !listed.is_remnant();
            }
            // The list was compared with the one before.
            closed.since_last = closed.since_last.take().or_else(|| listed.since_last.take());
            closed.process = closed.process.take().or_else(|| listed.process.take());
            false
        });
        self.connections.extend(closed);
    }
}

/// Names of which there are few, each held once.
#[derive(Debug, Default)]
struct Names(Vec<Arc<str>>);

impl Names {
    fn shared(&mut self, name: &str) -> Arc<str> {
        if let Some(known) = self.0.iter().find(|known| known.as_ref() == name) {
            return Arc::clone(known);
        }
        let name: Arc<str> = name.into();
        self.0.push(Arc::clone(&name));
        name
    }
}

#[cfg(test)]
mod tests;
