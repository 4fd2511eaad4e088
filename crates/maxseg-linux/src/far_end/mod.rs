//! Tests of a path with the help of its far end: `maxseg responder`, or an iperf3 server.

mod connection;
mod datagrams;
mod error;
mod iperf3;
mod responder;
mod trains;
mod transfer;

pub use datagrams::{Contradicted, SizeFates};
pub use error::FarEndError;
pub use iperf3::Iperf3Server;
pub use responder::{Pings, ResponderClient, SynAsReceived};
pub use trains::TrainPlan;
pub use transfer::{BulkPlan, BulkResult, BulkSeries, Granted};
