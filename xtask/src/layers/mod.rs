//! Arrows between crates, and between the modules of every crate, go one way. The lists in `list.rs` are the only
//! place where the layers are written down: the texts in ARCHITECTURE.md and the crates' root files are made of them.

mod circles;
mod list;
mod texts;
mod uses;

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use circles::circles;
use list::{CRATES, Layers, TESTKIT};
pub use texts::texts;
use uses::{Arrow, arrows, rust_files};

use crate::root;

/// Lines that a source file may have.
const LONGEST_FILE: usize = 400;

/// Checks every source file and every manifest.
///
/// # Errors
/// An arrow goes the wrong way, modules of one folder use each other, a file is too long, or a module or crate is
/// not in the lists.
#[expect(clippy::print_stdout, reason = "a command-line program")]
pub fn check() -> Result<()> {
    let mut faults = Vec::new();
    for layers in &CRATES {
        let arrows = arrows(&root().join(layers.source()))?;
        faults.extend(wrong_ways(layers, &arrows));
        let circles = circles(&arrows).into_iter();
        faults.extend(circles.map(|circle| format!("{}: in a circle: {circle}", layers.name)));
        faults.extend(unlisted(layers)?);
    }
    check_crates(&mut faults)?;
    let files = source_files()?;
    for file in &files {
        let lines = fs::read_to_string(file)?.lines().count();
        if lines > LONGEST_FILE {
            let name = file.strip_prefix(root())?.display().to_string();
            faults.push(format!("{name}: {lines} lines, above {LONGEST_FILE}"));
        }
    }
    if faults.is_empty() {
        println!("layers: {} files and every manifest point the right way", files.len());
        return Ok(());
    }
    bail!("{} faults:\n  {}", faults.len(), faults.join("\n  "))
}

/// Every Rust file of the repository.
fn source_files() -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for folder in ["crates", "xtask", "fuzz"] {
        files.extend(rust_files(&root().join(folder))?);
    }
    Ok(files)
}

/// Arrows between the modules at a crate's root that do not point to the left.
fn wrong_ways(layers: &Layers, arrows: &[Arrow]) -> Vec<String> {
    let at_root = arrows.iter().filter(|arrow| arrow.folder.is_empty());
    let is_wrong = |arrow: &&Arrow| match (layers.rank(&arrow.from), layers.rank(&arrow.to)) {
        (Some(own), Some(used)) => used >= own,
        (Some(_) | None, Some(_) | None) => false, // `unlisted` names the module
    };
    at_root
        .filter(is_wrong)
        .map(|arrow| {
            format!("{}/{}: {} uses {}", layers.source(), arrow.place, arrow.from, arrow.to)
        })
        .collect()
}

/// Modules at a crate's root that no group holds, and names in groups that are no module.
fn unlisted(layers: &Layers) -> Result<Vec<String>> {
    let folder = root().join(layers.source());
    let mut modules = Vec::new();
    for entry in fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
        let name = entry?.file_name().to_string_lossy().trim_end_matches(".rs").to_owned();
        if name != "lib" && name != "main" && !name.contains('.') {
            modules.push(name);
        }
    }
    modules.sort();
    modules.dedup();
    let unknown = modules.iter().filter(|module| layers.rank(module).is_none()).map(|module| {
        format!("{}: `{module}` is in no group of xtask/src/layers/list.rs", layers.name)
    });
    let gone = layers
        .modules()
        .filter(|listed| !modules.iter().any(|module| module == listed))
        .map(|listed| format!("{}: there is no module `{listed}`", layers.name));
    Ok(unknown.chain(gone).collect())
}

