//! What is shown of a packet at a capture point.

use crate::link::FragmentRange;
use crate::scenario::End;
use crate::tcp::SackBlocks;
use crate::units::{Mtu, Time};

/// Is shown every packet, wherever it passes.
pub trait Tap {
    /// A packet passes a capture point. Sightings come in order of time; of two at one instant that
    /// comes first which causes the other. They may come late: what is lost on a link is told with it.
    fn on_packet(&mut self, sighting: &Sighting);
}

/// Where a packet can be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CapturePoint {
    /// At a host: when the packet leaves it for its first link, and when it has arrived there whole. What
    /// time the host itself takes for it lies before the one and behind the other.
    Host(End),
    /// At the near end of a hop's link, in either direction: when the packet gets its place in the
    /// queue, having passed what comes before. Hops count from 0 at the sender.
    Hop(usize),
}

/// A packet at a capture point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sighting {
    /// When, on the run's clock.
    pub at: Time,
    /// Where.
    pub point: CapturePoint,
    /// How the link that it enters here will lose it, so that it is seen nowhere else.
    pub lost: Option<Loss>,
    /// As what the packet is seen.
    pub form: PacketForm,
    /// Which packet.
    pub packet: PacketView,
}

/// How a link loses what had a place in its queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// It is damaged on the wire.
    Damaged,
    /// The queue's discipline drops it when it should leave.
    Dropped,
}

/// As what a packet is seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PacketForm {
    /// Itself, or a copy.
    Whole,
    /// One of its fragments.
    Fragment(FragmentRange),
    /// Not itself, but the news that it was too large, on the way to its sender (RFC 1191, RFC 8201).
    TooBig {
        /// The hop that refused it, counted from 0 at the sender.
        hop: usize,
        /// What that hop takes.
        mtu: Mtu,
    },
}

/// A packet as whoever looks at its headers sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PacketView {
    /// Which flow it belongs to, counted from 0.
    pub flow: usize,
    /// Which host sent it.
    pub from: End,
    /// How many packets that host had sent before, all flows together: it tells a packet from its
    /// repetition, and is the same at every capture point.
    pub number: u64,
    /// Length of the IP packet in bytes.
    pub ip_len: u32,
    /// Whether hops must not fragment it.
    pub dont_fragment: bool,
    /// The ECN field of its IP header (RFC 3168 §5).
    pub ecn: u8,
    /// What it carries.
    pub content: Content,
}

/// What a packet carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// A TCP segment.
    Tcp(TcpView),
    /// A datagram.
    Datagram,
    /// An echo request, the flow's `number`-th, counted from 0.
    EchoRequest {
        /// Which.
        number: u64,
    },
    /// The answer to that request.
    EchoReply {
        /// Which.
        number: u64,
    },
}

/// A TCP header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "flags of a header")]
pub struct TcpView {
    /// Which of the flow's connections, counted from 0.
    pub connection: u16,
    /// Number of the first payload byte; 0 is the SYN. It does not wrap.
    pub seq: u64,
    /// The next byte expected from the other side; `None` while the ACK flag is off.
    pub ack: Option<u64>,
    /// The SYN flag.
    pub syn: bool,
    /// The window field: not scaled.
    pub window: u16,
    /// Payload bytes.
    pub payload: u16,
    /// The MSS option.
    pub mss: Option<u16>,
    /// The window scale option: its shift.
    pub window_scale: Option<u8>,
    /// The SACK-permitted option.
    pub sack_permitted: bool,
    /// The SACK option's blocks.
    pub sack: SackBlocks,
    /// The timestamps option: value and echo, in milliseconds of the run's clock.
    pub timestamps: Option<(u32, u32)>,
    /// The ECE flag.
    pub echoes_marks: bool,
    /// The CWR flag.
    pub reduced: bool,
    /// The PSH flag: of the stack `linux`, as its kernel sets it; others do not say where a write ends.
    pub push: bool,
    /// Bytes that the simulation charges for options which no header can carry: ns-2's SACK blocks,
    /// without what wraps them.
    pub unwrapped: u8,
    /// Whether any of it was sent before.
    pub repeated: bool,
}
