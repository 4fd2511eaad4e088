//! What ARCHITECTURE.md and the crates' root files say of the layers, made of the lists.
//!
//! The text stands between `<!-- layers of NAME -->` and `<!-- end of layers -->`, where NAME is a crate, or
//! `crates` for the arrows between them.

use std::fs;

use anyhow::{Context, Result, bail};

use super::list::{CRATES, Layers};
use crate::root;

const BEGIN: &str = "<!-- layers of ";
const END: &str = "<!-- end of layers -->";

/// Characters of a line.
const WIDTH: usize = 100;

/// The files that hold such texts, with what belongs in them.
///
/// # Errors
/// A file cannot be read, or a text has no end or the name of no crate.
pub fn texts() -> Result<Vec<(String, String)>> {
    let roots = CRATES.iter().map(|layers| format!("{}/lib.rs", layers.source()));
    let files = std::iter::once("ARCHITECTURE.md".to_owned()).chain(roots);
    files
        .map(|name| {
            let text = fs::read_to_string(root().join(&name)).with_context(|| name.clone())?;
            let written = rewritten(&text).with_context(|| name.clone())?;
            Ok((name, written))
        })
        .collect()
}

/// `text` with what belongs between the marks.
fn rewritten(text: &str) -> Result<String> {
    let mut lines = text.lines();
    let mut written = String::new();
    while let Some(line) = lines.next() {
        written += line;
        written.push('\n');
        let Some((prefix, rest)) = line.split_once(BEGIN) else { continue };
        let name = rest.trim_end_matches(" -->");
        for row in rows(name)? {
            written += format!("{prefix}{row}").trim_end();
            written.push('\n');
        }
        let Some(end) = lines.find(|line| line.contains(END)) else {
            bail!("`{line}` has no `{END}`");
        };
        written += end;
        written.push('\n');
    }
    Ok(written)
}

/// The lines of the text called `name`.
fn rows(name: &str) -> Result<Vec<String>> {
    let text = if name == "crates" {
        CRATES.iter().rev().map(|layers| layers.name).collect::<Vec<_>>().join(" → ")
    } else {
        let Some(layers) = CRATES.iter().find(|layers| layers.name == name) else {
            bail!("there is no crate `{name}`");
        };
        groups(layers)
    };
    let fenced = std::iter::once("```text".to_owned()).chain(wrapped(&text));
    Ok(fenced.chain(std::iter::once("```".to_owned())).collect())
}

fn groups(layers: &Layers) -> String {
    layers.groups.iter().map(|group| group.join(" ")).collect::<Vec<_>>().join(" · ")
}

/// Lines of at most [`WIDTH`] characters, broken at spaces.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= WIDTH => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) | None => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_between_the_marks_is_replaced() {
        let text = "//! Doc.\n//! <!-- layers of maxseg-linux -->\n//! old\n//! <!-- end of layers -->\nmod a;\n";
        let written = rewritten(text).unwrap();
        let layers = CRATES.iter().find(|layers| layers.name == "maxseg-linux").unwrap();
        let rows = format!("//! ```text\n//! {}\n//! ```", groups(layers));
        assert_eq!(written, text.replace("//! old", &rows));
        assert_eq!(rewritten(&written).unwrap(), written);
        assert!(rewritten("<!-- layers of maxseg-linux -->\n").is_err());
        assert!(rewritten("<!-- layers of maxseg-moon -->\n<!-- end of layers -->\n").is_err());
    }
}
