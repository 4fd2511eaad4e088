//! One row of a table of vectors: inputs are taken from it, results compared with it, and what neither
//! took nor compared is a fault.

use std::collections::BTreeMap;

/// How the rows of one file are checked.
pub(crate) struct Rule {
    /// The file's name without its ending.
    pub(crate) file: &'static str,
    /// Takes the inputs, computes, and compares every other column.
    pub(crate) check: fn(&mut Row),
}

/// A row whose columns are crossed off as they are used.
pub(crate) struct Row {
    /// Column → value and whether it was used.
    cells: BTreeMap<String, (String, bool)>,
    faults: Vec<String>,
}

impl Row {
    pub(crate) fn new(columns: &csv::StringRecord, record: &csv::StringRecord) -> Self {
        let cells = columns
            .iter()
            .zip(record)
            .map(|(column, value)| (column.to_owned(), (value.to_owned(), false)))
            .collect();
        let mut row = Self { cells, faults: Vec::new() };
        row.ignore("id");
        row
    }

    /// A column as it stands.
    pub(crate) fn text(&mut self, column: &str) -> String {
        let Some((value, used)) = self.cells.get_mut(column) else {
            self.faults.push(format!("there is no column {column}"));
            return String::new();
        };
        *used = true;
        value.clone()
    }

    /// An input; empty is absent.
    pub(crate) fn maybe<T: std::str::FromStr>(&mut self, column: &str) -> Option<T> {
        let text = self.text(column);
        if text.is_empty() {
            return None;
        }
        let value = text.parse().ok();
        if value.is_none() {
            self.faults.push(format!("{column}: `{text}` is not understood"));
        }
        value
    }

    /// An input; `inf` is a number.
    pub(crate) fn number(&mut self, column: &str) -> f64 {
        self.maybe(column).unwrap_or_else(|| {
            self.faults.push(format!("{column} is empty"));
            f64::NAN
        })
    }

    /// A whole number; those that a table writes as `12.0` too.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked first")]
    pub(crate) fn count(&mut self, column: &str) -> u64 {
        let number = self.number(column);
        if number.fract() != 0.0 || number < 0.0 {
            self.faults.push(format!("{column}: {number} is not a count"));
        }
        number as u64
    }

    /// A published or measured value, or a remark: shown, never computed.
    pub(crate) fn ignore(&mut self, column: &str) {
        let _ = self.text(column);
    }

    /// A computed number: 1e-9 apart at most, or 1e-15 where the reference forms `1 − (1 − q)ⁿ`.
    pub(crate) fn expect(&mut self, column: &str, ours: f64) {
        let theirs = self.number(column);
        let close = (ours - theirs).abs() <= 1e-9 * ours.abs().max(theirs.abs()) + 1e-15;
        let same_infinity = ours.is_infinite() && ours.total_cmp(&theirs).is_eq();
        if !close && !same_infinity {
            self.faults.push(format!("{column} is {ours:e}, not {theirs:e}"));
        }
    }

    /// A computed whole number.
    pub(crate) fn expect_count(&mut self, column: &str, ours: u64) {
        let theirs = self.count(column);
        if ours != theirs {
            self.faults.push(format!("{column} is {ours}, not {theirs}"));
        }
    }

    /// A computed word.
    pub(crate) fn expect_text(&mut self, column: &str, ours: &str) {
        let theirs = self.text(column);
        if ours != theirs {
            self.faults.push(format!("{column} is `{ours}`, not `{theirs}`"));
        }
    }

    /// A number that was seen, and the one that the row gives.
    pub(crate) fn same(&mut self, what: &str, seen: u64, given: u64) {
        if seen != given {
            self.faults.push(format!("{what} is {seen}, not {given}"));
        }
    }

    /// Something that no rule understands.
    pub(crate) fn fault(&mut self, what: String) {
        self.faults.push(what);
    }

    /// Everything wrong with the row, columns that no rule knows included.
    pub(crate) fn faults(self) -> Vec<String> {
        let id = self.cells.get("id").map_or_else(String::new, |(id, _)| format!("{id}: "));
        let unknown = self.cells.iter().filter(|(_, (_, used))| !used);
        let unknown = unknown.map(|(column, _)| format!("the column {column} is not understood"));
        self.faults.iter().cloned().chain(unknown).map(|fault| format!("{id}{fault}")).collect()
    }
}
