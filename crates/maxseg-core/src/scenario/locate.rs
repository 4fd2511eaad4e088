//! Where in a file a value stands.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use super::Location;
use super::error::Excerpt;
use super::key::KeyStep;
use crate::excerpt::around;

/// Where a value that overrides the file's comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Origin {
    /// A command-line argument, as written.
    Argument(String),
    /// A stack file, as it was named.
    StackFile(String),
    /// The sweep, at a place below `[sweep]`.
    Sweep(Vec<KeyStep>),
}

/// The place of `span` in `text`, cut to the end of its first line.
pub(super) fn location_of(file: &str, text: &str, span: Range<usize>) -> Location {
    Location::File(Box::new(Excerpt::of(file, text, span)))
}

impl Excerpt {
    /// The place of `span`, in bytes, in the text of `file`, cut to the end of its first line.
    pub fn of(file: &str, text: &str, span: Range<usize>) -> Self {
        let start = floor_char_boundary(text, span.start.min(text.len()));
        let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |newline| start + newline);
        let end = floor_char_boundary(text, span.end.clamp(start, line_end));
        let line = text[line_start..line_end].trim_end();
        let piece = around(line, (start - line_start).min(line.len()));
        let behind = piece.text.chars().count() - piece.before;
        Self {
            file: file.to_owned(),
            line: text[..start].matches('\n').count() + 1,
            column: text[line_start..start].chars().count() + 1,
            width: text[start..end].chars().take(behind).count().max(1),
            before: piece.before,
            text: piece.text,
        }
    }
}

fn floor_char_boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Where the value at `path` is written, or else the nearest table around it; `None` where nothing of
/// it is in the file.
pub(super) fn value_span(text: &str, path: &[KeyStep]) -> Option<Range<usize>> {
    let document = DeTable::parse(text).ok()?;
    let (KeyStep::Key(first), rest) = path.split_first()? else {
        return None;
    };
    let (_, mut here) = document.get_ref().iter().find(|(key, _)| key.get_ref() == first)?;
    for step in rest {
        let next = match (step, here.get_ref()) {
            (KeyStep::Key(wanted), DeValue::Table(table)) => {
                table.iter().find(|(key, _)| key.get_ref() == wanted).map(|(_, value)| value)
            }
            (KeyStep::Index(index), DeValue::Array(items)) => items.get(*index),
            _ => None,
        };
        match next {
            Some(next) => here = next,
            None => break,
        }
    }
    Some(here.span())
}

/// Where the key `name` of the table at `path` is written.
pub(super) fn key_span(text: &str, path: &[KeyStep], name: &str) -> Option<Range<usize>> {
    let document = DeTable::parse(text).ok()?;
    let mut table = document.get_ref();
    let mut items = None;
    for step in path {
        let value = match (step, items.take()) {
            (KeyStep::Key(wanted), None) => {
                table.iter().find(|(key, _)| key.get_ref() == wanted).map(|(_, value)| value)?
            }
            (KeyStep::Index(index), Some(array)) => {
                let array: &toml::de::DeArray<'_> = array;
                array.get(*index)?
            }
            (KeyStep::Key(_), Some(_)) | (KeyStep::Index(_), None) => return None,
        };
        match value.get_ref() {
            DeValue::Table(inner) => table = inner,
            DeValue::Array(array) => items = Some(array),
            DeValue::String(_)
            | DeValue::Integer(_)
            | DeValue::Float(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_) => return None,
        }
    }
    table.iter().find(|(key, _)| key.get_ref() == name).map(|(key, _)| key.span())
}
