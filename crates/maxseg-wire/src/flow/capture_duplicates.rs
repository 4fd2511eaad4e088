//! Packets that a capture holds twice: a mirror port that copies both directions, or two interfaces of one host. They
//! are no retransmissions: both copies have the same IP identification.

use serde::{Deserialize, Serialize};

use super::Seen;

/// The last packets of an end, as fingerprints.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct RecentPackets {
    prints: [u64; LENGTH],
    /// When each was seen, in microseconds.
    times: [u32; LENGTH],
    next: u8,
}

/// Most packets of one endpoint between two copies of a packet.
const LENGTH: usize = 8;
/// Longest time between two copies, in microseconds. A later packet with the same identification was duplicated by the
/// network, and reached the receiver twice.
const AT_ONCE: u32 = 50_000;
/// Longest time between two copies without an IP identification (IPv6, or identification 0), in microseconds: no sender
/// retransmits so soon.
const WITHOUT_ID: u32 = 500;

impl RecentPackets {
    /// Forgets the packets after `quiet` nanoseconds without one, if no copy of them can come any more.
    pub(super) fn forget_old(&mut self, quiet: u64) {
        if quiet > u64::from(AT_ONCE) * 1000 {
            *self = Self::default();
        }
    }

    /// Whether a packet is a copy of one of the last ones; remembers it otherwise.
    #[inline]
    pub(super) fn is_copy(&mut self, seen: &Seen<'_>) -> bool {
        let print = fingerprint(seen);
        let at = micros(seen.at_nanos);
        let has_id = seen.ip_id.is_some_and(|id| id != 0);
        if !has_id && seen.seq_len() == 0 {
            // Duplicate ACKs are identical, and are no copies.
            return false;
        }
        let within = if has_id { AT_ONCE } else { WITHOUT_ID };
        if self.prints.contains(&print) {
            let mut known = self.prints.iter().zip(&self.times);
            // Clocks of captures run back now and then.
            let apart = |when: u32| at.wrapping_sub(when).min(when.wrapping_sub(at));
            if known.any(|(known, when)| *known == print && apart(*when) <= within) {
                return true;
            }
        }
        let next = usize::from(self.next) % LENGTH;
        if let (Some(known), Some(when)) = (self.prints.get_mut(next), self.times.get_mut(next)) {
            (*known, *when) = (print, at);
        }
        self.next = self.next.wrapping_add(1);
        false
    }
}

/// Microseconds; they wrap after 71 minutes, and only differences are used.
#[expect(clippy::cast_possible_truncation, reason = "compared modulo 2³²")]
const fn micros(nanos: u64) -> u32 {
    (nanos / 1000) as u32
}

/// Numbers, checksum and identification, mixed; never 0.
fn fingerprint(seen: &Seen<'_>) -> u64 {
    let numbers = u64::from(seen.seq) << 32 | u64::from(seen.ack);
    let id = u64::from(seen.ip_id.unwrap_or(0));
    let rest = id << 48
        | u64::from(seen.checksum) << 32
        | u64::from(seen.window) << 16
        | u64::from(seen.flags.bits()) << 4
        | u64::from(seen.payload_len & 0xf);
    let mixed = (numbers ^ rest.rotate_left(29)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ rest | 1
}
