//! One CSV row per direction of each connection.

use std::io;

use maxseg_core::advise::Case;
use maxseg_core::evidence::Direction;
use serde_json::Value;

use super::super::csv::field;
use super::seen::{RETRANSMITTED, seen};
use crate::explain::{Capture, Explanation};

/// Columns of the connection, before those of the direction.
const OF_CONNECTION: [&str; 13] = [
    "connection",
    "client",
    "server",
    "way",
    "source",
    "destination",
    "begin_time_s",
    "duration_s",
    "ending",
    "limited_by",
    "limited_by_share",
    "findings",
    "worst",
];

/// Writes every connection, one at a time.
///
/// # Errors
/// Writing fails.
pub fn write_csv(out: &mut dyn io::Write, capture: Capture<'_>) -> io::Result<Explanation> {
    let of_direction = columns();
    let header: Vec<&str> =
        OF_CONNECTION.into_iter().chain(of_direction.iter().map(String::as_str)).collect();
    writeln!(out, "{}", header.join(","))?;
    capture.explain_each(|_, case| {
        for direction in [Direction::Forward, Direction::Reverse] {
            let mut fields = connection(case, direction);
            let stats = seen(case, direction);
            fields.extend(of_direction.iter().map(|name| value(lookup(&stats, name))));
            writeln!(out, "{}", fields.join(","))?;
        }
        Ok(())
    })
}

/// The columns of a direction: its numbers by the names of JSON, those in parts as `part.number`.
fn columns() -> Vec<String> {
    let empty = serde_json::to_value(maxseg_core::evidence::DirectionStats::default());
    let Ok(Value::Object(keys)) = empty else { return Vec::new() };
    let names = keys.iter().flat_map(|(key, value)| match value {
        Value::Object(parts) => parts.keys().map(|part| format!("{key}.{part}")).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            vec![key.clone()]
        }
    });
    // It may be unknown: the diagnosis knows.
    names.chain([RETRANSMITTED.to_owned()]).collect()
}

fn lookup<'a>(stats: &'a Value, name: &str) -> &'a Value {
    name.split('.').fold(stats, |value, key| &value[key])
}

fn value(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => field(text),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

fn connection(case: &Case<'_>, direction: Direction) -> Vec<String> {
    let evidence = case.evidence;
    // Limits are of the direction that carried more.
    let limit = case.limit().filter(|_| case.diagnosis.direction == direction);
    let findings = case.diagnosis.findings.iter();
    let about = findings.filter(|finding| finding.direction.is_none_or(|of| of == direction));
    let kinds: Vec<&str> = about.clone().map(|finding| finding.kind.word()).collect();
    let worst = about.map(|finding| finding.severity).max();
    let word = |value: serde_json::Result<Value>| {
        value.map_or_else(|_| String::new(), |word| self::value(&word))
    };
    vec![
        evidence.id.to_string(),
        field(&evidence.client.to_string()),
        field(&evidence.server.to_string()),
        word(serde_json::to_value(direction)),
        field(&evidence.sender(direction).to_string()),
        field(&evidence.receiver(direction).to_string()),
        format!("{:.6}", evidence.begin.as_secs_f64()),
        format!("{:.6}", evidence.end.since(evidence.begin).as_secs_f64()),
        word(serde_json::to_value(evidence.ending)),
        limit.map_or_else(String::new, |limit| limit.word().to_owned()),
        limit.map_or_else(String::new, |limit| case.share(limit).to_string()),
        field(&kinds.join(" ")),
        worst.map_or_else(String::new, |worst| worst.word().to_owned()),
    ]
}
