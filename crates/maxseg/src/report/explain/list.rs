//! A line for each connection.

use comfy_table::Table;
use maxseg_core::advise::Case;

use super::parts::wrapped;
use crate::printer::Printer;
use crate::report::{lines, plain, right};
use maxseg_workbench::explain::Explanation;
use maxseg_workbench::report::words::{self, size};

/// Most lines; the rest is counted.
const MOST: usize = 20;

/// What the other columns take, where there is room for all of them.
const BESIDE_ENDS: usize = 88;

/// The connections of the highest impact, by number, and how many more there are.
pub(super) fn list(explanation: &Explanation, width: usize, printer: Printer) -> String {
    let mut cases = explanation.by_impact(MOST);
    let leading = cases.first().map(|case| case.evidence.id);
    cases.sort_by_key(|case| case.evidence.id);
    let mut text = format!("{}\n", printer.bold("Connections"));
    text += &lines(&table(&cases, leading, width));
    let left_out = explanation.total_connections.saturating_sub(cases.len() as u64);
    if left_out > 0 {
        let more = format!(
            "and {} more with less impact: --csv or --json lists all, --filter selects",
            words::grouped(left_out)
        );
        text += &wrapped(&more, width, "");
    }
    text
}

fn table(cases: &[Case<'_>], leading: Option<u32>, width: usize) -> Table {
    let ends = cases.iter().map(|case| {
        let evidence = case.evidence;
        format!("{} → {}", evidence.client, evidence.server).chars().count()
    });
    let wide = ends.max().unwrap_or(0) + BESIDE_ENDS <= width;
    let mut table = plain();
    let mut head: Vec<&str> = vec!["", "from → to", "data"];
    if wide {
        head.push("time");
    }
    head.push("goodput");
    if wide {
        head.extend(["MSS", "RTT", "retrans"]);
    }
    head.push("limited by");
    if wide {
        head.push("worst finding");
    }
    table.set_header(head);
    for case in cases {
        let direction = case.diagnosis.direction;
        let data = case.data();
        let unknown = || "–".to_owned();
        let mark = if leading == Some(case.evidence.id) && cases.len() > 1 { "*" } else { "" };
        let (from, to) = (case.evidence.sender(direction), case.evidence.receiver(direction));
        let ends = if wide { format!("{from} → {to}") } else { format!("{from}\n→ {to}") };
        let (bytes, time) = (size(data.acked_bytes), words::time(case.data_seconds()));
        let mut row = vec![right(format!("{mark}{}", case.evidence.id)), ends.into()];
        if wide {
            row.extend([right(bytes), right(time)]);
        } else {
            row.push(right(format!("{bytes}\nin {time}")));
        }
        row.push(right(data.goodput_bps.map_or_else(unknown, words::rate)));
        if wide {
            let option = case.acks().mss_option_bytes.map_or_else(unknown, |mss| mss.to_string());
            let used = data.mss_used_bytes.map_or_else(unknown, |mss| mss.to_string());
            row.push(right(if option == used { used } else { format!("{used}/{option}") }));
            let rtt = data.path_rtt_min_s.or(data.rtt_min_s);
            row.push(right(rtt.map_or_else(unknown, words::time)));
            row.push(right(words::grouped(data.retransmitted_packets)));
        }
        let limit = case.diagnosis.limited_by;
        let limit = limit.map_or_else(unknown, |limit| {
            format!("{limit} {}", words::whole_percent(case.share(limit)))
        });
        let worst = case.diagnosis.findings.iter().max_by_key(|finding| finding.severity);
        let worst = worst.map(|finding| finding.kind.word().to_owned());
        if wide {
            row.push(limit.into());
            row.push(worst.unwrap_or_else(unknown).into());
        } else {
            row.push(
                [Some(limit), worst].into_iter().flatten().collect::<Vec<_>>().join("\n").into(),
            );
        }
        table.add_row(row);
    }
    // Ten columns have to fit: a blank less on the left of each.
    for column in table.column_iter_mut() {
        column.set_padding((0, 1));
    }
    table
}
