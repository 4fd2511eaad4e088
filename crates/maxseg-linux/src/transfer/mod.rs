//! Bulk data over TCP sockets, and what the kernel says of them meanwhile: for both ends of a test.

mod bulk;
mod frames;
mod options;
mod samples;
mod token;

pub(crate) use bulk::{Zeros, discard, send};
pub(crate) use frames::{Frames, ReadError};
pub(crate) use options::{SocketOptions, congestion_name, granted};
pub(crate) use samples::Sampler;
pub(crate) use token::make_token;
pub(crate) use token::{is_proven, proof, random};
