//! Which connections are listed.

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use maxseg_linux::observe::sockets::{Place, Selection, interface_index};
use maxseg_wire::inet_diag::{Endpoint, Filter, StateSet};
use maxseg_wire::tcp_info::State;
use maxseg_workbench::connections::{Connection, Owner, Snapshot, WatchOptions};

use super::namespace_failure;
use crate::cli::zoned_prefix::ZonedPrefix;
use crate::failure::Failure;

/// What `--port` and its like choose: values of one option are alternatives, different options all hold.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct SelectionArgs {
    /// Only connections with one of these ports at either end
    #[arg(long, value_name = "PORT", value_delimiter = ',')]
    port: Vec<u16>,
    /// Only connections to one of these addresses or prefixes, as 192.0.2.0/24
    #[arg(long, value_name = "PREFIX", value_delimiter = ',')]
    dst: Vec<ZonedPrefix>,
    /// Only connections of processes with one of these names or numbers
    #[arg(long, value_name = "NAME|PID", value_delimiter = ',')]
    process: Vec<String>,
    /// Only connections in one of these states: established, syn-sent, time-wait …
    #[arg(
        long,
        value_name = "STATE",
        value_delimiter = ',',
        value_parser = states(),
        hide_possible_values = true
    )]
    state: Vec<State>,
    /// Only connections with one of these congestion controls: cubic, bbr …
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    cc: Vec<String>,
    /// In another network namespace: a name of `ip netns`, the PID of a process in it, or `all`
    #[arg(long, value_name = "NAME|PID|all")]
    netns: Option<String>,
}

/// The states of connections by their names: a socket that listens or is only bound is none. The kernel lists a handshake whose last
/// segment it waits for as `syn-received` (`inet_req_diag_fill` in `net/ipv4/inet_diag.c`).
fn states() -> impl TypedValueParser<Value = State> {
    /// Names as `ss` prints them.
    const OF_SS: [(State, &str); 2] =
        [(State::Established, "estab"), (State::SynReceived, "syn-recv")];
    let is_shown = |state: &State| {
        !matches!(state, State::Listen | State::BoundInactive | State::NewSynReceived)
    };
    let of_connections = State::ALL.into_iter().filter(is_shown);
    let of_ss =
        |state: State| OF_SS.iter().find(|(known, _)| *known == state).map(|(_, short)| *short);
    let values =
        of_connections.map(move |state| PossibleValue::new(state.name()).aliases(of_ss(state)));
    PossibleValuesParser::new(values).map(move |name| {
        let is_it = |state: &State| state.name() == name || of_ss(*state) == Some(&*name);
        State::ALL.into_iter().find(is_it).unwrap_or(State::Established)
    })
}

impl SelectionArgs {
    /// What the kernel and /proc are asked for.
    pub(in crate::cli) fn watch_options(
        &self,
        processes: bool,
        closed: bool,
    ) -> Result<WatchOptions, Failure> {
        if self.netns.as_deref() == Some("") {
            return Err(Failure::usage("--netns has no name", "`ip netns list` shows names"));
        }
        let place = self.place();
        self.refuse_unknown_zones(&place)?;
        let selection = Selection { states: self.states(), filter: self.filter() };
        let (processes, wanted) = (self.finds_processes(processes), self.process.clone());
        Ok(WatchOptions { place, selection, processes, wanted, closed, messages: false })
    }

    fn place(&self) -> Place {
        match self.netns.as_deref() {
            None => Place::Here,
            Some("all") => Place::All,
            Some(name) => Place::called(name),
        }
    }

    /// Refuses names of interfaces that there are not.
    fn refuse_unknown_zones(&self, place: &Place) -> Result<(), Failure> {
        for zone in self.dst.iter().filter_map(|dst| dst.zone.as_deref()) {
            if *place == Place::All {
                return Err(Failure::usage(
                    format!("--dst with %{zone} takes one network namespace, not all"),
                    "each has interfaces of its own: --netns NAME",
                ));
            }
            if interface_index(place, zone).map_err(|error| namespace_failure(&error))?.is_none() {
                return Err(Failure::with_hint(
                    format!("there is no interface {zone}"),
                    "`ip link` lists them; those of containers need --netns",
                ));
            }
        }
        Ok(())
    }

