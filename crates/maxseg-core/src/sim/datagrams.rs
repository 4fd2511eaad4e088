//! Datagrams at a constant rate: what was sent of them, and what arrived.

use super::send_schedule::SendSchedule;
use crate::framing::IpPacket;
use crate::stats::Seen;
use crate::units::Bytes;

/// Datagrams at a constant rate.
#[derive(Debug)]
pub(super) struct Datagrams {
    pub(super) size: u64,
    pub(super) packet: IpPacket,
    pub(super) schedule: SendSchedule,
    pub(super) sent: u64,
    /// Those that arrived, each once.
    pub(super) delivered: u64,
    /// Copies of those that had arrived already.
    pub(super) copies: u64,
    seen: Seen,
}

impl Datagrams {
    pub(super) fn new(size: Bytes, header: Bytes, schedule: SendSchedule) -> Self {
        Self {
            size: size.get(),
            packet: IpPacket::from(size + header),
            schedule,
            sent: 0,
            delivered: 0,
            copies: 0,
            seen: Seen::default(),
        }
    }

    /// The next is sent now; gives its number.
    pub(super) fn send(&mut self) -> u64 {
        let number = self.sent;
        self.sent += 1;
        self.schedule.advance();
        number
    }

    /// That with this number arrives, for the first time or as a copy that a link has made.
    pub(super) fn on_arrival(&mut self, number: u64) {
        if self.seen.insert(number) {
            self.delivered += 1;
        } else {
            self.copies += 1;
        }
    }
}
