//! The ring of blocks that a packet socket shares with the kernel (`TPACKET_V3`, the kernel's
//! `Documentation/networking/packet_mmap.rst`): packets are read in place, a block of many at a time.

use std::io;
use std::mem::offset_of;
use std::num::NonZeroUsize;
use std::os::fd::AsFd as _;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use nix::sys::mman::{MapFlags, ProtFlags, mmap, munmap};

use super::packet_socket::PacketSocket;

/// Bytes of a block. A BIG TCP packet (RFC 2675) can be larger, and is cut.
pub(crate) const BLOCK: usize = 256 << 10;
/// The longest time for which the kernel fills a block before it hands it over (`tp_retire_blk_tov`).
const BLOCK_TIMEOUT: Duration = Duration::from_millis(20);
/// `tp_frame_size`: required, and unused by `TPACKET_V3`, whose packets have any length.
const FRAME: usize = 2048;

/// A ring of blocks, each owned by the kernel or by this process.
#[derive(Debug)]
pub(crate) struct PacketRing {
    memory: NonNull<u8>,
    blocks: usize,
    /// The block that this process gets next.
    next: usize,
}

/// A packet in the ring.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RingPacket<'a> {
    /// Nanoseconds since 1970.
    pub(crate) at_nanos: u64,
    /// Original length in bytes.
    pub(crate) len: u32,
    /// The captured bytes, from the link header on; the kernel may have removed a VLAN tag.
    pub(crate) bytes: &'a [u8],
    /// Bytes before the network header.
    pub(crate) network: usize,
    /// `TP_STATUS_*`.
    pub(crate) status: u32,
    /// The removed VLAN tag: TPID and TCI.
    pub(crate) vlan: (u16, u16),
    /// The index of the interface.
    pub(crate) interface: u32,
    /// The type of the interface, `ARPHRD_*`.
    pub(crate) hardware: u16,
    /// The destination of the packet, `PACKET_*`.
    pub(crate) kind: u8,
}

impl PacketRing {
    /// A ring of at least `bytes` bytes for a socket that is not bound yet.
    ///
    /// # Errors
    /// The kernel has not enough memory.
    pub(crate) fn new(socket: &PacketSocket, bytes: usize) -> io::Result<Self> {
        let blocks = bytes.div_ceil(BLOCK).max(2);
        let number = |n: usize| u32::try_from(n).map_err(io::Error::other);
        let version = libc::tpacket_versions::TPACKET_V3 as libc::c_int;
        socket.set(libc::SOL_PACKET, libc::PACKET_VERSION, &version)?;
        let request = libc::tpacket_req3 {
            tp_block_size: number(BLOCK)?,
            tp_block_nr: number(blocks)?,
            tp_frame_size: number(FRAME)?,
            tp_frame_nr: number(blocks * (BLOCK / FRAME))?,
            tp_retire_blk_tov: u32::try_from(BLOCK_TIMEOUT.as_millis())
                .map_err(io::Error::other)?,
            tp_sizeof_priv: 0,
            tp_feature_req_word: 0,
        };
        socket.set(libc::SOL_PACKET, libc::PACKET_RX_RING, &request)?;
        Ok(Self { memory: map(socket, blocks * BLOCK)?, blocks, next: 0 })
    }

    /// Calls `each` for the packets of the next full block, in order, and returns the block to the kernel. Gives whether
    /// there was one.
    ///
    /// # Errors
    /// The error of `each`; the block is returned to the kernel all the same.
    pub(crate) fn next_block<E>(
        &mut self,
        mut each: impl FnMut(RingPacket<'_>) -> Result<(), E>,
    ) -> Result<bool, E> {
        let Some(block) = self.full_block() else { return Ok(false) };
        let mut place = block.first();
        let mut done = Ok(());
        for _ in 0..block.packets() {
            let Some((packet, next)) = place.and_then(|place| block.packet(place)) else {
                break;
            };
            done = each(packet);
            if done.is_err() {
                break;
            }
            place = Some(next);
        }
        block.give_back();
        self.next = (self.next + 1) % self.blocks;
        done.map(|()| true)
    }

    #[expect(unsafe_code, reason = "memory that is shared with the kernel")]
    fn full_block(&self) -> Option<Block<'_>> {
        // SAFETY: `next` is below `blocks`, and the mapping has so many blocks.
        let start = unsafe { self.memory.add(self.next * BLOCK) };
        // SAFETY: a block begins with a `tpacket_block_desc`, aligned as the page is; this field of it is
        // what the kernel and we both write, each whole.
        let status = unsafe {
            let descriptor = start.cast::<libc::tpacket_block_desc>().as_ptr();
            AtomicU32::from_ptr(&raw mut (*descriptor).hdr.bh1.block_status)
        };
        // Acquire: all that the kernel wrote before it handed the block over is visible from here on.
        if status.load(Ordering::Acquire) & libc::TP_STATUS_USER == 0 {
            return None;
        }
        // SAFETY: until its status changes the kernel does not write to the block after the status word, and
        // `bytes` begins after that word.
        let bytes = unsafe {
            std::slice::from_raw_parts(start.as_ptr().add(STATUS_END), BLOCK - STATUS_END)
        };
        Some(Block { status, bytes })
    }
}

