//! `maxseg explain HOST`: connections of this host.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _};

use maxseg_core::units::Time;
use maxseg_linux::observe::path::NamespaceReading;
use maxseg_linux::observe::sockets::{Place, Selection, interface_index, is_own_address};
use maxseg_wire::inet_diag::{Endpoint, Filter, Prefix, StateSet};
use maxseg_wire::tcp_info::State;
use maxseg_workbench::connections::{
    Connection, Listener, Snapshot, Watch, WatchOptions, read_options,
};
use maxseg_workbench::file_error::{for_shell, missing_hint, reason};
use maxseg_workbench::report::why::WhyDocument;
use maxseg_workbench::why::{Why, name_onward};
use nix::unistd::geteuid;

use super::super::connections::{host_name, namespace_failure, watches};
use super::target::{Target, zones};
use crate::failure::Failure;
use crate::interrupt;
use crate::printer::Printer;
use crate::report::why::{listeners_text, why_text};

/// More connections than these are not explained at once.
const MOST_EXPLAINED: usize = 20;
/// How long a connection is looked at.
const INTERVAL: Time = Time::from_secs(1);

/// How connections are explained.
#[derive(Debug)]
pub(super) struct LiveOptions<'a> {
    /// The argument as it was given.
    pub(super) argument: &'a str,
    pub(super) interval: Option<Time>,
    pub(super) netns: Option<&'a str>,
    pub(super) json: bool,
}

/// Explains the connections that an argument names, the busiest first.
pub(super) fn run(
    target: &Target,
    options: &LiveOptions<'_>,
    printer: Printer,
) -> Result<(), Failure> {
    let place = place(options.netns)?;
    let wanted = Wanted::of(target, options.argument)?;
    let interfaces = interfaces(&place, options.argument)?;
    let mut snapshot = looked_at(&place, &wanted, options.interval.unwrap_or(INTERVAL))?;
    let listeners = listeners(&place, &wanted)?;
    let others = snapshot.connections.len();
    // The kernel binds a socket of link-local addresses to their interface.
    let is_there = |connection: &Connection| {
        interfaces.iter().all(|interface| *interface == connection.interface)
    };
    snapshot.connections.retain(|connection| wanted.has(connection) && is_there(connection));
    // A socket that listens at one of the ends is not the connection between them.
    let is_served = !listeners.is_empty() && !matches!(wanted, Wanted::Ends(..));
    if snapshot.connections.is_empty() && !is_served {
        let listener = listeners.first();
        return Err(none_matches(target, options, (&snapshot, others), listener));
    }
    let has_tcp = |connection: &Connection| connection.sample.is_some();
    if snapshot.connections.iter().any(has_tcp) {
        // Those that only wait for their time to end have nothing to explain.
        snapshot.connections.retain(has_tcp);
    }
    // Those that closed while they were looked at come after those that are there.
    let order = |connection: &Connection| {
        (connection.is_closed, std::cmp::Reverse(connection.moved_bytes()))
    };
    snapshot.connections.sort_by_key(order);
    let left_out = snapshot.connections.split_off(MOST_EXPLAINED.min(snapshot.connections.len()));
    read_options(&mut snapshot.connections);
    let namespace = NamespaceReading::of(&place).map_err(|error| namespace_failure(&error))?;
    let mut explained = Vec::new();
    for connection in std::mem::take(&mut snapshot.connections) {
        let why = Why::of(&connection, &namespace).map_err(|error| namespace_failure(&error))?;
        explained.push((connection, why));
    }
    name_onward(&mut explained);
    if options.json {
        let host = host_name();
        let document = WhyDocument::new(&snapshot, &explained, &listeners, host.as_deref());
        printer.stream(|out| document.write(out))?;
    } else {
        // A queue that is full is told before what any connection does: new ones do not come that far.
        let parts = [listeners_text(&listeners, printer), why_text(&explained, printer)];
        let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        printer.text(&parts.join("\n"))?;
    }
    if let Some(first) = left_out.first() {
        printer.note(&not_explained(left_out.len(), first.is_closed));
    }
    Ok(())
}

/// That connections are left out; they are all closed where the first is.
fn not_explained(count: usize, is_closed: bool) -> String {
    if is_closed {
        return format!(
            "note: {count} more connections match and are not explained: they closed meanwhile, and `maxseg connections --watch` lists \
             such ones"
        );
    }
    format!(
        "note: {count} more connections match and are not explained: name one by its ends, ADDRESS:PORT-ADDRESS:PORT, as \
         `maxseg connections` lists them"
    )
}

