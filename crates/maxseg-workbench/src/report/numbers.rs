//! The numbers that tables of runs and of flows have columns of.

use maxseg_core::outcome::Outcome;
use maxseg_core::results::Group;

use super::words;

/// A number of an outcome, as a column.
#[derive(Debug)]
pub struct Number {
    /// The heading.
    pub title: &'static str,
    /// Its value in an outcome, that of a run or of one of its flows.
    pub(super) of: fn(&Outcome) -> Option<f64>,
    pub(super) write: fn(f64) -> String,
    /// Whether the column is there also where nothing is known.
    pub(super) is_always_there: bool,
    tables: Tables,
}

/// The tables with a column of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tables {
    /// That of flows; that of runs has a column for each engine, or none.
    Flows,
    /// That of runs.
    Runs,
    Both,
}

/// In the order of the columns.
static NUMBERS: [Number; 12] = [
    Number {
        title: "goodput",
        of: |o| o.goodput_bps,
        write: words::rate,
        is_always_there: true,
        tables: Tables::Flows,
    },
    both("RTT", |o| o.rtt_mean_s, words::time),
    both("ping", |o| o.ping_mean_s, words::time),
    both("ping p99", |o| o.ping_p99_s, words::time),
    Number {
        tables: Tables::Flows,
        ..both("requests", |o| o.requests.map(|n| n as f64), words::count)
    },
    Number { tables: Tables::Flows, ..both("request", |o| o.request_mean_s, words::time) },
    both("request p99", |o| o.request_p99_s, words::time),
    Number { is_always_there: true, ..both("queueing delay", |o| o.queue_mean_s, words::time) },
    Number { is_always_there: true, ..both("lost", |o| o.segment_loss, words::percent) },
    Number {
        tables: Tables::Runs,
        ..both("retransmitted", |o| o.retransmitted_packets.map(|n| n as f64), words::digits)
    },
    Number {
        tables: Tables::Runs,
        ..both("timeouts", |o| o.timeouts.map(|n| n as f64), words::digits)
    },
    Number { tables: Tables::Runs, ..both("CPU per Gbit", |o| o.cpu_s_per_gbit, words::time) },
];

/// A column of both tables, where something is known.
const fn both(
    title: &'static str,
    of: fn(&Outcome) -> Option<f64>,
    write: fn(f64) -> String,
) -> Number {
    Number { title, of, write, is_always_there: false, tables: Tables::Both }
}

/// The columns of a table of these runs.
pub fn numbers_of_runs(groups: &[Group<'_>]) -> Vec<&'static Number> {
    let is_known = |number: &Number| groups.iter().any(|g| g.headline(number.of).is_some());
    columns(Tables::Runs, is_known)
}

/// The columns of a table of the flows of these runs.
pub(super) fn numbers_of_flows(groups: &[Group<'_>]) -> Vec<&'static Number> {
    let rows = || groups.iter().flat_map(|group| &group.rows);
    let is_known = |number: &Number| {
        rows().flat_map(|row| &row.outcome.flows).any(|flow| (number.of)(flow).is_some())
    };
    columns(Tables::Flows, is_known)
}

fn columns(of: Tables, is_known: impl Fn(&Number) -> bool) -> Vec<&'static Number> {
    let has = |number: &&Number| [of, Tables::Both].contains(&number.tables);
    let is_there = |number: &&Number| number.is_always_there || is_known(number);
    NUMBERS.iter().filter(has).filter(is_there).collect()
}

impl Number {
    /// The mean of the runs in words; `None` where none knows it.
    pub fn mean(&self, group: &Group<'_>) -> Option<String> {
        group.headline(self.of).map(|summary| (self.write)(summary.mean))
    }
}
