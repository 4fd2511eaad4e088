//! What comparisons with random runs of the lab share: numbers by chance, the halves of a reference set, laws by which a
//! draw is rejected, what is sent, the options of their commands, the program that runs, networks that it brings up, and several
//! runs at once.

mod application;
mod chance;
mod congestion;
mod engine;
mod half;
mod network;
mod options;
mod program;
mod words;
mod workers;

pub use application::Application;
pub(crate) use chance::{below, log_uniform, pick, uniform, whole};
pub use congestion::Congestion;
pub(crate) use engine::simulate;
pub use engine::{Engine, Runner};
pub(crate) use half::Half;
pub(crate) use network::{Running, UpLab};
pub use options::DrawOptions;
pub(crate) use program::{ATTEMPTS, first_of_all, run_in_lab, run_in_lab_beside};
pub(crate) use words::{percent, percents, short, span};
pub(crate) use workers::until_done;
