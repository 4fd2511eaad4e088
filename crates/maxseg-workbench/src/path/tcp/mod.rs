//! The path MTU by TCP, where a port takes connections: what arrives is proven, whatever routers say or keep to themselves.

mod by_dsack;
mod by_sizes;
mod dsack;
mod sized;

use std::net::SocketAddr;

use maxseg_core::framing::IpVersion;

const fn version_of(far: SocketAddr) -> IpVersion {
    if far.is_ipv4() { IpVersion::V4 } else { IpVersion::V6 }
}
