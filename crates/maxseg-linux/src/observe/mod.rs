//! What goes on here, looked at and not changed.

pub mod capture;
pub mod host;
pub mod path;
pub mod sockets;
