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

pub use figure::{Axis, Chart, Legend, Line, Mark, Point, Series, Spacing, Tick};
pub use heat::{HeatCell, HeatMap, HeatRow};
pub use histogram::{Bar, Histogram};
pub use palette::Order;
pub use svg::escape;
pub use timeline::{Layer, LayerKind, Panel, Panels, Span};
