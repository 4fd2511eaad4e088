//! The simulator against the ns-2 reference tables (`MAXSEG_NS2`).

use maxseg_testkit::{SAMPLE, sample_seed};
use xtask::ns2::{Cell, Ns2, Replay, Reruns, TableVerdict, Verdict, judge};
use xtask::parallel::in_parallel;
use xtask::root;
use xtask::tables::{Table, sample, tables};

/// Rows of a sample, at least: the tables have some 30 each, and a row takes about a second of a small machine.
const SAMPLED_ROWS: usize = 60;

#[test]
#[expect(clippy::print_stdout, reason = "the contract is to print how many rows were checked")]
fn every_cell_of_the_reference_tables_is_met() {
    let folders = std::env::var("MAXSEG_NS2").unwrap_or_else(|_| "testdata/ns2".to_owned());
    let mut tables = tables(&folders, &root()).unwrap_or_else(|error| panic!("{error:#}"));
    let rows: usize = tables.iter().map(|table| table.cells.len()).sum();
    let seed = sample_seed().unwrap();
    if let Some(seed) = seed {
        tables = sample(tables, SAMPLED_ROWS, seed);
    }
    let scripts = root().join("testdata/ns2");
    let reruns = Reruns::beside(&scripts).unwrap();
    let peer = Ns2::installed(&scripts).map(|peer| peer.knowing(reruns));
    let verdicts = judge(&tables, peer.as_ref()).unwrap_or_else(|error| panic!("{error:#}"));
    verdicts.iter().for_each(print);
    let checked: usize = verdicts.iter().map(checked).sum();
    match seed {
        None => println!("checked {checked} rows in {} tables", verdicts.len()),
        Some(seed) => println!(
            "checked {checked} of {rows} rows in {} tables, {SAMPLE}={seed}; CI=true checks all",
            verdicts.len()
        ),
    }
    assert!(checked > 0, "no row was checked");
    if std::env::var_os("MAXSEG_NS2").is_none() && seed.is_none() {
        let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
        let claim = format!("| {checked} cells of ns-2.35 tables");
        assert!(readme.contains(&claim), "README.md does not say {claim:?}");
    }
    let faults: Vec<String> = verdicts
        .iter()
        .flat_map(|table| table.faults.iter().map(|fault| format!("{}: {fault}", table.name)))
        .collect();
    if peer.is_some() {
        assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
        return;
    }
    // A table has a few runs of each row. Where these differ by more than usual, only ns-2's own random numbers tell whether that is
    // chance; what is not drawn may not differ.
    println!("not told from chance without ns-2 (apt-get install ns2): {faults:#?}");
    let cells = verdicts.iter().flat_map(|table| &table.cells);
    let differ = cells.filter(|it| it.verdict == Verdict::Differs && it.cell.is_deterministic());
    let differ: Vec<String> = differ.map(|it| it.cell.title()).collect();
    assert!(differ.is_empty(), "{differ:#?}");
}

fn checked(table: &TableVerdict<'_>) -> usize {
    table.cells.iter().filter(|cell| cell.ours.is_some()).count()
}

#[expect(clippy::print_stdout, reason = "skipped rows are printed with their reason")]
fn print(table: &TableVerdict<'_>) {
    println!("{}: {} of {} rows", table.name, checked(table), table.cells.len());
    for cell in &table.cells {
        if let Verdict::Skipped(reason) = &cell.verdict {
            println!("  skipped: {} ({reason})", cell.cell.title());
        }
    }
}

/// With ns-2's own random numbers the same packets die in both, and all but exact ties must come out the
/// same: it is this, and not the statistics above, that tells a small difference of behaviour.
#[test]
#[expect(clippy::print_stdout, reason = "what cannot run here is said, with its reason")]
fn with_the_same_losses_it_is_the_same_to_the_packet() {
    let folder = root().join("testdata/ns2");
    let Some(peer) = Ns2::installed(&folder) else {
        println!("skipped: ns-2 is not installed (apt-get install ns2)");
        return;
    };
    let tables: Vec<Table<Cell>> = tables("testdata/ns2", &root()).unwrap();
    if let Some(seed) = sample_seed().unwrap() {
        println!(
            "skipped: of the whole run only, this is a sample ({SAMPLE}={seed}); CI=true checks all"
        );
        return;
    }
    let replay = Replay::new(&peer);
    // Every fifth cell: together they reach every table, size and error rate.
    let cells = tables.iter().flat_map(|table| table.cells.iter().step_by(5));
    let (mut runs, mut same) = (0, 0);
    for cell in cells.filter(|cell| cell.not_yet().is_none()) {
        let Some(difference) = replay.compare(cell, 2).unwrap() else { continue };
        runs += 1;
        same += usize::from(difference.identical);
        // A tie that falls the other way changes one packet's fate, and what follows from it.
        assert!(difference.goodput.abs() < 0.02, "{}: {:+.4}", cell.title(), difference.goodput);
    }
    println!("{same} of {runs} runs are the same to the packet");
    assert!(runs > 50 && same * 10 >= runs * 9, "{same} of {runs}");
}

/// Runs of ns-2 are kept that take minutes: they are what it gives, to the digit.
#[test]
#[expect(clippy::print_stdout, reason = "what cannot run here is said, with its reason")]
fn the_reruns_that_are_kept_are_those_of_ns_2() {
    let scripts = root().join("testdata/ns2");
    let Some(peer) = Ns2::installed(&scripts) else {
        println!("skipped: ns-2 is not installed (apt-get install ns2)");
        return;
    };
    if !cfg!(target_arch = "x86_64") {
        println!(
            "skipped: the runs that are kept are of x86-64, whose rounding ns-2's runs depend on"
        );
        return;
    }
    let reruns = Reruns::beside(&scripts).unwrap();
    // In a sample every eighth.
    let step = if sample_seed().unwrap().is_some() { 8 } else { 1 };
    let kept: Vec<(&str, f64)> = reruns.first_seeds().step_by(step).collect();
    assert!(!kept.is_empty());
    let cells: Vec<_> = kept.iter().collect();
    let again = in_parallel(&cells, |(arguments, _)| peer.goodput_of(arguments, 1)).unwrap();
    for ((arguments, kept), again) in kept.iter().zip(again) {
        assert!((kept - again).abs() < 1e-6, "{arguments}: {kept}, but now {again}");
    }
    println!("{} of the cells that were run again give what is kept", kept.len());
}
