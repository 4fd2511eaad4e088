//! Colours: few, of the terminal's own palette, so that light and dark ones can be read; each goes with a word, a mark or
//! another glyph.

use maxseg_core::outcome::LimitedBy;
use ratatui::style::{Color, Modifier, Style};

/// What things look like, in colour or without.
#[derive(Debug, Clone, Copy)]
pub(super) struct Styles {
    pub(super) color: bool,
}

/// The bar at the top and headings.
pub(super) const HEADING: Style = Style::new().add_modifier(Modifier::BOLD);
/// The selected row.
pub(super) const SELECTED: Style = Style::new().add_modifier(Modifier::REVERSED);
/// What is there no more, and hints.
pub(super) const DIM: Style = Style::new().add_modifier(Modifier::DIM);

/// The orange of 256 colours, in which data is shown that was sent again.
const ORANGE: Color = Color::Indexed(208);

impl Styles {
    fn of(self, color: Color) -> Style {
        if self.color { Style::new().fg(color) } else { Style::new() }
    }

    /// The column that is sorted by.
    pub(super) fn chosen(self) -> Style {
        self.of(Color::Cyan).add_modifier(Modifier::BOLD)
    }

    /// Payload.
    pub(super) fn payload(self) -> Style {
        self.of(Color::Blue)
    }

    /// Payload that was sent again.
    pub(super) fn resent(self) -> Style {
        self.of(ORANGE)
    }

    /// Something that wants attention.
    pub(super) fn alarm(self) -> Style {
        self.of(Color::Red).add_modifier(Modifier::BOLD)
    }

    /// A limit: those that can be changed stand out.
    pub(super) fn limit(self, limit: LimitedBy) -> Style {
        match limit {
            LimitedBy::Congestion | LimitedBy::Rto | LimitedBy::PathMtu => self.alarm(),
            LimitedBy::ReceiveWindow | LimitedBy::SendBuffer => self.of(Color::Magenta),
            LimitedBy::Unknown => DIM,
            LimitedBy::Application
            | LimitedBy::Paced
            | LimitedBy::StartUp
            | LimitedBy::Bandwidth
            | LimitedBy::Host => Style::new(),
        }
    }
}
