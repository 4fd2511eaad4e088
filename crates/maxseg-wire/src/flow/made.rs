//! Segments made by hand, for tests.

use super::Seen;
use crate::tcp::Flags;

/// A segment of 10.0.0.1:40000 at so many microseconds, which acknowledges nothing and has no payload.
pub(super) fn segment(micros: u64) -> Seen<'static> {
    Seen {
        at_nanos: 1_600_000_000_000_000_000 + micros * 1000,
        frame: 1,
        interface: 0,
        link: 0,
        source: ([10, 0, 0, 1], 40_000).into(),
        destination: ([10, 0, 0, 2], 80).into(),
        ip_id: Some(1),
        dont_fragment: true,
        ttl: 64,
        ecn: 0,
        ip_len: 40,
        seq: 1000,
        ack: 5000,
        window: 500,
        flags: Flags::ACK,
        checksum: 0,
        payload_len: 0,
        payload: &[],
        options_len: 0,
        options: &[],
    }
}

/// The same of the other end.
pub(super) fn answer(micros: u64) -> Seen<'static> {
    let seen = segment(micros);
    let (source, destination) = (seen.destination, seen.source);
    Seen { source, destination, seq: 5000, ack: 1000, ..seen }
}
