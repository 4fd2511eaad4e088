//! Why a running connection of this host has its segment size and its window, what limits it, and what to change.
//!
//! ```text
//! connections::Watch → Connection ─┬→ core::why: MssWhy, Chain ─┬→ Why → report::why
//! linux::observe::path → PathReading ─┘   core::advise: SocketVerdict ─┘
//! ```

mod findings;
mod onward;
mod reading;

pub use maxseg_linux::observe::path::{
    Clamp, Clamps, InterfaceReading, NamespaceReading, NotRead, PathReading, RouteReading,
    SocketKey,
};
pub use onward::name_onward;

use maxseg_core::advise::{
    ListenerCase, SocketCase, SocketVerdict, listener_verdict, socket_verdict,
};
use maxseg_core::diagnose::{SocketDiagnosis, SocketFinding, socket_findings};
use maxseg_core::why::{Chain, MssWhy, is_held_by_route, why_mss, why_window};
use maxseg_linux::observe::sockets::NamespaceError;

use crate::connections::{Connection, Listener};
use crate::file_error::for_shell;

/// A connection, explained.
#[derive(Debug)]
pub struct Why {
    /// What limits it and what to change.
    pub verdict: SocketVerdict,
    /// What limited it.
    pub diagnosis: SocketDiagnosis,
    /// The segment sizes of both directions.
    pub mss: MssWhy,
    /// The window that this end offers.
    pub window: Chain,
    /// What else there is to know, the gravest first.
    pub findings: Vec<SocketFinding>,
    /// The command that shows the options of the next SYN, which a running socket does not.
    pub next_syn: String,
    /// The path, as this host knows it.
    pub path: PathReading,
}

impl Why {
    /// Explains a connection of this network namespace. `None` where the kernel has no `tcp_info` of it: it is half open, or
    /// waits.
    ///
    /// # Errors
    /// There is no such namespace any more, or this user may not enter it.
    pub fn of(
        connection: &Connection,
        namespace: &NamespaceReading,
    ) -> Result<Option<Self>, NamespaceError> {
        let path = namespace.path(&SocketKey {
            local: connection.local.ip(),
            remote: connection.remote.ip(),
            interface: connection.interface,
            mark: connection.mark,
            user: connection.uid,
        })?;
        Ok(Self::with(connection, path))
    }

    /// Explains a connection with what is known of its path.
    pub fn with(connection: &Connection, path: PathReading) -> Option<Self> {
        let sample = connection.sample.as_deref()?;
        let (evidence, diagnosis) = (connection.evidence()?, connection.diagnosis()?);
        let mss_facts = reading::mss_facts(connection, sample, &path);
        let window_facts = reading::window_facts(connection, sample, &path);
        let (mss, window) = (why_mss(&mss_facts), why_window(&window_facts));
        let is_held_by_route = is_held_by_route(&window_facts, &window);
        let verdict = socket_verdict(&SocketCase {
            evidence: &evidence,
            diagnosis: &diagnosis,
            local: connection.local,
            remote: connection.remote,
            pid: connection.process.as_ref().map(|owner| owner.pid),
            is_unaccepted: connection.is_unaccepted(),
            netns: connection.netns.as_deref(),
            window: &window,
            is_send_buffer_set: connection.options.buffers_set.map(|[send, _]| send),
            is_receive_buffer_set: connection.options.buffers_set.map(|[_, receive]| receive),
            is_held_by_route,
        });
        let mut all = findings::of_path(&window_facts, &window, &mss, &path, is_held_by_route);
        all.extend(socket_findings(&evidence));
        let next_syn = next_syn(connection);
        Some(Self { verdict, diagnosis, mss, window, findings: all, next_syn, path })
    }
}

/// A listening socket, explained: its accept queue, and what to change where that is full.
pub fn explain_listener(listener: &Listener) -> SocketVerdict {
    let process = listener.process.as_ref().map(ToString::to_string);
    listener_verdict(&ListenerCase {
        local: listener.local,
        process: process.as_deref(),
        queued: listener.queued,
        limit: listener.limit,
        dropped: listener.overflows,
    })
}

/// A capture of the SYNs of the next connection between these hosts: they alone have the option.
fn next_syn(connection: &Connection) -> String {
    // The end with the well-known port is the one that the next connection has again.
    let (local, remote) = (connection.local.port(), connection.remote.port());
    let peer = connection.remote.ip().to_canonical();
    format!(
        "{}maxseg capture --interface any --host {peer} --port {} | grep -m 2 MSS=",
        within(connection.netns.as_deref()),
        local.min(remote)
    )
}

/// What a command in another network namespace begins with.
fn within(netns: Option<&str>) -> String {
    let pid = |name: &str| -> Option<u32> { name.strip_prefix("pid:")?.parse().ok() };
    match netns.map(|name| (pid(name), name)) {
        None => String::new(),
        Some((Some(pid), _)) => format!("nsenter -t {pid} -n "),
        Some((None, name)) => format!("ip netns exec {} ", for_shell(name)),
    }
}
