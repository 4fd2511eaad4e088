//! The path MTU by TCP, where a port takes connections: what arrives is proven, whatever routers say or keep to themselves.

mod by_dsack;
mod by_losses;
mod by_ports;
mod by_sizes;
mod dsack;
mod sized;
mod trace;
