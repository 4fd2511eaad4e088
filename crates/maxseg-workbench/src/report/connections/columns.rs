//! The columns of connections in tables and CSV: the keys of JSON.

use serde_json::Value;
use thiserror::Error;

use super::ConnectionEntry;
use crate::connections::Snapshot;

/// A key of a connection in JSON: `rtt_s`, or `process.name`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnName(String);

/// There is no such column.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("there is no column {0:?}")]
pub struct UnknownColumn(pub String);

/// Keys whose values are lists.
const LISTS: [&str; 2] = ["limits", "findings"];
/// Keys of values in parts.
const PARTS: [(&str, &[&str]); 2] =
    [("process", &["pid", "name"]), ("timer", &["kind", "expires_s", "expiries"])];

impl ColumnName {
    /// All of them, in JSON's order.
    pub fn all() -> Vec<Self> {
        let mut names = Vec::new();
        for key in keys() {
            let parts = PARTS.iter().find(|(whole, _)| *whole == key);
            match parts {
                Some((whole, parts)) => {
                    names.extend(parts.iter().map(|part| Self(format!("{whole}.{part}"))));
                }
                None if LISTS.contains(&key.as_str()) => {}
                None => names.push(Self(key)),
            }
        }
        names
    }

    /// The column of this name; its unit may be left out, as in `rtt` for `rtt_s`, and `process` is its name.
    ///
    /// # Errors
    /// There is none.
    pub fn find(name: &str) -> Result<Self, UnknownColumn> {
        let all = Self::all();
        let exact = all.iter().find(|column| column.0 == name);
        let stem = || {
            let is_of = |column: &&Self| {
                column.0.strip_prefix(name).is_some_and(|rest| UNITS.contains(&rest))
            };
            all.iter().find(is_of)
        };
        // A heading stands for what is told of it first.
        let whole = || {
            let name = match name {
                "process" => "process.name",
                "timer" => "timer.kind",
                _ => return None,
            };
            all.iter().find(|column| column.0 == name)
        };
        exact.or_else(stem).or_else(whole).cloned().ok_or_else(|| UnknownColumn(name.to_owned()))
    }

    /// The key.
    pub fn key(&self) -> &str {
        &self.0
    }

    /// The value of an entry; null where there is none.
    pub fn of<'v>(&self, entry: &'v Value) -> &'v Value {
        value(entry, &self.0)
    }
}

/// The value of an entry by its key, `rtt_s` or `process.name`; null where there is none.
pub fn value<'v>(entry: &'v Value, key: &str) -> &'v Value {
    key.split('.').fold(entry, |value, part| &value[part])
}

/// A key without its unit: a heading.
pub fn without_unit(key: &str) -> &str {
    UNITS.iter().find_map(|unit| key.strip_suffix(unit)).unwrap_or(key)
}

/// The units with which keys end.
const UNITS: [&str; 4] = ["_bytes", "_segments", "_bps", "_s"];

/// The keys of an entry, from one without content.
fn keys() -> Vec<String> {
    let empty = empty_connection();
    match serde_json::to_value(ConnectionEntry::of(&empty)) {
        Ok(Value::Object(keys)) => keys.keys().cloned().collect(),
        _ => Vec::new(),
    }
}

pub(super) fn empty_connection() -> crate::connections::Connection {
    let nowhere = std::net::SocketAddr::from(([0, 0, 0, 0], 0));
    crate::connections::Connection {
        netns: None,
        cookie: 0,
        local: nowhere,
        remote: nowhere,
        state: None,
        timer: None,
        receive_queue_bytes: 0,
        send_queue_bytes: 0,
        uid: 0,
        inode: 0,
        process: None,
        congestion: None,
        upper_layer: None,
        sample: None,
        interface: 0,
        mark: None,
        options: crate::connections::SocketOptions::default(),
        since_last: None,
        over_time: None,
        is_closed: false,
        message: None,
    }
}

impl Snapshot {
    /// Sorts the connections by a column: numbers from the largest, words from the first, the unknown at the end.
    ///
    /// # Errors
    /// An entry is no JSON.
    pub fn sort_by(&mut self, column: &ColumnName) -> serde_json::Result<()> {
        let key = |connection| {
            let entry = serde_json::to_value(ConnectionEntry::of(connection))?;
            Ok(column.of(&entry).clone())
        };
        let keys = self.connections.iter().map(key).collect::<serde_json::Result<Vec<Value>>>()?;
        let mut keyed: Vec<_> = keys.into_iter().zip(self.connections.drain(..)).collect();
        keyed.sort_by(|(a, _), (b, _)| rank(a, b));
        self.connections.extend(keyed.into_iter().map(|(_, connection)| connection));
        Ok(())
    }
}

fn rank(a: &Value, b: &Value) -> std::cmp::Ordering {
    match (a, b) {
        (Value::Null, Value::Null) => std::cmp::Ordering::Equal,
        (Value::Null, _) => std::cmp::Ordering::Greater,
        (_, Value::Null) => std::cmp::Ordering::Less,
        (Value::Number(a), Value::Number(b)) => {
            b.as_f64().unwrap_or(0.0).total_cmp(&a.as_f64().unwrap_or(0.0))
        }
        (a, b) => a.as_str().unwrap_or_default().cmp(b.as_str().unwrap_or_default()),
    }
}
