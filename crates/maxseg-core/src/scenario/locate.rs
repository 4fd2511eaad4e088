//! Where in a file a value stands.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use super::Place;
use super::error::Excerpt;
use super::key::Step;

/// The place of `span` in `text`, cut to the end of its first line.
pub(super) fn place_of(file: &str, text: &str, span: Range<usize>) -> Place {
    let start = floor_char_boundary(text, span.start.min(text.len()));
    let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
    let line_end = text[start..].find('\n').map_or(text.len(), |newline| start + newline);
    let end = floor_char_boundary(text, span.end.clamp(start, line_end));
    Place::File(Box::new(Excerpt {
        file: file.to_owned(),
        line: text[..start].matches('\n').count() + 1,
        column: text[line_start..start].chars().count() + 1,
        text: text[line_start..line_end].trim_end().to_owned(),
        width: text[start..end].chars().count().max(1),
    }))
}

fn floor_char_boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Where the value at `path` is written, or else the nearest table around it; `None` where nothing of
/// it is in the file.
pub(super) fn value_span(text: &str, path: &[Step]) -> Option<Range<usize>> {
    let document = DeTable::parse(text).ok()?;
    let (Step::Key(first), rest) = path.split_first()? else {
        return None;
    };
    let (_, mut here) = document.get_ref().iter().find(|(key, _)| key.get_ref() == first)?;
    for step in rest {
        let next = match (step, here.get_ref()) {
            (Step::Key(wanted), DeValue::Table(table)) => {
                table.iter().find(|(key, _)| key.get_ref() == wanted).map(|(_, value)| value)
            }
            (Step::Index(index), DeValue::Array(items)) => items.get(*index),
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
pub(super) fn key_span(text: &str, path: &[Step], name: &str) -> Option<Range<usize>> {
    let document = DeTable::parse(text).ok()?;
    let mut table = document.get_ref();
    let mut items = None;
    for step in path {
        let value = match (step, items.take()) {
            (Step::Key(wanted), None) => {
                table.iter().find(|(key, _)| key.get_ref() == wanted).map(|(_, value)| value)?
            }
            (Step::Index(index), Some(array)) => {
                let array: &toml::de::DeArray<'_> = array;
                array.get(*index)?
            }
            (Step::Key(_), Some(_)) | (Step::Index(_), None) => return None,
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
