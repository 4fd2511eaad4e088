//! Documents of settings: our own TOML, the settings files of Open Transport's tuner, STCP's requests, sysctl.d.
//!
//! ```text
//! text → Format → Document: settings, each with its line; notes on what has no equivalent
//! settings → Format → text, and notes on what the format cannot say
//! ```

mod open_transport;
mod own;
mod reader;
mod stcp;
mod sysctl_d;

use std::borrow::Cow;

use maxseg_core::tune::{Prefix, RouteMetricName, Target, Value};

use crate::error::DocumentError;
use reader::Reader;

/// A format of documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// `[settings]`, each a target with its value.
    Toml,
    /// Lines `key = value` of sysctl.d(5).
    SysctlD,
    /// `#auto … #end` of Open Transport's tuner (Mentat TCP).
    OpenTransport,
    /// `set_stcp_param` of VOS, and what came before it.
    Stcp,
}

/// What a document says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Document {
    /// Why all of it is set.
    pub why: Option<String>,
    /// In the order of the document.
    pub settings: Vec<Setting>,
    /// What was left out, or is not quite the same here.
    pub notes: Vec<Note>,
    /// Whether a route's MTU is allowed on a host that forwards (`--i-am-router`): no document says so.
    pub allows_router: bool,
}

/// One setting of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// What is set.
    pub target: Target,
    /// To what.
    pub value: Value,
    /// Why.
    pub why: Option<String>,
    /// The line of the document, from 1; 0 of a setting that is from elsewhere.
    pub line: usize,
}

impl Setting {
    /// What becomes of a route's setting in a format that has settings of the whole host alone; nothing of the default route's.
    fn widened(&self, format: &str) -> Option<Note> {
        let prefix = self.target.destinations().filter(|prefix| prefix.length() > 0)?;
        let text = format!("{format} has it for every host: it holds beyond {prefix} as well");
        Some(Note::of(self, text))
    }

    /// Whether it is the MTU of a route.
    pub const fn is_route_mtu(&self) -> bool {
        matches!(self.target, Target::Route { metric: RouteMetricName::Mtu, .. })
    }
}

/// What a document, or a format, cannot say in the same words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The line of the document, from 1; 0 for none.
    pub line: usize,
    /// The key or the target.
    pub key: String,
    /// What is different, and what is nearest.
    pub text: String,
}

/// A document as text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Written {
    /// The text.
    pub text: String,
    /// What it leaves out.
    pub left_out: Vec<Note>,
    /// What it says of more than the document does.
    pub widened: Vec<Note>,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Toml, Self::SysctlD, Self::OpenTransport, Self::Stcp];

    /// Its name in arguments.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Toml => "toml",
            Self::SysctlD => "sysctl.d",
            Self::OpenTransport => "open-transport",
            Self::Stcp => "stcp",
        }
    }

    /// What a document most likely is, by its name and its text; `None` where it looks like none of these.
    pub fn guess(file: &str, text: &str) -> Option<Self> {
        let has_ending = |ending: &str| {
            let found = std::path::Path::new(file).extension();
            found.is_some_and(|found| found.eq_ignore_ascii_case(ending))
        };
        let text = &*with_line_feeds(text);
        let mut lines = text.lines().map(str::trim);
        if has_ending("toml") {
            Some(Self::Toml)
        } else if lines.clone().any(|line| line.eq_ignore_ascii_case("#auto")) {
            Some(Self::OpenTransport)
        } else if stcp::REQUESTS.iter().any(|request| text.contains(request)) {
            Some(Self::Stcp)
        } else if lines.clone().any(|line| line.starts_with("[settings")) {
            Some(Self::Toml)
        } else if has_ending("conf") || !lines.any(|line| line.starts_with('[')) {
            Some(Self::SysctlD)
        } else {
            None
        }
    }

    /// Reads a document. Settings of the whole host that Linux has by route are those of `route`.
    ///
    /// # Errors
    /// What is wrong with the text, and where.
    pub fn read(self, file: &str, text: &str, route: Prefix) -> Result<Document, DocumentError> {
        let text = &*with_line_feeds(text);
        let mut reader = Reader::new(file, text);
        match self {
            Self::Toml => own::read(&mut reader)?,
            Self::SysctlD => sysctl_d::read(&mut reader),
            Self::OpenTransport => open_transport::read(&mut reader, route)?,
            Self::Stcp => stcp::read(&mut reader, route)?,
        }
        Ok(reader.document)
    }

    /// Writes a document.
    pub fn write(self, document: &Document) -> Written {
        match self {
            Self::Toml => Written { text: own::write(document), ..Written::default() },
            Self::SysctlD => sysctl_d::write(document),
            Self::OpenTransport => open_transport::write(document),
            Self::Stcp => stcp::write(document),
        }
    }
}

/// The text with lines that end as on Unix: those of older Macs end with CR, those of Windows with CR and LF.
fn with_line_feeds(text: &str) -> Cow<'_, str> {
    if text.contains('\r') {
        text.replace("\r\n", "\n").replace('\r', "\n").into()
    } else {
        text.into()
    }
}

/// A reason in one line of a comment.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Note {
    /// Of a setting.
    pub(super) fn of(setting: &Setting, text: impl Into<String>) -> Self {
        Self { line: setting.line, key: setting.target.to_string(), text: text.into() }
    }
}

#[cfg(test)]
mod tests;
