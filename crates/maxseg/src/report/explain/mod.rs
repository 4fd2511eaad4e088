//! What a capture says, for people and programs: first screen, JSON, CSV, a page with linked graphs.

mod csv;
mod details;
mod document;
mod first;
mod graphs;
mod list;
mod numbers;
mod page;
mod parts;
mod text;

pub(crate) use csv::write_csv;
pub(crate) use document::{ExplainDocument, write_json};
pub(crate) use first::Story;
pub(crate) use page::page as explain_page;
pub(crate) use text::{Asked, explain_text};

#[cfg(test)]
mod tests;
