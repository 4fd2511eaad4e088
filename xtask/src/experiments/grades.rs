//! The grades of every page, counted, on a page of their own.

use std::fmt::Write as _;

/// What a document's number may be.
const GRADES: [&str; 3] = ["contradicted", "consistent", "undecided"];

/// A number of a document with its grades, the first of which counts.
#[derive(Debug, PartialEq, Eq)]
struct Graded {
    number: String,
    grades: Vec<&'static str>,
}

/// A page with its grades.
#[derive(Debug)]
pub(super) struct GradedPage {
    name: String,
    title: String,
    scenario: &'static str,
    rows: Vec<Graded>,
}

impl GradedPage {
    pub(super) fn of(name: &str, scenario: &'static str, text: &str) -> Self {
        let title = text.lines().next().unwrap_or_default().trim_start_matches("# ").to_owned();
        Self { name: name.to_owned(), title, scenario, rows: rows(text) }
    }

    fn count(&self, grade: &str) -> usize {
        self.rows.iter().filter(|row| row.grades.first() == Some(&grade)).count()
    }
}

/// The rows of the tables that have a column `grade`.
fn rows(text: &str) -> Vec<Graded> {
    let mut column = None;
    let mut rows = Vec::new();
    for line in text.lines() {
        if !line.starts_with('|') {
            column = None;
            continue;
        }
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        match column {
            None => column = cells.iter().position(|cell| *cell == "grade"),
            Some(at) => {
                let grades = cells.get(at).map_or_else(Vec::new, |cell| grades(cell));
                if !grades.is_empty() {
                    rows.push(Graded { number: cells[0].to_owned(), grades });
                }
            }
        }
    }
    rows
}

/// The grades in a cell, in their order.
fn grades(cell: &str) -> Vec<&'static str> {
    let mut found: Vec<(usize, &str)> =
        GRADES.into_iter().filter_map(|grade| Some((cell.find(grade)?, grade))).collect();
    found.sort_unstable();
    found.into_iter().map(|(_, grade)| grade).collect()
}

/// `docs/experiments.md`.
pub(super) fn index(pages: &[GradedPage]) -> String {
    let mut text = String::from(
        "# The documents' experiments\n\n\
         Each page takes the numbers of a document about segment size and windows, and has them beside formulas, simulator, the\n\
         simulator with today's Linux, and the lab. `cargo xtask experiments` writes this page, the tables of the engines and what\n\
         the commands of the pages print; `--lab` runs the lab's columns anew. A test makes the columns of model and simulator\n\
         again and compares every digit. The lab's columns stand as they were measured, with kernel and date; of them the test\n\
         checks that there is one for every point of today's scenario.\n\n\
         **Grades.** *Contradicted*: the document's own numbers refute the number. *Consistent*: they agree with it, and so do model and\n\
         simulator where they have it. *Undecided*: it takes an assumption that the document does not make, which its row names. Where\n\
         a row has two grades, the first counts. The requests over the cellular link have none: no document has numbers of them.\n\n\
         | page | command | contradicted | consistent | undecided |\n|---|---|---|---|---|\n",
    );
    for page in pages {
        let counts: Vec<String> =
            GRADES.iter().map(|grade| page.count(grade).to_string()).collect();
        let _ = writeln!(
            text,
            "| [{}]({}.md) | `maxseg run {}` | {} |",
            page.title,
            page.name,
            page.scenario,
            counts.join(" | ")
        );
    }
    let sum = |grade: &&str| pages.iter().map(|page| page.count(grade)).sum::<usize>().to_string();
    let sums: Vec<String> = GRADES.iter().map(sum).collect();
    let _ = writeln!(text, "| all | `cargo xtask experiments` | {} |", sums.join(" | "));
    for page in pages.iter().filter(|page| !page.rows.is_empty()) {
        let _ = writeln!(text, "\n## {}\n\n| the document | grade |\n|---|---|", page.title);
        for row in &page.rows {
            let _ = writeln!(text, "| {} | {} |", row.number, row.grades.join(", "));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_tables_with_a_grade_are_counted_by_their_first() {
        let text = "# Title\n| a | b |\n|---|---|\n| consistent | 2 |\n\n| number | grade | why |\n|---|---|---|\n\
                    | 66 | contradicted, consistent | x |\n| 69 | undecided: no | y |\n| – | – | z |\n";
        let page = GradedPage::of("page", "scenario", text);
        assert_eq!(page.rows.len(), 2);
        assert_eq!(page.rows[0].grades, ["contradicted", "consistent"]);
        assert_eq!(GRADES.map(|grade| page.count(grade)), [1, 0, 1]);
        assert_eq!(page.title, "Title");
    }
}
