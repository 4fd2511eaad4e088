//! Everything that is printed: data to standard output, talk to standard error.

use std::borrow::Cow;
#[cfg(unix)]
use std::fs::File;
use std::io::{self, IsTerminal, Write};

use clap::ValueEnum;
use maxseg_core::excerpt::{escaped, escaped_lines};

use crate::wrap::hanging;

/// When to use colour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` is set or `TERM` is dumb.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// What [`Printer::bold`] and [`Printer::dim`] write.
const OWN_SEQUENCES: [&str; 3] = ["\x1b[1m", "\x1b[2m", "\x1b[0m"];

/// Where the program prints.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Printer {
    color: bool,
    quiet: u8,
    verbose: u8,
    talk_on_terminal: bool,
    /// Characters of a line.
    columns: usize,
    /// Whether tables are printed in one piece, however wide.
    wide: bool,
}

/// Narrower than this, a text is no better for fitting.
const LEAST_WIDTH: usize = 40;
/// Wider than this, lines of prose are hard to read.
const MOST_WIDTH_OF_TEXT: usize = 120;
const DEFAULT_WIDTH: usize = 80;
/// Bytes of what is streamed that are written at once.
const PIECE: usize = 1 << 16;

/// Standard output for what is long: that of the standard library looks through all of it for the ends of lines.
#[cfg(unix)]
fn long_stdout() -> io::Result<File> {
    use std::os::fd::AsFd;
    io::stdout().flush()?;
    Ok(File::from(io::stdout().as_fd().try_clone_to_owned()?))
}

#[cfg(not(unix))]
fn long_stdout() -> io::Result<io::StdoutLock<'static>> {
    Ok(io::stdout().lock())
}

/// A pipe as long as somebody reads it.
struct WhileRead<W> {
    out: W,
    has_reader: bool,
}

impl<W: Write> WhileRead<W> {
    /// What a write gave, or `gone` where nobody reads any more.
    fn unless_gone<T>(&mut self, written: io::Result<T>, gone: T) -> io::Result<T> {
        match written {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.has_reader = false;
                Ok(gone)
            }
            written => written,
        }
    }
}

impl<W: Write> Write for WhileRead<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.has_reader {
            return Ok(bytes.len());
        }
        let written = self.out.write(bytes);
        self.unless_gone(written, bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if !self.has_reader {
            return Ok(());
        }
        let flushed = self.out.flush();
        self.unless_gone(flushed, ())
    }
}

/// Characters of a line: `COLUMNS`, or else the terminal's, or else 80.
fn columns() -> usize {
    let set = std::env::var("COLUMNS").ok().and_then(|columns| columns.trim().parse().ok());
    set.filter(|columns| *columns > 0)
        .or_else(|| {
            terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0))
        })
        .unwrap_or(DEFAULT_WIDTH)
}

/// Characters of a line of prose.
pub(crate) fn text_width() -> usize {
    width_of_text(columns())
}

fn width_of_text(columns: usize) -> usize {
    columns.clamp(LEAST_WIDTH, MOST_WIDTH_OF_TEXT)
}

