//! The pages of the documents' experiments: tables of every engine, what commands print, and an index with all grades.

mod engines;
mod grades;
mod list;
mod page;
mod stored;

use std::fs;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use maxseg_core::engine::EngineName;
use maxseg_workbench::environment::Environment;

use crate::parallel::in_parallel;
use crate::root;
use grades::{GradedPage, index};
use list::{EXPERIMENTS, Experiment};
use page::with_table;
use stored::{LabRuns, Stored};

/// What to make.
#[derive(Debug, Clone, Args)]
pub struct ExperimentsArgs {
    /// Run the lab's columns of these pages anew, or of all, and write no page
    #[arg(long, value_name = "PAGE", num_args = 0..)]
    lab: Option<Vec<String>>,
}

const INDEX: &str = "docs/experiments.md";

/// Writes the pages, or runs what is asked for in the lab.
///
/// # Errors
/// An engine cannot run, a page has no place for its table, or a file cannot be read or written.
pub fn run(options: &ExperimentsArgs) -> Result<()> {
    if let Some(pages) = &options.lab {
        return lab(pages);
    }
    let blocks = Command::new("cargo")
        .args(["test", "--package", "maxseg", "--test", "experiments", "--", "--include-ignored"])
        .env("MAXSEG_WRITE_PAGES", "1")
        .current_dir(root())
        .status()
        .context("cargo test")?;
    ensure!(blocks.success(), "the commands of a page do not run");
    for (file, text) in expected()? {
        fs::write(root().join(&file), text).context(file)?;
    }
    Ok(())
}

/// The files with their tables and the index, as they belong.
///
/// # Errors
/// See [`run`].
pub fn expected() -> Result<Vec<(String, String)>> {
    let stored = Stored::read()?;
    let experiments: Vec<&Experiment> = EXPERIMENTS.iter().collect();
    let mut files = in_parallel(&experiments, |experiment: &Experiment| {
        let file = format!("docs/{}.md", experiment.page);
        let text = fs::read_to_string(root().join(&file)).with_context(|| file.clone())?;
        let text = with_table(&text, experiment, &stored)?;
        Ok((file, text))
    })?;
    let graded = EXPERIMENTS.iter().zip(&files);
    let graded: Vec<GradedPage> = graded
        .map(|(experiment, (_, text))| GradedPage::of(experiment.page, experiment.scenario, text))
        .collect();
    files.push((INDEX.to_owned(), index(&graded)));
    Ok(files)
}

/// Runs the experiments of these pages in the lab, or all.
#[expect(clippy::print_stdout, reason = "a command-line program")]
fn lab(pages: &[String]) -> Result<()> {
    if let Some(page) = pages.iter().find(|page| EXPERIMENTS.iter().all(|one| one.page != **page)) {
        let known: Vec<&str> = EXPERIMENTS.iter().map(|one| one.page).collect();
        bail!("no experiment is on a page `{page}`; pages: {}", known.join(", "));
    }
    let environment = Environment::of(&[EngineName::Lab]);
    let release = environment.kernel.context("the kernel's release")?;
    // What follows the version names a build.
    let kernel = release.split('-').next().unwrap_or_default().to_owned();
    let date = environment.started.split('T').next().unwrap_or_default().to_owned();
    let wanted = |one: &&Experiment| pages.is_empty() || pages.iter().any(|page| page == one.page);
    for experiment in EXPERIMENTS.iter().filter(wanted) {
        let points = experiment.lab(|what| println!("{what}"))?;
        let runs = LabRuns { kernel: kernel.clone(), date: date.clone(), points };
        Stored::read()?.replace(experiment.page, runs)?;
    }
    Ok(())
}
