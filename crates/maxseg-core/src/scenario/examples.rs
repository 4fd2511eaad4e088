//! How each key of a scenario file may be written: as the schema's `x-example` has it.

use std::sync::LazyLock;

use serde_json::Value;

use super::ScenarioSpec;
use super::key::KeyStep;

/// The tables of a file, which have a form of their own.
const TABLES: [(&str, &str); 7] = [
    ("hop", "[[hop]] with rate = \"10 Mbit/s\" and delay = \"20 ms\""),
    ("sender", "[sender] with mss = 1460"),
    ("receiver", "[receiver] with window = \"64 KiB\""),
    ("flow", "[[flow]] with kind = \"bulk\""),
    ("until", "until = { time = \"60 s\" }"),
    ("lab", "lab = { backend = \"relay\" }"),
    ("sweep", "[sweep] with \"sender.mss\" = [536, 1460]"),
];

static SCHEMA: LazyLock<Value> = LazyLock::new(|| schemars::schema_for!(ScenarioSpec).to_value());

/// How the key at `path` may look; indices in `path` are left aside.
pub(super) fn example(path: &[KeyStep]) -> String {
    let keys: Vec<&str> = path
        .iter()
        .filter_map(|step| match step {
            KeyStep::Key(key) => Some(key.as_str()),
            KeyStep::Index(_) => None,
        })
        .collect();
    let of_table = |key: &str| TABLES.iter().find(|(name, _)| *name == key);
    match keys.as_slice() {
        [] => "rate = \"10 Mbit/s\"".to_owned(),
        ["sweep", _, ..] => "\"sender.mss\" = [536, 1460]".to_owned(),
        [only] if let Some((_, form)) = of_table(only) => (*form).to_owned(),
        [.., key] => match of_schema(&keys) {
            Some(value) => format!("{key} = {value}"),
            None => format!("{key} = VALUE"),
        },
    }
}

/// The example of the key at the end of these, each within the one before.
fn of_schema(keys: &[&str]) -> Option<&'static str> {
    let mut of_key: &'static Value = &SCHEMA;
    for key in keys {
        of_key = property(of_key, key)?;
    }
    of_key["x-example"].as_str()
}

/// The key of a table, or of one of the tables that a value may be.
fn property(schema: &'static Value, key: &str) -> Option<&'static Value> {
    let within = |part: &'static Value| property(part, key);
    if let Some(found) = schema["properties"].get(key) {
        return Some(found);
    }
    if let Some(name) = schema["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/")) {
        return within(&SCHEMA["$defs"][name]);
    }
    if let Some(items) = schema.get("items") {
        return within(items);
    }
    schema["anyOf"].as_array()?.iter().find_map(within)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every key below a schema, with those that lead to it.
    fn keys(schema: &'static Value, path: &[KeyStep], into: &mut Vec<Vec<KeyStep>>) {
        if let Some(name) = schema["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/")) {
            keys(&SCHEMA["$defs"][name], path, into);
        }
        for (key, property) in schema["properties"].as_object().into_iter().flatten() {
            let path = [path, &[KeyStep::Key(key.clone())]].concat();
            keys(property, &path, into);
            into.push(path);
        }
        if let Some(items) = schema.get("items") {
            keys(items, path, into);
        }
        schema["anyOf"].as_array().into_iter().flatten().for_each(|part| keys(part, path, into));
    }

    #[test]
    fn every_key_of_the_schema_has_an_example_that_is_toml() {
        let mut known = Vec::new();
        keys(&SCHEMA, &[], &mut known);
        assert!(known.len() > 100, "{}", known.len());
        for path in known {
            let example = example(&path);
            let is_toml = example.starts_with('[') || example.parse::<toml::Table>().is_ok();
            assert!(is_toml && !example.ends_with("VALUE"), "{path:?}: {example}");
        }
    }
}
