//! `cargo xtask validate rfc6349`: networks of the lab whose links are known, what `maxseg path --rfc6349` measures there, and what
//! the links themselves count meanwhile.
//!
//! ```text
//! Case → lab up ─┬→ maxseg path --rfc6349 → Measured ─┬→ Row → docs/rfc6349.md
//!                └→ lab status, again and again → Counted ─┘
//! ```

mod case;
mod check;
mod counters;
mod page;
mod row;

pub use check::{Rfc6349Args, run};
