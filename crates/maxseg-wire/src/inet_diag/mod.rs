//! The kernel's list of TCP sockets: netlink messages of `NETLINK_SOCK_DIAG` (`include/uapi/linux/inet_diag.h`;
//! filled by `inet_sk_diag_fill` in `net/ipv4/inet_diag.c`).
//!
//! ```text
//! Request { family, states, filter } → bytes → kernel → bytes → Messages → Socket (borrows the bytes)
//!                                                                        └→ Outline (a few numbers of it)
//! two Samples of a socket → SocketEvidence → core::diagnose
//! ```
//!
//! The numbers are of the machine's own byte order but for ports and addresses, which are as in a packet. What a
//! kernel does not give is `None`; attributes that are not known here are passed over.

mod evidence;
mod filter;
mod framing;
mod message;
mod outline;
mod request;
mod selection;
mod socket;
#[cfg(test)]
mod tests;

pub use evidence::Sample;
pub use filter::{Endpoint, Filter, Prefix};
pub use message::{Framed, Message, Messages, done_message, socket_message};
pub use outline::Outline;
pub use request::Request;
pub use selection::{Family, StateSet};
pub use socket::{Bbr, Memory, Socket, Timer, TimerKind, Vegas};
