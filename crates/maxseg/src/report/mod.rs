//! Results on a terminal.

pub(crate) mod explain;
mod flows;
mod matrix;
mod table;
mod text;
mod wrap;

pub(crate) use table::{lines, plain, right};
pub(crate) use text::{results, text};
pub(crate) use wrap::wrapped;

#[cfg(test)]
mod tests;
