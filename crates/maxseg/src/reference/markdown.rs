//! The reference as Markdown.

use std::fmt::Write as _;

use super::{INTRODUCTION, Key, Reference, Section};

impl Reference {
    /// The page of the documentation.
    ///
    /// # Panics
    /// Never: memory takes what is written to it.
    pub(crate) fn to_markdown(&self) -> String {
        let mut page = INTRODUCTION.to_owned();
        for section in &self.sections {
            section.write_to(&mut page).expect("memory takes what is written to it");
        }
        page
    }
}

impl Section {
    fn write_to(&self, page: &mut String) -> std::fmt::Result {
        write!(page, "\n## {}\n\n{}\n\n", self.written, self.about)?;
        page.push_str("| key | meaning | value | default | example | engines |\n");
        page.push_str("|---|---|---|---|---|---|\n");
        for key in &self.keys {
            let Key { name, about, value, default, example, engines } = key;
            let code = |text: &Option<String>| match text {
                Some(value) if is_toml(value) => format!("`{value}`"),
                Some(words) => words.clone(),
                None => String::new(),
            };
            // A bar would end the cell.
            let cells = [about.clone(), value.clone(), code(default), code(example)];
            let cells = cells.map(|cell| cell.replace('|', "\\|"));
            writeln!(page, "| `{name}` | {} | {engines} |", cells.join(" | "))?;
        }
        Ok(())
    }
}

/// Whether it is a value as in a file, and not a word about one.
fn is_toml(value: &str) -> bool {
    format!("value = {value}").parse::<toml::Table>().is_ok()
}
