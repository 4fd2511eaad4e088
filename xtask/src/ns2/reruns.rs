//! What ns-2 gave when cells were run again: the same seeds give the same numbers each time, and take minutes.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::{fs, io};

use anyhow::{Context, Result};

/// Goodputs in bits per second, of seeds from 1 on, by the arguments of ns-2.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reruns(BTreeMap<String, Vec<f64>>);

/// Below the folder of the scripts; not beside the tables, which are all files there.
const FILE: &str = "reruns/goodput.csv";
const HEADER: &str = "arguments,goodput_bps";

impl Reruns {
    /// Those that are kept beside these scripts; none where there is no file.
    ///
    /// # Errors
    /// The file cannot be read or understood.
    pub fn beside(scripts: &Path) -> Result<Self> {
        let file = scripts.join(FILE);
        match fs::read_to_string(&file) {
            Ok(text) => Self::parse(&text).with_context(|| format!("in {}", file.display())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error).with_context(|| file.display().to_string()),
        }
    }

    fn parse(text: &str) -> Result<Self> {
        let rows = text.lines().skip(1).map(|line| {
            let (arguments, numbers) = line.split_once(',').context("a row without a comma")?;
            let numbers: Result<Vec<f64>, _> = numbers.split(' ').map(str::parse).collect();
            Ok((arguments.to_owned(), numbers.context("a number")?))
        });
        rows.collect::<Result<_>>().map(Self)
    }

    /// Keeps them beside these scripts.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn keep(&self, scripts: &Path) -> Result<()> {
        let mut text = format!("{HEADER}\n");
        for (arguments, goodputs) in &self.0 {
            let numbers: Vec<String> = goodputs.iter().map(f64::to_string).collect();
            let _ = writeln!(text, "{arguments},{}", numbers.join(" "));
        }
        let file = scripts.join(FILE);
        fs::create_dir_all(file.parent().unwrap_or(scripts))?;
        fs::write(&file, text).with_context(|| file.display().to_string())
    }

    /// The first `runs` of a cell, where so many are known.
    pub(super) fn of(&self, arguments: &str, runs: u32) -> Option<&[f64]> {
        self.0.get(arguments)?.get(..usize::try_from(runs).ok()?)
    }

    pub(super) fn add(&mut self, arguments: String, goodputs: Vec<f64>) {
        self.0.insert(arguments, goodputs);
    }

    /// Each cell's arguments with what its first seed gave.
    pub fn first_seeds(&self) -> impl Iterator<Item = (&str, f64)> {
        self.0.iter().filter_map(|(arguments, goodputs)| Some((&**arguments, *goodputs.first()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let mut reruns = Reruns::beside(folder.path()).unwrap();
        assert_eq!(reruns, Reruns::default());
        reruns.add("tcp.tcl s=88 e=0.02".to_owned(), vec![30_334.89, 0.1 + 0.2, 5.0]);
        reruns.keep(folder.path()).unwrap();
        let again = Reruns::beside(folder.path()).unwrap();
        assert_eq!(again, reruns);
        assert_eq!(again.of("tcp.tcl s=88 e=0.02", 2), Some(&[30_334.89, 0.1 + 0.2][..]));
        assert_eq!(again.of("tcp.tcl s=88 e=0.02", 4), None, "only three are known");
        assert_eq!(again.of("tcp.tcl s=89 e=0.02", 1), None);
        assert!(Reruns::parse("arguments,goodput_bps\ntcp.tcl,1 x").is_err());
    }
}
