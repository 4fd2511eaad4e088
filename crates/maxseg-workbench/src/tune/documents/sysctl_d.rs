//! sysctl.d(5): lines `key = value`.

use std::fmt::Write as _;

use maxseg_core::tune::{Target, Value};

use super::reader::Reader;
use super::{Document, Note, Written, one_line};
use crate::error::DocumentError;

const EXAMPLE: &str = "write for example net.ipv4.tcp_mtu_probing = 1";

pub(super) fn read(reader: &mut Reader<'_>) -> Result<(), DocumentError> {
    let mut comment: Vec<&str> = Vec::new();
    for line in reader.lines() {
        let line = line.trimmed();
        if let Some(text) = line.text.strip_prefix(['#', ';']) {
            comment.push(text.trim());
            continue;
        }
        let why = Some(comment.join(" ")).filter(|why| !why.is_empty());
        comment.clear();
        if line.text.is_empty() {
            continue;
        }
        // `-key = value` is tried, and no error; `-key` alone excludes a key from a pattern.
        let tried = line.without("-").unwrap_or(line);
        let Some((key, value)) = tried.split('=') else {
            if line.text.starts_with('-') {
                reader.note(&line.span(), tried.text, "it is kept from a pattern: nothing is set");
                continue;
            }
            return Err(reader.fault(line.span(), line.text, "the line has no `=`", EXAMPLE));
        };
        let (key, value) = (key.trimmed(), value.trimmed());
        if key.text.contains(['*', '?', '[']) {
            reader.note(
                &key.span(),
                key.text,
                "a pattern: name each interface by a line of its own",
            );
            continue;
        }
        let name = dotted(key.text);
        if !name.starts_with("net.") {
            reader.note(&key.span(), key.text, "not of the network: left out");
            continue;
        }
        if value.text.is_empty() {
            return Err(reader.fault(
                key.span(),
                key.text,
                format!("{name} has no value"),
                EXAMPLE,
            ));
        }
        let target = reader.target(key.span(), &format!("sysctl.{name}"))?;
        // The last line of a name holds, as sysctl(8) has it.
        let repeated = reader.document.settings.iter().position(|one| one.target == target);
        if let Some(at) = repeated {
            let before = reader.document.settings.remove(at);
            let text = format!("line {} sets it anew, and holds", reader.line_of(&key.span()));
            reader.document.notes.push(Note { line: before.line, key: key.text.to_owned(), text });
        }
        reader.set(value.span(), key.text, (target, value.text), why)?;
    }
    Ok(())
}

/// A name with dots: where the first separator is a slash, slashes separate and dots are part of a word.
fn dotted(key: &str) -> String {
    let first = key.find(['.', '/']);
    if first.is_some_and(|at| key[at..].starts_with('/')) {
        key.chars()
            .map(|c| match c {
                '/' => '.',
                '.' => '/',
                other => other,
            })
            .collect()
    } else {
        key.to_owned()
    }
}

pub(super) fn write(document: &Document) -> Written {
    let mut written = Written::default();
    if let Some(why) = &document.why {
        let _ = writeln!(written.text, "# {}\n", one_line(why));
    }
    for setting in &document.settings {
        let (Target::Sysctl(name), Value::Text(value)) = (&setting.target, &setting.value) else {
            written.left_out.push(Note::of(setting, "sysctl.d(5) has sysctls alone"));
            continue;
        };
        if setting.value.keeps_words() {
            let why = "sysctl.d(5) has no `-` and `>=`: they stand for the value before";
            written.left_out.push(Note::of(setting, why));
            continue;
        }
        if let Some(why) = &setting.why {
            let _ = writeln!(written.text, "# {}", one_line(why));
        }
        let _ = writeln!(written.text, "{name} = {value}");
    }
    written
}