fn check_crates(faults: &mut Vec<String>) -> Result<()> {
    let place = |name: &str| CRATES.iter().position(|known| known.name == name);
    for manifest in manifests()? {
        let text = fs::read_to_string(&manifest)?;
        let table: toml::Table = text.parse().with_context(|| manifest.display().to_string())?;
        let name = table["package"]["name"].as_str().context("a package has a name")?;
        let Some(own) = place(name) else {
            faults.push(format!("{name} is not in the list of crates"));
            continue;
        };
        for used in dependencies(&table).into_iter().filter(|used| *used != TESTKIT) {
            if place(used).is_some_and(|used| used >= own) {
                faults.push(format!("{name} depends on {used}"));
            }
        }
    }
    Ok(())
}

/// The manifests of the workspace's members.
fn manifests() -> Result<Vec<PathBuf>> {
    let text = fs::read_to_string(root().join("Cargo.toml"))?;
    let workspace: toml::Table = text.parse()?;
    let members = workspace["workspace"]["members"].as_array().context("members is a list")?;
    let member = |name: &toml::Value| {
        Ok(root().join(name.as_str().context("a member is a path")?).join("Cargo.toml"))
    };
    members.iter().map(member).collect()
}

/// Every dependency of a manifest, for tests, builds and single targets too.
fn dependencies(manifest: &toml::Table) -> Vec<&str> {
    const SECTIONS: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];
    let targets = manifest.get("target").and_then(toml::Value::as_table);
    let targets =
        targets.into_iter().flat_map(toml::Table::values).filter_map(toml::Value::as_table);
    std::iter::once(manifest)
        .chain(targets)
        .flat_map(|table| SECTIONS.iter().filter_map(|section| table.get(*section)?.as_table()))
        .flat_map(toml::Table::keys)
        .map(String::as_str)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAYERS: Layers = Layers {
        name: "maxseg-core",
        groups: &[&["units"], &["path"], &["link"], &["model", "sim"]],
    };

    fn arrows_of(files: &[(&str, &str)]) -> Vec<Arrow> {
        let source = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let file = source.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        arrows(source.path()).unwrap()
    }

    #[test]
    fn an_arrow_the_wrong_way_is_found() {
        let hop = "use crate::path::LinkSpec;\nuse crate::{\nunits::Time, sim::{Sim, engine},\n model};\n\
                   fn f() { crate::sim::net::g() }\n#[cfg(test)]\nmod tests { use crate::model::x; }\n";
        let arrows = arrows_of(&[
            ("lib.rs", ""),
            ("units.rs", ""),
            ("path.rs", ""),
            ("link/hop.rs", hop),
            ("sim/mod.rs", ""),
            ("sim/net.rs", "use crate::model::Model;"),
            ("model.rs", ""),
        ]);
        assert_eq!(
            wrong_ways(&LAYERS, &arrows),
            [
                "crates/maxseg-core/src/link/hop.rs:4: link uses model",
                "crates/maxseg-core/src/link/hop.rs:3: link uses sim",
                "crates/maxseg-core/src/sim/net.rs:1: sim uses model",
            ]
        );
    }

    #[test]
    fn what_is_re_exported_counts_where_it_is_defined() {
        let files = [
            ("link/mod.rs", "mod red;\nmod room;\nmod hop;\npub use red::{Red, Kind as Name};"),
            ("link/red.rs", "use super::room::Room;"),
            ("link/room.rs", "use super::Red;"),
            ("link/hop.rs", "use super::{Red, room};"),
        ];
        let places = "link: red → room (link/red.rs:1), room → red (link/room.rs:1)";
        assert_eq!(circles(&arrows_of(&files)), [places]);
    }

    #[test]
    fn a_comment_defends_an_arrow() {
        let defended = "// circle: each is half of one state machine,\n// and neither means anything alone.\n\
                        use super::room::Room;";
        let files = [("link/red.rs", defended), ("link/room.rs", "use super::red::Red;")];
        assert_eq!(circles(&arrows_of(&files)), Vec::<String>::new());
    }

    #[test]
    fn dependencies_of_one_target_count() {
        let manifest = "[dependencies]\na = 1\n[target.'cfg(unix)'.dev-dependencies]\nb = 1\n";
        assert_eq!(dependencies(&manifest.parse().unwrap()), ["a", "b"]);
    }
}
