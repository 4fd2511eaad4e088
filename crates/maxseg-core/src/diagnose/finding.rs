//! One thing that evidence shows, with the numbers behind it.

use schemars::JsonSchema;
use serde::Serialize;

use crate::evidence::Direction;
use crate::units::Time;

/// One thing that evidence shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// What it is.
    pub kind: FindingKind,
    /// How much it matters.
    pub severity: Severity,
    /// Which way of the connection it is about; `None` for both.
    pub way: Option<Direction>,
    /// When it begins.
    pub from: Time,
    /// When it ends.
    pub to: Time,
    /// The numbers behind it, named with their units.
    pub evidence: Vec<Number>,
    /// The first packets that show it, counted from 1.
    pub frames: Vec<u64>,
    /// What it is, in a sentence with its numbers.
    pub text: String,
    /// Why it matters.
    pub why: &'static str,
    /// What to change.
    pub advice: String,
    /// Where that is written.
    pub source: &'static str,
}

/// A number behind a finding.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Number {
    /// Its name, with its unit: `mss_bytes`, `share`, `retransmitted_packets`.
    pub name: &'static str,
    /// Its value.
    pub value: f64,
}

/// A number with its name.
pub(super) const fn number(name: &'static str, value: f64) -> Number {
    Number { name, value }
}

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Good to know.
    Note,
    /// It may cost something.
    Warning,
    /// It costs much.
    Problem,
}

impl Severity {
    /// The word that reports and JSON use.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Problem => "problem",
        }
    }
}

/// What a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    /// Full-size packets vanish without a word, while smaller ones arrive (RFC 2923 §2.1).
    BlackHole,
    /// A hop said that packets were too big for it.
    PathMtuReduced,
    /// Packets of the connection, or around it, travelled in fragments.
    Fragmentation,
    /// The receiver's window shut.
    ZeroWindow,
    /// Segments are smaller than the path takes.
    SmallMss,
    /// The retransmission timer expired while nothing was lost.
    SpuriousRto,
    /// The window cannot grow beyond 64 KiB, or beyond far less than the path holds.
    WindowClamped,
    /// Much was lost.
    Loss,
    /// The retransmission timer expired.
    Timeouts,
    /// Segments were sent again for nothing.
    SpuriousRetransmission,
    /// Packets overtake each other.
    Reordering,
    /// Round trips are much longer under load than without.
    Bufferbloat,
    /// The SYN had to be sent again.
    SynRetransmission,
    /// One side offers no window scale, no selective acknowledgements or no timestamps.
    OptionMissing,
    /// An option cannot be as it was sent.
    BadOption,
    /// The capture holds packets twice, lost some, stood where the card joins segments, saw one way only.
    CaptureQuality,
    /// The connection was broken off.
    Reset,
    /// Hops marked congestion.
    CongestionMarked,
}

impl FindingKind {
    /// The word that reports and JSON use.
    pub const fn word(self) -> &'static str {
        match self {
            Self::BlackHole => "black-hole",
            Self::PathMtuReduced => "path-mtu-reduced",
            Self::Fragmentation => "fragmentation",
            Self::ZeroWindow => "zero-window",
            Self::SmallMss => "small-mss",
            Self::SpuriousRto => "spurious-rto",
            Self::WindowClamped => "window-clamped",
            Self::Loss => "loss",
            Self::Timeouts => "timeouts",
            Self::SpuriousRetransmission => "spurious-retransmission",
            Self::Reordering => "reordering",
            Self::Bufferbloat => "bufferbloat",
            Self::SynRetransmission => "syn-retransmission",
            Self::OptionMissing => "option-missing",
            Self::BadOption => "bad-option",
            Self::CaptureQuality => "capture-quality",
            Self::Reset => "reset",
            Self::CongestionMarked => "congestion-marked",
        }
    }
}
