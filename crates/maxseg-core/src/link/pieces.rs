//! A packet on its way as several pieces: fragments (RFC 791 §3.2), and copies.

use super::Fate;
use crate::framing::{IpPacket, IpVersion, fragments, ip_header};
use crate::units::{Bytes, Mtu, Time};

/// How a packet crosses a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HopSpan {
    /// The hop at which it enters, in the order of its direction, from 0.
    pub first: u16,
    /// The last hop that it crosses.
    pub last: u16,
    /// Whether hops must not fragment it: DF is set, or it is IPv6.
    pub df: bool,
    /// Whether it knows ECN (RFC 3168 §5: ECT).
    pub ect: bool,
}

/// What a link must know of what it carries.
pub trait Markable: Clone {
    /// The packet has met congestion (RFC 3168 §5: CE).
    fn mark(&mut self);
}

/// A fragment's place in its packet, in bytes of IP payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FragmentRange {
    /// Where it begins; a multiple of 8.
    pub offset: u32,
    /// How much of it there is.
    pub len: u32,
    /// Whether something follows.
    pub more: bool,
}

/// A packet, or a fragment of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece {
    /// Which packet, in the order in which they were sent.
    pub(super) serial: u64,
    /// Which copy of it.
    copy: u32,
    /// What it is to a link.
    pub(super) shape: IpPacket,
    /// Bytes of IP payload before it, in it, and in the whole packet.
    from: u32,
    len: u32,
    whole: u32,
    pub(super) hop_span: HopSpan,
    pub(super) marked: bool,
}

/// The header of a packet that can be fragmented; options are not modelled.
const HEADER: Bytes = ip_header(IpVersion::V4);

impl Piece {
    pub(super) fn whole(serial: u64, shape: IpPacket, hop_span: HopSpan) -> Self {
        let len = small(shape.length().saturating_sub(HEADER));
        Self { serial, copy: 0, shape, from: 0, len, whole: len, hop_span, marked: false }
    }

    pub(super) fn is_fragment(&self) -> bool {
        self.len < self.whole
    }

    /// Its place in its packet; `None` for a whole one.
    pub(super) const fn part(&self) -> Option<FragmentRange> {
        if self.len == self.whole {
            return None;
        }
        let more = self.from + self.len < self.whole;
        Some(FragmentRange { offset: self.from, len: self.len, more })
    }

    /// Whether a link of this MTU takes it. The largest MTU takes all: what is longer than any IP packet is several of
    /// them that cross the link as one, a super-packet.
    pub(super) fn fits(&self, mtu: Mtu) -> bool {
        self.shape.length() <= mtu.bytes() || mtu == Mtu::LARGEST
    }

    /// What it consists of after a hop with this MTU.
    pub(super) fn fragments(self, mtu: Mtu) -> impl Iterator<Item = Self> {
        let whole = self.fits(mtu);
        // What fits keeps its shape, be it shorter than a header.
        let length = if whole { HEADER } else { self.shape.length() };
        fragments(length, mtu, HEADER).map(move |fragment| {
            if whole {
                return self;
            }
            Self {
                shape: IpPacket::from(fragment.length),
                from: self.from + small(fragment.offset),
                len: small(fragment.payload),
                ..self
            }
        })
    }
}

fn small(bytes: Bytes) -> u32 {
    u32::try_from(bytes.get()).expect("a packet is below 4 GiB")
}

/// The pieces of one packet, as far as they have come to an end.
#[derive(Debug, Clone, Default)]
pub(super) struct PacketPieces {
    /// Pieces still on their way.
    alive: u32,
    copies: u32,
    arrived: bool,
    damaged: bool,
    too_big: Option<Fate>,
    /// When the last piece came to its end.
    end: Time,
    /// Fragments that have arrived: copy, first byte, byte after the last, marked.
    parts: Vec<(u32, u32, u32, bool)>,
    complete: Vec<u32>,
}

impl PacketPieces {
    /// A packet in one piece.
    pub(super) fn of_one() -> Self {
        Self { alive: 1, ..Self::default() }
    }

    /// So many more pieces are on their way.
    pub(super) fn add(&mut self, pieces: u32) {
        self.alive += pieces;
    }

    /// A second `piece`. A whole packet's copy is put together on its own, a fragment's is as good as
    /// the fragment.
    pub(super) fn double(&mut self, piece: Piece) -> Piece {
        self.add(1);
        if piece.is_fragment() {
            return piece;
        }
        self.copies += 1;
        Piece { copy: self.copies, ..piece }
    }

    /// A piece reaches the far end. If that completes a packet: whether it is marked. A mark on any
    /// fragment is the packet's (RFC 3168 §5.3).
    pub(super) fn arrives(&mut self, at: Time, piece: &Piece) -> Option<bool> {
        self.over(at);
        if !piece.is_fragment() {
            self.arrived = true;
            return Some(piece.marked);
        }
        if self.complete.contains(&piece.copy) {
            return None;
        }
        self.parts.push((piece.copy, piece.from, piece.from + piece.len, piece.marked));
        self.parts.sort_unstable();
        let of_copy = || self.parts.iter().filter(|(copy, ..)| *copy == piece.copy);
        // As far as it is there without a gap.
        let covered = of_copy().fold(
            0,
            |end, (_, from, to, _)| {
                if *from <= end { end.max(*to) } else { end }
            },
        );
        if covered < piece.whole {
            return None;
        }
        let marked = of_copy().any(|(.., marked)| *marked);
        self.complete.push(piece.copy);
        self.arrived = true;
        Some(marked)
    }

    /// A piece is lost. Gives whether that is the loss of the packet already, whatever becomes of the others: the first one that
    /// is too large is what its router tells the sender of, and no copy is smaller.
    pub(super) fn dies(&mut self, fate: Fate) -> bool {
        self.damaged |= matches!(fate, Fate::Damaged(_));
        let is_too_big = matches!(fate, Fate::TooBig { .. });
        let is_first = is_too_big && self.too_big.is_none();
        if is_too_big {
            let first = self
                .too_big
                .map_or(fate, |known| if fate.at() < known.at() { fate } else { known });
            self.too_big = Some(first);
        }
        self.over(fate.at());
        is_first
    }

    fn over(&mut self, at: Time) {
        self.alive -= 1;
        self.end = self.end.max(at);
    }

    /// Whether nothing of it is on its way any more.
    pub(super) fn is_over(&self) -> bool {
        self.alive == 0
    }

    /// What became of a packet that is over and never arrived. It counts as lost when the last of its
    /// pieces has come to its end.
    pub(super) fn loss(&self) -> Option<Fate> {
        match self.too_big {
            _ if self.arrived => None,
            Some(too_big) => Some(too_big),
            None if self.damaged => Some(Fate::Damaged(self.end)),
            None => Some(Fate::Refused(self.end)),
        }
    }
}