/// Offsets in a block's descriptor, from the start of the block.
const HEADER: usize = offset_of!(libc::tpacket_block_desc, hdr);
const STATUS_END: usize =
    HEADER + offset_of!(libc::tpacket_hdr_v1, block_status) + size_of::<u32>();
const PACKETS: usize = HEADER + offset_of!(libc::tpacket_hdr_v1, num_pkts);
const FIRST_PACKET: usize = HEADER + offset_of!(libc::tpacket_hdr_v1, offset_to_first_pkt);
/// Offsets in the header of a packet; a `sockaddr_ll` follows it.
const VLAN: usize = offset_of!(libc::tpacket3_hdr, hv1);
const VLAN_CONTROL: usize = VLAN + offset_of!(libc::tpacket_hdr_variant1, tp_vlan_tci);
const VLAN_PROTOCOL: usize = VLAN + offset_of!(libc::tpacket_hdr_variant1, tp_vlan_tpid);
const ADDRESS: usize = size_of::<libc::tpacket3_hdr>().next_multiple_of(libc::TPACKET_ALIGNMENT);
const INTERFACE: usize = ADDRESS + offset_of!(libc::sockaddr_ll, sll_ifindex);
const HARDWARE: usize = ADDRESS + offset_of!(libc::sockaddr_ll, sll_hatype);
const KIND: usize = ADDRESS + offset_of!(libc::sockaddr_ll, sll_pkttype);

impl Drop for PacketRing {
    #[expect(unsafe_code, reason = "memory that is shared with the kernel")]
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, of this length, and nothing that borrows from it is left.
        let _ = unsafe { munmap(self.memory.cast(), self.blocks * BLOCK) };
    }
}

#[expect(unsafe_code, reason = "memory that is shared with the kernel")]
fn map(socket: &PacketSocket, length: usize) -> io::Result<NonNull<u8>> {
    let length = NonZeroUsize::new(length).ok_or(io::ErrorKind::InvalidInput)?;
    let rights = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
    // SAFETY: a new mapping, at a place that the kernel chooses.
    let memory = unsafe { mmap(None, length, rights, MapFlags::MAP_SHARED, socket.as_fd(), 0) }?;
    Ok(memory.cast())
}

/// A block owned by this process. Whatever offsets the kernel gives, nothing outside the block is read.
struct Block<'a> {
    status: &'a AtomicU32,
    /// The bytes after the status.
    bytes: &'a [u8],
}

impl<'a> Block<'a> {
    fn packets(&self) -> u32 {
        self.u32(PACKETS)
    }

    fn first(&self) -> Option<usize> {
        usize::try_from(self.u32(FIRST_PACKET)).ok()
    }

    /// The packet whose header (`struct tpacket3_hdr`, followed by a `struct sockaddr_ll`) is at `place`, and the place of
    /// the next header.
    fn packet(&self, place: usize) -> Option<(RingPacket<'a>, usize)> {
        let number = |offset| self.u32(place + offset);
        let from_here = |offset| usize::from(self.u16(place + offset));
        let link = from_here(offset_of!(libc::tpacket3_hdr, tp_mac));
        let network = from_here(offset_of!(libc::tpacket3_hdr, tp_net)).saturating_sub(link);
        let start = place + link;
        let kept = number(offset_of!(libc::tpacket3_hdr, tp_snaplen));
        let seconds = u64::from(number(offset_of!(libc::tpacket3_hdr, tp_sec)));
        let nanos = u64::from(number(offset_of!(libc::tpacket3_hdr, tp_nsec)));
        let [.., high, low] = number(VLAN_CONTROL).to_be_bytes();
        let packet = RingPacket {
            at_nanos: seconds * 1_000_000_000 + nanos,
            len: number(offset_of!(libc::tpacket3_hdr, tp_len)),
            bytes: self.slice(start, usize::try_from(kept).ok()?)?,
            network,
            status: number(offset_of!(libc::tpacket3_hdr, tp_status)),
            vlan: (self.u16(place + VLAN_PROTOCOL), u16::from_be_bytes([high, low])),
            interface: number(INTERFACE),
            hardware: self.u16(place + HARDWARE),
            kind: self.slice(place + KIND, 1)?.first().copied()?,
        };
        let next = number(offset_of!(libc::tpacket3_hdr, tp_next_offset));
        Some((packet, place + usize::try_from(next).ok()?))
    }

    /// Returns the block to the kernel.
    fn give_back(self) {
        self.status.store(libc::TP_STATUS_KERNEL, Ordering::Release);
    }

    /// `length` bytes at an offset from the start of the block.
    fn slice(&self, place: usize, length: usize) -> Option<&'a [u8]> {
        let begin = place.checked_sub(STATUS_END)?;
        self.bytes.get(begin..begin.checked_add(length)?)
    }

    /// A number in host byte order; zero beyond the block.
    fn u32(&self, place: usize) -> u32 {
        let bytes = self.slice(place, 4).and_then(|bytes| bytes.try_into().ok());
        u32::from_ne_bytes(bytes.unwrap_or_default())
    }

    fn u16(&self, place: usize) -> u16 {
        let bytes = self.slice(place, 2).and_then(|bytes| bytes.try_into().ok());
        u16::from_ne_bytes(bytes.unwrap_or_default())
    }
}
