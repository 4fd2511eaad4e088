//! Tables no wider than the terminal: columns that do not fit stand in further tables below, with the same keys.

use crate::wrap::hanging;

/// Blanks before the first column and between columns.
const GAP: usize = 2;

/// A table whose first columns say what the others are about.
#[derive(Debug)]
pub(crate) struct Grid {
    columns: Vec<Column>,
    /// How many of the columns are keys, repeated in every part.
    keys: usize,
    rows: Vec<Vec<String>>,
}

/// A column's heading, which may have several lines, and the side to which its cells are aligned.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    title: String,
    is_number: bool,
}

impl Column {
    /// A column of numbers, aligned to the right.
    pub(crate) fn number(title: impl Into<String>) -> Self {
        Self { title: title.into(), is_number: true }
    }

    /// A column of words, aligned to the left.
    pub(crate) fn word(title: impl Into<String>) -> Self {
        Self { title: title.into(), is_number: false }
    }
}

/// A column as it is drawn.
struct Drawn<'a> {
    place: usize,
    column: &'a Column,
    title: Vec<String>,
    width: usize,
}

impl Grid {
    pub(crate) fn new(
        keys: impl IntoIterator<Item = Column>,
        values: impl IntoIterator<Item = Column>,
    ) -> Self {
        let mut columns: Vec<Column> = keys.into_iter().collect();
        let keys = columns.len();
        columns.extend(values);
        Self { columns, keys, rows: Vec::new() }
    }

    /// Adds a row: a cell for each column, keys first.
    pub(crate) fn push(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// The table in lines of at most `width` characters. Where even a single value column does not fit beside the
    /// keys, each row is a paragraph.
    pub(crate) fn text(&self, width: usize) -> String {
        let whole = self.drawn(|column, _| column.title.lines().map(str::to_owned).collect());
        if width_of(&whole) <= width {
            return self.part(&whole.iter().collect::<Vec<_>>());
        }
        let folded = self.drawn(folded);
        let (keys, values) = folded.split_at(self.keys);
        let of_keys = width_of(keys);
        if values.iter().any(|value| of_keys + GAP + value.width > width) {
            return self.paragraphs(width);
        }
        let mut parts: Vec<Vec<usize>> = Vec::new();
        let mut used = usize::MAX;
        for value in values {
            used = used.saturating_add(GAP + value.width);
            if used > width {
                parts.push((0..self.keys).collect());
                used = of_keys + GAP + value.width;
            }
            if let Some(part) = parts.last_mut() {
                part.push(value.place);
            }
        }
        let text = |places: &Vec<usize>| {
            let in_one_line: Vec<&Drawn<'_>> = places.iter().map(|place| &whole[*place]).collect();
            if in_one_line.iter().map(|drawn| GAP + drawn.width).sum::<usize>() <= width {
                return self.part(&in_one_line);
            }
            self.part(&places.iter().map(|place| &folded[*place]).collect::<Vec<_>>())
        };
        parts.iter().map(text).collect::<Vec<_>>().join("\n")
    }

    /// Every column with its heading in lines, and as wide as heading and cells need.
    fn drawn(&self, title: impl Fn(&Column, usize) -> Vec<String>) -> Vec<Drawn<'_>> {
        let drawn = |(place, column): (usize, &'_ Column)| {
            let cells = self.rows.iter().filter_map(|row| row.get(place)).map(|cell| letters(cell));
            let of_cells = cells.max().unwrap_or(0);
            let title = title(column, of_cells);
            let of_title = title.iter().map(|line| letters(line)).max().unwrap_or(0);
            (place, title, of_cells.max(of_title))
        };
        let columns = self.columns.iter().enumerate().map(drawn);
        columns
            .map(|(place, title, width)| Drawn {
                place,
                column: &self.columns[place],
                title,
                width,
            })
            .collect()
    }

    /// A table of some columns: headings, a line, rows.
    fn part(&self, columns: &[&Drawn<'_>]) -> String {
        let height = columns.iter().map(|drawn| drawn.title.len()).max().unwrap_or(0);
        let mut text = String::new();
        for line in 0..height {
            // Headings end above the line.
            let of = |drawn: &Drawn<'_>| {
                let above = height - drawn.title.len();
                line.checked_sub(above).map_or_else(String::new, |line| drawn.title[line].clone())
            };
            text += &drawn_line(columns, of);
        }
        let width = columns.iter().map(|drawn| GAP + drawn.width).sum();
        text += &"─".repeat(width);
        text.push('\n');
        for row in &self.rows {
            text += &drawn_line(columns, |drawn| row.get(drawn.place).cloned().unwrap_or_default());
        }
        text
    }

