//! docs/validation.md: every cell of the ns-2 and ns-3 tables beside ours.

mod ns3;

use std::fmt::Write as _;
use std::fs;

use anyhow::{Context, Result, bail};

use crate::ns2::{BIAS_IN_SIGHT, CellVerdict, Ns2, Replay, TableVerdict, Verdict, judge};
use crate::root;
use crate::tables::tables;

const FILE: &str = "docs/validation.md";
const OWN_TABLES: &str = "testdata/ns2";

/// Compares and writes; what ns-2 gave for cells of the project's own tables that were run again is kept for the tests.
///
/// # Errors
/// A table cannot be read, or the simulator fails one.
#[expect(clippy::print_stdout, reason = "a command-line program")]
pub fn run() -> Result<()> {
    let folders = std::env::var("MAXSEG_NS2").unwrap_or_else(|_| OWN_TABLES.to_owned());
    let tables = tables(&folders, &root())?;
    let scripts = root().join("testdata/ns2");
    let peer = Ns2::installed(&scripts);
    let verdicts = judge(&tables, peer.as_ref())?;
    let mut text = String::from(INTRODUCTION);
    summary(&mut text, &verdicts);
    if let Some(peer) = &peer {
        replay(&mut text, peer, &verdicts)?;
    }
    for table in &verdicts {
        cells(&mut text, table);
    }
    if let Some(peer) = peer.filter(|_| folders == OWN_TABLES) {
        peer.into_reruns().keep(&scripts)?;
    }
    let ns3_faults = ns3::section(&mut text)?;
    fs::write(root().join(FILE), text).with_context(|| FILE.to_owned())?;
    let faults: Vec<&String> =
        verdicts.iter().flat_map(|table| &table.faults).chain(&ns3_faults).collect();
    println!("wrote {FILE}; {} faults", faults.len());
    if faults.is_empty() { Ok(()) } else { bail!("{faults:?}") }
}

const INTRODUCTION: &str = "\
# The simulator against ns-2 and ns-3

Written by `cargo xtask validate`; the same comparisons are tests (`xtask/tests/ns2.rs`, `xtask/tests/ns3.rs`).

## ns-2

The reference tables in `testdata/ns2` hold means over a few seeds of ns-2.35, with their configuration in columns;
our side runs the same configuration over 10 to 200 seeds, until its 95% interval is below 1%.

- **A cell** fails when the means differ by more than 5% *and* by more than the 99.99% interval of the
  difference (Welch). It is then run again with 30 seeds of the installed ns-2 and judged on those.
- **A table** fails when the mean difference over the sizes of one error rate is beyond 1% plus three of its
  standard errors. Cells of a table share their seeds, and with them the random numbers that decide losses, so
  their errors are correlated; the correlation is taken from our own runs, and the spread is pooled over both
  sides, because the spread of five runs is a poor estimate. Where that fails, or where the bound is above 5%, so
  that a bias could hide in it, ns-2's own random numbers for the table's seeds are fed to our simulator, which
  leaves no noise; cells that cannot be replayed are run again with 30 seeds of ns-2. A bound that is above 5% then as well
  is *not settled*: a bias below it could hide.
- **Sums** of timeouts and retransmissions above 10,000 must agree within 3%. They rest on the table's few
  seeds alone; where those leave doubt, ns-2's own random numbers are fed to our simulator and its counts
  over the same seeds are judged.
- Where nothing is random the result must be the same: *identical* means to the printed digit.

";

