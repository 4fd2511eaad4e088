//! The part about ns-3.

use std::fmt::Write as _;

use anyhow::Result;

use super::cell_table;
use crate::ns3::{Cell, CellVerdict, TableVerdict, Verdict, judge};
use crate::root;
use crate::tables::{Table, tables};

/// Compares and writes; gives what differs.
pub(super) fn section(text: &mut String) -> Result<Vec<String>> {
    let folders = std::env::var("MAXSEG_NS3").unwrap_or_else(|_| "testdata/ns3".to_owned());
    let tables: Vec<Table<Cell>> = tables(&folders, &root())?;
    let verdicts = judge(&tables)?;
    text.push_str(INTRODUCTION);
    summary(text, &verdicts);
    reasons(text, &verdicts);
    for table in &verdicts {
        cells(text, table);
    }
    Ok(verdicts.iter().flat_map(TableVerdict::faults).collect())
}

const INTRODUCTION: &str = "\
## ns-3

The reference tables in `testdata/ns3` hold single runs of ns-3 3.37 in which nothing is lost and nothing is random, so
that the same must come out: the goodput, where a transfer comes to its end every packet counted, and
the mean round trip of echoes that wait among the data. `testdata/ns3/README.md` says how they were run, and what
ns-3 is no oracle for.

- *Identical* means to the packet, the goodput to all six digits that the tables have, and the mean of the echoes to
  one in the last of them, rounded.
- **A cell** fails when a packet count differs; when the goodput differs by more than 0.1%, in an endless run
  by a segment more (it arrives just before or just after the count begins or ends); when the mean of the echoes
  differs by more than 1% (one of some two hundred may fall on the other side of a packet). The differences
  below say how much of that is used.
- ns-3's receiver acknowledges the first segment at once, and so does ours here (`first_at_once` of `delayed_ack`).

";

fn summary(text: &mut String, verdicts: &[TableVerdict<'_>]) {
    text.push_str("### Tables of ns-3\n\n| table | rows | identical | agree | differ | not compared | goodput: rms, largest | echoes: rms, largest |\n|---|---|---|---|---|---|---|---|\n");
    for table in verdicts {
        let count = |wanted: fn(&Verdict) -> bool| {
            table.cells.iter().filter(|cell| wanted(&cell.verdict)).count()
        };
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {} |",
            table.name,
            table.cells.len(),
            count(|verdict| *verdict == Verdict::Identical),
            count(|verdict| *verdict == Verdict::Agrees),
            count(|verdict| matches!(verdict, Verdict::Differs(_))),
            count(|verdict| matches!(verdict, Verdict::NoOracle(_))),
            spread(table.cells.iter().filter_map(CellVerdict::goodput)),
            spread(table.cells.iter().filter_map(CellVerdict::ping)),
        );
    }
    text.push('\n');
}

/// Root mean square and largest of relative differences.
fn spread(differences: impl Iterator<Item = f64>) -> String {
    let (mut n, mut squares, mut largest) = (0.0, 0.0, 0.0_f64);
    for difference in differences {
        n += 1.0;
        squares += difference * difference;
        largest = largest.max(difference.abs());
    }
    if n < 1.0 {
        return "–".to_owned();
    }
    format!("{:.4}%, {:.4}%", 100.0 * (squares / n).sqrt(), 100.0 * largest)
}

fn reasons(text: &mut String, verdicts: &[TableVerdict<'_>]) {
    text.push_str("Not compared:\n\n");
    for table in verdicts {
        for (fault, rows) in table.not_compared() {
            let _ = writeln!(text, "- {}: {rows} rows, {fault}", table.name);
        }
    }
    text.push('\n');
}

fn cells(text: &mut String, table: &TableVerdict<'_>) {
    let columns = [
        "cell",
        "ns-3 bit/s",
        "maxseg bit/s",
        "difference",
        "echoes, ns-3 s",
        "maxseg s",
        "verdict",
    ];
    cell_table(text, table.name, &columns, table.cells.iter().map(cell_line));
}

fn cell_line(judged: &CellVerdict<'_>) -> String {
    let dash = || "–".to_owned();
    let seconds = |ping: Option<f64>| ping.map_or_else(dash, |ping| format!("{ping:.5}"));
    let verdict = match &judged.verdict {
        Verdict::Identical => "identical".to_owned(),
        Verdict::Agrees => "agrees".to_owned(),
        Verdict::Differs(what) => format!("**differs**: {}", what.join("; ")),
        Verdict::NoOracle(_) => "not compared".to_owned(),
    };
    format!(
        "| {} | {:.1} | {} | {} | {} | {} | {verdict} |",
        judged.cell.title(),
        judged.cell.ns3.goodput,
        judged.ours.map_or_else(dash, |ours| format!("{:.1}", ours.goodput)),
        judged.goodput().map_or_else(dash, |relative| format!("{:+.4}%", 100.0 * relative)),
        seconds(judged.cell.ns3.ping),
        seconds(judged.ours.and_then(|ours| ours.ping)),
    )
}
