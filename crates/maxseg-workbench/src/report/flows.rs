//! The flows one by one, where a scenario has several.

use maxseg_core::outcome::{LimitedBy, Outcome};
use maxseg_core::results::{Group, Row};
use maxseg_core::scenario::{End, Flow, Scenario};
use maxseg_core::units::Time;

use super::axes::{keys, value_used};
use super::marks::mark;
use super::numbers::{Number, numbers_of_flows};
use super::words;

/// What is known of each flow.
#[derive(Debug, Clone)]
pub struct FlowLine {
    /// The point's values, the engine, and the flow's name.
    pub of: Vec<String>,
    /// The numbers in words, as [`FlowLines::titles`] calls them.
    pub numbers: Vec<String>,
    /// The same as numbers; `None` where they are unknown.
    pub values: Vec<Option<f64>>,
    /// What limited it.
    pub limited_by: &'static str,
}

/// All of them, and what their numbers are.
pub struct FlowLines {
    /// What the numbers are, by column.
    pub titles: Vec<&'static str>,
    /// Point by point, engine by engine, flow by flow.
    pub lines: Vec<FlowLine>,
}

/// A line for each point, engine and flow; none where there is one flow. Where a flow does not last for the whole run, the goodput
/// while it is active stands beside `goodput`, which is over the whole run for all of them, as they are to sum up.
pub fn flow_lines(groups: &[Group<'_>], scenario: &Scenario) -> FlowLines {
    let names = flow_names(groups, scenario);
    let numbers = numbers_of_flows(groups);
    let mut all = FlowLines {
        titles: numbers.iter().map(|number| number.title).collect(),
        lines: groups.iter().flat_map(|group| of_group(group, &names, &numbers)).collect(),
    };
    let is_partial = |(index, flow): (usize, &Flow)| {
        let has_goodput = |row: &&Row| {
            row.outcome.flows.get(index).is_some_and(|flow| flow.goodput_bps.is_some())
        };
        (flow.start > Time::ZERO || flow.stop < scenario.until.time)
            && groups.iter().flat_map(|group| &group.rows).any(has_goodput)
    };
    let goodput = numbers.iter().position(|number| number.title == GOODPUT);
    if let Some(goodput) = goodput.filter(|_| scenario.flows.iter().enumerate().any(is_partial)) {
        all.titles.insert(goodput + 1, "while active");
        let active = groups.iter().flat_map(|group| active_goodputs(group, scenario));
        for (line, bps) in all.lines.iter_mut().zip(active) {
            line.numbers.insert(goodput + 1, bps.map_or_else(|| "-".to_owned(), words::rate));
            line.values.insert(goodput + 1, bps);
        }
    }
    all
}

const GOODPUT: &str = "goodput";

/// The goodput of each flow of a group from its start to its stop, or to the end of the run; `None` where the time is swept.
fn active_goodputs(group: &Group<'_>, scenario: &Scenario) -> Vec<Option<f64>> {
    let of_flow = |index: usize| {
        let flow = scenario.flows.get(index)?;
        let is_swept = ["start", "stop"].iter().any(|what| {
            ["*", &index.to_string()]
                .iter()
                .any(|of| group.point.contains_key(&format!("flow.{of}.{what}")))
        });
        let active = |outcome: &Outcome| {
            let outcome = outcome.flows.get(index)?;
            let elapsed_s = outcome.elapsed_s?;
            let active_s = flow.stop.as_secs_f64().min(elapsed_s) - flow.start.as_secs_f64();
            (active_s > 0.0).then_some(outcome.goodput_bps? * elapsed_s / active_s)
        };
        Some(group.summary(active).filter(|_| !is_swept)?.mean)
    };
    (0..flow_count(group)).map(of_flow).collect()
}

fn flow_count(group: &Group<'_>) -> usize {
    group.rows.iter().map(|row| row.outcome.flows.len()).max().unwrap_or(0)
}

/// What stands before the numbers: the swept keys, the engine, the flow.
pub fn flow_heads(groups: &[Group<'_>]) -> Vec<String> {
    let axes = keys(groups).into_iter().map(words::title);
    axes.chain(["engine".to_owned(), "flow".to_owned()]).collect()
}

fn of_group(group: &Group<'_>, names: &[String], numbers: &[&Number]) -> Vec<FlowLine> {
    let values = group.point.iter().map(|(key, value)| value_used([group], key, value));
    let values: Vec<String> = values.chain([group.engine.to_string()]).collect();
    let line = |flow: usize| {
        let mean = |number: &Number| {
            Some(group.summary(|outcome| (number.of)(outcome.flows.get(flow)?))?.mean)
        };
        let show = |number: &&Number| {
            let mark = if number.title == GOODPUT { mark(group) } else { "" };
            let text = |mean: f64| format!("{mark}{}", (number.write)(mean));
            mean(number).map_or_else(|| "-".to_owned(), text)
        };
        let name = names.get(flow).cloned().unwrap_or_else(|| format!("flow.{flow}"));
        FlowLine {
            of: values.iter().cloned().chain([name]).collect(),
            numbers: numbers.iter().map(show).collect(),
            values: numbers.iter().map(|number| mean(number)).collect(),
            limited_by: limited_by(group, flow).map_or("-", |limit| limit.word()),
        }
    };
    (0..flow_count(group)).map(line).collect()
}

/// What limited a flow in most runs.
fn limited_by(group: &Group<'_>, flow: usize) -> Option<LimitedBy> {
    group.limit_of_most(|outcome| outcome.flows.get(flow)?.limited_by)
}

/// The flows as keys name them, with their kind unless that is swept.
pub(super) fn flow_names(groups: &[Group<'_>], scenario: &Scenario) -> Vec<String> {
    let is_swept = |flow: usize, what: &str| {
        let all = format!("flow.*.{what}");
        keys(groups).iter().any(|key| *key == all || *key == format!("flow.{flow}.{what}"))
    };
    let name = |(index, flow): (usize, &Flow)| {
        let kind = match flow.kind.word() {
            _ if is_swept(index, "kind") => String::new(),
            word => format!(" {word}"),
        };
        let from = match flow.from {
            End::Receiver if !is_swept(index, "from") => " from receiver",
            End::Sender | End::Receiver => "",
        };
        format!("flow.{index}{kind}{from}")
    };
    scenario.flows.iter().enumerate().map(name).collect()
}
