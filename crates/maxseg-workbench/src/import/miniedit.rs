//! What MiniEdit saves: JSON of format version 1 or 2, as `loadTopology` and `saveTopology` in Mininet's
//! `examples/miniedit.py` read and write it.
//!
//! The versions differ in `controllers`, a table with the one entry `c0` in version 1 and a list in version 2,
//! and in what version 1 does not write: `hostname`, `nodeNum`, `switchType`, and all of `application` but
//! `ipBase`. Without a `hostname`, a host is `h` and its number, a switch `s` and its number. The shape decides
//! here, not the version that the file claims.

use serde_json::Value;

use super::notes::{FORWARDS, Notes, shown};
use super::value::{Table, kind, text};
use crate::error::{Error, ImportError};
use crate::json_words;

/// A topology as it was saved.
#[derive(Debug)]
pub(super) struct Topology {
    /// The version that the file claims.
    pub(super) version: Option<String>,
    /// MiniEdit's own settings.
    pub(super) application: Table,
    /// The names of its OpenFlow controllers.
    pub(super) controllers: Vec<String>,
    /// Hosts, then switches, as in the file.
    pub(super) nodes: Vec<Node>,
    /// Links between nodes, as in the file.
    pub(super) links: Vec<Link>,
}

/// A host or a switch.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) name: String,
    /// MiniEdit's own count, by which a host gets its address.
    pub(super) number: Option<u64>,
    pub(super) kind: NodeKind,
    /// What else is said of it.
    pub(super) options: Table,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NodeKind {
    Host,
    /// Any that forwards by itself, or by its controller's word.
    Switch,
    /// A host that forwards packets.
    LegacyRouter,
}

/// A link between two nodes.
#[derive(Debug)]
pub(super) struct Link {
    /// Which nodes, by their place in [`Topology::nodes`].
    pub(super) ends: [usize; 2],
    /// What it is like.
    pub(super) options: Table,
}

/// Of keys and values that MiniEdit does not write.
const UNKNOWN: &str = "unknown here, and not carried over";

impl Topology {
    /// A node by its name.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.nodes.iter().position(|node| node.name == name)
    }

    /// Its hosts, by MiniEdit's count.
    pub(super) fn hosts(&self) -> Vec<usize> {
        let mut hosts: Vec<usize> =
            (0..self.nodes.len()).filter(|&node| self.nodes[node].kind == NodeKind::Host).collect();
        hosts.sort_by_key(|&node| self.nodes[node].number.unwrap_or(u64::MAX));
        hosts
    }
}

/// The topology in `bytes`, which are `file`'s.
///
/// # Errors
/// They are not what MiniEdit saves.
pub(super) fn read(bytes: &[u8], file: &str, notes: &mut Notes) -> Result<Topology, Error> {
    let document = json(bytes, file)?;
    let not_miniedit = |what: String| ImportError::NotMiniedit { file: file.to_owned(), what };
    let top = Table::of(String::new(), document).map_err(not_miniedit)?;
    Ok(topology(top, notes).map_err(not_miniedit)?)
}

/// The JSON in `bytes`.
fn json(bytes: &[u8], file: &str) -> Result<Value, Error> {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes).trim_ascii_end();
    if bytes.trim_ascii().is_empty() {
        return Err(ImportError::Empty { file: file.to_owned() }.into());
    }
    serde_json::from_slice(bytes).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        ImportError::NotJson {
            file: file.to_owned(),
            line,
            column,
            what: json_words::syntax(&error).to_owned(),
            guess: what_it_may_be(bytes),
        }
        .into()
    })
}

/// Why `bytes` may not be JSON.
fn what_it_may_be(bytes: &[u8]) -> &'static str {
    let first = bytes.trim_ascii_start();
    if first.starts_with(b"#!") || first.starts_with(b"from ") || first.starts_with(b"import ") {
        "this looks like a script, as MiniEdit's Export Level 2 Script writes it: import what File > Save wrote"
    } else if first.starts_with(b"{'") {
        "this looks like Python: the first MiniEdits wrote it; open and save it with a newer one"
    } else {
        "a topology that MiniEdit saved is a JSON document"
    }
}

fn topology(mut top: Table, notes: &mut Notes) -> Result<Topology, String> {
    let version = top.take_text("version");
    if let Some(other) = version.as_deref().filter(|version| !matches!(*version, "1" | "2")) {
        notes.add(
            format!("version \"{}\"", shown(other)),
            "MiniEdit writes 1 and 2; read as if it were 2",
        );
    }
    let application = top.take_table("application")?;
    let mut all = Vec::new();
    for (key, prefix, required) in [("hosts", 'h', true), ("switches", 's', false)] {
        for entry in entries(&mut top, key, required)? {
            all.push(node(entry, prefix, notes)?);
        }
    }
    if let Some(twice) = first_twice(&all) {
        return Err(format!("two nodes are called {}", shown(twice)));
    }
    let controllers = controllers(top.take("controllers"))?;
    let mut topology =
        Topology { version, application, controllers, nodes: all, links: Vec::new() };
    for entry in entries(&mut top, "links", true)? {
        if let Some(link) = link(entry, &topology, notes)? {
            topology.links.push(link);
        }
    }
    note_unknown(&top, "", notes);
    Ok(topology)
}

