//! The content of a capture as text.

mod details;
mod joined;
mod list;
mod parts;
mod text;

pub(crate) use parts::{Detail, problem_text};
pub(crate) use text::explain_text;

#[cfg(test)]
mod tests;