    /// Each row as its keys, and below them its values with their titles.
    fn paragraphs(&self, width: usize) -> String {
        let mut text = String::new();
        for row in &self.rows {
            let mut named = self.columns.iter().zip(row).map(|(column, cell)| {
                format!("{} {cell}", column.title.replace('\n', " ")).trim().to_owned()
            });
            let keys: Vec<String> = named.by_ref().take(self.keys).collect();
            let values: Vec<String> = named.collect();
            text += &hanging(&keys.join(", "), width, "  ");
            text += &hanging(&format!("  {}", values.join(", ")), width, "  ");
        }
        text
    }
}

/// A line of cells, without blanks at its end.
fn drawn_line(columns: &[&Drawn<'_>], cell: impl Fn(&Drawn<'_>) -> String) -> String {
    let mut line = String::new();
    for drawn in columns {
        let cell = cell(drawn);
        let blanks = " ".repeat(drawn.width.saturating_sub(letters(&cell)));
        line += &" ".repeat(GAP);
        if drawn.column.is_number {
            line += &blanks;
            line += &cell;
        } else {
            line += &cell;
            line += &blanks;
        }
    }
    format!("{}\n", line.trim_end())
}

/// The heading in one line where the cells are as wide, in two of about the same length otherwise.
fn folded(column: &Column, cells: usize) -> Vec<String> {
    let title = &column.title;
    let whole = || title.lines().map(str::to_owned).collect();
    if title.contains('\n') || letters(title) <= cells {
        return whole();
    }
    let longer = |at: &usize| letters(&title[..*at]).max(letters(&title[*at + 1..]));
    match title.rmatch_indices(' ').map(|(at, _)| at).min_by_key(longer) {
        Some(at) => vec![title[..at].to_owned(), title[at + 1..].to_owned()],
        None => whole(),
    }
}

fn width_of(columns: &[Drawn<'_>]) -> usize {
    columns.iter().map(|drawn| GAP + drawn.width).sum()
}

fn letters(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Grid {
        let keys = [Column::number("segment size (bytes)")];
        let values =
            [Column::number("goodput by sim"), Column::number("lost"), Column::word("limited by")];
        let mut grid = Grid::new(keys, values);
        grid.push(["536", "2.08 Mbit/s", "0.05%", "congestion"].map(str::to_owned));
        grid.push(["1460", "4.50 Mbit/s", "-", "receive-window"].map(str::to_owned));
        grid
    }

    #[test]
    fn a_table_that_fits_is_one() {
        let want = "
  segment size (bytes)  goodput by sim   lost  limited by
─────────────────────────────────────────────────────────────
                   536     2.08 Mbit/s  0.05%  congestion
                  1460     4.50 Mbit/s      -  receive-window
";
        assert_eq!(format!("\n{}", grid().text(61)), want);
        assert_eq!(grid().text(61), grid().text(usize::MAX));
    }

    #[test]
    fn headings_are_folded_before_columns_are_stacked() {
        let want = "
  segment size      goodput
       (bytes)       by sim   lost  limited by
──────────────────────────────────────────────────
           536  2.08 Mbit/s  0.05%  congestion
          1460  4.50 Mbit/s      -  receive-window
";
        assert_eq!(format!("\n{}", grid().text(50)), want);
        let want = "
  segment size      goodput
       (bytes)       by sim   lost
──────────────────────────────────
           536  2.08 Mbit/s  0.05%
          1460  4.50 Mbit/s      -

  segment size (bytes)  limited by
──────────────────────────────────────
                   536  congestion
                  1460  receive-window
";
        assert_eq!(format!("\n{}", grid().text(40)), want);
    }

    #[test]
    fn rows_become_paragraphs_where_keys_leave_no_room() {
        let text = grid().text(25);
        assert!(text.lines().all(|line| line.chars().count() <= 25), "{text}");
        assert_eq!(text.matches("segment size (bytes)").count(), 2);
        for cell in ["2.08", "4.50", "0.05%", "congestion", "receive-window"] {
            assert!(text.contains(cell), "{cell} is missing in\n{text}");
        }
    }
}
