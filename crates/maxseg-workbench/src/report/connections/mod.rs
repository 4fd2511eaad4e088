//! Connections of a host as JSON and CSV; the names are a contract.

mod columns;
mod entry;
mod json;

use std::io;

use schemars::JsonSchema;
use serde::ser::SerializeSeq as _;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::csv::field;
use crate::connections::{Connections, Listener, Snapshot};
pub use columns::{ColumnName, UnknownColumn, value, without_unit};
pub use entry::ConnectionEntry;
pub(in crate::report) use entry::ListenerEntry;
use json::{Json, Pieces};

/// What `connections --json` prints: the sockets of a host at one time. Addresses are `1.2.3.4:80` and `[::1]:80`.
#[derive(Serialize, JsonSchema)]
pub struct ConnectionsDocument<'a> {
    /// Raised when a key changes its meaning or is removed.
    schema_version: u32,
    /// The name of this host; null of a file.
    host: Option<&'a str>,
    /// When the sockets were listed: seconds since 1970; null of a file.
    time_s: Option<f64>,
    /// The time since the sample before; null where there is one sample alone, and shares and counts are since each
    /// connection's beginning.
    interval_s: Option<f64>,
    /// Sockets that could not be decoded, and times that events of closed connections were lost.
    missed: u64,
    /// Whether the kernel's list changed while it was read: a socket may be missing, or there twice.
    interrupted: bool,
    /// Whether the list is of a file that was cut: sockets are missing.
    cut: bool,
    /// Processes whose sockets this user may not see: theirs have the process null.
    hidden_processes: usize,
    /// Network namespaces that this user may not enter.
    denied_namespaces: usize,
    /// Processes whose network namespace this user may not know, where all namespaces were asked for: sockets of theirs may be missing.
    processes_in_hidden_namespaces: usize,
    /// The connections.
    #[serde(serialize_with = "connections")]
    #[schemars(with = "Vec<ConnectionEntry<'static>>")]
    connections: &'a dyn Connections,
    /// The listening sockets.
    #[serde(serialize_with = "listeners")]
    #[schemars(with = "Vec<ListenerEntry<'static>>")]
    listeners: &'a [Listener],
}

/// Entries are made one at a time: there may be many.
fn connections<S: Serializer>(all: &&dyn Connections, to: S) -> Result<S::Ok, S::Error> {
    let mut list = to.serialize_seq(None)?;
    all.try_each(|connection| list.serialize_element(&ConnectionEntry::of(connection)))?;
    list.end()
}

fn listeners<S: Serializer>(all: &&[Listener], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(all.iter().map(ListenerEntry::of))
}

impl<'a> ConnectionsDocument<'a> {
    /// The document of a snapshot with these connections, on the host of this name.
    pub fn new(
        snapshot: &'a Snapshot,
        connections: &'a dyn Connections,
        host: Option<&'a str>,
    ) -> Self {
        Self {
            schema_version: 1,
            host,
            time_s: snapshot.time_s,
            interval_s: snapshot.interval.map(|interval| interval.as_secs_f64()),
            missed: snapshot.missed,
            interrupted: snapshot.interrupted,
            cut: snapshot.is_cut,
            hidden_processes: snapshot.hidden_processes,
            denied_namespaces: snapshot.denied_namespaces,
            processes_in_hidden_namespaces: snapshot.processes_in_hidden_namespaces,
            connections,
            listeners: &snapshot.listeners,
        }
    }

    /// Writes it as JSON in one line.
    ///
    /// # Errors
    /// Writing fails.
    pub fn write(&self, out: &mut dyn io::Write) -> io::Result<()> {
        let mut pieces = Pieces::new(out);
        self.serialize(Json(&mut pieces))?;
        pieces.finish()
    }
}

/// Of several lists in one CSV, which one: rows begin with its time, `time_s`, and the first has the header.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ListTime {
    /// When the sockets were listed: seconds since 1970.
    pub time_s: f64,
    /// Whether no list was before.
    pub is_first: bool,
}

/// The columns of listening sockets in CSV.
const OF_LISTENERS: [&str; 7] =
    ["netns", "local", "process.pid", "process.name", "queued", "limit", "overflows"];

/// Writes the connections as CSV: a row each, with these columns; with all of JSON's where there are none, shares and findings left out.
/// `list` is `None` of a list alone.
///
/// # Errors
/// Writing fails.
pub fn write_csv(
    out: &mut dyn io::Write,
    connections: &dyn Connections,
    columns: &[ColumnName],
    list: Option<ListTime>,
) -> io::Result<()> {
    let all = ColumnName::all();
    let columns = if columns.is_empty() { &all } else { columns };
    let keys: Vec<&str> = columns.iter().map(ColumnName::key).collect();
    write_header(out, &keys, list)?;
    connections.try_each(|connection| {
        let entry = serde_json::to_value(ConnectionEntry::of(connection))?;
        write_row(out, &entry, &keys, list)
    })
}

/// Writes listening sockets as CSV, with JSON's keys for columns. `list` is `None` of a list alone.
///
/// # Errors
/// Writing fails.
pub fn write_listeners_csv(
    out: &mut dyn io::Write,
    listeners: &[Listener],
    list: Option<ListTime>,
) -> io::Result<()> {
    write_header(out, &OF_LISTENERS, list)?;
    listeners.iter().try_for_each(|listener| {
        let entry = serde_json::to_value(ListenerEntry::of(listener))?;
        write_row(out, &entry, &OF_LISTENERS, list)
    })
}

fn write_header(out: &mut dyn io::Write, keys: &[&str], list: Option<ListTime>) -> io::Result<()> {
    match list {
        None => writeln!(out, "{}", keys.join(",")),
        Some(ListTime { is_first: true, .. }) => writeln!(out, "time_s,{}", keys.join(",")),
        Some(_) => Ok(()),
    }
}

fn write_row(
    out: &mut dyn io::Write,
    entry: &Value,
    keys: &[&str],
    list: Option<ListTime>,
) -> io::Result<()> {
    let time = list.map(|list| plain(&list.time_s.into()));
    let fields = keys.iter().map(|key| plain(value(entry, key)));
    let fields: Vec<String> = time.into_iter().chain(fields).collect();
    writeln!(out, "{}", fields.join(","))
}

/// A value as a field: nothing for null.
fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => field(text),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            field(&value.to_string())
        }
    }
}

#[cfg(test)]
mod tests;
