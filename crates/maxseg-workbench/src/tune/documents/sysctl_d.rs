//! sysctl.d(5): lines `key = value`.

use std::fmt::Write as _;

use maxseg_core::tune::{Target, Value, as_written_by_kernel};

use super::reader::{Piece, Reader};
use super::{Document, Note, Written, one_line};
use crate::error::DocumentError;

pub(super) fn read(reader: &mut Reader<'_>) {
    let mut comment: Vec<&str> = Vec::new();
    for line in reader.lines() {
        let line = line.trimmed();
        if let Some(text) = line.text.strip_prefix(['#', ';']) {
            comment.push(text.trim());
            continue;
        }
        let why = Some(comment.join(" ")).filter(|why| !why.is_empty());
        comment.clear();
        if !line.text.is_empty() {
            read_line(reader, line, why);
        }
    }
}

/// A line that is no comment. sysctl(8) passes over those that it or the kernel does not take; so does this, and says so.
fn read_line(reader: &mut Reader<'_>, line: Piece<'_>, why: Option<String>) {
    // `-key = value` is tried, and no error; `-key` alone excludes a key from a pattern.
    let tried = line.without("-").unwrap_or(line);
    let Some((key, value)) = tried.split('=') else {
        let is_kept = line.text.starts_with('-');
        let why = if is_kept {
            "it is kept from a pattern: nothing is set"
        } else {
            "left out: the line has no `=`"
        };
        return reader.note(&line.span(), tried.text, why);
    };
    let (key, value) = (key.trimmed(), value.trimmed());
    let name = dotted(key.text);
    let unset = if key.text.contains(['*', '?', '[']) {
        Some("a pattern: name each interface by a line of its own")
    } else if !name.starts_with("net.") {
        Some("not of the network: left out")
    } else if value.text.is_empty() {
        Some("left out: it has no value")
    } else {
        None
    };
    if let Some(why) = unset {
        return reader.note(&key.span(), key.text, why);
    }
    if let Err(fault) = set(reader, (key, value), &format!("sysctl.{name}"), why) {
        reader.note(&key.span(), key.text, format!("left out: {}", fault.what));
    }
}

/// Sets a sysctl to the value of a line; the last line of a name that is taken holds, as sysctl(8) has it.
fn set(
    reader: &mut Reader<'_>,
    (key, value): (Piece<'_>, Piece<'_>),
    name: &str,
    why: Option<String>,
) -> Result<(), DocumentError> {
    let target = reader.target(key.span(), name)?;
    let Taken { text, passed_over } = taken(&target, value.text);
    let repeated = reader.document.settings.iter().position(|one| one.target == target);
    let before = repeated.map(|at| (at, reader.document.settings.remove(at)));
    let set = reader.set(value.span(), key.text, (target, &text), why);
    match (before, &set) {
        (Some((at, before)), Err(_)) => reader.document.settings.insert(at, before),
        (Some((_, before)), Ok(())) => {
            let text = format!("line {} sets it anew, and holds", reader.line_of(&key.span()));
            reader.document.notes.push(Note { line: before.line, key: key.text.to_owned(), text });
        }
        (None, _) => {}
    }
    set?;
    if let Some(words) = passed_over {
        let why = format!(
            "the kernel takes `{text}`, and passes over `{words}`: a comment has a line of its own"
        );
        reader.note(&value.span(), key.text, why);
    }
    Ok(())
}

/// A value as the kernel takes it.
struct Taken {
    text: String,
    /// What stands behind it.
    passed_over: Option<String>,
}

/// Of numbers the kernel takes those that begin the line, as many as there are (`proc_dointvec`): of fewer, the others stay as they are.
fn taken(target: &Target, text: &str) -> Taken {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut numbers: Vec<String> = words.iter().map_while(|word| number(word)).collect();
    let whole = || Taken { text: text.to_owned(), passed_over: None };
    let most = match target.tunable() {
        Some(known) if known.range.min.is_some() => known.items.len().max(1),
        Some(_) => return whole(),
        // How many it takes is not known here.
        None => numbers.len(),
    };
    let has_comment = words.get(numbers.len()).is_some_and(|word| word.starts_with('#'));
    if numbers.is_empty() || numbers.len() < most.min(words.len()) {
        return whole();
    }
    if target.tunable().is_none() && !(has_comment || numbers.len() == words.len()) {
        return whole();
    }
    numbers.truncate(most);
    let passed_over = words.get(most..).filter(|rest| !rest.is_empty());
    let passed_over = passed_over.map(|rest| rest.join(" "));
    numbers.resize(most, "-".to_owned());
    Taken { text: numbers.join(" "), passed_over }
}

/// A number as the kernel reads one: also with octal or hexadecimal digits.
fn number(word: &str) -> Option<String> {
    let (of, some) = (Value::Text(word.to_owned()), Value::Text("0".to_owned()));
    let written = as_written_by_kernel("", &of, &some, &[]);
    written.text().filter(|text| text.parse::<i64>().is_ok()).map(str::to_owned)
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
