//! The flows one by one, where a scenario has several.

use comfy_table::{Cell, Table};
use maxseg_core::outcome::{LimitedBy, Outcome};
use maxseg_core::results::Group;
use maxseg_core::scenario::{End, Flow, FlowKind, Scenario};

use super::axes::keys;
use super::table::{doubt, plain, right};
use super::words;

/// What is known of each flow.
pub(super) struct FlowLine {
    /// The point's values, the engine, and the flow's name.
    pub(super) of: Vec<String>,
    /// The numbers, as [`TITLES`] calls them.
    pub(super) numbers: Vec<String>,
    /// What limited it.
    pub(super) limited_by: &'static str,
}

/// What the numbers of a [`FlowLine`] are.
pub(super) const TITLES: [&str; 6] =
    ["goodput", "RTT", "ping", "ping p99", "queue forward", "lost"];

/// A line for each point, engine and flow; none where there is one flow.
pub(super) fn flow_lines(groups: &[Group<'_>], scenario: &Scenario) -> Vec<FlowLine> {
    let names = names(groups, scenario);
    groups.iter().flat_map(|group| of_group(group, &names)).collect()
}

/// What stands before the numbers: the swept keys, the engine, the flow.
pub(super) fn flow_heads(groups: &[Group<'_>]) -> Vec<String> {
    let axes = keys(groups).into_iter().map(words::title);
    axes.chain(["engine".to_owned(), "flow".to_owned()]).collect()
}

/// The lines as a table.
pub(super) fn flow_table(groups: &[Group<'_>], lines: &[FlowLine]) -> Table {
    let mut table = plain();
    let axes = keys(groups).len();
    // Engine and flow are words.
    let head = |(index, text): (usize, String)| {
        if index < axes { right(text) } else { Cell::new(text) }
    };
    let heads = flow_heads(groups).into_iter().enumerate().map(head);
    table.set_header(heads.chain(TITLES.map(right)).chain([Cell::new("limited by")]));
    for line in lines {
        let of = line.of.iter().cloned().enumerate().map(head);
        let numbers = line.numbers.iter().map(right);
        table.add_row(of.chain(numbers).chain([Cell::new(line.limited_by)]));
    }
    table
}

fn of_group(group: &Group<'_>, names: &[String]) -> Vec<FlowLine> {
    let flows = group.rows.iter().map(|row| row.outcome.flows.len()).max().unwrap_or(0);
    let values = group.point.iter().map(|(key, value)| words::value(key, value));
    let values: Vec<String> = values.chain([group.engine.to_string()]).collect();
    let line = |flow: usize| {
        let of = |number: fn(&Outcome) -> Option<f64>, write: fn(f64) -> String| {
            let summary = group.summary(|outcome| number(outcome.flows.get(flow)?));
            summary.map_or_else(|| "-".to_owned(), |summary| write(summary.mean))
        };
        let goodput = of(|o| o.goodput_bps, words::rate);
        let name = names.get(flow).cloned().unwrap_or_else(|| format!("flow.{flow}"));
        FlowLine {
            of: values.iter().cloned().chain([name]).collect(),
            numbers: vec![
                if goodput == "-" { goodput } else { format!("{}{goodput}", doubt(group)) },
                of(|o| o.rtt_mean_s, words::time),
                of(|o| o.ping_mean_s, words::time),
                of(|o| o.ping_p99_s, words::time),
                of(|o| o.queue_mean_s, words::time),
                of(|o| o.segment_loss, words::percent),
            ],
            limited_by: limited_by(group, flow).map_or("-", |limit| limit.word()),
        }
    };
    (0..flows).map(line).collect()
}

/// What limited a flow in the first run that knows it.
fn limited_by(group: &Group<'_>, flow: usize) -> Option<LimitedBy> {
    group.rows.iter().find_map(|row| row.outcome.flows.get(flow)?.limited_by)
}

/// The flows as keys name them, with their kind unless that is swept.
fn names(groups: &[Group<'_>], scenario: &Scenario) -> Vec<String> {
    let is_swept = |flow: usize, what: &str| {
        let all = format!("flow.*.{what}");
        keys(groups).iter().any(|key| *key == all || *key == format!("flow.{flow}.{what}"))
    };
    let name = |(index, flow): (usize, &Flow)| {
        let kind = match flow.kind {
            _ if is_swept(index, "kind") => "",
            FlowKind::Bulk => " bulk",
            FlowKind::Cbr { .. } => " cbr",
            FlowKind::Ping { .. } => " ping",
            FlowKind::Request(_) => " request",
        };
        let from = match flow.from {
            End::Receiver if !is_swept(index, "from") => " from receiver",
            End::Sender | End::Receiver => "",
        };
        format!("flow.{index}{kind}{from}")
    };
    scenario.flows.iter().enumerate().map(name).collect()
}
