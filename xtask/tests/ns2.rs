//! The simulator against the ns-2 reference tables (`MAXSEG_NS2`).

use std::path::Path;

use xtask::ns2::{Ns2, TableVerdict, Verdict, judge, tables};

#[test]
#[expect(clippy::print_stdout, reason = "the contract is to print how many rows were checked")]
fn every_cell_of_the_reference_tables_is_met() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let folders = std::env::var("MAXSEG_NS2").unwrap_or_else(|_| "testdata/ns2".to_owned());
    let tables = tables(&folders, root).unwrap_or_else(|error| panic!("{error:#}"));
    let peer = Ns2::installed(&root.join("testdata/ns2"));
    let verdicts = judge(&tables, peer.as_ref()).unwrap_or_else(|error| panic!("{error:#}"));
    verdicts.iter().for_each(print);
    let checked: usize = verdicts.iter().map(checked).sum();
    println!("checked {checked} rows in {} tables", verdicts.len());
    assert!(checked > 0, "no row was checked");
    let faults: Vec<String> = verdicts
        .iter()
        .flat_map(|table| table.faults.iter().map(|fault| format!("{}: {fault}", table.name)))
        .collect();
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
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
