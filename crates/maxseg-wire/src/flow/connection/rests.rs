//! Rests of messages: what a host holds back behind full segments.

use serde::{Deserialize, Serialize};

use super::waits::{Samples, Wait};
use crate::flow::pair::Endpoint;

/// What held a rest back, and for how long, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holder {
    /// Nagle's algorithm (RFC 9293 §3.7.4), for as long as the acknowledgement was delayed.
    Nagle(u64),
    /// A cork, or a program that is as late, since the acknowledgement reached the host.
    Cork(u64),
}

/// A delayed acknowledgement is at least so late, in nanoseconds: Linux's least is 40 ms (`TCP_DELACK_MIN`), less 10 ms
/// for round trips that vary.
pub(super) const LEAST_DELAY: u64 = 30_000_000;
/// And at most so late (RFC 9293 §3.8.6.3).
pub(super) const MOST_DELAY: u64 = 500_000_000;
/// A sender's answer to an acknowledgement takes no longer, in nanoseconds.
pub(super) const AT_ONCE: u64 = 3_000_000;
/// Linux lets what a cork holds go when nothing is in flight and the timer of zero window probes expires, an RTO later
/// (`tcp_check_probe_timer`, `include/net/tcp.h`): 200 ms and a round trip, less a tick, and hardly more than a second.
const LEAST_CORKED: u64 = 190_000_000;
const MOST_CORKED: u64 = 1_200_000_000;

impl Holder {
    /// Of a rest that its host held so long after the acknowledgement of its full segments, which came so late: with that Nagle's algorithm lets
    /// it go, and a cork does not.
    pub(super) fn of(held: u64, late: u64) -> Option<Self> {
        if held <= AT_ONCE {
            return (LEAST_DELAY..=MOST_DELAY).contains(&late).then_some(Self::Nagle(late));
        }
        (LEAST_CORKED..=MOST_CORKED).contains(&held).then_some(Self::Cork(held))
    }
}

/// Segments that their hosts held back, and for how long.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Held {
    pub(super) times: Samples,
    /// How many are of the lower end.
    of_low: u32,
}

impl Held {
    /// One that an end held so long, in nanoseconds.
    pub(super) fn add(&mut self, time: u64, by: Endpoint) {
        self.times.add(&Wait { took: time, unsure: 0, queued: 0, payload: 0 });
        self.of_low += u32::from(by == Endpoint::Low);
    }

    /// How many are of this end.
    pub(super) fn of(&self, end: Endpoint) -> u32 {
        match end {
            Endpoint::Low => self.of_low,
            Endpoint::High => self.times.count.saturating_sub(self.of_low),
        }
    }
}
