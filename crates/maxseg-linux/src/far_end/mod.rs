//! Tests of a path with the help of its far end: `maxseg responder`, or an iperf3 server.

mod connection;
mod error;
mod iperf3;
mod responder;
mod reverse_mtu;
mod transfer;

pub use error::FarEndError;
pub use iperf3::Iperf3Server;
pub use responder::{Pings, ResponderClient, SynAsReceived};
pub use reverse_mtu::ReverseMtu;
pub use transfer::{BulkPlan, BulkResult, BulkSeries, Granted};
