//! The simulator against the ns-3 reference tables (`MAXSEG_NS3`).

use maxseg_testkit::{SAMPLE, sample_seed};
use xtask::ns3::{Cell, TableVerdict, Verdict, judge};
use xtask::root;
use xtask::tables::{Table, sample, tables};

/// Rows of a sample, at least.
const SAMPLED_ROWS: usize = 120;

#[test]
#[expect(clippy::print_stdout, reason = "the contract is to print how many rows were checked")]
fn every_cell_of_the_reference_tables_is_met() {
    let folders = std::env::var("MAXSEG_NS3").unwrap_or_else(|_| "testdata/ns3".to_owned());
    let mut tables: Vec<Table<Cell>> =
        tables(&folders, &root()).unwrap_or_else(|error| panic!("{error:#}"));
    let rows: usize = tables.iter().map(|table| table.cells.len()).sum();
    let seed = sample_seed().unwrap();
    if let Some(seed) = seed {
        tables = sample(tables, SAMPLED_ROWS, seed);
    }
    let verdicts = judge(&tables).unwrap_or_else(|error| panic!("{error:#}"));
    for table in &verdicts {
        println!("{}: {} of {} rows", table.name, table.checked(), table.cells.len());
        for (fault, rows) in table.not_compared() {
            println!("  not compared: {rows} rows ({fault})");
        }
    }
    let checked: usize = verdicts.iter().map(TableVerdict::checked).sum();
    match seed {
        None => println!("checked {checked} rows in {} tables", verdicts.len()),
        Some(seed) => println!(
            "checked {checked} of {rows} rows in {} tables, {SAMPLE}={seed}; CI=true checks all",
            verdicts.len()
        ),
    }
    assert!(checked > 0, "no row was checked");
    if std::env::var_os("MAXSEG_NS3").is_none() && seed.is_none() {
        let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
        let words: Vec<&str> = readme.split_whitespace().collect();
        let claim = format!(
            "| {checked} runs of ns-3.37 | the same goodput to the last printed digit, the RTT to within one unit of it"
        );
        assert!(words.join(" ").contains(&claim), "README.md does not say {claim:?}");
        let cells = verdicts.iter().flat_map(|table| &table.cells);
        let agree = cells.filter(|cell| cell.verdict == Verdict::Agrees).count();
        assert_eq!(agree, 0, "these are no longer the same to what is printed");
    }
    let faults: Vec<String> = verdicts.iter().flat_map(TableVerdict::faults).collect();
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}
