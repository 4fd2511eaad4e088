//! Pages written in Markdown, as lines of a terminal.

use std::mem;

use crate::wrap::wrapped;

/// The page with its paragraphs wrapped to `width`, its tables as lists of entries, and its code as it is.
pub(super) fn for_terminal(page: &str, width: usize) -> String {
    let mut lines = Lines { width, text: String::new(), paragraph: String::new(), table: None };
    let mut is_code = false;
    for line in page.lines() {
        if line.starts_with("```") {
            lines.end_block();
            is_code = !is_code;
        } else if is_code {
            lines.push_line("    ", line);
        } else {
            lines.add(line);
        }
    }
    lines.end_block();
    lines.text
}

/// The lines so far, and the block that is being read.
struct Lines {
    width: usize,
    text: String,
    paragraph: String,
    /// The titles of the table's columns.
    table: Option<Vec<String>>,
}

impl Lines {
    fn add(&mut self, line: &str) {
        let trimmed = line.trim();
        if trimmed.is_empty() {
            self.end_block();
            self.text.push('\n');
        } else if let Some(row) = trimmed.strip_prefix('|') {
            self.row(row);
        } else if trimmed.starts_with(['#', '>', '!']) {
            self.end_block();
            self.push_line("", &plain(trimmed.trim_start_matches('#').trim_start()));
        } else {
            if trimmed.starts_with("- ") {
                self.end_block();
            } else if !self.paragraph.is_empty() {
                self.paragraph.push(' ');
            }
            self.paragraph += trimmed;
        }
    }

    fn push_line(&mut self, indent: &str, line: &str) {
        self.text.push_str(indent);
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// A row of a table: the first is its titles, the second a line below them.
    fn row(&mut self, row: &str) {
        let cells: Vec<String> = row.trim_end_matches('|').split('|').map(plain).collect();
        match &self.table {
            None => {
                self.end_block();
                self.table = Some(cells);
            }
            Some(_) if cells.iter().all(|cell| cell.chars().all(|c| "-: ".contains(c))) => {}
            Some(titles) => {
                let others = titles.iter().zip(&cells).enumerate().skip(1);
                let known = others.filter(|(_, (_, cell))| !cell.is_empty());
                let described: Vec<String> = known
                    .map(|(place, (title, cell))| match place {
                        1 => cell.clone(),
                        _ => format!("{title}: {cell}"),
                    })
                    .collect();
                let head = cells.first().map_or("", String::as_str);
                self.text += &wrapped(head, self.width, "");
                for line in described {
                    self.text += &wrapped(&line, self.width, "    ");
                }
            }
        }
    }

    fn end_block(&mut self) {
        self.table = None;
        let paragraph = mem::take(&mut self.paragraph);
        if !paragraph.is_empty() {
            self.text += &wrapped(&plain(&paragraph), self.width, "");
        }
    }
}

/// Without the marks of code and emphasis.
fn plain(text: &str) -> String {
    text.trim().replace("**", "").replace('`', "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_are_wrapped_tables_are_lists_and_code_stays() {
        let page = "# Title\n\nSome words that\nare one paragraph.\n\n| name | meaning | unit |\n|---|---|---|\n\
                    | `rtt_s` | The round trip. | s |\n| `hash` | A hash. | |\n\n```\nls   -l\n```\n";
        let want = "Title\n\nSome words that are\none paragraph.\n\nrtt_s\n    The round trip.\n    unit: s\n\
                    hash\n    A hash.\n\n    ls   -l\n";
        assert_eq!(for_terminal(page, 20), want);
    }
}
