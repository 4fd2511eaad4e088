//! Bulk data over TCP sockets, and what the kernel says of them meanwhile: for both ends of a test.

mod bulk;
mod frames;
mod options;
mod rate_limit;
mod samples;
mod token;
mod train;

use std::net::IpAddr;
use std::time::Duration;

use maxseg_core::framing::{UDP_HEADER, ip_header};

pub(crate) use bulk::{Zeros, discard, send};
pub(crate) use frames::{Frames, ReadError};
pub(crate) use options::{SocketOptions, congestion_name, granted};
pub(crate) use rate_limit::RateLimit;
pub(crate) use samples::Sampler;
pub(crate) use token::make_token;
pub(crate) use token::{is_proven, proof, random};
pub(crate) use train::{is_full, send_train};

/// The responder may take so much longer than a transfer, beyond its limit too: the client ends it.
pub(crate) const MARGIN: Duration = Duration::from_secs(1);

/// Bytes of the headers of IP and UDP of datagrams to or from an address.
pub(crate) fn datagram_headers(address: IpAddr) -> usize {
    let ip = ip_header(address.to_canonical().into());
    usize::try_from((ip + UDP_HEADER).get()).unwrap_or(usize::MAX)
}
