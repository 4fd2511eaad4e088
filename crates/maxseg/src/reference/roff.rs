//! The reference as a manual page: `maxseg-scenario(5)`.

use std::fmt::Write as _;

use super::{INTRODUCTION, Key, Reference};
use crate::roff::{escape, in_ascii};

/// The section of file formats.
pub(crate) const FILE: &str = "maxseg-scenario.5";

impl Reference {
    /// The manual page.
    ///
    /// # Panics
    /// Never: memory takes what is written to it.
    pub(crate) fn to_roff(&self, version: &str) -> String {
        let mut page = format!(
            ".TH maxseg\\-scenario 5 \"\" \"maxseg {version}\"\n.SH NAME\n\
             maxseg\\-scenario \\- the scenario file of maxseg\n"
        );
        page += &introduction();
        for section in &self.sections {
            let _ = writeln!(page, ".SH {}", escaped(&section.written.to_uppercase()));
            let _ = writeln!(page, "{}", escaped(&section.about));
            for key in &section.keys {
                page += &entry(key);
            }
        }
        in_ascii(&page)
    }
}

fn entry(key: &Key) -> String {
    let mut entry = format!(".TP\n.B {}\n{}\n", escaped(&key.name), escaped(&key.about));
    let known = [
        ("Value", Some(&key.value)),
        ("Default", key.default.as_ref()),
        ("Example", key.example.as_ref()),
        ("Engines", Some(&key.engines)),
    ];
    for (title, text) in known {
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            let _ = writeln!(entry, ".br\n{title}: {}", escaped(text));
        }
    }
    entry
}

/// What stands before the keys: paragraphs are filled, code is kept as it is.
fn introduction() -> String {
    let mut roff = ".SH DESCRIPTION\n".to_owned();
    let mut is_code = false;
    for line in INTRODUCTION.lines().skip(1) {
        if line.starts_with("```") {
            is_code = !is_code;
            roff += if is_code { ".RS 4\n.nf\n" } else { ".fi\n.RE\n" };
        } else if let Some(title) = line.strip_prefix("## ") {
            let _ = writeln!(roff, ".SH {}", escaped(&title.to_uppercase()));
        } else if line.is_empty() && !is_code {
            roff += ".PP\n";
        } else {
            let _ = writeln!(roff, "{}", escaped(line));
        }
    }
    roff
}

/// Text without the marks of code.
fn escaped(text: &str) -> String {
    escape(&text.replace('`', ""))
}
