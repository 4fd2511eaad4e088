//! Advice about a connection of this host, or the path to a host.

use maxseg_core::units::Time;
use maxseg_linux::observe::path::NamespaceReading;
use maxseg_linux::observe::sockets::{Place, Selection};
use maxseg_wire::inet_diag::{Endpoint, Filter, Prefix, StateSet};
use maxseg_workbench::Error;
use maxseg_workbench::advise::{PathAdvice, Question, of_connection, of_path};
use maxseg_workbench::connections::{Watch, WatchOptions, read_options};
use maxseg_workbench::path::{PathOptions, PathTarget, PathTest};
use maxseg_workbench::report::path::scenario;
use maxseg_workbench::why::Why;

use super::super::connections::{namespace_failure, watches};
use super::super::explain::Target;
use super::super::input::scenario_meant;
use crate::failure::Failure;
use crate::interrupt;
use crate::printer::Printer;

/// How long a connection is looked at.
const INTERVAL: Time = Time::from_secs(1);

/// Round trips of the test of a path.
const PINGS: u32 = 10;

pub(super) fn answer(
    target: &Target,
    question: &Question,
    printer: Printer,
) -> Result<PathAdvice, Failure> {
    match target {
        Target::Ends(local, remote) => connection(*local, *remote, question),
        Target::Host { name, port } => host(name, *port, question, printer),
        Target::Port(port) => Err(Failure::usage(
            format!(":{port} is a port; advice is about one connection"),
            "name a connection by its ends",
        )),
        Target::Process(pid) => Err(Failure::usage(
            format!("{pid} is a process; advice is about one connection"),
            "name a connection by its ends",
        )),
    }
}

fn connection(
    local: std::net::SocketAddr,
    remote: std::net::SocketAddr,
    question: &Question,
) -> Result<PathAdvice, Failure> {
    let options = WatchOptions {
        place: Place::Here,
        selection: Selection {
            states: StateSet::ALL,
            filter: Some(Filter::Address(Endpoint::Remote, Prefix::host(remote.ip()))),
        },
        processes: true,
        wanted: Vec::new(),
        closed: false,
        messages: false,
    };
    let failure = |error| namespace_failure(&error);
    let mut watch = Watch::new(options).map_err(failure)?;
    watch.look().map_err(failure)?;
    if !watches(&mut watch, INTERVAL, interrupt::flag())? {
        return Err(Failure::Interrupted("nothing is advised yet".to_owned()));
    }
    let mut snapshot = watch.look_last().map_err(failure)?;
    let plain = |end: std::net::SocketAddr| (end.ip().to_canonical(), end.port());
    let found = snapshot.connections.iter_mut().find(|connection| {
        plain(connection.local) == plain(local) && plain(connection.remote) == plain(remote)
    });
    let connection = found.ok_or_else(|| {
        Failure::with_hint(
            format!("there is no connection {local}-{remote} on this host"),
            "this host's end comes first; `maxseg connections` lists them",
        )
    })?;
    read_options(std::slice::from_mut(connection));
    let namespace = NamespaceReading::of(&Place::Here).map_err(failure)?;
    let why = Why::of(connection, &namespace).map_err(failure)?;
    Ok(of_connection(connection, why.as_ref().map(|why| &why.verdict), question)?)
}

/// A host that the resolver does not know may be a scenario whose name was mistyped.
fn unresolved(target: &PathTarget, error: Error) -> Failure {
    match scenario_meant(&target.host).filter(|_| target.port.is_none()) {
        Some(meant) => {
            Failure::with_hint(error.to_string(), format!("did you mean the scenario `{meant}`?"))
        }
        None => error.into(),
    }
}

fn host(
    name: &str,
    port: Option<u16>,
    question: &Question,
    printer: Printer,
) -> Result<PathAdvice, Failure> {
    let target = PathTarget { host: name.to_owned(), port };
    let resolved = target.resolve(None).map_err(|error| unresolved(&target, error.into()))?;
    let address = *resolved
        .addresses
        .first()
        .ok_or_else(|| Failure::with_hint(format!("{name} has no address"), "name an address"))?;
    let test = PathTest {
        target: name.to_owned(),
        address,
        port,
        options: PathOptions {
            flows: 1,
            pings: PINGS,
            far_end: None,
            quiet_probes: false,
            payload: true,
        },
    };
    printer.note(&format!("testing the path to {address} first, as `maxseg path` does"));
    let stop = interrupt::flag();
    let report = test.run(&mut (), stop).map_err(Error::from)?;
    if !report.is_answered() {
        return Err(Failure::with_hint(
            format!("nothing answered: neither {address} nor a router on the way"),
            "name a TCP port that is open, as HOST:443; a firewall may drop ICMP as well",
        ));
    }
    Ok(of_path(&report, &scenario(&report), question)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_that_is_not_known_may_be_a_scenario() {
        let told = |host: &str, port| {
            unresolved(&PathTarget { host: host.to_owned(), port }, Error::NoEngine).render()
        };
        let meant = "did you mean the scenario `slow-tunnel`?";
        assert!(told("slow-tunel", None).contains(meant));
        assert!(!told("slow-tunel", Some(443)).contains(meant));
        assert!(!told("www.example.org", None).contains("did you mean"));
    }
}
