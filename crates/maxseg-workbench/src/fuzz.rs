//! What is read of documents and of the journal as plain functions of bytes, as `maxseg_wire::fuzz` has decoders
//! (`docs/fuzzing.md`).
#![expect(clippy::missing_panics_doc, reason = "a panic is a mistake found, here or in a reader")]

use std::hint::black_box;

use maxseg_core::tune::{History, Moment, Prefix, Value, records_of};
use maxseg_wire::fuzz::Target;

use crate::tune::documents::Format;

/// All of them.
pub const TARGETS: &[Target] =
    &[Target { name: "documents", run: documents }, Target { name: "journal", run: journal }];

/// A document of settings, in the format that it looks like and in each other; what was read is written, and read again.
pub fn documents(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    black_box(Format::guess("file", &text));
    for format in Format::ALL {
        let Ok(document) = format.read("file", &text, Prefix::ALL_V4) else { continue };
        for other in Format::ALL {
            black_box(other.write(&document));
        }
        if document.settings.is_empty() {
            continue;
        }
        let written = Format::Toml.write(&document).text;
        let again = Format::Toml.read("file.toml", &written, Prefix::ALL_V4);
        let again = again.expect("what was written is read").settings;
        let same = again.len() == document.settings.len()
            && again.iter().all(|one| {
                let is_it = |other: &crate::tune::documents::Setting| {
                    (&one.target, &one.value) == (&other.target, &other.value)
                };
                document.settings.iter().any(is_it)
            });
        assert!(same, "{written}");
    }
}

/// The journal: what it amounts to, at the place of its last line.
pub fn journal(bytes: &[u8]) {
    let Ok((records, whole)) = records_of(bytes) else { return };
    assert!(whole <= bytes.len(), "more than there is");
    let history = History::of(&records);
    let Some(last) = records.last() else { return };
    let at = Moment { place: last.place.clone(), boot_s: last.at_s };
    for entry in history.entries() {
        for now in [None, Some(&entry.step.before), Some(&entry.step.after), Some(&Value::Absent)] {
            black_box(entry.state(&history, now, &at));
        }
    }
    black_box((history.live(&at.place), history.unconfirmed(&at), history.next_numbers()));
}
