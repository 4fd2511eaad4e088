//! Where packets lie while they are on their way.

use std::cell::RefCell;
use std::rc::Rc;

use maxseg_core::link::Markable;

use super::layout::Layout;
use crate::sys::VNET_HEADER;

/// The largest thing that a TUN interface hands over: its header, and an IP packet.
const LARGEST: usize = VNET_HEADER + 65_535;
/// Room classes: an acknowledgement, a jumbo frame, a super-packet. A packet of 40 bytes that is on its way for
/// 200 ms should not hold 64 KiB.
const CLASSES: [usize; 3] = [2048, 16_384, LARGEST];

/// Buffers that were used and can be again, the last one first: it is still in the cache.
#[derive(Debug)]
pub(super) struct Pool {
    free: RefCell<[Vec<Box<[u8]>>; 3]>,
}

/// What a TUN interface handed over, in a buffer that goes back to the pool when the last of its packets has
/// left.
#[derive(Debug)]
pub(super) struct SuperPacket {
    bytes: Box<[u8]>,
    class: usize,
    len: usize,
    /// What is in it.
    pub(super) layout: Layout,
    pool: Rc<Pool>,
}

impl Pool {
    pub(super) fn new() -> Rc<Self> {
        Rc::new(Self { free: RefCell::default() })
    }

    /// A buffer that takes whatever may come.
    pub(super) fn largest(&self) -> Box<[u8]> {
        self.take(CLASSES.len() - 1)
    }

    fn take(&self, class: usize) -> Box<[u8]> {
        let free = self.free.borrow_mut()[class].pop();
        free.unwrap_or_else(|| vec![0; CLASSES[class]].into_boxed_slice())
    }

    /// Keeps the `len` bytes of `scratch`: copied into a small buffer, or, if there are many, in `scratch`
    /// itself, for which another takes its place.
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

/// A packet of a super-packet, or all of them where `as_netem`.
#[derive(Debug, Clone)]
pub(super) struct SegmentRange {
    pub(super) of: Rc<SuperPacket>,
    pub(super) first: u16,
    pub(super) last: u16,
    pub(super) marked: bool,
}

impl SegmentRange {
    /// How many packets of the wire it is.
    pub(super) const fn count(&self) -> u16 {
        self.last - self.first + 1
    }
}

impl Markable for SegmentRange {
    fn mark(&mut self) {
        self.marked = true;
    }
}
