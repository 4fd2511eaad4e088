//! For everybody: connections with segments of one size each.

use std::io;
use std::net::SocketAddr;

use maxseg_core::path_mtu::{LossEstimate, ProbeFate, Search, Settled};
use maxseg_linux::probe::tcp::payload::Payload;
use maxseg_linux::probe::tcp::sized::{SizedFate, try_size};

/// What the connections have shown.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SizedMtu {
    /// The largest packet that arrived, bytes; `None` where none did.
    pub(super) at_least: Option<u32>,
    /// The path MTU, where it is known.
    pub(super) settled: Option<Settled>,
    /// The smallest size of which nothing arrived on one connection, although packets no smaller arrived on another, bytes.
    pub(super) contradicted: Option<u32>,
    /// What the kernel has learnt meanwhile, bytes.
    pub(super) learnt: Option<u32>,
    /// No larger packet could be made, bytes.
    pub(super) limit: Option<u32>,
    /// Connections that were opened.
    pub(super) connections: usize,
    /// Bytes of the packets that were sent, at least.
    pub(super) sent_bytes: u64,
}

/// More connections are not opened.
pub(super) const MOST_CONNECTIONS: usize = 22;
/// Bytes of a SYN: what has arrived before anything else.
const SYN: u32 = 60;

/// Searches up to packets of `most` bytes; small packets were lost as often as `loss` says.
///
/// # Errors
/// A socket cannot be made.
pub(super) fn measure(
    far: SocketAddr,
    payload: Payload,
    most: u32,
    loss: LossEstimate,
    is_over: &dyn Fn() -> bool,
) -> io::Result<SizedMtu> {
    let mut search = Search::new(far.ip().into(), SYN, most, 1);
    search.on_loss(loss);
    let mut found = SizedMtu {
        at_least: None,
        settled: None,
        contradicted: None,
        learnt: None,
        limit: None,
        connections: 0,
        sent_bytes: 0,
    };
    let mut silent = Vec::new();
    let mut next = Some(most);
    while let Some(size) = next.filter(|_| found.connections < MOST_CONNECTIONS && !is_over()) {
        found.connections += 1;
        let fate = try_size(far, size, payload, is_over)?;
        found.take(&mut search, size, fate);
        if matches!(fate, SizedFate::Silent(1..)) {
            silent.push(size);
        }
        if found.learnt.is_some() || matches!(fate, SizedFate::Closed | SizedFate::NoAnswer) {
            break;
        }
        next = search.next_probe().map(|probe| probe.size);
    }
    found.contradicted = silent.into_iter().filter(|size| Some(*size) <= found.at_least).min();
    found.settled = search.settled().filter(|_| found.at_least.is_some());
    Ok(found)
}

impl SizedMtu {
    fn take(&mut self, search: &mut Search, size: u32, fate: SizedFate) {
        // Four full segments, and more where they are lost.
        self.sent_bytes += u64::from(size) * 4;
        match fate {
            SizedFate::Arrived => {
                self.at_least = self.at_least.max(Some(size));
                search.on_fate(size, ProbeFate::Arrived);
            }
            SizedFate::Silent(times) => {
                self.sent_bytes += u64::from(size);
                (0..times).for_each(|_| search.on_fate(size, ProbeFate::NoAnswer));
            }
            SizedFate::Learnt(mtu) => self.learnt = Some(mtu),
            SizedFate::Limited(mtu) => {
                self.limit = Some(self.limit.map_or(mtu, |limit| limit.min(mtu)));
                search.on_fate(size, ProbeFate::LocalTooBig { mtu: Some(mtu) });
            }
            SizedFate::Closed | SizedFate::NoAnswer => {}
        }
    }
}
