//! How a segment size comes about: the RFCs' rule, and what stacks make of it.
//!
//! Each rule is a function of named inputs, and gives a [`Derivation`] for each of its results: every
//! clamp in order, and which one won.
//!
//! | rule | function | source |
//! |---|---|---|
//! | the RFCs' | [`rfc::decide`] | RFC 9293 §3.7.1, RFC 6691, RFC 1122 §4.2.2.6 |
//! | Linux | [`linux::decide`] | `tcp_sync_mss`, `tcp_bound_to_half_wnd`, `ipv4_default_advmss` |
//! | FreeBSD 2.2, patched, modern | [`freebsd::decide`] | `tcp_mss` in `tcp_input.c` |
//! | Stratus STCP | [`stcp::decide`] | the vendor's note on `default_min_mtu` |
//! | Linux, where segments vanish | [`black_hole::found`] | `tcp_mtu_probing` in `tcp_timer.c` |

pub mod black_hole;
mod derivation;
pub mod freebsd;
pub mod linux;
pub mod rfc;
pub mod stcp;

pub use derivation::{Cause, Derivation, Effect, Step};

use crate::framing::IpVersion;

/// What a host may send to a peer that gave no MSS option: 576 or 1280 bytes of packet less the headers (RFC 9293 §3.7.1). Every IPv4
/// host receives packets of that size (RFC 791 §3.2), and every link of IPv6 carries them (RFC 8200 §5).
pub const fn default_mss(ip: IpVersion) -> u32 {
    match ip {
        IpVersion::V4 => 536,
        IpVersion::V6 => 1220,
    }
}

#[cfg(test)]
mod tests;
