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
    let [a, b] = [a, b].map(|scenario| {
        let mut leaves = BTreeMap::new();
        flatten(scenario, "", &mut leaves);
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

/// The values of a document by their keys; what names and describes a scenario is no setting, but the name of a hop names its random
/// streams.
fn flatten(value: &Value, key: &str, leaves: &mut BTreeMap<String, Value>) {
    let below = |name: &str| if key.is_empty() { name.to_owned() } else { format!("{key}.{name}") };
    match value {
        Value::Object(map) => {
            let is_setting = |name: &str| !key.is_empty() || !["name", "about"].contains(&name);
            for (name, value) in map.iter().filter(|(name, _)| is_setting(name)) {
                flatten(value, &below(name), leaves);
            }
        }
        Value::Array(list) => {
            for (index, value) in list.iter().enumerate() {
                flatten(value, &below(&index.to_string()), leaves);
            }
        }
        Value::Null => {}
        Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            leaves.insert(key.to_owned(), value.clone());
        }
    }
}
