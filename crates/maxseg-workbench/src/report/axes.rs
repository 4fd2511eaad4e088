//! What was swept, as tables and pictures see it.

use std::collections::BTreeSet;

use maxseg_core::results::Group;
use serde_json::{Map, Value};

use super::words;

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

/// The MSS that the runs used, where it is another than the `sender.mss` that was asked for: options and the path's
/// MTU lower it (RFC 9293, section 3.7.1). The smallest of its runs.
pub(super) fn mss_used(group: &Group<'_>, key: &str) -> Option<u64> {
    let requested = group.point.get(key).filter(|_| key == "sender.mss")?.as_u64()?;
    let used = group.rows.iter().filter_map(|row| row.outcome.mss_used_bytes).min()?;
    (used != requested).then_some(used)
}

/// A value of a swept key in words, with the MSS that these used of it where that differs: `1460 (1440 used)`.
pub fn value_used<'a: 'g, 'g>(
    groups: impl IntoIterator<Item = &'g Group<'a>>,
    key: &str,
    value: &Value,
) -> String {
    let requested = words::value(key, value);
    let of_value = groups.into_iter().filter(|group| group.point.get(key) == Some(value));
    let used: BTreeSet<u64> = of_value.filter_map(|group| mss_used(group, key)).collect();
    match (used.first(), used.last()) {
        (Some(least), Some(most)) if least < most => format!("{requested} ({least}–{most} used)"),
        (Some(used), _) => format!("{requested} ({used} used)"),
        (None, _) => requested,
    }
}

/// Some of a point's values, to be compared and sorted by: JSON values have no order.
pub fn identity<'a>(point: &Map<String, Value>, keys: impl IntoIterator<Item = &'a str>) -> String {
    let values =
        keys.into_iter().map(|key| point.get(key).map_or_else(String::new, Value::to_string));
    values.collect::<Vec<_>>().join("\u{1f}")
}
