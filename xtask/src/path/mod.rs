//! `cargo xtask validate path`: drawn networks of the lab, what `maxseg path` says of them, and what the networks are. `tracepath`
//! and scamper, where they are installed, are asked the same.
//!
//! ```text
//! seed, number → Case ─┬→ lab up → maxseg path, tracepath, scamper → Answer ─┬→ Grade → page
//!                      └→ Truth ─────────────────────────────────────────────┘
//! ```

mod answer;
mod case;
mod check;
mod network;
mod page;
mod peers;
mod score;
mod truth;

pub use answer::Answer;
pub use case::{Case, Link};
pub use check::{PathArgs, run};
pub use score::{Grade, Run};
pub use truth::Truth;
