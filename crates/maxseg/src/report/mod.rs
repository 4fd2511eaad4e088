//! Results for people and programs.

mod advice;
mod as_netem;
mod axes;
mod caveats;
mod chart;
mod columns;
mod cost;
mod csv;
pub(crate) mod document;
pub(crate) mod explain;
mod figures;
mod flows;
mod heat;
mod html;
mod lab_page;
mod marks;
mod matrix;
mod parquet;
mod proof;
pub(crate) mod stream;
mod table;
mod text;
pub(crate) mod words;

pub(crate) use advice::{advice_lines, segment_sizes};
pub(crate) use axes::distinct;
pub(crate) use caveats::{Gathered, Gathering, caveat_lines};
pub use cost::cost_picture;
pub(crate) use csv::csv;
pub(crate) use figures::{Figures, figures};
pub(crate) use heat::heat_maps;
pub(crate) use html::page;
pub(crate) use marks::invalid_lines;
pub(crate) use parquet::parquet;
pub(crate) use table::{lines, plain, right};
pub(crate) use text::{results, text};

#[cfg(test)]
mod tests;
