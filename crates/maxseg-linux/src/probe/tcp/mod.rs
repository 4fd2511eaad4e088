//! Path MTUs by TCP: what arrives is acknowledged, so that an answer proves it, whatever routers say or keep to themselves.
//!
//! - [`raw`]: with `CAP_NET_RAW`, segments of old bytes on connections of our own. Nothing reaches the application, and the kernel
//!   learns nothing.
//! - [`sized`]: for everybody, a new connection for each size, whose first segment is full.
//! - [`losses`]: for everybody, how many full segments are lost beside small ones.
//! - [`offer`]: the MSS that a port offers.

pub mod losses;
pub mod offer;
pub mod payload;
pub mod raw;
pub mod sized;
