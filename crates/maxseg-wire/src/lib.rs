//! Bytes on the wire, and the values that they mean.
//!
//! Nothing here panics, whatever the bytes: the lints below forbid what could, and property tests feed
//! every decoder arbitrary input. A header's layout is written down once, in its `fields`, and read in
//! both directions: decoding fills the fields, encoding writes them.
//!
//! ```text
//! bytes → ip::Packet → tcp::Segment → options::walk → TcpOption      pcapng::Reader → Block
//!                    → udp::Datagram, icmp::Message                  pcapng::Writer ← Interface, Packet
//!
//! input → capture_file::Record → encapsulation::decapsulate → ip::Outline → flow::Seen
//! ```
//!
//! Modules use only those to their left:
//!
//! <!-- layers of maxseg-wire -->
//! ```text
//! btf error checksum numbers pcap procnet · fields link_type options tcp_info · inet_diag ip pcapng ·
//! bpf icmp tcp udp capture_file responder · encapsulation path_probe synthetic · flow · joined tshark
//! · fuzz reading
//! ```
//! <!-- end of layers -->
#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    deny(
        clippy::indexing_slicing,
        clippy::panic,
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::unreachable
    )
)]

pub mod bpf;
pub mod btf;
pub mod capture_file;
mod checksum;
pub mod encapsulation;
mod error;
mod fields;
pub mod flow;
pub mod fuzz;
pub mod icmp;
pub mod inet_diag;
pub mod ip;
pub mod joined;
pub mod link_type;
mod numbers;
pub mod options;
pub mod path_probe;
pub mod pcap;
pub mod pcapng;
pub mod procnet;
pub mod reading;
pub mod responder;
pub mod synthetic;
pub mod tcp;
pub mod tcp_info;
pub mod tshark;
pub mod udp;

pub use checksum::{Checksum, Payload, Sum};
pub use error::{DecodeError, EncodeError, Layer};
