//! What all formats share: lines with their places, checks of what is set, faults.

use std::ops::Range;

use maxseg_core::excerpt::shortened;
use maxseg_core::scenario::Excerpt;
use maxseg_core::tunables::{Acts, tunable};
use maxseg_core::tune::{Target, TargetError, Value};

use super::{Document, Note, Setting};
use crate::error::DocumentError;

/// A document as it is read.
pub(super) struct Reader<'t> {
    file: &'t str,
    text: &'t str,
    pub(super) document: Document,
}

/// A part of the text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece<'t> {
    /// Where it begins, in bytes.
    start: usize,
    pub(super) text: &'t str,
}

impl Piece<'_> {
    /// Without blanks around it.
    pub(super) fn trimmed(self) -> Self {
        let text = self.text.trim_start();
        let start = self.start + (self.text.len() - text.len());
        Self { start, text: text.trim_end() }
    }

    /// Before and behind the first occurrence of a character.
    pub(super) fn split(self, at: char) -> Option<(Self, Self)> {
        let (before, behind) = self.text.split_once(at)?;
        let start = self.start + before.len() + at.len_utf8();
        Some((Self { text: before, ..self }, Self { start, text: behind }))
    }

    /// Without this beginning.
    pub(super) fn without(self, beginning: &str) -> Option<Self> {
        let text = self.text.strip_prefix(beginning)?;
        Some(Self { start: self.start + beginning.len(), text })
    }

    /// Its words.
    pub(super) fn words(self) -> impl Iterator<Item = Self> {
        let base = self.text.as_ptr() as usize;
        self.text
            .split_whitespace()
            .map(move |text| Self { start: self.start + (text.as_ptr() as usize - base), text })
    }

    /// Its bytes in the text.
    pub(super) const fn span(self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }
}

impl<'t> Reader<'t> {
    pub(super) fn new(file: &'t str, text: &'t str) -> Self {
        // A byte order mark is none of the text's, and no place is counted from before it.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        Self { file, text, document: Document::default() }
    }

    pub(super) const fn text(&self) -> &'t str {
        self.text
    }

    /// The lines, without their ends.
    pub(super) fn lines(&self) -> impl Iterator<Item = Piece<'t>> + use<'t> {
        let text = self.text;
        let mut start = 0;
        text.split('\n').map(move |line| {
            let piece = Piece { start, text: line };
            start += line.len() + 1;
            piece
        })
    }

    /// The line of a place, from 1.
    pub(super) fn line_of(&self, span: &Range<usize>) -> usize {
        self.text.get(..span.start).unwrap_or_default().matches('\n').count() + 1
    }

    /// A fault at a place.
    pub(super) fn fault(
        &self,
        span: Range<usize>,
        key: &str,
        what: impl Into<String>,
        hint: impl Into<String>,
    ) -> DocumentError {
        let excerpt = Box::new(Excerpt::of(self.file, self.text, span));
        DocumentError { what: what.into(), key: key.to_owned(), excerpt, hint: hint.into() }
    }

    /// What is not quite the same here.
    pub(super) fn note(&mut self, span: &Range<usize>, key: &str, text: impl Into<String>) {
        let line = self.line_of(span);
        self.document.notes.push(Note {
            line,
            key: shortened(key, 80).into_owned(),
            text: text.into(),
        });
    }

    /// A target by its name.
    pub(super) fn target(&self, span: Range<usize>, name: &str) -> Result<Target, DocumentError> {
        // `tune persist` alone writes files.
        let unless_file = |target: Target| {
            let is_file = matches!(target, Target::File(_));
            if is_file { Err(TargetError::Kind(name.to_owned())) } else { Ok(target) }
        };
        name.parse().and_then(unless_file).map_err(|error: TargetError| {
            let hint = match tunable(name) {
                Err(unknown) if unknown.similar.is_some() => unknown.hint(),
                Ok(_) | Err(_) => error.hint(),
            };
            self.fault(span, name, error.to_string(), hint)
        })
    }

    /// A setting, checked: once in the document, and inside of its range.
    pub(super) fn set(
        &mut self,
        span: Range<usize>,
        key: &str,
        (target, value): (Target, &str),
        why: Option<String>,
    ) -> Result<(), DocumentError> {
        let line = self.line_of(&span);
        if let Some(before) = self.document.settings.iter().find(|one| one.target == target) {
            let what = format!("{target} is set twice: on line {} too", before.line);
            return Err(self.fault(span, key, what, "keep one of the two lines"));
        }
        let value = Value::of(value);
        let name = target.to_string();
        if let (Some(known), Value::Text(text)) = (target.tunable(), &value) {
            let hint = format!("`maxseg tune show {}` lists the values it takes", known.name);
            if known.acts == Acts::Never {
                let why = known.acts_note.as_deref().unwrap_or("it acts on nothing");
                self.note(&span, key, format!("left out: {why}"));
                return Ok(());
            }
            // What stands for the value before is judged once that is known.
            let is_whole = !(value.keeps_words() && matches!(target, Target::Sysctl(_)));
            if is_whole {
                known.check(text).map_err(|error| {
                    self.fault(span.clone(), key, format!("{name}: {error}"), hint)
                })?;
            }
        }
        if value == Value::Unset && !matches!(target, Target::Route { .. } | Target::Clamp(_)) {
            let hint =
                "a route's metric or a clamp can be taken away: \"route.default.mtu\" = \"unset\"";
            return Err(self.fault(span, key, format!("{name} always has a value"), hint));
        }
        self.document.settings.push(Setting { target, value, why, line });
        Ok(())
    }
}
