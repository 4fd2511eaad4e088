//! Columns of what a row has several of: links and flows.

use maxseg_core::outcome::{LabLink, LinkOutcome, Outcome};
use maxseg_core::results::{Row, numbers};
use serde_json::{Map, Value};

use super::{Column, Values};

/// A count of a link: what it is called, in the simulator, and in the lab.
type Count = (&'static str, fn(&LinkOutcome) -> f64, fn(&LabLink) -> Option<f64>);

const COUNTS: [Count; 10] = [
    ("sent_packets", |link| link.sent_packets as f64, |link| Some(link.sent_packets? as f64)),
    ("refused", |link| link.refused as f64, |link| Some(link.refused as f64)),
    ("early", |link| link.early as f64, |link| Some(link.early as f64)),
    ("policed", |link| link.policed as f64, |link| Some(link.policed as f64)),
    ("damaged", |link| link.damaged as f64, |link| Some(link.damaged as f64)),
    ("too_big", |link| link.too_big as f64, |link| Some(link.too_big as f64)),
    ("withheld", |link| link.withheld as f64, |link| Some(link.withheld as f64)),
    ("marked", |link| link.marked as f64, |link| Some(link.marked as f64)),
    ("doubled", |link| link.doubled as f64, |link| Some(link.doubled as f64)),
    ("waited_s", |link| link.waited_s, |link| link.waited_s),
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
    let column = |(name, (key, simulated, in_lab)): (&str, Count)| {
        let value = |row: &Row| {
            let outcome = &row.outcome;
            let simulated = outcome.links.iter().find(|link| link.link == name).map(simulated);
            let mut in_labs = outcome.lab.iter().flat_map(|lab| &lab.links);
            simulated.or_else(|| in_lab(in_labs.find(|link| link.link == name)?))
        };
        let values = Values::Number(rows.iter().map(value).collect());
        Column { name: format!("links.{name}.{key}"), values }
    };
    names.into_iter().flat_map(|name| COUNTS.map(|count| (name, count))).map(column).collect()
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
