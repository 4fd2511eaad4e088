//! `cargo xtask validate explain`: random runs of the lab in strata, their captures, and whether what the captures are said
//! to show is what the scenario, the hosts and links, or second runs know.
//!
//! ```text
//! stratum, seed, number → Setup → lab ─┬→ counters → Facts ─┬→ Truth ─┬→ Table per stratum
//!                           └→ second runs without a limit ─┘         │
//!                                      ├→ captures → Views → explain ─┤
//!                                      └→ the sender's socket → Live ──┘
//! ```

mod bins;
mod causes;
mod check;
mod congestion;
mod counted;
mod draw;
mod facts;
mod lift;
mod live;
mod page;
mod promise;
mod promises;
mod ranges;
mod run;
mod sample;
mod say;
mod scenario;
mod score;
mod setup;
mod simulated_socket;
mod split;
mod strata;
mod stratum;
mod truth;
mod view;
mod watch;
mod words;

pub use check::{ExplainArgs, run};
pub use facts::Facts;
pub use lift::{Lift, SecondRun};
pub use promise::Promise;
pub use run::{Run, folder};
pub use score::{Grade, Said, Scored, Verdict, score};
pub use setup::{Aim, Setup};
pub use split::part;
pub use stratum::Stratum;
pub use truth::{Basis, Truth};
pub use view::{View, Way};
pub use watch::{WatchArgs, watch};
