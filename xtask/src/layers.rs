//! Arrows between crates, and between the modules of the core, the workbench and the program, go one way.

use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context, Result, anyhow, bail};
use proc_macro2::{Ident, TokenStream, TokenTree};

use crate::root;

/// The core's modules: each uses only those of groups to its left.
const CORE: [&[&str]; 11] = [
    &["units", "similar"],
    &["stats", "rng", "framing"],
    &["errors", "mss", "window"],
    &["path", "settings"],
    &["scenario", "outcome", "evidence"],
    &["engine", "diagnose"],
    &["results"],
    &["link"],
    &["tcp"],
    &["model", "sim"],
    &["advise"],
];

/// The workbench's modules, likewise.
const WORKBENCH: [&[&str]; 5] = [
    &["error", "environment", "whole_file"],
    &["engines"],
    &["experiment", "calc", "import"],
    &["capture"],
    &["report", "runner"],
];

/// The program's modules, likewise.
const PROGRAM: [&[&str]; 6] = [
    &["failure", "shipped", "growing_file", "interrupt"],
    &["printer"],
    &["calc", "monitor", "progress"],
    &["explain"],
    &["report"],
    &["cli", "main"],
];

/// Modules in groups, each using only those of groups to its left; in the folder of their crate.
struct Layers {
    source: &'static str,
    groups: &'static [&'static [&'static str]],
}

const MODULES: [Layers; 3] = [
    Layers { source: "crates/maxseg-core/src", groups: &CORE },
    Layers { source: "crates/maxseg-workbench/src", groups: &WORKBENCH },
    Layers { source: "crates/maxseg/src", groups: &PROGRAM },
];

/// The crates: each uses only those to its left.
const CRATES: [&str; 7] = [
    "maxseg-core",
    "maxseg-testkit",
    "maxseg-wire",
    "maxseg-linux",
    "maxseg-workbench",
    "maxseg",
    "xtask",
];

/// Evidence for tests: every crate may use it in its tests, the core included.
const TESTKIT: &str = "maxseg-testkit";

/// Checks every source file of the core, the workbench and the program, and every manifest.
///
/// # Errors
/// An arrow goes the wrong way, or a module or crate is not in the lists above.
#[expect(clippy::print_stdout, reason = "a command-line program")]
pub fn check() -> Result<()> {
    let mut faults = Vec::new();
    let mut count = 0;
    for layers in &MODULES {
        let source = root().join(layers.source);
        for file in rust_files(&source)? {
            check_module(layers.groups, &source, &file, &mut faults)?;
            count += 1;
        }
    }
    check_crates(&mut faults)?;
    if faults.is_empty() {
        println!("layers: {count} files and every manifest point the right way");
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
fn check_module(
    groups: &[&[&str]],
    source: &Path,
    file: &Path,
    faults: &mut Vec<String>,
) -> Result<()> {
    let relative = file.strip_prefix(source)?;
    let first = relative.components().next().context("an empty path")?;
    let own = first.as_os_str().to_string_lossy().trim_end_matches(".rs").to_owned();
    if own == "lib" {
        return Ok(());
    }
    let rank = |module: &str| groups.iter().position(|group| group.contains(&module));
    let Some(own_rank) = rank(&own) else {
        faults.push(format!("{}: `{own}` is not in the list of layers", relative.display()));
        return Ok(());
    };
    let tokens = TokenStream::from_str(&fs::read_to_string(file)?)
        .map_err(|error| anyhow!("{}: {error}", relative.display()))?;
    for (line, used) in used_modules(tokens) {
        let wrong = match rank(&used) {
            None => continue, // a macro, or an item of the crate's root
            Some(used_rank) => used != own && used_rank >= own_rank,
        };
        if wrong {
            faults.push(format!("{}:{line}: {own} uses {used}", relative.display()));
        }
    }
    Ok(())
}

/// The module after every `crate::`, those of `crate::{…}` included, with the line where it stands.
fn used_modules(tokens: TokenStream) -> Vec<(usize, String)> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut used = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Group(group) => used.extend(used_modules(group.stream())),
            TokenTree::Ident(word) if word == "crate" => {
                // Past the two colons.
                used.extend(tokens.get(at + 3).into_iter().flat_map(first_words));
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
    used
}

/// A word by itself, or the first word of each item between braces.
fn first_words(token: &TokenTree) -> Vec<(usize, String)> {
    let word = |ident: &Ident| (ident.span().start().line, ident.to_string());
    match token {
        TokenTree::Ident(ident) => vec![word(ident)],
        TokenTree::Group(group) => {
            let mut begins_item = true;
            let mut words = Vec::new();
            for token in group.stream() {
                match &token {
                    TokenTree::Ident(ident) if begins_item => words.push(word(ident)),
                    TokenTree::Group(_)
                    | TokenTree::Ident(_)
                    | TokenTree::Punct(_)
                    | TokenTree::Literal(_) => {}
                }
                begins_item = matches!(&token, TokenTree::Punct(comma) if comma.as_char() == ',');
            }
            words
        }
        TokenTree::Punct(_) | TokenTree::Literal(_) => Vec::new(),
    }
}

fn check_crates(faults: &mut Vec<String>) -> Result<()> {
    let place = |name: &str| CRATES.iter().position(|known| *known == name);
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

    #[test]
    fn an_arrow_the_wrong_way_is_found() {
        let source = std::env::temp_dir().join(format!("maxseg-layers-{}", std::process::id()));
        fs::create_dir_all(source.join("link")).unwrap();
        let file = source.join("link/hop.rs");
        let text = "use crate::path::LinkSpec;\nuse crate::link::Lane;\nuse crate::{\n\
                    units::Time, sim::{Sim, engine},\n model};\nfn f() { crate::advise::g() }\n";
        fs::write(&file, text).unwrap();
        let mut faults = Vec::new();
        check_module(&CORE, &source, &file, &mut faults).unwrap();
        fs::remove_dir_all(&source).unwrap();
        assert_eq!(
            faults,
            [
                "link/hop.rs:4: link uses sim",
                "link/hop.rs:5: link uses model",
                "link/hop.rs:6: link uses advise"
            ]
        );
    }

    #[test]
    fn dependencies_of_one_target_count() {
        let manifest = "[dependencies]\na = 1\n[target.'cfg(unix)'.dev-dependencies]\nb = 1\n";
        assert_eq!(dependencies(&manifest.parse().unwrap()), ["a", "b"]);
    }

    #[test]
    fn this_repository_points_the_right_way() {
        check().unwrap();
    }
}
