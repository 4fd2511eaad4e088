//! When the timers of many flows expire.

use std::ops::Range;

use super::flow::{RunningFlow, Traffic};
use crate::units::Time;

/// So many flows are looked at one by one sooner than anything is kept of them.
const FEW: usize = 16;
/// Flows whose earliest timer is kept as one.
const BLOCK: usize = 32;

/// For each of many flows a time before which none of its timers expires, and the least of each block of flows. A timer
/// that is set later than it was leaves its time as it is until that has come. Of flows that do not tell it is always due.
#[derive(Debug, Default)]
pub(super) struct Deadlines {
    /// Empty for few flows.
    flows: Vec<Time>,
    blocks: Vec<Time>,
}

impl Deadlines {
    pub(super) fn new(flows: &[RunningFlow]) -> Self {
        if flows.len() <= FEW {
            return Self::default();
        }
        let first =
            |flow: &RunningFlow| if flow.tells_deadlines() { flow.deadline() } else { Time::ZERO };
        let flows: Vec<_> = flows.iter().map(first).collect();
        let blocks = flows.chunks(BLOCK).map(least).collect();
        Self { flows, blocks }
    }

    /// A timer of `flow` expires at `time`, perhaps.
    #[inline(always)]
    pub(super) fn note(&mut self, flow: u32, time: Time) {
        if !self.flows.is_empty() {
            self.lower(flow as usize, time);
        }
    }

    #[cold]
    #[inline(never)]
    fn lower(&mut self, flow: usize, time: Time) {
        let block = &mut self.blocks[flow / BLOCK];
        *block = time.min(*block);
        let flow = &mut self.flows[flow];
        *flow = time.min(*flow);
    }

    /// The least of each block; nothing for few flows.
    pub(super) fn blocks(&self) -> &[Time] {
        &self.blocks
    }

    pub(super) fn flows_of(&self, block: usize) -> Range<usize> {
        block * BLOCK..self.flows.len().min((block + 1) * BLOCK)
    }

    pub(super) fn of(&self, flow: usize) -> Time {
        self.flows[flow]
    }

    /// The timers of a flow have been looked at: the earliest expires at `time`.
    pub(super) fn set(&mut self, flow: usize, time: Time) {
        self.flows[flow] = time;
    }

    /// Of a block whose flows have been set.
    pub(super) fn refresh(&mut self, block: usize) {
        self.blocks[block] = least(&self.flows[self.flows_of(block)]);
    }
}

impl RunningFlow {
    /// Whether the world is told whenever a timer is set: not by connections of the other stacks, whose every packet would pay.
    pub(super) fn tells_deadlines(&self) -> bool {
        !matches!(self.traffic, Traffic::Tcp(_))
    }
}

fn least(times: &[Time]) -> Time {
    times.iter().copied().min().unwrap_or(Time::NEVER)
}
