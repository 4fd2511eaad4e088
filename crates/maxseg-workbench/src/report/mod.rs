//! Results as JSON, CSV, Parquet, charts and pages, and the words in which they are told.

mod advice;
pub mod as_netem;
pub mod axes;
mod caveats;
pub mod chart;
mod columns;
mod cost;
pub mod csv;
pub mod document;
pub mod explain;
mod figures;
pub mod flows;
mod heat;
pub mod html;
mod lab_page;
pub mod marks;
mod parquet;
pub mod proof;
pub mod stream;
pub mod words;

pub use advice::{advice_lines, segment_sizes};
pub use axes::distinct;
pub use caveats::{Gathered, Gathering, caveat_lines};
pub use cost::cost_picture;
pub use csv::csv;
pub use figures::{Figures, figures};
pub use heat::heat_maps;
pub use html::page;
pub use marks::invalid_lines;
pub use parquet::parquet;

#[cfg(test)]
mod tests;
