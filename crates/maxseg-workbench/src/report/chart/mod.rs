//! Charts as SVG: light and dark by the reader's own setting, never by colour alone.
//!
//! `figure` is what a chart shows, `svg` its page with titles and legend, `plot` the part between the
//! axes, `scale` where a value lies, `heat` a map of two axes, `histogram` shares of
//! ranges, `timeline` graphs over the same time, one below the other.

mod figure;
mod heat;
mod histogram;
mod palette;
mod plot;
mod scale;
mod svg;
mod timeline;

pub use figure::Chart;
pub(super) use figure::{Axis, Legend, Line, Mark, Point, Series, Spacing, Tick};
pub(super) use heat::{HeatCell, HeatMap, HeatRow};
pub(super) use histogram::{Bar, Histogram};
pub(super) use palette::Order;
pub(super) use timeline::{Layer, LayerKind, Packets, Panel, Row, Span, Timeline, Unit};