/// The interfaces that the zones of addresses name.
fn interfaces(place: &Place, argument: &str) -> Result<Vec<u32>, Failure> {
    let index = |zone: &str| {
        let found = interface_index(place, zone).map_err(|error| namespace_failure(&error))?;
        found.ok_or_else(|| {
            Failure::with_hint(
                format!("{argument}: there is no interface {zone}"),
                "`ip link` lists them; those of containers need --netns",
            )
        })
    };
    zones(argument).into_iter().map(index).collect()
}

fn place(netns: Option<&str>) -> Result<Place, Failure> {
    match netns {
        None => Ok(Place::Here),
        Some("" | "all") => Err(Failure::usage(
            "--netns takes one network namespace here",
            "a name of `ip netns list`, or the PID of a process in it; `maxseg connections --netns all` lists those of all",
        )),
        Some(name) => Ok(Place::called(name)),
    }
}

/// The connections, and what happened within the interval; of their whole time where it is zero.
fn looked_at(place: &Place, wanted: &Wanted, interval: Time) -> Result<Snapshot, Failure> {
    let options = |closed| WatchOptions {
        place: place.clone(),
        selection: Selection { states: StateSet::ALL, filter: wanted.filter() },
        processes: true,
        wanted: wanted.process(),
        closed,
        messages: false,
    };
    let failure = |error| namespace_failure(&error);
    if interval == Time::ZERO {
        return Watch::new(options(false)).and_then(Watch::look_last).map_err(failure);
    }
    // A kernel without events of closed sockets shows the others.
    let watch = Watch::new(options(true)).or_else(|_| Watch::new(options(false)));
    let mut watch = watch.map_err(failure)?;
    let stop = interrupt::flag();
    watch.look().map_err(failure)?;
    if !watches(&mut watch, interval, stop)? {
        return Err(Failure::Interrupted("nothing was explained yet".to_owned()));
    }
    watch.look().map_err(failure)
}

/// The sockets that wait for connections, of the process or at the port that was asked for; the fullest first.
fn listeners(place: &Place, wanted: &Wanted) -> Result<Vec<Listener>, Failure> {
    let options = WatchOptions {
        place: place.clone(),
        selection: Selection { states: StateSet::NONE.with(State::Listen), filter: None },
        processes: true,
        wanted: wanted.process(),
        closed: false,
        messages: false,
    };
    let failure = |error| namespace_failure(&error);
    let snapshot = Watch::new(options).map_err(failure)?.look_last().map_err(failure)?;
    let mut listeners = snapshot.listeners;
    listeners.retain(|listener| wanted.is_served_by(listener, place));
    let key = |listener: &Listener| (listener.is_full(), listener.overflows, listener.queued);
    listeners.sort_by_key(|listener| std::cmp::Reverse(key(listener)));
    Ok(listeners)
}

/// Which connections were asked for.
enum Wanted {
    Process(u32),
    Ends(SocketAddr, SocketAddr),
    Port(u16),
    Hosts(Vec<IpAddr>, Option<u16>),
}

impl Wanted {
    fn of(target: &Target, argument: &str) -> Result<Self, Failure> {
        Ok(match target {
            Target::Process(pid) => Self::Process(*pid),
            Target::Ends(local, remote) => Self::Ends(*local, *remote),
            Target::Port(port) => Self::Port(*port),
            Target::Host { name, port } => {
                let addresses = addresses(name).map_err(|error| {
                    Failure::with_hint(
                        format!(
                            "there is no file {argument}, and the resolver knows no host {name}: {}",
                            reason(&error)
                        ),
                        missing_hint(std::path::Path::new(argument)),
                    )
                })?;
                Self::Hosts(addresses, *port)
            }
        })
    }

    fn has(&self, connection: &Connection) -> bool {
        let plain = |end: SocketAddr| SocketAddr::new(end.ip().to_canonical(), end.port());
        let (local, remote) = (plain(connection.local), plain(connection.remote));
        match self {
            Self::Process(pid) => {
                connection.process.as_ref().is_some_and(|owner| owner.pid == *pid)
            }
            Self::Ends(here, there) => (local, remote) == (*here, *there),
            Self::Port(port) => [local.port(), remote.port()].contains(port),
            Self::Hosts(addresses, port) => {
                addresses.contains(&remote.ip()) && port.is_none_or(|port| port == remote.port())
            }
        }
    }

