//! A sample of a capture's packets, the same packets in every capture that they pass: those whose fields hash to a
//! small number ("trajectory sampling", Duffield and Grossglauser 2001).

use std::hash::BuildHasher;

use foldhash::fast::FixedState;

use crate::flow::{Endpoint, Seen};
use crate::options::{TcpOption, walk};
use crate::tcp::Flags;

/// A sample of bounded size: where it becomes too large, half of it leaves.
#[derive(Debug)]
pub(super) struct Samples {
    /// In the order of the capture.
    pub(super) list: Vec<Sample>,
    /// Hashes up to this one are in the sample.
    pub(super) threshold: u64,
}

/// A packet of the sample.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sample {
    pub(super) hash: u64,
    pub(super) at: u64,
    pub(super) connection: u32,
    pub(super) sender: Endpoint,
    pub(super) ip_id: u16,
}

/// Most packets of a sample: 4 MiB.
const MOST: usize = 1 << 17;

impl Default for Samples {
    fn default() -> Self {
        Self { list: Vec::new(), threshold: u64::MAX }
    }
}

impl Samples {
    #[inline]
    pub(super) fn on_segment(&mut self, seen: &Seen<'_>, connection: u32, sender: Endpoint) {
        let hash = hash(seen);
        if hash > self.threshold {
            return;
        }
        let ip_id = seen.ip_id.unwrap_or(0);
        self.list.push(Sample { hash, at: seen.at_nanos, connection, sender, ip_id });
        if self.list.len() >= MOST {
            self.threshold /= 2;
            let threshold = self.threshold;
            self.list.retain(|sample| sample.hash <= threshold);
        }
    }

    /// The packets up to a threshold whose hash occurs once, in the order of their hashes.
    pub(super) fn unique(&self, threshold: u64) -> Vec<Sample> {
        let mut list: Vec<Sample> =
            self.list.iter().filter(|sample| sample.hash <= threshold).copied().collect();
        list.sort_unstable_by_key(|sample| sample.hash);
        let mut kept: Vec<Sample> = Vec::with_capacity(list.len());
        for group in list.chunk_by(|a, b| a.hash == b.hash) {
            if let [single] = group {
                kept.push(*single);
            }
        }
        kept
    }
}

/// What no hop changes of a segment. Not its length: the sender's card cuts it, the receiver's joins it.
fn hash(seen: &Seen<'_>) -> u64 {
    let flags = seen.flags.bits() & (Flags::SYN | Flags::RST).bits();
    let fields = (
        seen.seq,
        if seen.flags.contains(Flags::ACK) { seen.ack } else { 0 },
        timestamp(seen),
        seen.payload_len > 0,
        flags,
    );
    HASHER.hash_one(fields)
}

const HASHER: FixedState = FixedState::with_seed(0);

/// The time that a segment carries (RFC 7323 §3).
#[inline]
pub(super) fn timestamp(seen: &Seen<'_>) -> Option<u32> {
    // As nearly all stacks lay them out (RFC 7323 appendix A).
    if let [1, 1, 8, 10, a, b, c, d, ..] = seen.options {
        return Some(u32::from_be_bytes([*a, *b, *c, *d]));
    }
    walk(seen.options).values().find_map(|option| match option {
        TcpOption::Timestamps { value, .. } => Some(value),
        TcpOption::NoOperation
        | TcpOption::Mss(_)
        | TcpOption::WindowScale(_)
        | TcpOption::SackPermitted
        | TcpOption::Sack(_)
        | TcpOption::FastOpen(_)
        | TcpOption::Md5(_)
        | TcpOption::Ao { .. }
        | TcpOption::Other { .. } => None,
    })
}
