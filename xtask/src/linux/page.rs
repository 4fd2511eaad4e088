//! docs/validation-linux.md: every cell of the kernel in virtual time beside ours.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use super::judge::{GOODPUT, Judged, cells, judge};
use super::picture::{picture, pictured};
use crate::root;

const FILE: &str = "docs/validation-linux.md";
const PICTURE: &str = "docs/validation-linux.svg";
/// Where the reference is, unless the variable says so.
const REFERENCE: &str = "../shared/reference/linux";
/// Further cells of the same kernel; not where the variable names others.
const FURTHER: &str = "testdata/linux";

const INTRODUCTION: &str = "\
# The simulator's Linux against Linux

Written by `cargo xtask validate linux`; the same comparisons are a test (`xtask/tests/linux.rs`). The reference is the TCP of Linux
6.12, unchanged, in virtual time (User-Mode Linux, whose clock moves only when nothing is to be done), so that its results are the same
to the bit each time. `MAXSEG_LINUX` names the folders of its tables. Here the same sockets as those of stack `linux` run over
the same path: bottleneck, queue, delay and list of losses are made anew as that kernel's queueing disciplines make them (`xtask/src/linux/`).

- **Exact** is what nothing random decides: packets are compared one by one, with numbers, lengths, windows, SACK blocks, pushes and
  times to 20 µs. A difference before the first drop, and before BBR draws the phase of its cycle, is a fault; one behind it is shown. Goodput must be
  within 1%.
- **BBR** without random loss: goodput within 1.5%; its phase is drawn, so that three seeds are run. Where the kernel was run once, its
  phase may be any: such cells beyond the bound are named below, and are no faults.
- **Random losses**: 16 seeds, the kernel's eight; other losses than the kernel's; Welch's test over all such cells at once. By chance one in twenty is outside its
  95% interval. Each has losses of its own, as with the kernel.
- A packet that differs only in the order of a write and an acknowledgement at the same instant is named and is no fault.
- `testdata/linux` has further cells of the same kernel: settings of hosts, lost acknowledgements, slow readers (`set_*`, `drawn_*`, `rwnd_*_reader*`). Its
  packets are the same to the end, and have to stay so.

";

/// Folders of the reference.
pub fn folders() -> Vec<PathBuf> {
    let text = std::env::var("MAXSEG_LINUX").unwrap_or_else(|_| format!("{REFERENCE}:{FURTHER}"));
    text.split(':').filter(|part| !part.is_empty()).map(|part| root().join(part)).collect()
}

/// Compares and writes.
///
/// # Errors
/// A table cannot be read, or the simulator fails a cell.
#[expect(clippy::print_stdout, reason = "a command-line program")]
pub fn validate() -> Result<()> {
    let mut judged = Vec::new();
    for folder in folders() {
        let here: Vec<_> =
            cells(&folder)?.into_iter().filter(|cell| cell.not_here().is_none()).collect();
        judged.extend(judge(&folder, &here)?);
    }
    fs::write(root().join(FILE), page(&judged)).with_context(|| FILE.to_owned())?;
    fs::write(root().join(PICTURE), picture(&pictured(&judged)))
        .with_context(|| PICTURE.to_owned())?;
    let faults: Vec<String> = judged.iter().filter_map(Judged::fault).collect();
    println!("wrote {FILE} with {} cells; {} faults", judged.len(), faults.len());
    if faults.is_empty() { Ok(()) } else { bail!("{faults:?}") }
}

fn page(judged: &[Judged]) -> String {
    let mut text = String::from(INTRODUCTION);
    sets(&mut text, judged);
    undecided(&mut text, judged);
    welch(&mut text, judged);
    text.push_str(
        "## Windows over time\n\n![Congestion windows of six cells](validation-linux.svg)\n\n",
    );
    differences(&mut text, judged);
    every_cell(&mut text, judged);
    text
}

