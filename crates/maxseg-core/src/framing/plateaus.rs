//! The path MTUs that are likely.

use crate::units::{Bytes, Mtu};

/// MTUs of common links, largest first (RFC 1191 table 7-1).
pub const PLATEAUS: [u16; 11] =
    [65_535, 32_000, 17_914, 8_166, 4_352, 2_002, 1_492, 1_006, 508, 296, 68];

/// The estimate after a router has refused a packet of `length` bytes without saying what it would
/// take: the largest plateau below, and the least for what is below that (RFC 1191 §5, §7).
///
/// # Panics
/// Never: every plateau is an MTU.
pub fn next_plateau(length: Bytes) -> Mtu {
    let plateau = PLATEAUS.into_iter().map(u64::from).find(|plateau| *plateau < length.get());
    Mtu::new(plateau.unwrap_or(u64::from(Mtu::MIN))).expect("every plateau is an MTU")
}
