//! Buffers of the packets on a link.

use std::cell::RefCell;
use std::rc::Rc;

use maxseg_core::link::Markable;

use super::layout::Layout;
use crate::sys::VNET_HEADER;

/// The most that a TUN interface hands over at once, in bytes: its header and an IP packet.
const LARGEST: usize = VNET_HEADER + 65_535;
/// Buffer sizes in bytes: for an acknowledgement, a jumbo frame, a super-packet. A packet of 40 bytes that is on the
/// link for 200 ms should not hold 64 KiB.
const CLASSES: [usize; 3] = [2048, 16_384, LARGEST];

/// Free buffers by size. The last one freed is used first: it is still in the cache.
#[derive(Debug)]
pub(super) struct Pool {
    free: RefCell<[Vec<Box<[u8]>>; 3]>,
}

/// What a TUN interface handed over at once: one packet or several TCP segments. Its buffer returns to the pool when
/// the last of its packets has left.
#[derive(Debug)]
pub(super) struct SuperPacket {
    bytes: Box<[u8]>,
    class: usize,
    len: usize,
    /// Its headers and segments.
    pub(super) layout: Layout,
    pool: Rc<Pool>,
}

impl Pool {
    pub(super) fn new() -> Rc<Self> {
        Rc::new(Self { free: RefCell::default() })
    }

    /// A buffer of the largest size.
    pub(super) fn largest(&self) -> Box<[u8]> {
        self.take(CLASSES.len() - 1)
    }

    fn take(&self, class: usize) -> Box<[u8]> {
        let free = self.free.borrow_mut()[class].pop();
        free.unwrap_or_else(|| vec![0; CLASSES[class]].into_boxed_slice())
    }

    /// Keeps the `len` bytes of `scratch`: few are copied into a smaller buffer; for many, `scratch` itself is kept and
    /// replaced.
    pub(super) fn keep(
        self: &Rc<Self>,
        scratch: &mut Box<[u8]>,
        len: usize,
        layout: Layout,
    ) -> SuperPacket {
        let last = CLASSES.len() - 1;
        let class = CLASSES.iter().position(|room| len <= *room).unwrap_or(last);
        let mut bytes = self.take(class);
        if class == last {
            std::mem::swap(&mut bytes, scratch);
        } else {
            bytes[..len].copy_from_slice(&scratch[..len]);
        }
        SuperPacket { bytes, class, len, layout, pool: Rc::clone(self) }
    }
}

impl SuperPacket {
    /// The TUN interface's header and the IP packet.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl Drop for SuperPacket {
    fn drop(&mut self) {
        let bytes = std::mem::take(&mut self.bytes);
        self.pool.free.borrow_mut()[self.class].push(bytes);
    }
}

/// A packet of a super-packet; with `as_netem`, the whole super-packet.
#[derive(Debug, Clone)]
pub(super) struct SegmentRange {
    pub(super) of: Rc<SuperPacket>,
    pub(super) first: u16,
    pub(super) last: u16,
    pub(super) marked: bool,
}

impl SegmentRange {
    /// Packets on the wire.
    pub(super) const fn count(&self) -> u16 {
        self.last - self.first + 1
    }
}

impl Markable for SegmentRange {
    fn mark(&mut self) {
        self.marked = true;
    }
}
