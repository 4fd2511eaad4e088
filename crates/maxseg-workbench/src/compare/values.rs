//! Values of scenarios, whatever unit they are written in.

use std::collections::BTreeMap;

use maxseg_core::results::in_base_units;
use serde_json::{Map, Value};

/// Key and value in base units: two of equal text are equal.
pub(super) fn in_base(key: &str, value: &Value) -> (String, String) {
    let point: Map<String, Value> = [(key.to_owned(), value.clone())].into_iter().collect();
    let (key, value) =
        in_base_units(&point).into_iter().next().unwrap_or_else(|| (key.to_owned(), value.clone()));
    // Digits that the conversion may change count for nothing: `"0.1%"` and 0.001.
    let text = value.as_f64().map_or_else(|| value.to_string(), |number| format!("{number:.12e}"));
    (key, text)
}

/// Whether a value is that of a text, as of a command line.
pub(super) fn is_written_as(key: &str, value: &Value, text: &str) -> bool {
    let as_text = Value::from(text);
    // A number, `true`, or what else a file may hold.
    let as_value: Option<Value> = serde_json::from_str(text).ok();
    let value = in_base(key, value);
    [Some(as_text), as_value].iter().flatten().any(|other| in_base(key, other) == value)
}

fn are_other(key: &str, a: Option<&Value>, b: Option<&Value>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => in_base(key, a) != in_base(key, b),
        (_, _) => a.is_some() || b.is_some(),
    }
}

/// The keys of two scenarios whose values differ.
pub(super) fn changed(a: &Value, b: &Value) -> Vec<(String, [Value; 2])> {
    if a.is_null() || b.is_null() {
        return Vec::new();
    }
    let names = shared_names(a, b);
    let [a, b] = [a, b].map(|scenario| {
        let mut leaves = BTreeMap::new();
        flatten(scenario, "", &names, &mut leaves);
        leaves
    });
    let mut keys: Vec<&String> = a.keys().chain(b.keys()).collect();
    keys.sort_unstable();
    keys.dedup();
    let value = |leaves: &BTreeMap<String, Value>, key: &String| {
        leaves.get(key).cloned().unwrap_or_default()
    };
    keys.into_iter()
        .filter(|key| are_other(key, a.get(*key), b.get(*key)))
        .map(|key| (key.clone(), [value(&a, key), value(&b, key)]))
        .collect()
}

/// What the hops of both scenarios are called, by their places; as `--set` and the sweep call them. Where the scenarios have other
/// hops there, or one has no name, it has its number.
fn shared_names(a: &Value, b: &Value) -> Vec<Option<String>> {
    let names = |scenario: &Value| -> Vec<Option<String>> {
        let hops = scenario["hop"].as_array().map_or(&[][..], Vec::as_slice);
        hops.iter().map(|hop| hop["name"].as_str().map(str::to_owned)).collect()
    };
    let (ours, theirs) = (names(a), names(b));
    let is_once = |name: &String| {
        let count = |all: &[Option<String>]| {
            all.iter().filter(|other| other.as_ref() == Some(name)).count()
        };
        count(&ours) == 1 && count(&theirs) == 1
    };
    let shared = ours.iter().zip(&theirs);
    shared
        .map(|(one, other)| {
            one.clone().filter(|name| Some(name) == other.as_ref() && is_once(name))
        })
        .collect()
}

/// The values of a document by their keys; what names and describes a scenario is no setting, but the name of a hop names its random
/// streams.
fn flatten(
    value: &Value,
    key: &str,
    hops: &[Option<String>],
    leaves: &mut BTreeMap<String, Value>,
) {
    let below = |name: &str| if key.is_empty() { name.to_owned() } else { format!("{key}.{name}") };
    match value {
        Value::Object(map) => {
            let is_setting = |name: &str| !key.is_empty() || !["name", "about"].contains(&name);
            for (name, value) in map.iter().filter(|(name, _)| is_setting(name)) {
                flatten(value, &below(name), hops, leaves);
            }
        }
        Value::Array(list) => {
            for (index, value) in list.iter().enumerate() {
                let name = hops.get(index).cloned().flatten().filter(|_| key == "hop");
                let name = name.unwrap_or_else(|| index.to_string());
                flatten(value, &below(&name), hops, leaves);
            }
        }
        Value::Null => {}
        Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            leaves.insert(key.to_owned(), value.clone());
        }
    }
}
