//! The connections of a capture: packets in the order of their times, handed to whoever follows their connections.
//!
//! ```text
//! Seen → TimeOrder → Followers ─┬→ Follower, in this thread
//!                               └→ Lanes: a LaneBatch at a time → a Follower for each part, in any thread
//! ```

use std::io;

use maxseg_core::evidence::{Evidence, UnreachableEvent};
use maxseg_core::units::Time;

use super::follower::Follower;
use super::hole::HoleInTime;
use super::lanes::Lanes;
use super::options::{FlowOptions, FlowResults};
use super::owned_segment::OwnedSegment;
use super::results::gather;
use super::seen::Passing;
use super::time_order::{TimeOrder, Turn, Waiting};
use super::{Decoded, DecodedPacket, Seen, TooBig};

/// The connections that have been seen so far.
#[derive(Debug)]
pub struct Flows {
    order: TimeOrder,
    /// Segments and notices so far, in the order in which they are followed.
    count: u64,
    followers: Followers,
}

/// Who follows the connections.
#[derive(Debug)]
enum Followers {
    /// This thread.
    Here(Box<Follower>),
    /// Several threads, this one among them.
    Lanes(Box<Lanes>),
}

impl Flows {
    /// None yet; they are followed in this thread.
    pub fn new(options: FlowOptions) -> Self {
        Self::followed_by(Followers::Here(Box::new(Follower::new(options))))
    }

    /// None yet; so many threads beside this one follow them, at most one for each part of the connections.
    ///
    /// # Errors
    /// The threads cannot be started.
    pub fn in_threads(options: FlowOptions, threads: usize) -> io::Result<Self> {
        Ok(Self::followed_by(Followers::Lanes(Box::new(Lanes::start(options, threads)?))))
    }

    const fn followed_by(followers: Followers) -> Self {
        Self { order: TimeOrder::new(), count: 0, followers }
    }

    /// The file has several interfaces, of which each may be in the order of its times for itself alone.
    #[inline]
    pub fn expect_several_interfaces(&mut self) {
        self.order.expect_several_interfaces();
    }

    /// A packet of the capture: what it is decides who hears of it.
    #[inline]
    pub fn on_packet(&mut self, packet: &DecodedPacket<'_>) {
        match &packet.what {
            Decoded::Tcp(seen) => match self.order.on_segment(seen, packet.fragments) {
                Turn::Now => {
                    let (fragments, is_set) = (packet.fragments, self.order.is_set());
                    self.on_ordered(seen, Passing { fragments, is_late: false, is_set });
                }
                Turn::Waits => self.next_ordered(),
            },
            Decoded::TooBig(_) | Decoded::Unreachable(_) => self.on_notice(&packet.what),
            Decoded::Fragment(_)
            | Decoded::Udp(_)
            | Decoded::Other(_)
            | Decoded::Undecodable(_) => {}
        }
    }

    /// Files are missing between the last packet, at `from`, and the next, at `to`.
    #[cold]
    pub(crate) fn on_hole(&mut self, from: Time, to: Time) {
        self.rest_ordered();
        let hole = HoleInTime { from: from.as_nanos(), to: to.as_nanos() };
        match &mut self.followers {
            Followers::Here(follower) => follower.on_hole(hole),
            Followers::Lanes(lanes) => lanes.on_hole(hole),
        }
    }

    #[inline(always)]
    fn on_ordered(&mut self, seen: &Seen<'_>, passing: Passing) {
        self.count += 1;
        let count = self.count;
        match &mut self.followers {
            Followers::Here(follower) => follower.on_segment(seen, passing, count),
            Followers::Lanes(lanes) => lanes.on_segment(seen, passing, count),
        }
    }

    /// Those leave that have waited long enough for older ones.
    #[cold]
    #[inline(never)]
    fn next_ordered(&mut self) {
        while let Some(next) = self.order.next() {
            self.on_waited(&next);
        }
    }

    /// All leave that wait for older ones.
    #[cold]
    #[inline(never)]
    fn rest_ordered(&mut self) {
        for rest in self.order.finish() {
            self.on_waited(&rest);
        }
    }

    #[inline(never)]
    fn on_waited(&mut self, waited: &Waiting) {
        match waited {
            Waiting::Segment(segment) => {
                let OwnedSegment { fragments, is_late, is_set, .. } = *segment;
                self.on_ordered(&segment.seen(), Passing { fragments, is_late, is_set });
            }
            Waiting::TooBig(notice) => self.on_too_big(notice),
            Waiting::Unreachable(event) => self.on_unreachable(event),
        }
    }

    /// A router or a host says something of a segment.
    #[cold]
    fn on_notice(&mut self, what: &Decoded<'_>) {
        let has_wait = self.order.has_wait();
        if !has_wait {
            self.rest_ordered();
        }
        match what {
            Decoded::TooBig(notice) if has_wait => {
                self.order.keep(notice.at_nanos, Waiting::TooBig(Box::new(*notice)));
            }
            Decoded::Unreachable(event) if has_wait => {
                self.order.keep(event.at.as_nanos(), Waiting::Unreachable(*event));
            }
            Decoded::TooBig(notice) => self.on_too_big(notice),
            Decoded::Unreachable(event) => self.on_unreachable(event),
            Decoded::Tcp(_)
            | Decoded::Fragment(_)
            | Decoded::Udp(_)
            | Decoded::Other(_)
            | Decoded::Undecodable(_) => {}
        }
    }

    /// A hop says that a packet was too big for it.
    fn on_too_big(&mut self, notice: &TooBig) {
        self.count += 1;
        match &mut self.followers {
            Followers::Here(follower) => follower.on_too_big(notice, self.count),
            Followers::Lanes(lanes) => lanes.on_too_big(notice, self.count),
        }
    }

    /// Somebody says that the destination of a segment is unreachable.
    fn on_unreachable(&mut self, event: &UnreachableEvent) {
        match &mut self.followers {
            Followers::Here(follower) => follower.on_unreachable(event),
            Followers::Lanes(lanes) => lanes.on_unreachable(event),
        }
    }

    /// Nothing more comes.
    pub fn finish(mut self) -> FlowResults<impl Iterator<Item = Evidence>> {
        self.rest_ordered();
        gather(match self.followers {
            Followers::Here(mut follower) => {
                follower.finish();
                vec![*follower]
            }
            Followers::Lanes(lanes) => lanes.finish(),
        })
    }
}

#[cfg(test)]
mod tests;
