//! The packets that a flow loses.

use std::collections::VecDeque;

use crate::units::Time;

/// Packets that are lost, or will be: their fate is known when they are sent, so those that are lost
/// only after the run has ended must not count.
#[derive(Debug, Clone, Default)]
pub(super) struct Losses {
    past: u64,
    ahead: VecDeque<Time>,
}

impl Losses {
    /// A packet sent at `now` is lost `at` some later time.
    pub(super) fn push(&mut self, now: Time, at: Time) {
        while self.ahead.front().is_some_and(|earliest| *earliest <= now) {
            self.ahead.pop_front();
            self.past += 1;
        }
        self.ahead.push_back(at);
    }

    /// How many are lost by `end`.
    pub(super) fn by(&self, end: Time) -> u64 {
        self.past + self.ahead.iter().filter(|at| **at <= end).count() as u64
    }
}
