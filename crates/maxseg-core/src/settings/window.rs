//! Which receive window a peer really sees.

use super::WindowScale;
use crate::units::Bytes;
use crate::window::{FIELD, smallest_shift};

/// A receive window as the header can carry it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OfferedWindow {
    /// In a SYN, which is never scaled (RFC 7323 §2.2).
    pub in_syn: u32,
    /// In every other segment.
    pub afterwards: u32,
}

/// The window that a receiver with this much room offers.
pub(super) fn offered(room: Bytes, scale: WindowScale) -> OfferedWindow {
    let shift = match scale {
        WindowScale::Unlimited => {
            let window = field(room.get());
            return OfferedWindow { in_syn: window, afterwards: window };
        }
        WindowScale::Off => 0,
        WindowScale::Shift(shift) => shift,
        WindowScale::Auto => smallest_shift(room),
    };
    let units = (room.get() >> shift).min(FIELD);
    OfferedWindow { in_syn: field(room.get().min(FIELD)), afterwards: field(units << shift) }
}

fn field(window: u64) -> u32 {
    u32::try_from(window).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_field_limits_what_is_offered() {
        let kib = |n: u64| Bytes::new(n << 10);
        let cases = [
            (kib(64), WindowScale::Off, 65_535, "one byte short of 64 KiB"),
            (kib(64), WindowScale::Auto, 65_536, "shift 1 carries it exactly"),
            (kib(4096), WindowScale::Off, 65_535, "RFC 1323 not spoken"),
            (kib(4096), WindowScale::Auto, 4 << 20, "shift 7"),
            (kib(4096), WindowScale::Shift(2), 262_140, "shift 2 carries no more"),
            (Bytes::new(1001), WindowScale::Shift(3), 1000, "rounded down to eights"),
            (Bytes::new(14_600_000), WindowScale::Unlimited, 14_600_000, "no field"),
        ];
        for (room, scale, want, why) in cases {
            assert_eq!(offered(room, scale).afterwards, want, "{why}");
        }
        assert_eq!(offered(kib(4096), WindowScale::Auto).in_syn, 65_535);
    }
}
