//! An explanation as JSON, CSV and a page with linked graphs, and its numbers as lines of text.

mod burst;
mod colors;
mod csv;
mod document;
mod files;
mod filter;
mod graphs;
mod joined;
mod look;
mod numbers;
mod page;
mod seen;

pub use csv::write_csv;
pub use document::{ExplainDocument, write_conclusion, write_connections};
pub use files::FilesInOrder;
pub use filter::connection_filter;
pub use joined::{BetweenCaptures, between_captures};
pub use numbers::{
    finding_text, headline_numbers, host_systems, marks, no_connection, not_followed, numbers,
    packets, shares,
};
pub use page::page;

#[cfg(test)]
mod tests;
