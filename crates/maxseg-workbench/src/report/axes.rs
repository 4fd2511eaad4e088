//! What was swept, as tables and pictures see it.

use std::collections::BTreeSet;

use maxseg_core::results::Group;
use serde_json::{Map, Value};

/// The swept keys, in the sweep's order.
pub fn keys<'a>(groups: &[Group<'a>]) -> Vec<&'a str> {
    let first = groups.first().map(|group| group.point);
    first.into_iter().flat_map(Map::keys).map(String::as_str).collect()
}

/// The values of a swept key, each once, in the order in which they first come.
pub fn distinct<'a: 'g, 'g>(
    groups: impl IntoIterator<Item = &'g Group<'a>>,
    key: &str,
) -> Vec<&'a Value> {
    let mut seen = BTreeSet::new();
    let values = groups.into_iter().filter_map(|group| group.point.get(key));
    values.filter(|value| seen.insert(value.to_string())).collect()
}

/// Some of a point's values, to be compared and sorted by: JSON values have no order.
pub fn identity<'a>(point: &Map<String, Value>, keys: impl IntoIterator<Item = &'a str>) -> String {
    let values =
        keys.into_iter().map(|key| point.get(key).map_or_else(String::new, Value::to_string));
    values.collect::<Vec<_>>().join("\u{1f}")
}
