//! The connections of one capture: what recognises them in another, and when which of their packets passed.

use std::net::SocketAddr;

use super::connections::Connections;
use super::samples::Samples;
use crate::flow::{Decoded, DecodedPacket, Endpoint, Pair, Seen};
use crate::options::{TcpOption, walk};
use crate::tcp::Flags;

/// The connections of a capture.
#[derive(Debug)]
pub(crate) struct Census {
    numbers: Connections,
    pub(super) connections: Vec<Identity>,
    pub(super) samples: Samples,
    most: usize,
}

/// What recognises a connection.
#[derive(Debug, Clone)]
pub(super) struct Identity {
    pub(super) ends: Pair<SocketAddr>,
    /// The SYN of each end, where it was captured.
    pub(super) syn: Pair<Option<Syn>>,
    /// The first number of each end that was seen, its SYN's or not.
    pub(super) first_seq: Pair<Option<u32>>,
    /// TTL of the first packet of each end.
    pub(super) ttl: Pair<Option<u8>>,
    pub(super) payload_bytes: Pair<u64>,
    /// Most payload of a packet of each end.
    pub(super) largest: Pair<u32>,
    /// When its first packet passed.
    pub(super) begin: u64,
}

/// What a SYN says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "options, each of which may be there or not")]
pub(super) struct Syn {
    pub(super) seq: u32,
    pub(super) is_answer: bool,
    pub(super) at: u64,
    pub(super) mss: Option<u16>,
    pub(super) window_scale: Option<u8>,
    pub(super) sack_permitted: bool,
    /// Its timestamp.
    pub(super) timestamp: Option<u32>,
    /// Kinds of other options, as bits; kinds from 64 on share the last.
    pub(super) others: u64,
    pub(super) is_ecn_setup: bool,
    /// Whether the capture kept only a part of the options.
    pub(super) is_cut: bool,
}

impl Census {
    /// At most so many connections are told apart; the packets of more are left out.
    pub(crate) fn new(most: usize) -> Self {
        Self {
            numbers: Connections::default(),
            connections: Vec::new(),
            samples: Samples::default(),
            most,
        }
    }

    /// A packet of the capture.
    #[inline]
    pub(crate) fn on_packet(&mut self, packet: &DecodedPacket<'_>) {
        if let Decoded::Tcp(seen) = &packet.what {
            self.on_segment(seen);
        }
    }

    pub(crate) fn on_segment(&mut self, seen: &Seen<'_>) {
        let Some((number, sender)) = self.numbers.find(seen, self.most) else { return };
        let place = number as usize;
        if place >= self.connections.len() {
            self.connections.push(Identity::of(seen, sender));
        }
        if let Some(identity) = self.connections.get_mut(place) {
            identity.on_segment(seen, sender);
        }
        self.samples.on_segment(seen, number, sender);
    }
}

impl Identity {
    fn of(seen: &Seen<'_>, sender: Endpoint) -> Self {
        let mut ends = Pair { low: seen.source, high: seen.source };
        *ends.of_mut(sender.other()) = seen.destination;
        Self {
            ends,
            syn: Pair::default(),
            first_seq: Pair::default(),
            ttl: Pair::default(),
            payload_bytes: Pair::default(),
            largest: Pair::default(),
            begin: seen.at_nanos,
        }
    }

    fn on_segment(&mut self, seen: &Seen<'_>, sender: Endpoint) {
        self.first_seq.of_mut(sender).get_or_insert(seen.seq);
        self.ttl.of_mut(sender).get_or_insert(seen.ttl);
        *self.payload_bytes.of_mut(sender) += u64::from(seen.payload_len);
        let largest = self.largest.of_mut(sender);
        *largest = seen.payload_len.max(*largest);
        if seen.flags.contains(Flags::SYN) {
            self.syn.of_mut(sender).get_or_insert_with(|| Syn::of(seen));
        }
    }

    /// How many directions and SYNs were captured: more show more.
    pub(super) fn completeness(&self) -> (usize, usize) {
        let both = [Endpoint::Low, Endpoint::High];
        let directions = both.iter().filter(|end| self.first_seq.of(**end).is_some()).count();
        (directions, both.iter().filter(|end| self.syn.of(**end).is_some()).count())
    }

    /// The first number of an end's payload, as far as it is known.
    pub(super) fn base(&self, end: Endpoint) -> Option<u32> {
        self.syn.of(end).map(|syn| syn.seq.wrapping_add(1))
    }
}

impl Syn {
    #[cold]
    fn of(seen: &Seen<'_>) -> Self {
        let mut syn = Self {
            seq: seen.seq,
            is_answer: seen.flags.contains(Flags::ACK),
            at: seen.at_nanos,
            mss: None,
            window_scale: None,
            sack_permitted: false,
            timestamp: None,
            others: 0,
            is_ecn_setup: seen.flags.contains(Flags::ECE),
            is_cut: seen.options_are_cut(),
        };
        for option in walk(seen.options).values() {
            match option {
                TcpOption::Mss(mss) => syn.mss = Some(mss),
                TcpOption::WindowScale(shift) => syn.window_scale = Some(shift),
                TcpOption::SackPermitted => syn.sack_permitted = true,
                TcpOption::Timestamps { value, .. } => syn.timestamp = Some(value),
                TcpOption::NoOperation => {}
                TcpOption::Sack(_)
                | TcpOption::FastOpen(_)
                | TcpOption::Md5(_)
                | TcpOption::Ao { .. }
                | TcpOption::Other { .. } => {
                    syn.others |= 1 << option.kind().min(LAST_KIND);
                }
            }
        }
        syn
    }
}

/// The last kind of option that has a bit of its own.
pub(super) const LAST_KIND: u8 = 63;
