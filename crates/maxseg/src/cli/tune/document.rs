//! Documents of settings, read from files.

use std::path::Path;

use maxseg_core::tune::Prefix;
use maxseg_workbench::Error;
use maxseg_workbench::file_error::for_shell;
use maxseg_workbench::tune::documents::{Document, Format, Note};

use crate::failure::Failure;
use crate::printer::Printer;

/// The longest document that is read: more is no document of settings.
const MOST_BYTES: u64 = 1 << 20;

/// Reads a document, in this format or in what it looks like, and says what of it was left out.
pub(super) fn read(
    file: &Path,
    format: Option<Format>,
    route: Prefix,
    printer: Printer,
) -> Result<Document, Failure> {
    let is_stdin = file == Path::new("-");
    let name = if is_stdin { "standard input".to_owned() } else { file.display().to_string() };
    let read = || -> std::io::Result<Vec<u8>> {
        use std::io::Read as _;
        let mut bytes = Vec::new();
        if is_stdin {
            std::io::stdin().take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
        } else {
            std::fs::File::open(file)?.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
        }
        Ok(bytes)
    };
    let bytes = read().map_err(|error| Failure::file("read", file, &error))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(Failure::with_hint(
            format!("{name} is longer than {MOST_BYTES} bytes"),
            "a document of settings has some lines: write for example \"route.default.mtu\" = 1280 below [settings]",
        ));
    }
    let text = String::from_utf8(bytes).map_err(|_| {
        Failure::with_hint(
            format!("{name} is not UTF-8 text"),
            format!("`file {}` shows what it is", for_shell(&name)),
        )
    })?;
    let Some(format) = format.or_else(|| Format::guess(&name, &text)) else {
        return Err(Failure::with_hint(
            format!("{name} has none of the formats that are read"),
            "a table [settings] (toml), lines key = value (sysctl.d), #auto (open-transport), set_stcp_param (stcp); `--as` of `tune import` \
             names one",
        ));
    };
    let document = format.read(&name, &text, route).map_err(Error::from)?;
    tell(&document.notes, printer);
    Ok(document)
}

/// Whether an argument names a document, and no advice: a path, or a name ending in .toml.
pub(super) fn is_named(argument: &str) -> bool {
    argument.contains('/') || Path::new(argument).extension().is_some_and(|end| end == "toml")
}

/// Says what was left out, or is not quite the same.
pub(super) fn tell(notes: &[Note], printer: Printer) {
    for note in notes {
        let line = if note.line > 0 { format!("line {}: ", note.line) } else { String::new() };
        printer.note(&format!("{line}{}: {}", note.key, note.text));
    }
}

/// A format by its name in arguments.
pub(super) fn format(word: &str) -> Result<Format, String> {
    by_word(Format::ALL, Format::word, word)
}

/// The one of these that has this word.
pub(super) fn by_word<T: Copy, const N: usize>(
    all: [T; N],
    word_of: impl Fn(T) -> &'static str,
    word: &str,
) -> Result<T, String> {
    let found = all.into_iter().find(|one| word_of(*one) == word);
    found.ok_or_else(|| format!("it is one of {}", all.map(word_of).join(", ")))
}