fn sets(text: &mut String, judged: &[Judged]) {
    text.push_str(
        "## By set\n\n| set | congestion control | cells | captures | packets the same | different before the first drop or draw | goodput within 1% | furthest |\n|---|---|---|---|---|---|---|---|\n",
    );
    let mut kinds: Vec<_> =
        judged.iter().map(|cell| (cell.cell.set.as_str(), cell.cell.cc.as_str())).collect();
    kinds.sort_unstable();
    kinds.dedup();
    for (set, cc) in kinds {
        let cells: Vec<&Judged> =
            judged.iter().filter(|cell| cell.cell.set == set && cell.cell.cc == cc).collect();
        let count = |of: fn(&Judged) -> bool| cells.iter().filter(|cell| of(cell)).count();
        let worst = cells.iter().max_by(|a, b| a.apart().abs().total_cmp(&b.apart().abs()));
        let _ = writeln!(
            text,
            "| {set} | {cc} | {} | {} | {} | {} | {} | {} |",
            cells.len(),
            count(|cell| cell.is_recorded),
            count(|cell| cell.is_recorded && cell.difference.is_none()),
            count(|cell| cell.is_early),
            count(|cell| cell.apart().abs() <= GOODPUT),
            worst.map_or(String::new(), |cell| format!("{:+.2}%", 100.0 * cell.apart())),
        );
    }
    text.push('\n');
}

/// Cells of BBR that one run of the kernel does not judge.
fn undecided(text: &mut String, judged: &[Judged]) {
    let apart: Vec<&Judged> = judged.iter().filter(|cell| cell.is_undecided()).collect();
    if apart.is_empty() {
        return;
    }
    text.push_str("## Beyond the bound of BBR, with one run of the kernel\n\n");
    for cell in apart {
        let (ours, kernel) = &cell.retransmitted;
        let _ = writeln!(
            text,
            "- {}: goodput {:+.2}%, {:.0} segments sent again instead of {:.0}",
            cell.cell.name,
            100.0 * cell.apart(),
            ours.mean,
            kernel.mean
        );
    }
    text.push('\n');
}

fn welch(text: &mut String, judged: &[Judged]) {
    let widths: Vec<(&Judged, f64)> =
        judged.iter().filter_map(|cell| Some((cell, cell.widths()?))).collect();
    let outside: Vec<_> = widths.iter().filter(|(_, width)| width.abs() > 1.0).collect();
    let _ = writeln!(
        text,
        "## Random losses\n\n{} of {} cells are outside Welch's 95% interval, where chance has {:.1}.\n",
        outside.len(),
        widths.len(),
        0.05 * widths.len() as f64
    );
    for (cell, width) in &outside {
        let _ = writeln!(
            text,
            "- {}: goodput {:+.1}%, {:+.2} intervals",
            cell.cell.name,
            100.0 * cell.apart(),
            width
        );
    }
    text.push('\n');
}

fn differences(text: &mut String, judged: &[Judged]) {
    text.push_str("## The first packet that differs\n\n| cell | packet | when, ms | what | first drop, ms | BBR's draw, ms |\n|---|---|---|---|---|---|\n");
    for cell in judged {
        let Some(found) = &cell.difference else { continue };
        let millis = |time: Option<maxseg_core::units::Time>| {
            time.map_or("–".to_owned(), |time| format!("{:.1}", time.as_secs_f64() * 1e3))
        };
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} |",
            cell.cell.name,
            found.index,
            millis(Some(found.at)),
            found.what,
            millis(cell.first.first_drop),
            millis(cell.first.first_drawn),
        );
    }
    text.push('\n');
}

fn every_cell(text: &mut String, judged: &[Judged]) {
    text.push_str("## Every cell\n\nGoodput in Mbit/s and segments sent again, means over the runs; `intervals` are widths of Welch's 95% interval; requests in ms.\n\n| cell | runs, kernel's | goodput | kernel's | difference | intervals | sent again | kernel's | packets | median, p99 of requests | kernel's |\n|---|---|---|---|---|---|---|---|---|---|---|\n");
    for cell in judged {
        let packets = match (&cell.difference, cell.is_recorded) {
            (_, false) => "–".to_owned(),
            (None, true) => format!("{} the same", cell.reference.seen.len()),
            (Some(found), true) => format!("{} the same", found.index),
        };
        let pair = |of: fn(&(f64, f64)) -> f64| {
            cell.requests.map_or("–".to_owned(), |[median, p99]| {
                format!("{:.2}, {:.2}", of(&median), of(&p99))
            })
        };
        let (ours, kernel) = &cell.goodput;
        let _ = writeln!(
            text,
            "| {} | {}, {} | {:.4} | {:.4} | {:+.2}% | {} | {:.1} | {:.1} | {packets} | {} | {} |",
            cell.cell.name,
            ours.n,
            kernel.n,
            ours.mean / 1e6,
            kernel.mean / 1e6,
            100.0 * cell.apart(),
            cell.widths().map_or("–".to_owned(), |width| format!("{width:+.2}")),
            cell.retransmitted.0.mean,
            cell.retransmitted.1.mean,
            pair(|pair| pair.0),
            pair(|pair| pair.1),
        );
    }
}
