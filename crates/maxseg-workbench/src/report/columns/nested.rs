//! Columns of what a row has several of: links and flows.

use maxseg_core::outcome::Outcome;
use maxseg_core::results::{Row, numbers};
use serde_json::{Map, Value};

use super::{Column, Values};

/// What is known of a link, by its keys in JSON: those of the simulator and the lab are the same.
const OF_LINK: [&str; 10] = [
    "sent_packets",
    "refused",
    "early",
    "policed",
    "damaged",
    "too_big",
    "withheld",
    "marked",
    "doubled",
    "waited_s",
];

/// What became of the packets on each link, by the simulator or the lab: `links.hop.radio.refused`.
pub(super) fn links(rows: &[Row]) -> Vec<Column> {
    let mut names: Vec<&str> = Vec::new();
    for row in rows {
        let in_lab = row.outcome.lab.iter().flat_map(|lab| &lab.links).map(|link| &link.link);
        for name in row.outcome.links.iter().map(|link| &link.link).chain(in_lab) {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
    }
    names.into_iter().flat_map(|name| of_link(rows, name)).collect()
}

fn of_link(rows: &[Row], name: &str) -> [Column; OF_LINK.len()] {
    let link = |row: &Row| {
        let simulated = row.outcome.links.iter().find(|link| link.link == name);
        let mut in_lab = row.outcome.lab.iter().flat_map(|lab| &lab.links);
        match simulated {
            Some(link) => serde_json::to_value(link).ok(),
            None => serde_json::to_value(in_lab.find(|link| link.link == name)?).ok(),
        }
    };
    let links: Vec<Option<Value>> = rows.iter().map(link).collect();
    OF_LINK.map(|key| Column {
        name: format!("links.{name}.{key}"),
        values: Values::Number(links.iter().map(|link| link.as_ref()?[key].as_f64()).collect()),
    })
}

/// Kind and name of each flow and the numbers that are known of it, where there are several: `flows.1.ping_mean_s`.
pub(super) fn flows(rows: &[Row]) -> Vec<Column> {
    let most = rows.iter().map(|row| row.outcome.flows.len()).max().unwrap_or(0);
    (0..most).flat_map(|flow| of_flow(rows, flow)).collect()
}

fn of_flow(rows: &[Row], index: usize) -> Vec<Column> {
    let flows = || rows.iter().map(|row| row.outcome.flows.get(index));
    let name = |key: &str| format!("flows.{index}.{key}");
    let text = |key: &str, of: fn(&Outcome) -> Option<String>| Column {
        name: name(key),
        values: Values::Text(flows().map(|flow| of(flow?)).collect()),
    };
    let of_flows: Vec<Map<String, Value>> =
        flows().map(|flow| flow.map(numbers).unwrap_or_default()).collect();
    let keys = of_flows.iter().map(Map::keys).max_by_key(ExactSizeIterator::len);
    let column = |key: &String| {
        let value = |flow: &Map<String, Value>| flow.get(key).and_then(Value::as_f64);
        let values: Vec<Option<f64>> = of_flows.iter().map(value).collect();
        let is_known = values.iter().any(Option::is_some);
        is_known.then(|| Column { name: name(key), values: Values::Number(values) })
    };
    let known = keys.into_iter().flatten().filter_map(column);
    let words = [text("kind", |flow| flow.kind.clone()), text("name", |flow| flow.name.clone())];
    let limit = text("limited_by", |flow| flow.limited_by.map(|limit| limit.to_string()));
    words.into_iter().chain(known).chain([limit]).collect()
}
