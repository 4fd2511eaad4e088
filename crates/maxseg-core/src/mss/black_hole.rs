//! What Linux makes of full segments that vanish without a word (`tcp_mtu_probing` in
//! `net/ipv4/tcp_timer.c`; RFC 2923 §2.1, RFC 4821 §7.7).

use crate::units::{Bytes, Mss};

/// Timeouts in a row that make a segment suspicious: Linux's `tcp_retries1`.
pub const SUSPICIOUS: u32 = 3;
/// The size with which probing begins: Linux's `tcp_base_mss`.
pub const BASE: u64 = 1024;
/// The size below which it does not go: Linux's `tcp_mtu_probe_floor`.
const FLOOR: u64 = 48;

/// The size that is tried after `mss`: the base, and then always half. `None` at the floor.
pub const fn smaller(mss: u64) -> Option<u64> {
    let half = if mss / 2 > FLOOR { mss / 2 } else { FLOOR };
    let next = if mss > BASE { BASE } else { half };
    if next < mss { Some(next) } else { None }
}

/// The first size that passes where `allowed` does, and how many timeouts in a row it takes to get there;
/// `None` where none passes.
pub fn found(mss: Mss, allowed: Bytes) -> Option<(Mss, u32)> {
    let mut size = mss.bytes().get();
    let mut timeouts = 0;
    while size > allowed.get() {
        size = smaller(size)?;
        timeouts = if timeouts == 0 { SUSPICIOUS } else { timeouts + 1 };
    }
    Some((Mss::new(size).ok()?, timeouts))
}