    /// Whether a listening socket is what was asked for: of the process, at this host's end, or at an address of this host.
    fn is_served_by(&self, listener: &Listener, place: &Place) -> bool {
        let local = SocketAddr::new(listener.local.ip().to_canonical(), listener.local.port());
        let takes = |address: &IpAddr| {
            let is_any = local.ip().is_unspecified() && (local.is_ipv6() || address.is_ipv4());
            local.ip() == *address || is_any
        };
        match self {
            Self::Process(pid) => listener.process.as_ref().is_some_and(|owner| owner.pid == *pid),
            Self::Ends(here, _) => {
                let is_own = || local.ip() == here.ip() || is_own_address(place, here.ip());
                here.port() == local.port() && takes(&here.ip()) && is_own()
            }
            Self::Port(port) => *port == local.port(),
            Self::Hosts(addresses, port) => {
                let is_served = |address: &IpAddr| {
                    takes(address) && (local.ip() == *address || is_own_address(place, *address))
                };
                *port == Some(local.port()) && addresses.iter().any(is_served)
            }
        }
    }

    /// The process that was asked for.
    fn process(&self) -> Vec<String> {
        if let Self::Process(pid) = self { vec![pid.to_string()] } else { Vec::new() }
    }

    /// What the kernel leaves out already: it knows no processes.
    fn filter(&self) -> Option<Filter> {
        let remote = |address| Filter::Address(Endpoint::Remote, Prefix::host(address));
        match self {
            Self::Process(_) => None,
            Self::Ends(_, there) => Some(remote(there.ip())),
            Self::Port(port) => Some(Filter::port(*port)),
            Self::Hosts(addresses, _) => {
                Some(Filter::Any(addresses.iter().copied().map(remote).collect()))
            }
        }
    }
}

/// The addresses of a host, as the resolver gives them.
fn addresses(name: &str) -> std::io::Result<Vec<IpAddr>> {
    if let Ok(address) = name.parse::<IpAddr>() {
        return Ok(vec![address.to_canonical()]);
    }
    let resolved = (name, 0).to_socket_addrs()?;
    Ok(resolved.map(|end| end.ip().to_canonical()).collect())
}

fn none_matches(
    target: &Target,
    options: &LiveOptions<'_>,
    (snapshot, others): (&Snapshot, usize),
    listener: Option<&Listener>,
) -> Failure {
    let at = match options.netns {
        Some(netns) => format!(" in the network namespace {netns}"),
        None => " on this host".to_owned(),
    };
    let there =
        options.netns.map_or_else(String::new, |netns| format!(" --netns {}", for_shell(netns)));
    let list = "`maxseg connections` lists them; those of containers need --netns";
    match target {
        Target::Process(pid) if !std::path::Path::new(&format!("/proc/{pid}")).exists() => {
            Failure::with_hint(
                format!("there is no process {pid}, and no file of that name"),
                "`ps -e` lists the processes",
            )
        }
        Target::Process(pid) if snapshot.hidden_processes > 0 => Failure::with_hint(
            format!("no connection is known to be of process {pid}{at}"),
            if geteuid().is_root() {
                "the sockets of some processes are hidden even from root here (CAP_SYS_PTRACE is missing, or an LSM forbids it): name the \
                 connection by its ends"
            } else {
                "the sockets of other users' processes are shown to root alone: use sudo, or name the connection by its ends"
            },
        ),
        Target::Process(pid) => {
            Failure::with_hint(format!("process {pid} has no TCP connection{at}"), list)
        }
        Target::Ends(local, _) => Failure::with_hint(
            format!("there is no connection {}{at}", options.argument),
            match listener {
                Some(_) => format!(
                    "a socket listens there, for what waits or was dropped: maxseg explain {local}{there}; {list}"
                ),
                None => format!("this host's end comes first; {list}"),
            },
        ),
        Target::Port(port) => {
            Failure::with_hint(format!("no connection has port {port}{at}"), list)
        }
        Target::Host { name, port: Some(port) } if others > 0 => Failure::with_hint(
            format!("there is no connection to port {port} of {name}{at}"),
            format!("there are {others} to other ports: maxseg explain {name}{there}"),
        ),
        Target::Host { name, .. } => {
            Failure::with_hint(format!("there is no connection to {name}{at}"), list)
        }
    }
}
