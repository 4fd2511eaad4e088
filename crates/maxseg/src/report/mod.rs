//! Results for people and programs.

mod advice;
mod caveats;
pub mod chart;
mod csv;
pub mod document;
mod figures;
mod html;
mod parquet;
mod table;
pub mod words;

pub(crate) use advice::{advice_lines, segment_sizes};
pub(crate) use caveats::caveat_lines;
pub(crate) use csv::csv;
pub(crate) use figures::figures;
pub(crate) use html::page;
pub(crate) use parquet::parquet;
pub(crate) use table::{plain, right, table};
