//! Caveats, gathered: a sweep has the same ones at many points.

use std::collections::BTreeMap;

use maxseg_core::engine::EngineName;
use maxseg_core::results::Row;

/// A line for each engine and kind of caveat: how many points it concerns, and what it says (at the
/// last of them, where it says something else at each).
pub(crate) fn caveat_lines(rows: &[Row]) -> Vec<String> {
    let mut kinds: BTreeMap<(EngineName, &str), Vec<(&str, &str)>> = BTreeMap::new();
    for row in rows {
        for caveat in &row.caveats {
            let known = kinds.entry((row.engine, caveat.code.as_str())).or_default();
            if !known.iter().any(|(hash, text)| *hash == row.hash && *text == caveat.text) {
                known.push((row.hash.as_str(), caveat.text.as_str()));
            }
        }
    }
    kinds
        .into_iter()
        .filter_map(|((engine, code), all)| {
            let (_, text) = all.last()?;
            let points = match all.len() {
                1 => String::new(),
                n if all.iter().all(|(_, other)| other == text) => format!(" ({n} points)"),
                n => format!(" ({n} points; at the last of them)"),
            };
            Some(format!("{engine}, {code}{points}: {text}"))
        })
        .collect()
}
