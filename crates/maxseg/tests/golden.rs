//! Formulas against vectors that an independent implementation computed (`MAXSEG_GOLDEN`, by default
//! `testdata/golden`, whose README.md says what each column means).
//!
//! A file's name selects its rule. A file, column or word that no rule knows is a failure, and so is a
//! folder that is missing or has no row.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod golden {
    pub(crate) mod bursts;
    pub(crate) mod frames;
    pub(crate) mod loss;
    pub(crate) mod mss;
    pub(crate) mod options;
    pub(crate) mod published;
    pub(crate) mod row;
    pub(crate) mod rto;
    pub(crate) mod sizes;
    pub(crate) mod window;
    pub(crate) mod wire;
}

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use golden::row::{Row, Rule};
use golden::{bursts, frames, loss, mss, options, published, rto, sizes, window, wire};

/// The rule of every file there is.
const RULES: &[Rule] = &[
    bursts::ARQ,
    bursts::GILBERT_AND_FEC,
    bursts::OPTIMAL_DATAGRAM,
    frames::FRAMES,
    loss::CARDWELL,
    loss::CUBIC,
    loss::CUBIC_TABLE,
    loss::MATHIS,
    loss::PFTK,
    loss::TFRC,
    mss::FREEBSD,
    mss::LINUX,
    mss::RFC,
    options::TCP_OPTIONS_DECODE,
    published::MODEM,
    published::RFC6349,
    rto::LINUX,
    rto::RFC6298,
    sizes::FRAGMENTS,
    sizes::OVERHEAD,
    sizes::PLATEAU,
    sizes::TUNNEL,
    window::WINDOW,
];

#[test]
#[expect(clippy::print_stdout, reason = "the contract is to print how many rows were checked")]
fn every_vector_is_met() {
    let mut faults = Vec::new();
    for folder in folders() {
        let mut checked = 0;
        for file in tables(&folder) {
            let name = file.file_stem().unwrap().to_string_lossy().into_owned();
            let Some(rule) = RULES.iter().find(|rule| rule.file == name) else {
                panic!("no rule for {}", file.display());
            };
            let rows = check(rule, &file, &mut faults);
            println!("{name}: {rows} rows");
            checked += rows;
        }
        println!("checked {checked} rows in {}", folder.display());
        assert!(checked > 0, "no row to check in {}", folder.display());
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

/// The vectors of segment sizes again, by what the packets of simulated hosts carry.
#[test]
#[expect(clippy::print_stdout, reason = "what cannot run is said, with its reason")]
fn segment_sizes_are_those_of_the_vectors_on_the_wire() {
    let mut faults = Vec::new();
    let mut checked = 0;
    for folder in folders() {
        for rule in &wire::RULES {
            let file = folder.join(format!("{}.csv", rule.file));
            if !file.exists() {
                continue;
            }
            let mut skipped: BTreeMap<&str, usize> = BTreeMap::new();
            for mut row in rows(&file) {
                match (rule.check)(&mut row) {
                    Ok(()) => {
                        checked += 1;
                        faults.extend(row.faults());
                    }
                    Err(reason) => *skipped.entry(reason).or_default() += 1,
                }
            }
            for (reason, rows) in skipped {
                println!("{}: {rows} rows skipped: {reason}", rule.file);
            }
        }
    }
    println!("checked {checked} rows on the wire");
    assert!(checked > 0, "no row was run");
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

/// The folders with vectors.
fn folders() -> Vec<PathBuf> {
    let folders = std::env::var("MAXSEG_GOLDEN").unwrap_or_else(|_| "testdata/golden".to_owned());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    folders.split(':').map(|folder| root.join(folder)).collect()
}

/// The rows of a table.
fn rows(file: &Path) -> Vec<Row> {
    let mut table = csv::Reader::from_path(file).unwrap();
    let columns = table.headers().unwrap().clone();
    table.records().map(|record| Row::new(&columns, &record.unwrap())).collect()
}

/// The folder's tables, in order.
fn tables(folder: &Path) -> Vec<PathBuf> {
    let entries =
        std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "csv"));
    files.sort();
    files
}

/// Checks every row of a table; gives how many there are.
fn check(rule: &Rule, file: &Path, faults: &mut Vec<String>) -> usize {
    let mut checked = 0;
    for mut row in rows(file) {
        (rule.check)(&mut row);
        faults.extend(row.faults().into_iter().map(|fault| format!("{}: {fault}", rule.file)));
        checked += 1;
    }
    checked
}
