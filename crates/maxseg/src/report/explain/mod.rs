//! The content of a capture as text, JSON, CSV and a page with linked graphs.

mod csv;
mod details;
mod document;
mod graphs;
mod list;
mod numbers;
mod page;
mod parts;
mod text;

pub(crate) use csv::write_csv;
pub(crate) use document::{ExplainDocument, write_conclusion, write_connections};
pub(crate) use page::page as explain_page;
pub(crate) use text::{Asked, explain_text};

#[cfg(test)]
mod tests;
