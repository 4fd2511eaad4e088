//! Made evidence and rows, and the captures of the repository, for tests of several crates.

pub mod captures;
mod connections;
#[cfg(unix)]
mod everybody;
mod flights;
pub mod rows;
mod sample;
pub mod spoil;

pub use connections::{
    BEGIN, at, black_hole_before, full_link, linux_syn, packet_too_big, traced, windowed,
};
#[cfg(unix)]
pub use everybody::for_everybody;
pub use flights::{ROUND_TRIP, clean, flight, offers};
pub use sample::{SAMPLE, is_its_turn, sample_seed, sampled};
