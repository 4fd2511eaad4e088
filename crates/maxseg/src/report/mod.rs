//! Results on a terminal.

pub(crate) mod advise;
mod compare;
#[cfg(feature = "lab")]
pub(crate) mod connections;
pub(crate) mod explain;
mod flows;
mod grid;
mod matrix;
#[cfg(feature = "lab")]
pub(crate) mod path;
mod table;
mod text;
#[cfg(feature = "lab")]
pub(crate) mod tune;
#[cfg(feature = "lab")]
pub(crate) mod why;

pub(crate) use compare::compared_text;
pub(crate) use grid::{Column, Grid};
pub(crate) use text::{results, text};

#[cfg(test)]
mod tests;
