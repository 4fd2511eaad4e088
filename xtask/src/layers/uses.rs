//! Which module of a crate uses which, as its source files say it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context, Result, anyhow};
use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// The names of a module from the crate's root on; empty for the root.
type ModulePath = Vec<String>;

/// One module uses another of the same folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Arrow {
    /// The folder, as a module; empty for the crate's root.
    pub(super) folder: String,
    /// The module that uses.
    pub(super) from: String,
    /// The module that is used.
    pub(super) to: String,
    /// The first place: file below the source folder, and line.
    pub(super) place: String,
}

/// Comments that begin so defend the `use` below them: it is no arrow.
const DEFENCE: &str = "// circle: ";

/// Every arrow between modules of one folder, in all folders of the crate whose sources lie in `source`. What is
/// re-exported counts as used where it is defined; tests are left out, and so is what a module and the files of its
/// own folder have to do with each other.
///
/// # Errors
/// A file cannot be read, or is not Rust.
pub(super) fn arrows(source: &Path) -> Result<Vec<Arrow>> {
    let mut files = Vec::new();
    for path in rust_files(source)? {
        let name = path.strip_prefix(source)?.to_string_lossy().into_owned();
        let module = module_of(&name);
        if module.iter().any(|part| part == "tests") {
            continue;
        }
        files.push(File::read(&path, name, module)?);
    }
    let crate_ = Crate::of(&files);
    let mut arrows: BTreeMap<(String, String, String), String> = BTreeMap::new();
    for file in &files {
        for (line, path) in &file.uses {
            let used = crate_.definition(path, 0);
            let from = &file.module;
            let common = from.iter().zip(&used).take_while(|(a, b)| a == b).count();
            if let (Some(from_part), Some(to)) = (from.get(common), used.get(common)) {
                let key = (from[..common].join("/"), from_part.clone(), to.clone());
                arrows.entry(key).or_insert_with(|| format!("{}:{line}", file.name));
            }
        }
    }
    let arrow = |((folder, from, to), place)| Arrow { folder, from, to, place };
    Ok(arrows.into_iter().map(arrow).collect())
}

/// Every Rust file below `folder`, sorted.
///
/// # Errors
/// A folder cannot be read.
pub(super) fn rust_files(folder: &Path) -> Result<Vec<PathBuf>> {
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

/// `sim/net.rs` is `sim::net`, `sim/mod.rs` is `sim`, `lib.rs` the root.
fn module_of(file: &str) -> ModulePath {
    let mut parts: ModulePath =
        file.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    let is_of_folder = parts.last().is_some_and(|last| last == "mod");
    if is_of_folder || parts == ["lib"] || parts == ["main"] {
        parts.pop();
    }
    parts
}

/// A source file.
struct File {
    name: String,
    module: ModulePath,
    /// The paths that it uses, from the crate's root, with their lines.
    uses: Vec<(usize, ModulePath)>,
}

impl File {
    fn read(path: &Path, name: String, module: ModulePath) -> Result<Self> {
        let text = fs::read_to_string(path)?;
        let tokens = TokenStream::from_str(&text).map_err(|error| anyhow!("{name}: {error}"))?;
        let mut uses = Vec::new();
        collect(tokens, &module, &mut uses);
        let lines: Vec<&str> = text.lines().collect();
        let is_defended = |line: usize| {
            let above = lines[..line - 1].iter().rev();
            let mut comments = above.take_while(|line| line.trim_start().starts_with("//"));
            comments.any(|line| line.trim_start().starts_with(DEFENCE))
        };
        uses.retain(|(line, _)| !is_defended(*line));
        Ok(Self { name, module, uses })
    }
}

/// The modules of a crate, and what is re-exported where.
struct Crate<'a> {
    modules: BTreeSet<&'a [String]>,
    /// A module and a name in it that stands for something elsewhere.
    imports: BTreeMap<(&'a [String], &'a str), &'a ModulePath>,
}

