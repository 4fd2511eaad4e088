//! A line for each connection.

use maxseg_core::advise::Case;
use maxseg_core::outcome::LimitedBy;

use super::parts::{Detail, wrapped};
use crate::printer::Printer;
use crate::report::{Column, Grid};
use maxseg_workbench::explain::Explanation;
use maxseg_workbench::report::words::{self, size};

/// Most lines; the rest is counted.
const MOST: usize = 20;

/// The connections of the highest impact, by number, and how many more there are.
pub(super) fn list(explanation: &Explanation, detail: Detail, printer: Printer) -> String {
    let mut cases = explanation.by_impact(MOST);
    let leading = cases.first().map(|case| case.evidence.id).filter(|_| cases.len() > 1);
    cases.sort_by_key(|case| case.evidence.id);
    let mut text = format!("{}\n", printer.bold("Connections"));
    text += &table(&cases, leading).text(detail.table_width);
    let left_out = explanation.total_connections.saturating_sub(cases.len() as u64);
    if left_out > 0 {
        let more = format!(
            "and {} more with less impact: --csv or --json lists all, --filter selects",
            words::grouped(left_out)
        );
        text += &wrapped(&more, detail.width, "");
    }
    text
}

fn table(cases: &[Case<'_>], leading: Option<u32>) -> Grid {
    let values = [
        Column::word("from"),
        Column::word("to"),
        Column::number("data"),
        Column::number("time"),
        Column::number("goodput"),
        Column::number("MSS"),
        Column::number("RTT"),
        Column::number("retransmitted"),
        Column::word("limited by"),
        Column::word("worst finding"),
    ];
    let mut table = Grid::new([Column::number("")], values);
    for case in cases {
        let mark = if leading == Some(case.evidence.id) { "*" } else { "" };
        table.push([vec![format!("{mark}{}", case.evidence.id)], values_of(case)].concat());
    }
    table
}

fn values_of(case: &Case<'_>) -> Vec<String> {
    let direction = case.diagnosis.direction;
    let data = case.data();
    let unknown = || "–".to_owned();
    let option = case.acks().mss_option_bytes.map_or_else(unknown, |mss| mss.to_string());
    let used = data.mss_used_bytes.map_or_else(unknown, |mss| mss.to_string());
    // Beside others, the share of what is unknown would be read as theirs.
    let limit = case.limit().map(|limit| {
        let is_known = limit != LimitedBy::Unknown;
        let share = is_known.then(|| format!(" {}", words::whole_percent(case.share(limit))));
        format!("{limit}{}", share.unwrap_or_default())
    });
    let resent = case.diagnosis.retransmitted_packets(case.evidence, direction);
    let worst = case.diagnosis.findings.iter().max_by_key(|finding| finding.severity);
    vec![
        case.evidence.sender(direction).to_string(),
        case.evidence.receiver(direction).to_string(),
        size(case.data_bytes()),
        words::time(case.goodput_seconds()),
        data.goodput_bps.map_or_else(unknown, words::rate),
        if option == used { used } else { format!("{used}/{option}") },
        data.path_rtt_min_s.map_or_else(unknown, words::time),
        resent.map_or_else(unknown, words::grouped),
        limit.unwrap_or_else(unknown),
        worst.map_or_else(unknown, |finding| finding.kind.word().to_owned()),
    ]
}
