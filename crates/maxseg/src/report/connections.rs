//! Connections and listening sockets on a terminal.

use std::net::SocketAddr;

use maxseg_core::excerpt::escaped;
use maxseg_core::units::approx;
use maxseg_workbench::connections::{Connection, Listener, Owner, Snapshot};
use maxseg_workbench::report::connections::{ColumnName, ConnectionEntry, value, without_unit};
use maxseg_workbench::report::words;
use serde_json::Value;

use super::{Column, Grid};
use crate::printer::Printer;
use crate::wrap::wrapped;

/// What of a snapshot is shown.
#[derive(Debug)]
pub(crate) struct Shown {
    /// The columns that were asked for; the usual ones where there are none.
    pub(crate) columns: Vec<ColumnName>,
    /// The column that they are sorted by; by traffic where there is none.
    pub(crate) sort: Option<ColumnName>,
    /// Listening sockets instead of connections.
    pub(crate) listening: bool,
    /// Whether they were chosen by their process.
    pub(crate) of_process: bool,
    /// Whether they are this host's: numbers of interfaces in a file are of the host that wrote it.
    pub(crate) is_here: bool,
}

/// The usual columns: what a connection is set to, what it carried since its beginning or carries now, and what limits it.
const fn usual(has_interval: bool) -> [&'static str; 11] {
    let [sent, received] =
        if has_interval { ["sent_bps", "received_bps"] } else { ["bytes_acked", "bytes_received"] };
    [
        "state",
        "process",
        "mss_bytes",
        "pmtu_bytes",
        "cwnd_segments",
        "rtt_s",
        "rto_s",
        "retransmitted_segments",
        sent,
        received,
        "limited_by",
    ]
}

/// Those of the usual columns that a narrow terminal does without, the first one first.
const LESS: [&str; 8] = [
    "rto_s",
    "pmtu_bytes",
    "cwnd_segments",
    "state",
    "bytes_acked",
    "retransmitted_segments",
    "bytes_received",
    "process",
];
/// What marks a closed connection, as in `maxseg top`: there may be no room for its state.
const CLOSED: &str = "×";
/// Blanks before each column.
const GAP: usize = 2;

/// The lists, with notes on what they lack.
pub(crate) fn text(snapshot: &Snapshot, shown: &Shown, printer: Printer) -> String {
    let mut text = if shown.listening {
        listeners(snapshot, printer)
    } else {
        connections(snapshot, shown, printer)
    };
    for note in notes(snapshot, shown) {
        text += &wrapped(&note, printer.width(), "");
    }
    text
}

fn connections(snapshot: &Snapshot, shown: &Shown, printer: Printer) -> String {
    if snapshot.connections.is_empty() {
        return "no TCP connections match\n".to_owned();
    }
    let names: Vec<&str> = if shown.columns.is_empty() {
        usual(snapshot.interval.is_some()).to_vec()
    } else {
        let is_key = |name: &&str| !matches!(*name, "local" | "remote");
        shown.columns.iter().map(ColumnName::key).filter(is_key).collect()
    };
    let has_netns = snapshot.connections.iter().any(|connection| connection.netns.is_some());
    let mut keys: Vec<Vec<String>> = Vec::new();
    let mut cells: Vec<Vec<String>> = Vec::new();
    for connection in &snapshot.connections {
        let Ok(entry) = serde_json::to_value(ConnectionEntry::of(connection)) else { continue };
        let netns = has_netns.then(|| connection.netns.as_deref().unwrap_or("-").to_owned());
        let ends = [connection.local, connection.remote]
            .map(|end| shown_end(end, connection, shown.is_here));
        keys.push(netns.into_iter().chain(ends).collect());
        let shown = |name: &&str| match *name {
            "process" => owner(connection.process.as_ref()),
            "limited_by"
                if connection.is_between()
                    || connection.is_half_open()
                    || connection.is_remnant() =>
            {
                connection.state_name().to_owned()
            }
            "limited_by" if connection.is_closed => {
                format!("{CLOSED}{}", cell("limited_by", value(&entry, "limited_by")))
            }
            name => cell(name, value(&entry, name)),
        };
        cells.push(names.iter().map(shown).collect());
    }
    let mut kept: Vec<usize> = (0..names.len()).collect();
    if shown.columns.is_empty() {
        let of_keys: usize =
            (0..2 + usize::from(has_netns)).map(|at| GAP + widest(&keys, at)).sum();
        let width = |at: &usize| GAP + widest(&cells, *at).max(title(names[*at]).chars().count());
        for less in LESS {
            if of_keys + kept.iter().map(width).sum::<usize>() <= printer.table_width() {
                break;
            }
            kept.retain(|at| names[*at] != less);
        }
    }
    let netns = has_netns.then(|| Column::word("namespace"));
    let of_keys = netns.into_iter().chain([Column::word("local"), Column::word("remote")]);
    let mut table = Grid::new(of_keys, kept.iter().map(|at| column(names[*at])));
    for (key, row) in keys.into_iter().zip(cells) {
        table.push(key.into_iter().chain(kept.iter().map(|at| row[*at].clone())));
    }
    table.text(printer.table_width())
}

