//! Made evidence and rows, and the captures of the repository, for tests of several crates.

pub mod captures;
mod connections;
mod flights;
pub mod rows;
mod sample;
pub mod spoil;

pub use connections::{
    BEGIN, at, black_hole_before, full_link, linux_syn, packet_too_big, traced, windowed,
};
pub use flights::{ROUND_TRIP, clean, flight, offers};
pub use sample::{SAMPLE, is_its_turn, sample_seed, sampled};
