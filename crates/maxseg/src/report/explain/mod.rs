//! The content of a capture as text.

mod details;
mod list;
mod parts;
mod text;

pub(crate) use parts::problem_text;
pub(crate) use text::{Asked, explain_text};

#[cfg(test)]
mod tests;