impl Printer {
    pub(crate) fn new(color: ColorChoice, quiet: u8, verbose: u8) -> Self {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let color = match color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto if set("NO_COLOR") || dumb => false,
            ColorChoice::Auto => set("CLICOLOR_FORCE") || io::stdout().is_terminal(),
        };
        let talk_on_terminal = io::stderr().is_terminal() && !dumb;
        Self { color, quiet, verbose, talk_on_terminal, columns: columns(), wide: false }
    }

    /// Says nothing but data.
    pub(crate) const fn silent() -> Self {
        Self {
            color: false,
            quiet: 2,
            verbose: 0,
            talk_on_terminal: false,
            columns: DEFAULT_WIDTH,
            wide: false,
        }
    }

    /// Whether to use colour.
    #[cfg(feature = "lab")]
    pub(crate) const fn has_color(self) -> bool {
        self.color
    }

    /// What the command was asked for.
    #[expect(clippy::unused_self, reason = "all output goes through a printer")]
    pub(crate) fn data(self, text: &str) -> io::Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()
    }

    /// What the command was asked for, for people: control characters that come from files are escaped.
    pub(crate) fn text(self, text: &str) -> io::Result<()> {
        self.data(&self.shown(text))
    }

    /// `text` with nothing for a terminal to obey but this printer's own emphasis.
    fn shown(self, text: &str) -> Cow<'_, str> {
        if !self.color {
            return escaped_lines(text);
        }
        let mut shown = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('\x1b') {
            let (plain, own) = rest.split_at(at);
            shown += &escaped_lines(plain);
            let sequence = OWN_SEQUENCES.iter().find(|sequence| own.starts_with(**sequence));
            let length = sequence.map_or(1, |sequence| sequence.len());
            match sequence {
                Some(sequence) => shown += sequence,
                None => shown += &escaped(&own[..length]),
            }
            rest = &own[length..];
        }
        shown += &escaped_lines(rest);
        Cow::Owned(shown)
    }

    /// The same, written piece by piece: for what is too long to be held.
    #[expect(clippy::unused_self, reason = "all output goes through a printer")]
    pub(crate) fn stream<T>(
        self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<T>,
    ) -> io::Result<T> {
        let mut out = io::BufWriter::with_capacity(PIECE, long_stdout()?);
        let written = write(&mut out)?;
        out.flush()?;
        Ok(written)
    }

    /// The same where more comes of it than what is printed: once the reader has gone, the rest is thrown away. Whether there
    /// still is a reader comes with what was made.
    #[expect(clippy::unused_self, reason = "all output goes through a printer")]
    pub(crate) fn stream_to_the_end<T>(
        self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<T>,
    ) -> io::Result<(T, bool)> {
        let out = WhileRead { out: long_stdout()?, has_reader: true };
        let mut out = io::BufWriter::with_capacity(PIECE, out);
        let written = write(&mut out)?;
        out.flush()?;
        Ok((written, out.get_ref().has_reader))
    }

    /// Something to know, unless the user asked for quiet; each of its lines is wrapped.
    pub(crate) fn note(self, text: &str) {
        if self.quiet == 0 {
            let text = escaped_lines(text);
            let lines: String =
                text.lines().map(|line| hanging(line, self.width(), "  ")).collect();
            let _ = io::stderr().write_all(lines.as_bytes());
        }
    }

    /// The same as it stands: paths, and commands to paste.
    pub(crate) fn note_verbatim(self, text: &str) {
        if self.quiet == 0 {
            let _ = writeln!(io::stderr(), "{}", escaped_lines(text));
        }
    }

    /// Why the command failed; silenced only by `-qq`.
    pub(crate) fn failure(self, text: &str) {
        if self.quiet < 2 {
            let _ = io::stderr().write_all(text.as_bytes());
        }
    }

    /// Whether a progress bar can and should be shown.
    pub(crate) const fn shows_progress(self) -> bool {
        self.talk_on_terminal && self.quiet == 0
    }

    /// Whether the user asked for more.
    pub(crate) const fn is_verbose(self) -> bool {
        self.verbose > 0
    }

    /// How many times the user asked for more.
    pub(crate) const fn verbosity(self) -> u8 {
        self.verbose
    }

    /// Characters of a line of prose: those of the terminal, as far as that reads well.
    pub(crate) fn width(self) -> usize {
        width_of_text(self.columns)
    }

    /// Characters of a line of a table: those of the terminal; no limit after `--wide`.
    pub(crate) fn table_width(self) -> usize {
        if self.wide { usize::MAX } else { self.columns.max(LEAST_WIDTH) }
    }

    /// The same printer, with tables in one piece if `wide`.
    pub(crate) const fn wide(self, wide: bool) -> Self {
        Self { wide, ..self }
    }

    /// Emphasised, where colour is on.
    pub(crate) fn bold(self, text: &str) -> String {
        if self.color { format!("\x1b[1m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// Set back, where colour is on.
    pub(crate) fn dim(self, text: &str) -> String {
        if self.color { format!("\x1b[2m{text}\x1b[0m") } else { text.to_owned() }
    }
}
