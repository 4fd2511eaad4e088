//! What packets count for: tc-stab(8).

use maxseg_core::framing::Framing;
use maxseg_core::path::LinkSpec;

/// A correction of packet sizes, in the kernel's terms (`__qdisc_calculate_pkt_len`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SizeTable {
    /// Bytes more than the device's frame has, or fewer.
    pub overhead: i32,
    /// The least that a packet counts for; 0 for no such bound.
    pub least: u32,
    /// Whether packets go in ATM cells, 53 bytes for each 48.
    pub cells: bool,
    /// The largest size that is looked up.
    pub largest: u32,
}

/// A link's framing in these terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sizes {
    /// `None` where the device counts as the link does.
    pub(super) table: Option<SizeTable>,
    /// What a full packet counts for.
    pub(super) full_packet: u32,
    /// By how many bytes some packet counts wrong at most.
    pub(super) off_by: u32,
}

/// A table's entries have 16 bits each, and an attribute ends at 64 KiB: half of what would fit leaves
/// room for the rest of the message.
const MOST_ENTRIES: u32 = 16_384;
/// An ATM cell, and its payload.
const CELL: (u32, u32) = (53, 48);
/// The smallest packet that is compared: an IPv4 header.
const SMALLEST: u32 = 20;

impl Sizes {
    /// What the device counts, uncorrected.
    pub(super) fn of_device(link: &LinkSpec, device_header: u32) -> Self {
        let mtu = u32::from(link.mtu.get());
        let off_by = largest_error(link, |ip| ip + device_header);
        Self { table: None, full_packet: mtu + device_header, off_by }
    }

    /// Found by asking the link what packets take, and checked on every size up to its MTU.
    pub(super) fn of_link(link: &LinkSpec, device_header: u32) -> Self {
        let plain = Self::of_device(link, device_header);
        if plain.off_by == 0 {
            return plain;
        }
        let mtu = u32::from(link.mtu.get());
        let cells = matches!(link.framing, Framing::AtmAal5 | Framing::AtmAal5Llc);
        let overhead =
            if cells { cell_overhead(link) } else { on_wire(link, mtu).saturating_sub(mtu) };
        let one_byte = on_wire(link, 1);
        let least = if cells || one_byte <= overhead + 1 { 0 } else { one_byte };
        let table = SizeTable {
            overhead: overhead.cast_signed() - device_header.cast_signed(),
            least,
            cells,
            largest: mtu + overhead,
        };
        let counted = |ip: u32| table.counts(ip + device_header);
        Self { table: Some(table), full_packet: counted(mtu), off_by: largest_error(link, counted) }
    }
}

impl SizeTable {
    /// What the kernel makes of a frame of so many bytes on the device.
    pub fn counts(&self, frame: u32) -> u32 {
        let size = frame.saturating_add_signed(self.overhead).max(1);
        if !self.is_looked_up() {
            return size;
        }
        // Entry i holds what (i + 1) << log bytes count for.
        let log = self.log();
        self.adjusted((((size - 1) >> log) + 1) << log)
    }

    /// `tc_adjust_size`.
    fn adjusted(&self, size: u32) -> u32 {
        let size = size.max(self.least);
        if self.cells { size.div_ceil(CELL.1) * CELL.0 } else { size }
    }

    /// Whether there is a table at all; a mere overhead needs none.
    fn is_looked_up(&self) -> bool {
        self.cells || self.least > 0
    }

    fn entries(&self) -> u32 {
        (self.largest + 1).min(MOST_ENTRIES)
    }

    /// Sizes are told apart in steps of 2 to this power (`tc_calc_size_table`).
    fn log(&self) -> u32 {
        let last = self.entries() - 1;
        (0..32).find(|log| self.largest >> log <= last).unwrap_or(31)
    }

    /// As `tc` takes it.
    pub(super) fn words(&self) -> Vec<String> {
        let mut words = vec!["stab".to_owned()];
        let mut add = |key: &str, value: String| words.extend([key.to_owned(), value]);
        add("overhead", self.overhead.to_string());
        if self.least > 0 {
            add("mpu", self.least.to_string());
        }
        if self.cells {
            add("linklayer", "atm".to_owned());
        }
        if self.is_looked_up() {
            add("mtu", self.largest.to_string());
            add("tsize", self.entries().to_string());
        }
        words
    }
}

fn on_wire(link: &LinkSpec, ip: u32) -> u32 {
    u32::try_from(link.framed(ip).get()).unwrap_or(u32::MAX)
}

/// What comes to a packet before it is cut into cells: where a cell more begins, the last ones are full.
fn cell_overhead(link: &LinkSpec) -> u32 {
    let grows = |ip: &u32| on_wire(link, *ip + 1) > on_wire(link, *ip);
    let full = (1..=CELL.1).find(grows).unwrap_or(CELL.1);
    (on_wire(link, full) / CELL.0 * CELL.1).saturating_sub(full)
}

fn largest_error(link: &LinkSpec, counted: impl Fn(u32) -> u32) -> u32 {
    let sizes = SMALLEST..=u32::from(link.mtu.get());
    sizes.map(|ip| counted(ip).abs_diff(on_wire(link, ip))).max().unwrap_or(0)
}
