//! Results as JSON, CSV, Parquet, charts and pages, and the words in which they are told.

mod across;
mod advice;
pub mod advise;
pub mod as_netem;
pub mod axes;
mod caveats;
mod chart;
mod columns;
pub mod compare;
mod conclusion;
pub mod connections;
mod cost;
mod csv;
mod demo;
pub mod document;
pub mod explain;
mod figures;
pub mod flows;
mod heat;
mod html;
mod lab_page;
pub mod marks;
mod metrics;
mod numbers;
mod page;
mod parquet;
#[cfg(feature = "lab")]
pub mod path;
pub mod proof;
mod quantity;
pub mod stream;
mod swept;
mod table;
#[cfg(feature = "lab")]
pub mod tune;
#[cfg(feature = "lab")]
pub mod why;
pub mod words;

pub use advice::{advice_lines, segment_sizes, size_lines};
pub use caveats::{Gathered, Gathering, caveat_lines};
pub use chart::Chart;
pub use cost::cost_picture;
pub use csv::csv;
pub use demo::{FrameEnd, TunnelPart, demo_page};
pub use figures::{Figures, figures};
pub use html::page;
pub use numbers::{Number, numbers_of_runs};
pub use parquet::parquet;
pub use swept::Swept;

#[cfg(test)]
mod tests;