/// The tables in the list at `key`.
fn entries(top: &mut Table, key: &str, required: bool) -> Result<Vec<Table>, String> {
    match top.take(key) {
        Some(Value::Array(list)) => {
            let table = |(at, value)| Table::of(format!("{key}[{at}]"), value);
            list.into_iter().enumerate().map(table).collect()
        }
        Some(other) => Err(format!("{key} is {}, not a list", kind(&other))),
        None if required => Err(format!("it has no {key}")),
        None => Ok(Vec::new()),
    }
}

fn node(mut entry: Table, prefix: char, notes: &mut Notes) -> Result<Node, String> {
    let mut options = entry.take_table("opts")?;
    let number = entry.take_text("number");
    let count = options.take_text("nodeNum").or_else(|| number.clone());
    let Some(name) =
        options.take_text("hostname").or_else(|| number.map(|number| format!("{prefix}{number}")))
    else {
        return Err(format!("{} has neither opts.hostname nor number", entry.place));
    };
    let kind = match (prefix, options.take_text("switchType").as_deref()) {
        ('h', _) => NodeKind::Host,
        (_, Some("legacyRouter")) => NodeKind::LegacyRouter,
        (_, Some(special @ ("user" | "userns" | "ivs"))) => {
            notes.add(format!("switchType \"{special}\" of {}", shown(&name)), FORWARDS);
            NodeKind::Switch
        }
        (_, None | Some("default" | "ovs" | "legacySwitch")) => NodeKind::Switch,
        (_, Some(other)) => {
            notes.add(format!("switchType \"{}\" of {}", shown(other), shown(&name)), UNKNOWN);
            NodeKind::Switch
        }
    };
    // Where it stands on MiniEdit's canvas.
    entry.drop_keys(&["x", "y"]);
    note_unknown(&entry, &format!(" of {}", shown(&name)), notes);
    Ok(Node { name, number: count.and_then(|count| count.parse().ok()), kind, options })
}

fn first_twice(nodes: &[Node]) -> Option<&str> {
    let mut names = std::collections::BTreeSet::new();
    nodes.iter().map(|node| node.name.as_str()).find(|name| !names.insert(*name))
}

/// The names of the controllers, of either version.
fn controllers(value: Option<Value>) -> Result<Vec<String>, String> {
    match value {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Object(by_name)) => Ok(by_name.into_iter().map(|(name, _)| name).collect()),
        Some(Value::Array(list)) => {
            let name = |(at, value)| {
                let options = Table::of(format!("controllers[{at}]"), value)?.take_table("opts")?;
                Ok({ options }
                    .take_text("hostname")
                    .unwrap_or_else(|| format!("controllers[{at}]")))
            };
            list.into_iter().enumerate().map(name).collect()
        }
        Some(other) => Err(format!("controllers is {}, neither a list nor a table", kind(&other))),
    }
}

/// A link between two nodes; one to anything else is noted.
fn link(mut entry: Table, topology: &Topology, notes: &mut Notes) -> Result<Option<Link>, String> {
    let mut end = |key: &str| match entry.take(key) {
        Some(value) => text(&value)
            .ok_or_else(|| format!("{}.{key} is {}, not a name", entry.place, kind(&value))),
        None => Err(format!("{} has no {key}", entry.place)),
    };
    let names = [end("src")?, end("dest")?];
    let options = entry.take_table("opts")?;
    let words = format!("link {} - {}", shown(&names[0]), shown(&names[1]));
    note_unknown(&entry, &format!(" of {words}"), notes);
    let found = [topology.find(&names[0]), topology.find(&names[1])];
    let [Some(from), Some(to)] = found else {
        for (name, _) in names.iter().zip(found).filter(|(_, found)| found.is_none()) {
            if topology.controllers.contains(name) {
                notes.add(&words, "it leads to a controller, and none is needed");
            } else {
                notes.add(&words, format!("the file has no node {}", shown(name)));
            }
        }
        return Ok(None);
    };
    if from == to {
        notes.add(&words, "it begins and ends at the same node");
        return Ok(None);
    }
    Ok(Some(Link { ends: [from, to], options }))
}

/// Notes what is left of `table`; `of` says whose it is.
pub(super) fn note_unknown(table: &Table, of: &str, notes: &mut Notes) {
    for (key, _) in table.rest() {
        notes.add(format!("`{}`{of}", shown(key)), UNKNOWN);
    }
}
