//! Packet sizes as qdiscs account them: tc-stab(8).

use maxseg_core::framing::Framing;
use maxseg_core::path::LinkSpec;

/// A size table: corrects packet sizes as the kernel does (`__qdisc_calculate_pkt_len`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SizeTable {
    /// Overhead in bytes added to the device's frame; may be negative.
    pub overhead: i32,
    /// Least accounted size (MPU); 0 for none.
    pub least: u32,
    /// ATM cells: 53 bytes for each 48 of payload.
    pub cells: bool,
    /// The largest size in the table.
    pub largest: u32,
}

/// A link's framing as a size table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sizes {
    /// The table; `None` where the device's sizes are the link's.
    pub(super) table: Option<SizeTable>,
    /// Accounted size of a full packet.
    pub(super) full_packet: u32,
    /// Largest error of an accounted size, in bytes.
    pub(super) off_by: u32,
}

/// Entries have 16 bits and a netlink attribute at most 64 KiB; half of that leaves space for the rest of the
/// message.
const MOST_ENTRIES: u32 = 16_384;
/// Bytes of an ATM cell and of its payload.
const CELL: (u32, u32) = (53, 48);
/// The smallest packet compared: an IPv4 header.
const SMALLEST: u32 = 20;

impl Sizes {
    /// No table: sizes are the device's.
    pub(super) fn of_device(link: &LinkSpec, device_header: u32) -> Self {
        let mtu = u32::from(link.mtu.get());
        let off_by = largest_error(link, |ip| ip + device_header);
        Self { table: None, full_packet: mtu + device_header, off_by }
    }

    /// Derives the table from the link's sizes, and checks every size up to the MTU.
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
    /// Accounted size of a frame of `frame` bytes on the device.
    pub fn counts(&self, frame: u32) -> u32 {
        let size = frame.saturating_add_signed(self.overhead).max(1);
        if !self.is_looked_up() {
            return size;
        }
        // Entry i is the accounted size of (i + 1) << log bytes.
        let log = self.log();
        self.adjusted((((size - 1) >> log) + 1) << log)
    }

    /// `tc_adjust_size`.
    fn adjusted(&self, size: u32) -> u32 {
        let size = size.max(self.least);
        if self.cells { size.div_ceil(CELL.1) * CELL.0 } else { size }
    }

    /// Whether the kernel needs a table; an overhead alone does not.
    fn is_looked_up(&self) -> bool {
        self.cells || self.least > 0
    }

    fn entries(&self) -> u32 {
        (self.largest + 1).min(MOST_ENTRIES)
    }

    /// Binary logarithm of the step between entries (`tc_calc_size_table`).
    fn log(&self) -> u32 {
        let last = self.entries() - 1;
        (0..32).find(|log| self.largest >> log <= last).unwrap_or(31)
    }

    /// The arguments of `tc`.
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

/// Overhead of a packet before segmentation into cells, found where one byte more takes another cell.
fn cell_overhead(link: &LinkSpec) -> u32 {
    let grows = |ip: &u32| on_wire(link, *ip + 1) > on_wire(link, *ip);
    let full = (1..=CELL.1).find(grows).unwrap_or(CELL.1);
    (on_wire(link, full) / CELL.0 * CELL.1).saturating_sub(full)
}

fn largest_error(link: &LinkSpec, counted: impl Fn(u32) -> u32) -> u32 {
    let sizes = SMALLEST..=u32::from(link.mtu.get());
    sizes.map(|ip| counted(ip).abs_diff(on_wire(link, ip))).max().unwrap_or(0)
}
