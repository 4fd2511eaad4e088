//! A packet at one of the captures, as matching needs it.

use std::hash::BuildHasher;

use foldhash::fast::FixedState;

use super::samples::timestamp;
use crate::flow::{Endpoint, Seen};
use crate::tcp::Flags;

/// A packet at one of two captures.
#[derive(Debug, Clone, Copy)]
pub(super) struct Passing {
    /// When, by the clock of the first capture, in nanoseconds since 1970.
    pub(super) at: i64,
    /// Which of the joined connections it is of.
    pub(super) pair: u32,
    /// Its sender, in terms of the first capture's ends.
    pub(super) sender: Endpoint,
    pub(super) seq: u32,
    pub(super) ack: Option<u32>,
    pub(super) window: u16,
    pub(super) flags: Flags,
    pub(super) len: u32,
    pub(super) timestamp: Option<u32>,
    /// IPv4's identification; 0 where there is none.
    pub(super) ip_id: u16,
    pub(super) ttl: u8,
    pub(super) ecn: u8,
    /// Interface, link and TTL: what differs between copies of one packet that a capture holds.
    pub(super) point: u32,
    /// Whether an equal packet passed the same capture before.
    pub(super) is_copy: bool,
}

impl Passing {
    pub(super) fn of(seen: &Seen<'_>, at: i64, pair: u32, sender: Endpoint) -> Self {
        let is_ack = seen.flags.contains(Flags::ACK);
        Self {
            at,
            pair,
            sender,
            seq: seen.seq,
            ack: is_ack.then_some(seen.ack),
            window: seen.window,
            flags: seen.flags,
            len: seen.payload_len,
            timestamp: timestamp(seen),
            ip_id: seen.ip_id.unwrap_or(0),
            ttl: seen.ttl,
            ecn: seen.ecn,
            point: seen.link ^ seen.interface.rotate_left(16) ^ u32::from(seen.ttl).rotate_left(24),
            is_copy: false,
        }
    }

    /// Number of the first byte of payload: a SYN takes one itself.
    pub(super) const fn payload_seq(&self) -> u32 {
        self.seq.wrapping_add(self.flags.contains(Flags::SYN) as u32)
    }

    /// Equal for copies of one packet at one capture, and for little else.
    pub(super) fn identity(&self) -> u64 {
        let low = self.sender == Endpoint::Low;
        HASHER.hash_one((
            (self.pair, low, self.seq, self.ack, self.window),
            (self.flags.bits(), self.len, self.timestamp, self.ip_id),
        ))
    }
}

const HASHER: FixedState = FixedState::with_seed(1);

/// What a packet without payload says, in numbers that are the same at both captures. Bits of congestion control in the
/// header are left out, as is the window: hops clear the first, and rewrite the second.
pub(super) fn print(seq: u32, ack: Option<u32>, flags: Flags) -> u64 {
    let kept = Flags::FIN | Flags::SYN | Flags::RST | Flags::ACK | Flags::URG;
    HASHER.hash_one((seq, ack, flags.bits() & kept.bits()))
}