/// An end; a link-local address with the interface that its connection is bound to, as `ss` has it: by its name in this network
/// namespace, by its number in others and on other hosts.
fn shown_end(end: SocketAddr, connection: &Connection, is_here: bool) -> String {
    let SocketAddr::V6(v6) = end else { return end.to_string() };
    if !v6.ip().is_unicast_link_local() || connection.interface == 0 {
        return end.to_string();
    }
    let name = if is_here && connection.netns.is_none() {
        // The C library gives no name, and no error, for some numbers that no interface has.
        let name = nix::net::if_::if_indextoname(connection.interface).ok();
        name.filter(|name| !name.is_empty())
    } else {
        None
    };
    let zone = match &name {
        Some(name) => name.to_string_lossy(),
        None => connection.interface.to_string().into(),
    };
    format!("[{}%{zone}]:{}", v6.ip(), v6.port())
}

fn widest(rows: &[Vec<String>], at: usize) -> usize {
    rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.chars().count()).max().unwrap_or(0)
}

fn column(name: &str) -> Column {
    let is_word = matches!(
        name,
        "state"
            | "process"
            | "process.name"
            | "congestion"
            | "limited_by"
            | "unknown_because"
            | "clamp_unread_because"
            | "rcvbuf_is_set"
            | "sndbuf_is_set"
            | "netns"
            | "timer.kind"
    );
    if is_word { Column::word(title(name)) } else { Column::number(title(name)) }
}

/// A column's heading: the key in words, without its unit.
fn title(name: &str) -> String {
    match without_unit(name) {
        short @ ("mss" | "pmtu" | "rtt" | "rto") => short.to_uppercase(),
        "bytes_acked" => "acked".to_owned(),
        "bytes_received" => "received".to_owned(),
        other => other.replace('_', " "),
    }
}

/// A value with the unit that its key names.
fn cell(name: &str, value: &Value) -> String {
    let number = value.as_f64();
    match number {
        Some(number) if name.ends_with("_bps") => approx::rate(number),
        Some(number) if name.ends_with("_s") => approx::time(number),
        Some(share) if name == "confidence" => format!("{share:.2}"),
        Some(_) if is_amount(name) => words::size(value.as_u64().unwrap_or_default()),
        Some(_) => value.to_string(),
        None => match value {
            Value::String(text) => escaped(text).into_owned(),
            Value::Bool(is) => if *is { "yes" } else { "no" }.to_owned(),
            Value::Null | Value::Number(_) | Value::Array(_) | Value::Object(_) => "-".to_owned(),
        },
    }
}

/// Whether a column counts bytes of which the last few do not matter: not so with segments and MTUs.
fn is_amount(name: &str) -> bool {
    let is_size = matches!(name, "mss_bytes" | "rcv_mss_bytes" | "advmss_bytes" | "pmtu_bytes");
    (name.ends_with("_bytes") || name.starts_with("bytes_")) && !is_size
}

fn owner(owner: Option<&Owner>) -> String {
    owner.map_or_else(|| "-".to_owned(), Owner::to_string)
}

fn listeners(snapshot: &Snapshot, printer: Printer) -> String {
    if snapshot.listeners.is_empty() {
        return "no listening TCP sockets match\n".to_owned();
    }
    let has_netns = snapshot.listeners.iter().any(|listener| listener.netns.is_some());
    let netns = has_netns.then(|| Column::word("namespace"));
    let keys = netns.into_iter().chain([Column::word("local")]);
    let values = [
        Column::word("process"),
        Column::number("queued"),
        Column::number("limit"),
        Column::number("dropped"),
        Column::word("accept queue"),
    ];
    let mut table = Grid::new(keys, values);
    for listener in &snapshot.listeners {
        let netns = has_netns.then(|| listener.netns.as_deref().unwrap_or("-").to_owned());
        let dropped = listener.overflows.map_or_else(|| "-".to_owned(), |count| count.to_string());
        let cells = [
            listener.local.to_string(),
            owner(listener.process.as_ref()),
            listener.queued.to_string(),
            listener.limit.to_string(),
            dropped,
            listener.queue_word().to_owned(),
        ];
        table.push(netns.into_iter().chain(cells));
    }
    table.text(printer.table_width())
}

