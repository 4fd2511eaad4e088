//! Charts as SVG: light and dark by the reader's own setting, never by colour alone.

mod lines;
mod palette;
mod scale;

pub(crate) use lines::escape;
pub use lines::{Axis, Legend, LineChart, Mark, Point, Series};
pub use palette::Order;
