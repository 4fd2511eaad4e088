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
}

use std::path::{Path, PathBuf};

use golden::row::{Row, Rule};
use golden::{bursts, frames, loss, mss, options, published, rto, sizes, window};

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
    let folders = std::env::var("MAXSEG_GOLDEN").unwrap_or_else(|_| "testdata/golden".to_owned());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut faults = Vec::new();
    for folder in folders.split(':').map(|folder| root.join(folder)) {
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
    let mut table = csv::Reader::from_path(file).unwrap();
    let columns = table.headers().unwrap().clone();
    let mut rows = 0;
    for record in table.records() {
        let mut row = Row::new(&columns, &record.unwrap());
        (rule.check)(&mut row);
        faults.extend(row.faults().into_iter().map(|fault| format!("{}: {fault}", rule.file)));
        rows += 1;
    }
    rows
}
