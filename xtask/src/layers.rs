//! Arrows between crates, and between the modules of the core, go one way.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::root;

/// The core's modules: each uses only those of groups to its left.
const CORE: [&[&str]; 11] = [
    &["units", "stats", "similar"],
    &["rng", "framing"],
    &["errors"],
    &["path", "settings"],
    &["scenario", "outcome"],
    &["engine"],
    &["results"],
    &["link"],
    &["tcp"],
    &["model", "sim"],
    &["advise"],
];

/// The crates: each uses only those to its left.
const CRATES: [&str; 5] = ["maxseg-core", "maxseg-wire", "maxseg-linux", "maxseg", "xtask"];

/// Checks every source file of the core and every manifest.
///
/// # Errors
/// An arrow goes the wrong way, or a module or crate is not in the lists above.
#[expect(clippy::print_stdout, reason = "a command-line program")]
pub fn check() -> Result<()> {
    let mut faults = Vec::new();
    let source = root().join("crates/maxseg-core/src");
    let files = rust_files(&source)?;
    for file in &files {
        check_module(&source, file, &mut faults)?;
    }
    check_crates(&mut faults)?;
    if faults.is_empty() {
        println!(
            "layers: {} files of the core and every manifest point the right way",
            files.len()
        );
        return Ok(());
    }
    bail!("arrows that go the wrong way:\n  {}", faults.join("\n  "))
}

fn rust_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(rust_files(&path)?);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// A file's module, and every `crate::MODULE` in it.
fn check_module(source: &Path, file: &Path, faults: &mut Vec<String>) -> Result<()> {
    let relative = file.strip_prefix(source)?;
    let first = relative.components().next().context("an empty path")?;
    let own = first.as_os_str().to_string_lossy().trim_end_matches(".rs").to_owned();
    if own == "lib" {
        return Ok(());
    }
    let Some(own_rank) = rank(&own) else {
        faults.push(format!("{}: `{own}` is not in the list of layers", relative.display()));
        return Ok(());
    };
    let text = fs::read_to_string(file)?;
    for (number, line) in (1..).zip(text.lines()) {
        for used in line.split("crate::").skip(1).map(leading_word) {
            let wrong = match rank(used) {
                None => continue, // a macro, or an item of the crate's root
                Some(used_rank) => used != own && used_rank >= own_rank,
            };
            if wrong {
                faults.push(format!("{}:{number}: {own} uses {used}", relative.display()));
            }
        }
    }
    Ok(())
}

fn leading_word(text: &str) -> &str {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or("")
}

fn rank(module: &str) -> Option<usize> {
    CORE.iter().position(|group| group.contains(&module))
}

fn check_crates(faults: &mut Vec<String>) -> Result<()> {
    let place = |name: &str| CRATES.iter().position(|known| *known == name);
    for (own, name) in CRATES.iter().enumerate() {
        let folder =
            if *name == "xtask" { root().join(name) } else { root().join("crates").join(name) };
        let manifest = folder.join("Cargo.toml");
        if !manifest.exists() {
            continue; // comes with what needs it
        }
        let text = fs::read_to_string(&manifest)?;
        let table: toml::Table = text.parse().with_context(|| manifest.display().to_string())?;
        for section in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let used = table.get(section).and_then(toml::Value::as_table);
            for used in used.into_iter().flat_map(toml::Table::keys) {
                if place(used).is_some_and(|used| used >= own) {
                    faults.push(format!("{name}: {section} has {used}"));
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arrow_the_wrong_way_is_found() {
        let source = std::env::temp_dir().join(format!("maxseg-layers-{}", std::process::id()));
        fs::create_dir_all(source.join("link")).unwrap();
        let file = source.join("link/hop.rs");
        let text =
            "use crate::path::LinkSpec;\nuse crate::sim::Sim;\nuse crate::link::lane::Lane;\n";
        fs::write(&file, text).unwrap();
        let mut faults = Vec::new();
        check_module(&source, &file, &mut faults).unwrap();
        fs::remove_dir_all(&source).unwrap();
        assert_eq!(faults, ["link/hop.rs:2: link uses sim"]);
    }

    #[test]
    fn this_repository_points_the_right_way() {
        check().unwrap();
    }
}
