//! The simulator's Linux against Linux in virtual time (`MAXSEG_LINUX`).

use std::path::{Path, PathBuf};

use maxseg_core::units::Time;
use xtask::linux::{Cell, Outcome, Reference, first_difference, run, show};
use xtask::root;
use xtask::tables::Row;

/// Where the reference is, unless the variable says so.
const FOLDER: &str = "../shared/reference/linux";
/// Goodput of a path without random loss, as a share of the kernel's.
const GOODPUT: f64 = 0.01;
/// Runs of a cell with random losses, as many as the kernel's.
const SEEDS: u64 = 8;
/// Losses are drawn: the means of so many runs each may be so many of their 95% intervals apart. One in twenty is
/// beyond one; four times as far is a rule that is missing.
const INTERVALS: f64 = 4.0;

/// What came of a cell.
struct Judged {
    name: String,
    set: String,
    /// Packets are the same as far as they were recorded; `None` where none were.
    same: Option<bool>,
    /// The first packet that differs, if one does, comes after the first drop.
    before_drop: bool,
    goodput: f64,
    fault: Option<String>,
}

fn folders() -> Vec<PathBuf> {
    let text = std::env::var("MAXSEG_LINUX").unwrap_or_else(|_| FOLDER.to_owned());
    text.split(':').filter(|part| !part.is_empty()).map(|part| root().join(part)).collect()
}

#[test]
#[expect(clippy::print_stdout, reason = "the contract is to print how many cells were checked")]
fn every_cell_of_the_kernel_in_virtual_time_is_met() {
    let mut judged = Vec::new();
    let mut skipped = 0;
    for folder in folders() {
        if !folder.join("cells.csv").exists() && std::env::var_os("MAXSEG_LINUX").is_none() {
            println!("skipped: there is no {}", folder.display());
            return;
        }
        for cell in cells(&folder) {
            if let Some(reason) = cell.not_here() {
                println!("  skipped: {} ({reason})", cell.name);
                skipped += 1;
                continue;
            }
            judged.push(judge(&folder, &cell));
        }
    }
    summarise(&judged);
    println!("checked {} cells, skipped {skipped}", judged.len());
    assert!(!judged.is_empty(), "no cell was checked");
    let faults: Vec<&String> = judged.iter().filter_map(|cell| cell.fault.as_ref()).collect();
    assert!(faults.is_empty(), "{} faults:\n{faults:#?}", faults.len());
}

fn cells(folder: &Path) -> Vec<Cell> {
    let file = folder.join("cells.csv");
    let text = std::fs::read_to_string(&file)
        .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let mut lines = text.lines();
    let columns: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    lines
        .map(|line| {
            let row: Vec<(&str, &str)> = columns.iter().copied().zip(line.split(',')).collect();
            Cell::from_row(&row).unwrap_or_else(|error| panic!("{line}: {error:#}"))
        })
        .collect()
}

#[expect(clippy::print_stdout, reason = "where the two part is shown")]
fn judge(folder: &Path, cell: &Cell) -> Judged {
    let seeds = if cell.loss > 0.0 { SEEDS } else { 1 };
    let step = Time::from_millis(if cell.set == "ss" { 1 } else { 10 });
    let runs: Vec<Outcome> =
        (1..=seeds).map(|seed| run(cell, seed, step).unwrap_or_else(|e| panic!("{e:#}"))).collect();
    let rates: Vec<f64> =
        runs.iter().map(|run| run.received as f64 * 8.0 / cell.time.as_secs_f64()).collect();
    let ours = maxseg_core::stats::Summary::of(&rates);
    let theirs = cell.number("goodput_bps").unwrap_or(f64::NAN);
    let apart = ours.mean / theirs - 1.0;
    let fault = if cell.loss > 0.0 {
        let width = (ours.ci95().unwrap_or(0.0).powi(2)
            + cell.number("goodput_bps_ci95").unwrap_or(0.0).powi(2))
        .sqrt();
        ((ours.mean - theirs).abs() > INTERVALS * width.max(0.002 * theirs)).then(|| {
            format!("{}: goodput {:.0} ± {width:.0} for {theirs:.0}", cell.name, ours.mean)
        })
    } else {
        (apart.abs() > GOODPUT).then(|| format!("{}: goodput {:+.2}%", cell.name, 100.0 * apart))
    };
    let reference = Reference::of(folder, &cell.name).unwrap_or_else(|e| panic!("{e:#}"));
    let recorded = !reference.seen.is_empty() && seeds == 1;
    let difference = first_difference(&reference, &runs[0]).filter(|_| recorded);
    let drop = runs[0].first_drop;
    let before_drop = difference.as_ref().is_some_and(|found| drop.is_none_or(|at| found.at < at));
    let mut fault = fault;
    if let Some(found) = &difference {
        println!("{}: {}", cell.name, show(&reference, &runs[0], found));
        // A write and an acknowledgement at one instant: which of them goes first is the timers' slack.
        if before_drop && found.what != "direction" {
            fault.get_or_insert(format!("{}: packet {} differs", cell.name, found.index));
        }
    }
    let same = recorded.then_some(difference.is_none());
    Judged {
        name: cell.name.clone(),
        set: cell.set.clone(),
        same,
        before_drop,
        goodput: apart,
        fault,
    }
}

#[expect(clippy::print_stdout, reason = "the table is the result")]
fn summarise(judged: &[Judged]) {
    let mut sets: Vec<&str> = judged.iter().map(|cell| cell.set.as_str()).collect();
    sets.sort_unstable();
    sets.dedup();
    for set in sets {
        let cells: Vec<&Judged> = judged.iter().filter(|cell| cell.set == set).collect();
        let recorded = cells.iter().filter(|cell| cell.same.is_some()).count();
        let same = cells.iter().filter(|cell| cell.same == Some(true)).count();
        let early = cells.iter().filter(|cell| cell.before_drop).count();
        let close = cells.iter().filter(|cell| cell.goodput.abs() <= GOODPUT).count();
        let worst = cells.iter().max_by(|a, b| a.goodput.abs().total_cmp(&b.goodput.abs()));
        let worst = worst
            .map_or(String::new(), |cell| format!("{} {:+.2}%", cell.name, 100.0 * cell.goodput));
        println!(
            "{set:<10} {:>3} cells; packets the same {same} of {recorded}, different before the first drop {early}; \
             goodput within 1%: {close}; furthest: {worst}",
            cells.len()
        );
    }
}
