//! What is generated and committed: so that it can be read without building, and CI sees it drift.

use std::fs;

use anyhow::{Context, Result, bail};

use crate::root;

/// Writes every generated file; with `check`, only compares.
///
/// # Errors
/// A file cannot be written, or differs when checked.
#[expect(clippy::print_stdout, reason = "a command-line program")]
pub fn run(check: bool) -> Result<()> {
    let files = [
        ("docs/reference/scenario.schema.json", maxseg::scenario_schema()),
        ("docs/reference/results.schema.json", maxseg::results_schema()),
        ("docs/cellular.svg", maxseg::picture().context("the demo has no picture")?),
    ];
    let mut drifted = Vec::new();
    for (name, content) in &files {
        let file = root().join(name);
        if fs::read_to_string(&file).is_ok_and(|present| present == *content) {
            continue;
        }
        drifted.push(*name);
        if !check {
            if let Some(folder) = file.parent() {
                fs::create_dir_all(folder)?;
            }
            fs::write(&file, content).with_context(|| file.display().to_string())?;
        }
    }
    match (check, drifted.as_slice()) {
        (_, []) => println!("gen: {} files are as generated", files.len()),
        (false, drifted) => println!("gen: wrote {}", drifted.join(", ")),
        (true, drifted) => {
            bail!("not as generated: {} (run `cargo xtask gen`)", drifted.join(", "))
        }
    }
    Ok(())
}
