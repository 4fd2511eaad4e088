//! The flows one by one, where a scenario has several.

use comfy_table::{Cell, Table};
use maxseg_core::outcome::{LimitedBy, Outcome};
use maxseg_core::results::Group;
use maxseg_core::scenario::{End, Flow, FlowKind, Scenario};

use super::axes::keys;
use super::marks::mark;
use super::table::{plain, right};
use super::words;

/// What is known of each flow.
#[derive(Debug, Clone)]
pub(super) struct FlowLine {
    /// The point's values, the engine, and the flow's name.
    pub(super) of: Vec<String>,
    /// The numbers, as [`FlowLines::titles`] calls them.
    pub(super) numbers: Vec<String>,
    /// What limited it.
    pub(super) limited_by: &'static str,
}

/// All of them, and what their numbers are.
pub(super) struct FlowLines {
    pub(super) titles: Vec<&'static str>,
    pub(super) lines: Vec<FlowLine>,
}

/// A number of a flow.
struct Number {
    title: &'static str,
    of: fn(&Outcome) -> Option<f64>,
    write: fn(f64) -> String,
    /// Whether it is there also where nothing is known.
    always: bool,
}

const NUMBERS: [Number; 9] = [
    Number { title: "goodput", of: |o| o.goodput_bps, write: words::rate, always: true },
    Number { title: "RTT", of: |o| o.rtt_mean_s, write: words::time, always: true },
    Number { title: "ping", of: |o| o.ping_mean_s, write: words::time, always: true },
    Number { title: "ping p99", of: |o| o.ping_p99_s, write: words::time, always: true },
    Number {
        title: "requests",
        of: |o| o.requests.map(|n| n as f64),
        write: words::count,
        always: false,
    },
    Number { title: "request", of: |o| o.request_mean_s, write: words::time, always: false },
    Number { title: "request p99", of: |o| o.request_p99_s, write: words::time, always: false },
    Number { title: "queue forward", of: |o| o.queue_mean_s, write: words::time, always: true },
    Number { title: "lost", of: |o| o.segment_loss, write: words::percent, always: true },
];

impl Number {
    fn is_known(&self, groups: &[Group<'_>]) -> bool {
        let rows = || groups.iter().flat_map(|group| &group.rows);
        self.always
            || rows().flat_map(|row| &row.outcome.flows).any(|flow| (self.of)(flow).is_some())
    }
}

/// A line for each point, engine and flow; none where there is one flow.
pub(super) fn flow_lines(groups: &[Group<'_>], scenario: &Scenario) -> FlowLines {
    let names = names(groups, scenario);
    let numbers: Vec<&Number> = NUMBERS.iter().filter(|number| number.is_known(groups)).collect();
    FlowLines {
        titles: numbers.iter().map(|number| number.title).collect(),
        lines: groups.iter().flat_map(|group| of_group(group, &names, &numbers)).collect(),
    }
}

/// What stands before the numbers: the swept keys, the engine, the flow.
pub(super) fn flow_heads(groups: &[Group<'_>]) -> Vec<String> {
    let axes = keys(groups).into_iter().map(words::title);
    axes.chain(["engine".to_owned(), "flow".to_owned()]).collect()
}

/// The lines as a table.
pub(super) fn flow_table(groups: &[Group<'_>], flows: &FlowLines) -> Table {
    let mut table = plain();
    let axes = keys(groups).len();
    // Engine and flow are words.
    let head = |(index, text): (usize, String)| {
        if index < axes { right(text) } else { Cell::new(text) }
    };
    let heads = flow_heads(groups).into_iter().enumerate().map(head);
    let titles = flows.titles.iter().map(|title| right(*title));
    table.set_header(heads.chain(titles).chain([Cell::new("limited by")]));
    for line in &flows.lines {
        let of = line.of.iter().cloned().enumerate().map(head);
        let numbers = line.numbers.iter().map(right);
        table.add_row(of.chain(numbers).chain([Cell::new(line.limited_by)]));
    }
    table
}

fn of_group(group: &Group<'_>, names: &[String], numbers: &[&Number]) -> Vec<FlowLine> {
    let flows = group.rows.iter().map(|row| row.outcome.flows.len()).max().unwrap_or(0);
    let values = group.point.iter().map(|(key, value)| words::value(key, value));
    let values: Vec<String> = values.chain([group.engine.to_string()]).collect();
    let line = |flow: usize| {
        let show = |number: &&Number| {
            let summary = group.summary(|outcome| (number.of)(outcome.flows.get(flow)?));
            let mark = if number.title == "goodput" { mark(group) } else { "" };
            let text = |mean: f64| format!("{mark}{}", (number.write)(mean));
            summary.map_or_else(|| "-".to_owned(), |summary| text(summary.mean))
        };
        let name = names.get(flow).cloned().unwrap_or_else(|| format!("flow.{flow}"));
        FlowLine {
            of: values.iter().cloned().chain([name]).collect(),
            numbers: numbers.iter().map(show).collect(),
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
