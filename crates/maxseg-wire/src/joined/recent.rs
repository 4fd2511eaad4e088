//! The last packets of a capture, to recognise their copies.

use std::collections::{HashMap, VecDeque};

use foldhash::fast::RandomState;

/// Most packets that are remembered: 4 MiB.
const MOST: usize = 1 << 16;

/// The last packets of a capture, and where each was captured.
#[derive(Debug, Default)]
pub(super) struct Recent {
    points: HashMap<u64, u32, RandomState>,
    order: VecDeque<u64>,
}

impl Recent {
    /// Notes a packet and gives the point at which an equal one was captured before.
    pub(super) fn note(&mut self, identity: u64, point: u32) -> Option<u32> {
        if let Some(known) = self.points.get(&identity) {
            return Some(*known);
        }
        if self.order.len() >= MOST
            && let Some(oldest) = self.order.pop_front()
        {
            self.points.remove(&oldest);
        }
        self.points.insert(identity, point);
        self.order.push_back(identity);
        None
    }
}
