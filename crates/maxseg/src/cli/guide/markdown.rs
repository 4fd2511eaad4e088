//! Pages written in Markdown, as lines of a terminal.

use std::mem;

use crate::wrap::{labelled, wrapped};

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
        } else if trimmed.starts_with("<!--") {
            self.end_block();
        } else if let Some(row) = trimmed.strip_prefix('|') {
            self.row(row);
        } else if trimmed.starts_with(['#', '>', '!']) {
            self.end_block();
            self.push_line("", &plain(trimmed.trim_start_matches('#').trim_start()));
        } else {
            if item(trimmed).is_some() {
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
        // A bar within a cell is written with a backslash.
        let row = row.trim_end_matches('|').replace("\\|", "\0");
        let cells: Vec<String> =
            row.split('|').map(|cell| plain(cell).replace('\0', "|")).collect();
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
                    .map(|(place, (title, cell))| match title.as_str() {
                        _ if place == 1 && titles.len() == 2 => cell.clone(),
                        "meaning" | "means" => cell.clone(),
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
        if paragraph.is_empty() {
            return;
        }
        self.text += &match item(&paragraph) {
            Some((mark, text)) => labelled(mark, &plain(text), self.width),
            None => wrapped(&plain(&paragraph), self.width, ""),
        };
    }
}

/// The mark of an entry of a list, a dash or a number, and its text.
fn item(line: &str) -> Option<(&str, &str)> {
    let digits = line.chars().take_while(char::is_ascii_digit).count();
    let mark = match (line.starts_with("- "), digits) {
        (true, _) => 2,
        (false, 1..) if line[digits..].starts_with(". ") => digits + 2,
        (false, _) => return None,
    };
    Some(line.split_at(mark))
}

/// Without the marks of code and emphasis; of a link its words, and the page behind them where they do not name it.
fn plain(text: &str) -> String {
    let is_code = |place: usize| place % 2 == 1;
    let parts = text.trim().split('`').enumerate();
    let parts = parts
        .map(|(place, part)| if is_code(place) { part.to_owned() } else { part.replace('*', "") });
    without_links(&parts.collect::<String>())
}

fn without_links(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, (words, target, after))) = link(rest) {
        plain += before;
        plain += words;
        let page = target.trim_end_matches(".md");
        if !words.contains(page) && !target.starts_with('#') {
            plain.extend([" (", target, ")"]);
        }
        rest = after;
    }
    plain + rest
}

/// What stands before the first link, its words, its target, and what follows.
fn link(text: &str) -> Option<(&str, (&str, &str, &str))> {
    let (head, tail) = text.split_once("](")?;
    let (before, words) = head.rsplit_once('[')?;
    let (target, after) = tail.split_once(')')?;
    Some((before, (words, target, after)))
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

    #[test]
    fn lists_hang_comments_vanish_and_links_are_words() {
        let page = "1. *First*, `hop.*.mtu`\n   goes on.\n2. See [links](links.md).\n<!-- made -->\n\
                    - By [page](tune.md#how), [above](#top).\n";
        let want = "1. First, hop.*.mtu\n   goes on.\n2. See links.\n- By page\n  (tune.md#how),\n  above.\n";
        assert_eq!(for_terminal(page, 20), want);
    }

    #[test]
    fn a_cell_has_its_title_unless_it_is_the_meaning() {
        let page = "| clue | `reno` | `cubic` |\n|---|---|---|\n| a loss | half \\| less | 0.7 |\n";
        assert_eq!(for_terminal(page, 40), "a loss\n    reno: half | less\n    cubic: 0.7\n");
    }
}
