//! A line for each way of each connection.

use std::io;

use maxseg_core::evidence::{Direction, Evidence};
use maxseg_wire::reading::TopConnections;
use serde_json::Value;

use crate::explain::{Case, Explanation};
use crate::report::csv::field;

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

/// Writes every connection, line by line. Gives those with most at stake.
///
/// # Errors
/// It cannot be written.
pub(crate) fn write_csv(
    out: &mut dyn io::Write,
    explanation: &Explanation,
    source: &mut dyn Iterator<Item = Evidence>,
) -> io::Result<TopConnections> {
    let of_direction = columns();
    let header: Vec<&str> =
        OF_CONNECTION.into_iter().chain(of_direction.iter().map(String::as_str)).collect();
    writeln!(out, "{}", header.join(","))?;
    let mut top = TopConnections::default();
    for evidence in source {
        let case = explanation.case(&evidence);
        for way in [Direction::Forward, Direction::Reverse] {
            let mut fields = connection(&case, way);
            let direction = serde_json::to_value(case.evidence.direction(way))?;
            fields.extend(of_direction.iter().map(|name| value(lookup(&direction, name))));
            writeln!(out, "{}", fields.join(","))?;
        }
        let stake = case.stake();
        top.offer(stake, evidence);
    }
    Ok(top)
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
    names.collect()
}

fn lookup<'a>(direction: &'a Value, name: &str) -> &'a Value {
    name.split('.').fold(direction, |value, key| &value[key])
}

fn value(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => field(text),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

fn connection(case: &Case<'_>, way: Direction) -> Vec<String> {
    let evidence = case.evidence;
    // Limits are of the way that carried more.
    let limit = case.diagnosis.limited_by.filter(|_| case.diagnosis.way == way);
    let findings = case.diagnosis.findings.iter();
    let about = findings.filter(|finding| finding.way.is_none_or(|of| of == way));
    let kinds: Vec<&str> = about.clone().map(|finding| finding.kind.word()).collect();
    let worst = about.map(|finding| finding.severity).max();
    let word = |value: serde_json::Result<Value>| {
        value.map_or_else(|_| String::new(), |word| self::value(&word))
    };
    vec![
        evidence.id.to_string(),
        field(&evidence.client.to_string()),
        field(&evidence.server.to_string()),
        word(serde_json::to_value(way)),
        field(&evidence.sender(way).to_string()),
        field(&evidence.receiver(way).to_string()),
        format!("{:.6}", evidence.begin.as_secs_f64()),
        format!("{:.6}", evidence.end.since(evidence.begin).as_secs_f64()),
        word(serde_json::to_value(evidence.ending)),
        limit.map_or_else(String::new, |limit| limit.word().to_owned()),
        limit.map_or_else(String::new, |limit| case.share(limit).to_string()),
        field(&kinds.join(" ")),
        worst.map_or_else(String::new, |worst| worst.word().to_owned()),
    ]
}