fn summary(text: &mut String, verdicts: &[TableVerdict<'_>]) {
    text.push_str("### Tables of ns-2\n\n| table | rows | identical | agree | by rerun | differ | skipped | largest mean difference (bound) | timeouts | resent |\n|---|---|---|---|---|---|---|---|---|---|\n");
    for table in verdicts {
        let count = |wanted: fn(&Verdict) -> bool| {
            table.cells.iter().filter(|cell| wanted(&cell.verdict)).count()
        };
        let worst = table
            .bias
            .iter()
            .max_by(|a, b| (a.1.abs() / a.2).total_cmp(&(b.1.abs() / b.2)))
            .map_or_else(String::new, |(rate, mean, bound)| {
                let doubt = if *bound > BIAS_IN_SIGHT { ", not settled" } else { "" };
                format!("{:+.2}% at {rate}% ({:.2}%{doubt})", 100.0 * mean, 100.0 * bound)
            });
        let sums: Vec<String> = table
            .sums
            .iter()
            .map(|sum| match (sum.ns2 > 0.0, sum.replayed) {
                (false, _) => "–".to_owned(),
                (true, false) => format!("{:+.1}%", 100.0 * (sum.ours / sum.ns2 - 1.0)),
                (true, true) => format!("{:+.1}% replayed", 100.0 * (sum.ours / sum.ns2 - 1.0)),
            })
            .collect();
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {worst} | {} |",
            table.name,
            table.cells.len(),
            count(|verdict| *verdict == Verdict::Identical),
            count(|verdict| *verdict == Verdict::Agrees),
            count(|verdict| *verdict == Verdict::AgreesAfterRerun),
            count(|verdict| *verdict == Verdict::Differs),
            count(|verdict| matches!(verdict, Verdict::Skipped(_))),
            sums.join(" | ")
        );
    }
    text.push('\n');
}

/// How many runs are the same packet for packet when both use the same random numbers.
fn replay(text: &mut String, peer: &Ns2, verdicts: &[TableVerdict<'_>]) -> Result<()> {
    let replay = Replay::new(peer);
    text.push_str(
        "### With ns-2's own random numbers\n\nThe same packets are lost in both, so that results agree to the packet (goodput, packets sent,\nretransmissions and timeouts of seed 1). Differences come from simultaneous events, which ns-2 orders by the\nrounding of its floating-point clock.\n\n| table | runs | the same | largest difference of goodput |\n|---|---|---|---|\n",
    );
    for table in verdicts {
        let (mut runs, mut same, mut largest) = (0, 0, 0.0_f64);
        for cell in table.cells.iter().filter(|cell| cell.ours.is_some()) {
            if let Some(difference) = replay.compare(cell.cell, 1)? {
                runs += 1;
                same += usize::from(difference.identical);
                largest = largest.max(difference.goodput.abs());
            }
        }
        if runs > 0 {
            let _ =
                writeln!(text, "| {} | {runs} | {same} | {:.2}% |", table.name, 100.0 * largest);
        }
    }
    text.push('\n');
    Ok(())
}

fn cells(text: &mut String, table: &TableVerdict<'_>) {
    let columns = ["cell", "ns-2 bit/s", "runs", "maxseg bit/s", "seeds", "difference", "verdict"];
    cell_table(text, table.name, &columns, table.cells.iter().map(cell_line));
}

/// A table of cells under the name of the peer's table.
fn cell_table(
    text: &mut String,
    name: &str,
    columns: &[&str],
    lines: impl Iterator<Item = String>,
) {
    let rule = "---|".repeat(columns.len());
    let _ = writeln!(text, "### {name}\n\n| {} |\n|{rule}", columns.join(" | "));
    for line in lines {
        let _ = writeln!(text, "{line}");
    }
    text.push('\n');
}

fn cell_line(cell: &CellVerdict<'_>) -> String {
    let verdict = match &cell.verdict {
        Verdict::Identical => "identical".to_owned(),
        Verdict::Agrees => "agrees".to_owned(),
        Verdict::AgreesAfterRerun => "agrees by rerun".to_owned(),
        Verdict::Differs => "**differs**".to_owned(),
        Verdict::Skipped(reason) => format!("skipped: {reason}"),
    };
    let interval = |summary: &maxseg_core::stats::Summary| match summary.ci95() {
        Some(half) => format!("{:.1} ± {half:.1}", summary.mean),
        None => format!("{:.1}", summary.mean),
    };
    let (ours, seeds, difference) = match &cell.ours {
        None => ("–".to_owned(), 0, "–".to_owned()),
        Some(ours) => {
            let difference = 100.0 * (ours.goodput.mean / cell.ns2.mean - 1.0);
            (interval(&ours.goodput), ours.goodput.n, format!("{difference:+.2}%"))
        }
    };
    format!(
        "| {} | {} | {} | {ours} | {seeds} | {difference} | {verdict} |",
        cell.cell.title(),
        interval(&cell.ns2),
        cell.ns2.n
    )
}
