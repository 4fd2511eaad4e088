//! What is generated and committed: so that it can be read without building, and CI sees it drift.

use std::fs;

use anyhow::{Context, Result, bail};

use crate::{layers, results, root};

/// Writes every generated file; with `check`, only compares.
///
/// # Errors
/// A file cannot be written, or differs when checked.
#[expect(clippy::print_stdout, reason = "a command-line program")]
pub fn run(check: bool) -> Result<()> {
    let files = files()?;
    let mut drifted = Vec::new();
    for (name, content) in &files {
        let file = root().join(name);
        if fs::read_to_string(&file).is_ok_and(|present| present == *content) {
            continue;
        }
        drifted.push(name.clone());
        if !check {
            if let Some(folder) = file.parent() {
                fs::create_dir_all(folder)?;
            }
            fs::write(&file, content).with_context(|| file.display().to_string())?;
        }
    }
    for name in left_over(&files)? {
        if !check {
            fs::remove_file(root().join(&name)).with_context(|| name.clone())?;
        }
        drifted.push(name);
    }
    match (check, drifted.as_slice()) {
        (_, []) => println!("gen: {} files are as generated", files.len()),
        (false, drifted) => println!("gen: wrote or removed {}", drifted.join(", ")),
        (true, drifted) => {
            bail!("not as generated: {} (run `cargo xtask gen`)", drifted.join(", "))
        }
    }
    Ok(())
}

/// Where the manual pages are, and nothing else.
const MAN: &str = "docs/man";

/// Every generated file with what belongs in it.
fn files() -> Result<Vec<(String, String)>> {
    let picture = maxseg::picture().context("the demo has no picture")?;
    let mut files = vec![
        ("docs/reference/scenario.md".to_owned(), maxseg::scenario_reference()),
        ("docs/reference/scenario.schema.json".to_owned(), maxseg::scenario_schema()),
        ("docs/reference/results.schema.json".to_owned(), maxseg::results_schema()),
        ("docs/reference/stream.schema.json".to_owned(), maxseg::stream_schema()),
        ("docs/reference/explain.schema.json".to_owned(), maxseg::explain_schema()),
        ("docs/reference/advise.schema.json".to_owned(), maxseg::advise_schema()),
        ("docs/reference/compare.schema.json".to_owned(), maxseg::compare_schema()),
        ("docs/reference/connections.schema.json".to_owned(), maxseg::connections_schema()),
        #[cfg(feature = "lab")]
        ("docs/reference/why.schema.json".to_owned(), maxseg::why_schema()),
        #[cfg(feature = "lab")]
        ("docs/reference/path.schema.json".to_owned(), maxseg::path_schema()),
        #[cfg(feature = "lab")]
        ("docs/reference/tune-status.schema.json".to_owned(), maxseg::tune_status_schema()),
        #[cfg(feature = "lab")]
        ("docs/reference/tune-list.schema.json".to_owned(), maxseg::tune_list_schema()),
        ("docs/cellular.svg".to_owned(), picture),
        (results::FILE.to_owned(), results::expected()?),
    ];
    files.extend(layers::texts()?);
    let pages = maxseg::man_pages().into_iter();
    files.extend(pages.map(|page| (format!("{MAN}/{}", page.file), page.text)));
    Ok(files)
}

/// Manual pages of commands that are no more.
fn left_over(files: &[(String, String)]) -> Result<Vec<String>> {
    let mut left_over = Vec::new();
    let folder = root().join(MAN);
    if !folder.exists() {
        return Ok(left_over);
    }
    for entry in fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
        let name = format!("{MAN}/{}", entry?.file_name().to_string_lossy());
        if !files.iter().any(|(known, _)| *known == name) {
            left_over.push(name);
        }
    }
    left_over.sort();
    Ok(left_over)
}
