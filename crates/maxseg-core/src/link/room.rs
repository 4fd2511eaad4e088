//! The waiting room of the computing form.

use std::collections::VecDeque;

use super::wire::Wire;
use crate::framing::IpPacket;
use crate::path::QueueLimit;
use crate::units::{Bytes, Time};

/// The waiting room, as far as it must be known to refuse a newcomer.
#[derive(Debug, Clone)]
pub(super) enum Room {
    /// For each of the last `limit + 1` packets the first instant when it is gone from the wire; the
    /// oldest of them decides.
    Packets { gone: Box<[u64]>, oldest: usize },
    /// Those that wait, one by one.
    Counted(Counted),
}

/// Packets that wait: when each goes on the wire, and its bytes.
#[derive(Debug, Clone)]
pub(super) struct Counted {
    limit: QueueLimit,
    waiting: VecDeque<(Time, u64)>,
    backlog: u64,
    newcomer: u64,
    /// Whether who goes on the wire at the instant of an arrival waits no more.
    leaves_first: bool,
}

impl Room {
    pub(super) fn new(limit: QueueLimit) -> Self {
        match limit {
            // Zeroed memory is mapped when touched: a limit far above the traffic costs nothing.
            QueueLimit::Packets(n) => {
                Self::Packets { gone: vec![0; n as usize + 1].into_boxed_slice(), oldest: 0 }
            }
            QueueLimit::Bytes(_) => Self::counted(limit, false),
        }
    }

    /// A room that knows how many packets and bytes wait.
    pub(super) fn counted(limit: QueueLimit, leaves_first: bool) -> Self {
        Self::Counted(Counted {
            limit,
            waiting: VecDeque::new(),
            backlog: 0,
            newcomer: 0,
            leaves_first,
        })
    }

    #[inline(always)]
    pub(super) fn has_place(
        &mut self,
        now: Time,
        waits: bool,
        packet: IpPacket,
        wire: &mut Wire,
    ) -> bool {
        match self {
            Self::Packets { gone, oldest } => gone[*oldest] <= now.as_nanos(),
            Self::Counted(counted) => {
                counted.let_go(now);
                counted.newcomer = u64::from(wire.bytes(packet));
                !waits || counted.holds_one_more()
            }
        }
    }

    #[inline(always)]
    pub(super) fn enter(&mut self, waits: bool, start: Time, departs: Time) {
        match self {
            Self::Packets { gone, oldest } => {
                gone[*oldest] = departs.as_nanos() + 1;
                *oldest = if *oldest + 1 == gone.len() { 0 } else { *oldest + 1 };
            }
            Self::Counted(counted) => {
                if waits {
                    counted.waiting.push_back((start, counted.newcomer));
                    counted.backlog += counted.newcomer;
                }
            }
        }
    }

    /// Packets and bytes that wait at `now`; nothing is known of a room that does not count.
    pub(super) fn occupancy(&mut self, now: Time) -> (usize, u64) {
        match self {
            Self::Packets { .. } => (0, 0),
            Self::Counted(counted) => {
                counted.let_go(now);
                (counted.waiting.len(), counted.backlog)
            }
        }
    }
}

impl Counted {
    fn let_go(&mut self, now: Time) {
        while let Some((start, bytes)) = self.waiting.front()
            && (*start < now || (self.leaves_first && *start == now))
        {
            self.backlog -= bytes;
            self.waiting.pop_front();
        }
    }

    fn holds_one_more(&self) -> bool {
        self.limit.holds(self.waiting.len() + 1, Bytes::new(self.backlog + self.newcomer))
    }
}
