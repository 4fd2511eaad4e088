//! Reference tables of peers: comma-separated, one header row, a cell a row.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use maxseg_core::rng::Stream;

/// What a row of a table says.
pub trait Row: Sized {
    /// From its columns with their values.
    ///
    /// # Errors
    /// A column is unknown, missing, or has a value that is not understood.
    fn from_row(row: &[(&str, &str)]) -> Result<Self>;

    /// Whether there is anything in it that we can be held to.
    fn is_usable(&self) -> bool;
}

/// One file of cells.
#[derive(Debug)]
pub struct Table<C> {
    /// The file's name without its ending.
    pub name: String,
    /// Its cells, in order.
    pub cells: Vec<C>,
}

/// Every `*.csv` directly in these folders (several, separated by `:`; relative ones below `root`).
///
/// # Errors
/// A folder is missing or has no usable row; a table has a column or a value that is not understood.
pub fn tables<C: Row>(folders: &str, root: &Path) -> Result<Vec<Table<C>>> {
    let mut tables = Vec::new();
    for folder in folders.split(':').filter(|folder| !folder.is_empty()) {
        let folder = root.join(folder);
        let here = tables_of(&folder)?;
        let is_usable = here.iter().flat_map(|table| &table.cells).any(Row::is_usable);
        ensure!(is_usable, "no usable row in {}", folder.display());
        tables.extend(here);
    }
    ensure!(!tables.is_empty(), "no folder with tables was named");
    Ok(tables)
}

/// Whole tables, drawn by `seed` until they hold `rows` rows: what is judged of a table as one stays as it is.
pub fn sample<C>(tables: Vec<Table<C>>, rows: usize, seed: u64) -> Vec<Table<C>> {
    let mut drawn: Vec<Table<C>> = tables;
    drawn.sort_by_key(|table| Stream::named(seed, &table.name).at(0));
    let mut held = 0;
    drawn.retain(|table| {
        let is_taken = held < rows;
        held += if is_taken { table.cells.len() } else { 0 };
        is_taken
    });
    drawn
}

fn tables_of<C: Row>(folder: &Path) -> Result<Vec<Table<C>>> {
    let entries = fs::read_dir(folder)
        .with_context(|| format!("cannot read the folder {}", folder.display()))?;
    let mut files: Vec<PathBuf> =
        entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    files.retain(|file| file.extension().is_some_and(|ending| ending == "csv"));
    files.sort();
    files.iter().map(|file| read(file).with_context(|| format!("in {}", file.display()))).collect()
}

fn read<C: Row>(file: &Path) -> Result<Table<C>> {
    let text = fs::read_to_string(file)?;
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let Some(header) = lines.next() else { bail!("the file is empty") };
    let columns: Vec<&str> = header.split(',').map(str::trim).collect();
    let cells = lines
        .enumerate()
        .map(|(row, line)| {
            let values: Vec<&str> = line.split(',').map(str::trim).collect();
            ensure!(
                values.len() == columns.len(),
                "row {} has {} values for {} columns",
                row + 2,
                values.len(),
                columns.len()
            );
            let named: Vec<(&str, &str)> = columns.iter().copied().zip(values).collect();
            C::from_row(&named).with_context(|| format!("in row {}", row + 2))
        })
        .collect::<Result<_>>()?;
    let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Table { name, cells })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_whole_tables_and_goes_by_the_seed() {
        let tables = || (0..20).map(|n| Table { name: format!("t{n}"), cells: vec![n; 10] });
        let names = |seed: u64| -> Vec<String> {
            sample(tables().collect(), 35, seed).into_iter().map(|table| table.name).collect()
        };
        assert_eq!(names(1).len(), 4);
        assert_eq!(names(1), names(1));
        assert_ne!(names(1), names(2));
    }
}