/// Whether a socket of the list has a process that is not known. What its process has closed has none, whatever it still has to send.
fn lacks_process(snapshot: &Snapshot, shown: &Shown) -> bool {
    if shown.listening {
        return snapshot.listeners.iter().any(|listener| listener.process.is_none());
    }
    let lacks = |it: &Connection| {
        it.process.is_none() && it.inode != 0 && !it.is_remnant() && !it.is_half_open()
    };
    snapshot.connections.iter().any(lacks)
}

/// Who looked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Viewer {
    /// This process, as an ordinary user.
    User,
    /// This process, as root.
    Root,
    /// Whoever wrote a file, which does not tell their rights.
    Recorder,
}

/// What the viewer may not see; of processes where `asks_for_process`.
fn hidden_notes(snapshot: &Snapshot, viewer: Viewer, asks_for_process: bool) -> Vec<String> {
    let note = |what: String, remedy: &str, capability: &str| {
        if viewer == Viewer::Recorder {
            format!("{what}.")
        } else if viewer == Viewer::Root {
            format!(
                "{what}: not visible even to root here ({capability} is missing, or an LSM forbids it)."
            )
        } else {
            format!("{what}: {remedy}.")
        }
    };
    let who = if viewer == Viewer::Recorder { "the user who recorded" } else { "this user" };
    let processes = |count: usize| {
        let of_others = if viewer == Viewer::User { " of other users" } else { "" };
        format!("{}{of_others}", counted(count, "process", "processes"))
    };
    let mut notes = Vec::new();
    if snapshot.hidden_processes > 0 && asks_for_process {
        let hidden = processes(snapshot.hidden_processes);
        let what = format!("No process is shown for the sockets of {hidden}");
        let what = match viewer {
            Viewer::Recorder => format!("{what}, which {who} may not see"),
            Viewer::User | Viewer::Root => what,
        };
        notes.push(note(what, "sudo shows them", "CAP_SYS_PTRACE"));
    }
    if snapshot.denied_namespaces > 0 {
        let namespaces =
            counted(snapshot.denied_namespaces, "network namespace", "network namespaces");
        let what = format!("{namespaces} may not be entered by {who}");
        notes.push(note(what, "sudo shows them", "CAP_SYS_ADMIN"));
    }
    if snapshot.processes_in_hidden_namespaces > 0 {
        let hidden = processes(snapshot.processes_in_hidden_namespaces);
        let what = format!("The network namespaces of {hidden} are not visible to {who}");
        notes.push(note(what, "sudo shows what they have", "CAP_SYS_PTRACE"));
    }
    notes
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// What a reader of the list has to know.
fn notes(snapshot: &Snapshot, shown: &Shown) -> Vec<String> {
    let mut notes = Vec::new();
    if !shown.listening {
        notes.extend(
            snapshot.listeners.iter().filter(|listener| listener.is_full()).map(full_queue),
        );
    }
    if marks_closed(snapshot, shown) {
        notes.push(format!("{CLOSED} before a limit: the connection has closed."));
    }
    let asks_for_process = shown.of_process || lacks_process(snapshot, shown);
    let viewer = match (shown.is_here, nix::unistd::geteuid().is_root()) {
        (false, _) => Viewer::Recorder,
        (true, true) => Viewer::Root,
        (true, false) => Viewer::User,
    };
    notes.extend(hidden_notes(snapshot, viewer, asks_for_process));
    if snapshot.interrupted {
        notes.push(
            "The kernel's list changed while it was read: a socket may be missing.".to_owned(),
        );
    }
    if snapshot.missed > 0 {
        notes.push(format!("{} sockets or bursts of events were missed.", snapshot.missed));
    }
    notes
}

/// Whether a connection of the list has the sign of one that has closed.
fn marks_closed(snapshot: &Snapshot, shown: &Shown) -> bool {
    let has_limits =
        shown.columns.is_empty() || shown.columns.iter().any(|column| column.key() == "limited_by");
    has_limits && !shown.listening && snapshot.connections.iter().any(|one| one.is_closed)
}

/// The commonest slow service, which rows of connections never show.
fn full_queue(listener: &Listener) -> String {
    format!(
        "The accept queue of {} ({}) is full: {} connections wait, its limit is {}. The process accepts too slowly, or its \
         backlog is too small (listen(2), net.core.somaxconn); new connections wait for a second SYN. `maxseg connections \
         --listening` shows all.",
        listener.local,
        owner(listener.process.as_ref()),
        listener.queued,
        listener.limit
    )
}

#[cfg(test)]
mod tests;