    /// Whether a process is asked for.
    pub(in crate::cli) fn chooses_by_process(&self) -> bool {
        !self.process.is_empty()
    }

    /// Whether the processes of sockets are found: where they are shown, or chosen by.
    pub(in crate::cli) fn finds_processes(&self, shown: bool) -> bool {
        shown || self.chooses_by_process()
    }

    /// All states where none is named, but for that of a socket that is bound and does nothing.
    fn states(&self) -> StateSet {
        if self.state.is_empty() {
            return StateSet::ALL.without(State::BoundInactive);
        }
        let named = self.state.iter().fold(StateSet::NONE, |states, state| states.with(*state));
        // Listening sockets have a list of their own.
        named.with(State::Listen)
    }

    /// The destinations, each with the index of its interface; none where no interface is named. The kernel binds sockets of link-local
    /// addresses to their interface.
    fn links(&self) -> Vec<(Filter, Option<u32>)> {
        if self.dst.iter().all(|dst| dst.zone.is_none()) {
            return Vec::new();
        }
        let place = self.place();
        // No interface has the largest number: one that has gone meanwhile has no connections.
        let index =
            |zone: &String| interface_index(&place, zone).ok().flatten().unwrap_or(u32::MAX);
        let link = |dst: &ZonedPrefix| {
            (Filter::Address(Endpoint::Remote, dst.prefix), dst.zone.as_ref().map(index))
        };
        self.dst.iter().map(link).collect()
    }

    fn filter(&self) -> Option<Filter> {
        let any = |parts: Vec<Filter>| (!parts.is_empty()).then_some(Filter::Any(parts));
        let ports = any(self.port.iter().map(|port| Filter::port(*port)).collect());
        let remote = |prefix: &ZonedPrefix| Filter::Address(Endpoint::Remote, prefix.prefix);
        let hosts = any(self.dst.iter().map(remote).collect());
        let all: Vec<Filter> = ports.into_iter().chain(hosts).collect();
        (!all.is_empty()).then_some(Filter::All(all))
    }

    /// Removes what the kernel did not: it knows no processes, and a file has everything.
    pub(in crate::cli) fn retain(&self, snapshot: &mut Snapshot) {
        let has = self.chooser();
        snapshot.connections.retain(|connection| has(connection));
        snapshot.listeners.retain(|listener| {
            let of_port = self.port.is_empty() || self.port.contains(&listener.local.port());
            of_port && self.has_process(listener.process.as_ref())
        });
    }

    /// Whether a connection is one of those that were asked for.
    pub(in crate::cli) fn chooser(&self) -> impl Fn(&Connection) -> bool + '_ {
        let (states, filter) = (self.states(), self.filter());
        let links = self.links();
        let has_link = move |connection: &Connection| {
            let is_on = |(remote, interface): &(Filter, Option<u32>)| {
                remote.matches(connection.local, connection.remote)
                    && interface.is_none_or(|interface| interface == connection.interface)
            };
            links.is_empty() || links.iter().any(is_on)
        };
        move |connection| {
            let is_in_state =
                connection.is_closed || connection.state.is_some_and(|state| states.has(state));
            let has_ends = filter
                .as_ref()
                .is_none_or(|filter| filter.matches(connection.local, connection.remote));
            is_in_state
                && has_ends
                && has_link(connection)
                && self.has_process(connection.process.as_ref())
                && self.has_congestion_control(connection)
        }
    }

    fn has_process(&self, owner: Option<&Owner>) -> bool {
        let is_it = |wanted: &String| owner.is_some_and(|owner| owner.is(wanted));
        self.process.is_empty() || self.process.iter().any(is_it)
    }

    fn has_congestion_control(&self, connection: &Connection) -> bool {
        let name = connection.congestion.as_deref();
        self.cc.is_empty() || self.cc.iter().any(|wanted| name == Some(wanted.as_str()))
    }
}
