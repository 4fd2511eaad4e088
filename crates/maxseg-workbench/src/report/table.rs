//! Tables of pages: each column can be sorted by, and what limits stays in view where a table is wider than the page.

use maud::{Markup, html};

/// Words with more characters are broken into lines.
const LONG: usize = 40;

/// What stands in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Number,
    Word,
    /// Words that stay at the right edge.
    Limit,
}

/// A column.
#[derive(Debug, Clone)]
pub(super) struct Column {
    title: String,
    /// What a reader sees who points at its title.
    hint: Option<String>,
    kind: Kind,
}

impl Column {
    pub(super) fn number<T: Into<String>>(title: T) -> Self {
        Self { title: title.into(), hint: None, kind: Kind::Number }
    }

    pub(super) fn word<T: Into<String>>(title: T) -> Self {
        Self { kind: Kind::Word, ..Self::number(title) }
    }

    /// What limited: it stays in view.
    pub(super) fn limit(title: impl Into<String>) -> Self {
        Self { kind: Kind::Limit, ..Self::number(title) }
    }

    pub(super) fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    const fn class(&self) -> Option<&'static str> {
        match self.kind {
            Kind::Number => None,
            Kind::Word => Some("word"),
            Kind::Limit => Some("word limit"),
        }
    }
}

/// A cell: what is written there, and the number that it is sorted by, where it is one.
#[derive(Debug, Clone)]
pub(super) struct Cell {
    text: String,
    value: Option<f64>,
    /// The colour of a sample before it: a custom property of the page.
    color: Option<&'static str>,
}

impl Cell {
    pub(super) fn number(text: impl Into<String>, value: f64) -> Self {
        Self { value: Some(value), ..Self::from(text.into()) }
    }

    /// A dash for the unknown.
    pub(super) fn known(value: Option<f64>, write: impl Fn(f64) -> String) -> Self {
        value.map_or_else(|| Self::from("–"), |value| Self::number(write(value), value))
    }

    /// The class of the cell in a column: long words are broken into lines.
    fn class(&self, column: &Column) -> Option<&'static str> {
        let is_long = column.kind == Kind::Word && self.text.chars().count() > LONG;
        if is_long { Some("word long") } else { column.class() }
    }

    /// With a sample of a colour.
    pub(super) fn sampled(text: impl Into<String>, color: &'static str) -> Self {
        Self { color: Some(color), ..Self::from(text.into()) }
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self { text, value: None, color: None }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

/// A row.
#[derive(Debug, Clone)]
pub(super) struct Line {
    cells: Vec<Cell>,
    is_best: bool,
}

impl Line {
    /// The row that is advised.
    pub(super) fn best(cells: Vec<Cell>) -> Self {
        Self { cells, is_best: true }
    }
}

impl From<Vec<Cell>> for Line {
    fn from(cells: Vec<Cell>) -> Self {
        Self { cells, is_best: false }
    }
}

/// A table; nothing where it has no row. `name` is what readers who do not see it are told.
pub(super) fn table<L: Into<Line>>(
    name: &str,
    columns: &[Column],
    lines: impl IntoIterator<Item = L>,
) -> Markup {
    let lines: Vec<Line> = lines.into_iter().map(Into::into).collect();
    html! {
        @if !lines.is_empty() {
            div.wide tabindex="0" role="region" aria-label=(name) {
                table.sortable {
                    thead { tr { @for column in columns {
                        th scope="col" class=[column.class()] title=[column.hint.as_ref()] { (column.title) }
                    } } }
                    tbody { @for line in &lines {
                        tr class=[line.is_best.then_some("best")] { @for (cell, column) in line.cells.iter().zip(columns) {
                            td class=[cell.class(column)] data-sort=[cell.value] {
                                @if let Some(color) = cell.color { span.sample style={ "background:var(" (color) ")" } {} }
                                (cell.text)
                            }
                        } }
                    } }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_sorted_by_their_values_and_text_is_escaped() {
        let columns = [Column::number("goodput"), Column::limit("limited by")];
        let row = vec![Cell::number("1.00 Mbit/s", 1e6), Cell::from("<b>")];
        let html = table("Results", &columns, [row]).into_string();
        assert!(html.contains("<td data-sort=\"1000000\">1.00 Mbit/s</td>"), "{html}");
        assert!(html.contains("<td class=\"word limit\">&lt;b&gt;</td>"), "{html}");
    }
}