impl<'a> Crate<'a> {
    fn of(files: &'a [File]) -> Self {
        let modules = files.iter().map(|file| file.module.as_slice()).collect();
        let imports = files
            .iter()
            .flat_map(|file| file.uses.iter().map(move |(_, path)| (file, path)))
            .filter_map(|(file, path)| {
                Some(((file.module.as_slice(), path.last()?.as_str()), path))
            })
            .collect();
        Self { modules, imports }
    }

    /// The module in which stands what `path` names.
    fn definition(&self, path: &[String], depth: usize) -> ModulePath {
        const DEEPEST: usize = 8; // two modules can import one name from each other
        let known = (0..=path.len()).rev().find(|end| self.modules.contains(&path[..*end]));
        let module = &path[..known.unwrap_or(0)];
        let import = path.get(module.len()).and_then(|name| self.imports.get(&(module, name)));
        match import {
            Some(import) if depth < DEEPEST && *import != path => {
                self.definition(import, depth + 1)
            }
            Some(_) | None => module.to_vec(),
        }
    }
}

/// Every path that begins with `crate`, `super` or `self`, or stands in a `use`, as a path from the root.
fn collect(tokens: TokenStream, module: &[String], uses: &mut Vec<(usize, ModulePath)>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut at = 0;
    let mut in_use = false;
    while let Some(token) = tokens.get(at) {
        at += 1;
        match token {
            TokenTree::Ident(word) if word == "mod" => {
                let inner = tokens.get(at).map(ToString::to_string).unwrap_or_default();
                if let Some(TokenTree::Group(body)) = tokens.get(at + 1) {
                    if inner != "tests" {
                        let inner: ModulePath = module.iter().cloned().chain([inner]).collect();
                        collect(body.stream(), &inner, uses);
                    }
                    at += 2;
                }
            }
            TokenTree::Ident(word) if word == "use" => in_use = true,
            TokenTree::Ident(word) => {
                let is_rooted = ["crate", "super", "self"].iter().any(|root| word == root);
                let is_path =
                    matches!(tokens.get(at), Some(TokenTree::Punct(p)) if p.as_char() == ':');
                if in_use || (is_rooted && is_path) {
                    at = tree(&tokens, at - 1, module, &[], uses);
                    in_use = false;
                }
            }
            TokenTree::Group(group) => collect(group.stream(), module, uses),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

/// One path with what stands between its braces, after `prefix`; gives the place behind it.
fn tree(
    tokens: &[TokenTree],
    mut at: usize,
    module: &[String],
    prefix: &[String],
    uses: &mut Vec<(usize, ModulePath)>,
) -> usize {
    let mut path = prefix.to_vec();
    let mut line = 0;
    loop {
        match tokens.get(at) {
            Some(TokenTree::Ident(word)) => {
                line = word.span().start().line;
                path.push(word.to_string());
            }
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                let mut next = 0;
                while next < inner.len() {
                    next = tree(&inner, next, module, &path, uses);
                    let is_comma = |token: &TokenTree| token.to_string() == ",";
                    next += inner[next..].iter().position(is_comma).map_or(inner.len(), |n| n + 1);
                }
                return at + 1;
            }
            Some(TokenTree::Punct(_) | TokenTree::Literal(_) | TokenTree::Group(_)) | None => break,
        }
        at += 1;
        let colons = tokens[at..].iter().take_while(|token| token.to_string() == ":").count();
        if colons != 2 {
            break;
        }
        at += colons;
    }
    uses.push((line, absolute(module, &path)));
    at
}

/// A path as it is written in `module`, from the crate's root. One that begins with another crate's name stays in
/// `module`, where nothing is called so.
fn absolute(module: &[String], path: &[String]) -> ModulePath {
    let mut from: ModulePath = module.to_vec();
    let mut rest = path;
    while let Some((first, others)) = rest.split_first() {
        match first.as_str() {
            "crate" => from.clear(),
            "super" => drop(from.pop()),
            "self" => {}
            _ => break,
        }
        rest = others;
    }
    from.extend_from_slice(rest);
    from
}
