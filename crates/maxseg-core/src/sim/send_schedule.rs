//! When the packets of a steady flow go.

use crate::scenario::Flow;
use crate::units::{BitsPerSec, Bytes, Time};

/// When the packets of a steady flow go: after so many nanoseconds and a fraction, so that its
/// long-run rate is exact.
#[derive(Debug)]
pub(super) struct SendSchedule {
    /// When the next packet goes; never once the flow has stopped.
    pub(super) next: Time,
    stop: Time,
    whole_nanos: u64,
    /// The fraction of a nanosecond, its denominator, and what has accumulated of it.
    numerator: u64,
    denominator: u64,
    carry: u64,
}

impl SendSchedule {
    pub(super) fn at_interval(flow: &Flow, interval: Time) -> Self {
        let whole_nanos = interval.as_nanos();
        Self {
            next: flow.start,
            stop: flow.stop,
            whole_nanos,
            numerator: 0,
            denominator: 1,
            carry: 0,
        }
    }

    pub(super) fn at_rate(flow: &Flow, rate: BitsPerSec, counted: Bytes) -> Self {
        let nanos = u128::from(counted.bits()) * 1_000_000_000;
        let rate = u128::from(rate.get());
        let small =
            |n: u128| u64::try_from(n).expect("a datagram at 1 bit/s takes six days at most");
        Self {
            whole_nanos: small(nanos / rate),
            numerator: small(nanos % rate),
            denominator: small(rate),
            ..Self::at_interval(flow, Time::ZERO)
        }
    }

    /// A packet goes now: when is the next?
    pub(super) fn advance(&mut self) {
        self.carry += self.numerator;
        let more = u64::from(self.carry >= self.denominator);
        self.carry -= more * self.denominator;
        let next = self.next + Time::from_nanos(self.whole_nanos + more);
        self.next = if next < self.stop { next } else { Time::NEVER };
    }
}
