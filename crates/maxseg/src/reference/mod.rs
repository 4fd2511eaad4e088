//! The reference of the scenario file: every key, from the schema that the file is checked against.
//!
//! ```text
//! ScenarioSpec ─schemars→ JSON Schema ─Reference::new→ sections of keys ─┬→ Markdown: guide, docs/reference/scenario.md
//! shipped stack `linux` ─defaults of the hosts─────────┘                 └→ roff: maxseg-scenario(5)
//! ```

mod markdown;
mod roff;
mod stack_defaults;
mod value;

use maxseg_core::scenario::ScenarioSpec;
use serde_json::Value;

use stack_defaults::StackDefaults;
use value::Definitions;

pub(crate) use roff::FILE;

/// What stands before the keys.
const INTRODUCTION: &str = include_str!("introduction.md");

/// A table of the scenario file.
struct Table {
    /// The name of its definition in the schema; `None` for the file itself.
    definition: Option<&'static str>,
    /// How it is written in a file, and its keys on the command line.
    written: &'static str,
    /// Where a stack gives its defaults: the key of the table in a stack file, `""` for the file itself.
    in_stack: Option<&'static str>,
}

const fn table(definition: &'static str, written: &'static str) -> Table {
    Table { definition: Some(definition), written, in_stack: None }
}

const fn host_table(
    definition: &'static str,
    written: &'static str,
    in_stack: &'static str,
) -> Table {
    Table { definition: Some(definition), written, in_stack: Some(in_stack) }
}

/// The tables in the order in which a reader meets them. That none is missing is tested.
const TABLES: [Table; 18] = [
    Table { definition: None, written: "Keys of the file", in_stack: None },
    table("HopEntry", "[[hop]]: hop.NAME.KEY"),
    table("ReverseEntry", "[hop.reverse]: hop.NAME.reverse.KEY"),
    table("TunnelTable", "tunnel of a hop: hop.NAME.tunnel.KEY"),
    table("QueueTable", "queue of a hop: hop.NAME.queue.KEY"),
    table("ErrorSpec", "errors of a hop: hop.NAME.errors.KEY"),
    table("ArqEntry", "arq of a hop: hop.NAME.arq.KEY"),
    table("PolicerEntry", "policer of a hop: hop.NAME.policer.KEY"),
    host_table("SettingsSpec", "[sender] and [receiver]: sender.KEY, receiver.KEY", ""),
    table("DelayedAckTable", "[sender.delayed_ack]: sender.delayed_ack.KEY"),
    host_table("RtoSpec", "[sender.rto]: sender.rto.KEY", "rto"),
    host_table("LinuxSpec", "[sender.linux]: sender.linux.KEY", "linux"),
    host_table("FreeBsdSpec", "[sender.freebsd]: sender.freebsd.KEY", "freebsd"),
    host_table("Ns2Spec", "[sender.ns2]: sender.ns2.KEY", "ns2"),
    table("FlowEntry", "[[flow]]: flow.NUMBER.KEY"),
    table("UntilEntry", "[until]: until.KEY"),
    table("LabOptions", "[lab]: lab.KEY"),
    table("SweepTable", "[sweep]"),
];

/// Every key of the scenario file.
pub(crate) struct Reference {
    sections: Vec<Section>,
}

/// The keys of one table.
struct Section {
    /// How the table is written.
    written: &'static str,
    /// What it is.
    about: String,
    keys: Vec<Key>,
}

/// A key of a table.
struct Key {
    name: String,
    /// What it does.
    about: String,
    /// What it may be, in words.
    value: String,
    /// Its value where none is given, as in a file or in words; `None` where it is required, or nothing.
    default: Option<String>,
    /// A value as in a file.
    example: Option<String>,
    /// The engines that act on it.
    engines: String,
}

impl Reference {
    /// The reference of this version.
    pub(crate) fn new() -> Self {
        let schema = schemars::schema_for!(ScenarioSpec).to_value();
        let definitions = Definitions::of(&schema);
        let stack = StackDefaults::of_linux();
        let sections = TABLES.iter().map(|table| {
            let of_table = table.definition.map_or(&schema, |name| definitions.get(name));
            Section {
                written: table.written,
                about: sentence(of_table["description"].as_str().unwrap_or_default()),
                keys: keys(of_table, table, &definitions, &stack),
            }
        });
        Self { sections: sections.collect() }
    }
}

fn keys(
    of_table: &Value,
    table: &Table,
    definitions: &Definitions<'_>,
    stack: &StackDefaults,
) -> Vec<Key> {
    let required = of_table["required"].as_array();
    let is_required = |name: &str| {
        required.is_some_and(|names| names.iter().any(|one| one.as_str() == Some(name)))
    };
    let properties = of_table["properties"].as_object().into_iter().flatten();
    let key = |(name, property): (&String, &Value)| {
        let text = |key: &str| property[key].as_str().map(str::to_owned);
        let default = match table.in_stack {
            _ if is_required(name) => Some("required".to_owned()),
            Some(of) => stack.value(of, name),
            None => text("x-default").or_else(|| plain_default(&property["default"])),
        };
        Key {
            name: name.clone(),
            about: sentence(property["description"].as_str().unwrap_or_default()),
            value: definitions.words(property),
            default,
            example: text("x-example"),
            engines: text("x-engines").unwrap_or_else(|| "model, sim, lab".to_owned()),
        }
    };
    properties.map(key).collect()
}

/// A default of the schema that is a number or a word.
fn plain_default(value: &Value) -> Option<String> {
    (value.is_number() || value.is_string() || value.is_boolean()).then(|| value.to_string())
}

/// The lines of a comment as one.
fn sentence(comment: &str) -> String {
    comment.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
