//! The simulator against the ns-3 reference tables (`MAXSEG_NS3`).

use xtask::ns3::{Cell, TableVerdict, judge};
use xtask::root;
use xtask::tables::{Table, tables};

#[test]
#[expect(clippy::print_stdout, reason = "the contract is to print how many rows were checked")]
fn every_cell_of_the_reference_tables_is_met() {
    let folders = std::env::var("MAXSEG_NS3").unwrap_or_else(|_| "testdata/ns3".to_owned());
    let tables: Vec<Table<Cell>> =
        tables(&folders, &root()).unwrap_or_else(|error| panic!("{error:#}"));
    let verdicts = judge(&tables).unwrap_or_else(|error| panic!("{error:#}"));
    for table in &verdicts {
        println!("{}: {} of {} rows", table.name, table.checked(), table.cells.len());
        for (fault, rows) in table.not_compared() {
            println!("  not compared: {rows} rows ({fault})");
        }
    }
    let checked: usize = verdicts.iter().map(TableVerdict::checked).sum();
    println!("checked {checked} rows in {} tables", verdicts.len());
    assert!(checked > 0, "no row was checked");
    let faults: Vec<String> = verdicts.iter().flat_map(TableVerdict::faults).collect();
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}
