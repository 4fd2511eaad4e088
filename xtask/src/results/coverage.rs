//! Whether the guard's scenarios hold every key and word of the scenario file, as its JSON schema lists them.

use std::collections::BTreeSet;

use anyhow::{Context, Result};
use maxseg_core::scenario::ScenarioSpec;
use maxseg_core::settings::{DEFAULT_STACK, builtin_stacks, stack};
use serde_json::Value;

use super::Guard;

/// Definitions and keys that decide nothing about an outcome of simulator or formulas.
const EXEMPT: [&str; 5] = [
    "scenario.about", // for the reader of the file
    "scenario.name",  // likewise
    "scenario.lab",   // for the lab
    "scenario.sweep", // taken out before a scenario is made
    "HopEntry.name",  // names streams and keys
];

/// A quantity is a number whatever unit it is written in.
const QUANTITIES: [&str; 7] =
    ["BitsPerSec", "Time", "Bytes", "Probability", "Mtu", "Mss", "PacketSize"];

/// What no scenario of the guard holds: keys as `Type.key`, words as `Type: word`, stacks as `stack: name`.
///
/// # Errors
/// A scenario is not TOML.
pub fn missing(guards: &[Guard]) -> Result<Vec<String>> {
    let schema = serde_json::to_value(schemars::schema_for!(ScenarioSpec))?;
    let schema = Schema { root: &schema };
    let mut wanted = BTreeSet::new();
    schema.list("scenario", schema.root, &mut wanted);
    wanted.extend(builtin_stacks().map(|stack| format!("stack: {}", stack.name)));
    let mut held = BTreeSet::new();
    for guard in guards {
        let table: Value = toml::from_str(&guard.text).with_context(|| guard.name.clone())?;
        schema.mark("scenario", schema.root, &table, &mut held);
        for end in ["sender", "receiver"] {
            let name = table.pointer(&format!("/{end}/stack")).and_then(Value::as_str);
            let stack = stack(name.unwrap_or(DEFAULT_STACK))?;
            held.insert(format!("stack: {}", stack.name));
            let settings: Value = toml::from_str(stack.text)?;
            let definition = schema.definition("SettingsSpec").context("no SettingsSpec")?;
            schema.mark("SettingsSpec", definition, &settings, &mut held);
        }
    }
    Ok(wanted.difference(&held).cloned().collect())
}

/// The JSON schema of the scenario file.
struct Schema<'a> {
    root: &'a Value,
}

impl<'a> Schema<'a> {
    fn definition(&self, name: &str) -> Option<&'a Value> {
        self.root.pointer(&format!("/$defs/{name}"))
    }

    /// The definition that `node` refers to with its name, or `node` under the name of what it is a part of.
    fn resolved<'n>(&self, owner: &'n str, node: &'a Value) -> (&'n str, &'a Value)
    where
        'a: 'n,
    {
        let name = node["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/"));
        match name.and_then(|name| Some((name, self.definition(name)?))) {
            Some(found) => found,
            None => (owner, node),
        }
    }

    /// Adds every key and word below `node` to `wanted`.
    fn list(&self, owner: &str, node: &'a Value, wanted: &mut BTreeSet<String>) {
        let (owner, node) = self.resolved(owner, node);
        if QUANTITIES.contains(&owner) {
            return;
        }
        wanted.extend(words(node).map(|word| format!("{owner}: {word}")));
        for (key, value) in properties(node) {
            let name = format!("{owner}.{key}");
            if !EXEMPT.contains(&name.as_str()) && wanted.insert(name) {
                self.list(owner, value, wanted);
            }
        }
        for part in alternatives(node).chain(node.get("items")) {
            self.list(owner, part, wanted);
        }
    }

    /// Adds every key and word of `value`, which `node` describes, to `held`.
    fn mark(&self, owner: &str, node: &'a Value, value: &Value, held: &mut BTreeSet<String>) {
        let (owner, node) = self.resolved(owner, node);
        let word = word(value);
        if words(node).any(|known| known == word) {
            held.insert(format!("{owner}: {word}"));
        }
        for (key, part) in properties(node) {
            if let Some(value) = value.get(key) {
                held.insert(format!("{owner}.{key}"));
                self.mark(owner, part, value, held);
            }
        }
        if let (Some(items), Some(values)) = (node.get("items"), value.as_array()) {
            for value in values {
                self.mark(owner, items, value, held);
            }
        }
        for part in alternatives(node) {
            self.mark(owner, part, value, held);
        }
    }
}

fn properties(node: &Value) -> impl Iterator<Item = (&String, &Value)> {
    node.get("properties").and_then(Value::as_object).into_iter().flatten()
}

fn alternatives(node: &Value) -> impl Iterator<Item = &Value> {
    let kinds = ["anyOf", "oneOf"];
    kinds.into_iter().filter_map(|kind| node.get(kind)?.as_array()).flatten()
}

/// The words that a schema allows; of examples, what remains without their numbers: `packets`, `segments`.
fn words(node: &Value) -> impl Iterator<Item = String> {
    let listed = ["enum", "examples"].into_iter().filter_map(|list| node.get(list)?.as_array());
    listed.flatten().chain(node.get("const")).map(word)
}

/// A value without the number that it begins with; bytes by whichever unit.
fn word(value: &Value) -> String {
    let Some(text) = value.as_str() else { return value.to_string() };
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.' || c == ' ');
    match unit {
        "KiB" | "MiB" | "KB" | "MB" | "B" => "bytes".to_owned(),
        "6in4" | "in4" => "6in4".to_owned(),
        "segment" | "packet" => format!("{unit}s"),
        _ => unit.to_owned(),
    }
}
