//! Charts as SVG: light and dark by the reader's own setting, never by colour alone.
//!
//! `figure` is what a chart shows, `svg` its picture with titles and legend, `plot` the part between the
//! axes, `layout` where texts have their place, `scale` where a value lies, `heat` a map of two axes, `histogram` shares of
//! ranges, `bars` values one below the other, `literal` colours written out for files, `timeline` graphs over the same time, one below the other.

#[cfg(feature = "lab")]
mod bars;
mod figure;
mod heat;
mod histogram;
mod layout;
mod literal;
mod palette;
mod plot;
mod scale;
mod svg;
mod timeline;

#[cfg(feature = "lab")]
pub(super) use bars::{Bar, BarChart, BarKind};
pub use figure::Chart;
pub(super) use figure::{Axis, Legend, Line, Mark, Point, Series, Spacing, Tick};
pub(super) use heat::{HeatCell, HeatMap, HeatRow};
pub(super) use histogram::{Histogram, Range};
pub(super) use palette::{Order, Shades};
pub(super) use timeline::{Layer, LayerKind, Packets, Panel, Row, Span, Timeline, Unit};
